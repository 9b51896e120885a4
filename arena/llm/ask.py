"""Asking a model about the rows of a table: one prompt a row in, one value or reason a row out."""

from __future__ import annotations

import logging
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from itertools import islice
from queue import Empty
from typing import TYPE_CHECKING, Generic, TypeVar

import pandas as pd

from arena.data.errors import MissingDependencyError, UsageError
from arena.data.files import SAID_AFTER_S
from arena.llm.replies import (
    OTHER_MODEL,
    OVER_BUDGET,
    UNPARSABLE,
    Completion,
    Reply,
    UnparsableError,
    is_file_name,
    is_same_model,
)
from arena.llm.settings import LlmSettings, Prompt, Request, request_for
from arena.llm.store import Result, Store
from arena.llm.usage import Budget, Usage

if TYPE_CHECKING:
    from arena.llm.pool import WorkerPool

PROMPTS_AT_A_TIME = 64
LEAST_AHEAD = 512
AHEAD_PER_CONNECTION = 16
HOPELESS_OTHERS = 3
"""Answers of another model, and none of the one asked, after which a run stops."""
SHOWN_NAME = 80

_LOG = logging.getLogger(__name__)
_LOOK_AGAIN_S = 0.25
_INTERRUPTIBLE_S = 1.0

R = TypeVar("R")
T = TypeVar("T")

Progress = Callable[[str, int, int], None]
"""Called with the name of a stage, the rows done, and all rows."""


@dataclass(frozen=True)
class Llm:
    """A model, and where its replies are kept.

    ``dataclasses.replace(llm, settings=...)`` asks another model on the same budget.

    Attributes:
        settings: How it is asked; a model on this machine once it is ``located``.
        store: Keeps every reply: what it has is not asked again.
        budget: Most prompts to send, shared by all that asks with it; and what was used.
    """

    settings: LlmSettings
    store: Store = field(repr=False, compare=False)
    budget: Budget = field(default_factory=Budget, repr=False, compare=False)


@dataclass(frozen=True)
class Asked(Generic[R, T]):
    """What a model was asked about rows, and what it replied.

    Attributes:
        rows: The rows.
        replies: A reply a row, in the order of the rows.
        usage: Calls, tokens, and failures by reason.
    """

    rows: Sequence[R]
    replies: list[Reply[T]]
    usage: Usage

    def __iter__(self) -> Iterator[tuple[R, Reply[T]]]:
        return zip(self.rows, self.replies, strict=True)

    @property
    def values(self) -> list[T | None]:
        """The value of each row; None where there is none."""
        return [reply.value for reply in self.replies]

    def table(self) -> pd.DataFrame:
        """Return columns ``value, reason, detail, key, from_store``, a row a row."""
        columns = ["value", "reason", "detail", "key", "from_store"]
        records = [tuple(getattr(reply, name) for name in columns) for reply in self.replies]
        return pd.DataFrame(records, columns=columns, dtype=object)


def read_text(completion: Completion) -> str:
    """Take the text of an answer as it is: the parser for those who want no other."""
    return completion.text or ""


def ask_table(
    rows: Sequence[R],
    prompt: Callable[[R], Prompt],
    parse: Callable[[Completion], T],
    llm: Llm,
    *,
    stage: str = "",
    progress: Progress | None = None,
) -> Asked[R, T]:
    """Ask a model about every row of a table.

    Prompts are made as they are sent. Each answer is in the store before it is read, and is asked
    once: by this call, by a later one, or by another process with the same store; rows with equal
    prompts share a call. What failed in passing is a counted failure after its retries, and a
    later call tries it again. An interrupt (Ctrl-C) waits for calls under way and keeps them.

    Args:
        rows: What to ask about, such as ``list(table.itertuples(index=False))``.
        prompt: Makes a row's prompt; called once a row, in their order.
        parse: Reads a value from an answer, or raises ``UnparsableError``; see ``read_text``.
        llm: Which model, where, with which store and budget.
        stage: Name that is passed to ``progress``.
        progress: Called with the stage, the rows done, and all rows.

    Raises:
        UsageError: If there is no key, a prompt or setting cannot be sent, or the endpoint says
            what no further call can change (a wrong key, an unknown model, no server there).
        MissingDependencyError: If the extra ``llm`` is not installed and a call is due.
    """
    usage = Usage(llm.settings.model)
    table = _TableRun(llm, parse, usage, partial(progress, stage) if progress else None, len(rows))
    replies = table.run(map(prompt, rows))
    return Asked(rows, replies, usage)


class _TableRun(Generic[T]):
    """One call of ``ask_table``: takes on prompts, some hundreds ahead, and collects replies."""

    def __init__(
        self,
        llm: Llm,
        parse: Callable[[Completion], T],
        usage: Usage,
        progress: Callable[[int, int], None] | None,
        rows: int,
    ) -> None:
        self._llm = llm
        self._parse = parse
        self._usage = usage
        self._progress = progress
        self._rows = rows
        self._calls_left = llm.budget.calls_left
        llm.budget.usages.append(usage)
        self._replies: dict[str, Reply[T]] = {}
        self._waiting: Counter[str] = Counter()  # keys under way, and rows that wait for each
        self._busy: dict[str, Request] = {}  # those of them that another run is at
        self._look_again_at = 0.0
        self._idle_since: float | None = None  # since when others alone are at what is left
        self._answered_before = False
        self._is_served = False  # whether the model asked has answered
        self._run_id = ""
        self._pool: WorkerPool | None = None

    def run(self, prompts: Iterator[Prompt]) -> list[Reply[T]]:
        most_waiting = max(LEAST_AHEAD, AHEAD_PER_CONNECTION * self._llm.settings.concurrency)
        keys: list[str] = []
        self._run_id = self._llm.store.start_run()
        try:
            while chunk := list(islice(prompts, PROMPTS_AT_A_TIME)):
                keys += self._take_on(chunk)
                while len(self._waiting) > most_waiting:
                    self._wait()
            while self._waiting:
                self._wait()
        finally:
            self._end()
        return [self._replies[key] for key in keys]

    def _end(self) -> None:
        try:
            if self._pool is not None:
                self._pool.stop()
        finally:
            self._llm.store.end_run(self._run_id)

    def _take_on(self, prompts: Sequence[Prompt]) -> list[str]:
        """Claim what is not under way or settled yet; returns the prompts' keys."""
        requests = [request_for(prompt, self._llm.settings) for prompt in prompts]
        fresh: dict[str, Request] = {}
        for request in requests:
            if request.key in self._replies:
                self._count(self._replies[request.key], rows=1, repeated=1)
                continue
            if request.key not in self._waiting:
                fresh[request.key] = request
            self._waiting[request.key] += 1
        self._claim(list(fresh.values()))
        return [request.key for request in requests]

    def _claim(self, requests: Sequence[Request]) -> None:
        """Settle what is answered, give the pool what is ours, and note what others are at."""
        if not requests:
            return
        model = self._llm.settings.model
        for request in requests:
            self._llm.settings.refuse_key(request.content)
        claims = self._llm.store.claim(self._run_id, requests, model, self._calls_left)
        for request in requests:
            self._busy.pop(request.key, None)
        self._busy |= {request.key: request for request in claims.busy}
        self._answered_before = self._answered_before or bool(claims.done)
        for result in claims.done:
            self._settle(result, from_store=True)
        for request in claims.left:
            self._settle(Result(request.key, None, OVER_BUDGET, "max_calls is used up"))
        if self._calls_left is not None:
            self._calls_left -= len(claims.mine)
        if claims.mine:
            self._pool = self._pool or self._start_pool()
            self._pool.submit(claims.mine)

    def _start_pool(self) -> WorkerPool:
        for package in () if self._llm.settings.local else ("openai", "aiohttp"):
            if find_spec(package) is None:
                raise MissingDependencyError("asking LLMs", package, "llm")
        from arena.llm.pool import WorkerPool

        llm = self._llm
        return WorkerPool(
            llm.settings, llm.store, self._run_id, self._usage, proven=self._answered_before
        )

    def _wait(self) -> None:
        """Wait for a result: of the pool, or of other runs."""
        self._say_who_is_waited_for()
        if self._pool is None:
            time.sleep(_LOOK_AGAIN_S)
        else:
            with suppress(Empty):
                timeout = _LOOK_AGAIN_S if self._busy else _INTERRUPTIBLE_S
                finished = self._pool.finished.get(timeout=timeout)
                if isinstance(finished, BaseException):
                    raise finished
                self._settle(finished)
        if self._busy and time.monotonic() >= self._look_again_at:
            self._claim(list(self._busy.values()))
            self._look_again_at = time.monotonic() + _LOOK_AGAIN_S

    def _say_who_is_waited_for(self) -> None:
        if len(self._busy) < len(self._waiting):
            self._idle_since = None
        elif self._idle_since is None:
            self._idle_since = time.monotonic()
        elif time.monotonic() - self._idle_since >= SAID_AFTER_S:
            self._idle_since = math.inf  # said once
            _LOG.warning(
                "Waiting for another run, which asks %s the same (%s)",
                self._llm.settings.model,
                self._llm.store.path,
            )

    def _settle(self, result: Result, from_store: bool = False) -> None:
        reply = self._read(result, from_store)
        self._replies[result.key] = reply
        rows = self._waiting.pop(result.key)
        self._usage.from_store += from_store
        self._count(reply, rows, repeated=rows - 1)

    def _read(self, result: Result, from_store: bool) -> Reply[T]:
        completion, reason, detail = result.completion, result.failure, result.detail
        served = None if completion is None else completion.served_model
        if served is not None and not is_same_model(self._llm.settings.model, served):
            self._usage.count_other_model(served)
            if not (self._llm.settings.any_model or is_file_name(served)):
                self._refuse_other_model(served)
                said = f"{served!r} answered"
                return Reply(None, OTHER_MODEL, said, result.key, from_store)
        elif completion is not None:
            self._is_served = True
        if completion is None or reason is not None:
            return Reply(None, reason, detail, result.key, from_store)
        try:
            return Reply(self._parse(completion), None, "", result.key, from_store)
        except UnparsableError as error:
            return Reply(None, UNPARSABLE, str(error), result.key, from_store)

    def _refuse_other_model(self, served: str) -> None:
        """Stop where nothing but another model answers; what it said is in the store."""
        others = sum(self._usage.other_models.values())
        if others < HOPELESS_OTHERS or self._is_served:
            return
        asked, where = self._llm.settings.model, self._llm.settings.where
        raise UsageError(
            f"{where} answers as {served[:SHOWN_NAME]!r} where {asked!r} was asked; ask for the "
            "model by that name, or let any model's answers count (--any-model, any_model=True): "
            "what was answered is in the store"
        )

    def _count(self, reply: Reply[T], rows: int, repeated: int) -> None:
        self._usage.prompts += rows
        self._usage.repeated += repeated
        if reply.reason is not None:
            self._usage.count_failure(reply.reason, rows)
        if self._progress is not None:
            self._progress(self._usage.prompts, self._rows)
