"""Asking a model about the rows of a table: one prompt per row, one value or reason per row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Generic, TypeVar

import pandas as pd

from arena.data.errors import MissingDependencyError, UsageError, argument
from arena.data.types import Progress
from arena.llm.batches.awaiting import RepliesAwaitedError
from arena.llm.batches.ledger import BatchLedger
from arena.llm.dry_runs import DryRun, dry_run
from arena.llm.llm_settings import LlmSettings
from arena.llm.names import is_file_name, is_same_model, names_deployments
from arena.llm.replies import (
    CUT,
    OTHER_MODEL,
    OVER_BUDGET,
    UNPARSABLE,
    Completion,
    Reply,
    UnparsableError,
)
from arena.llm.requests import Prompt, Request, request_for
from arena.llm.sending import Sender
from arena.llm.store import Store
from arena.llm.usage import Budget, Usage

if TYPE_CHECKING:
    from arena.llm.batches.sender import BatchSender


R = TypeVar("R")
T = TypeVar("T")


@dataclass(frozen=True)
class Llm:
    """A model, and where its replies are kept.

    Attributes:
        settings: How it is asked.
        store: Keeps every reply.
        budget: Shared by all that asks with it.
        dry_runs: If given, calls are counted there and not made.
    """

    settings: LlmSettings
    store: Store = field(repr=False, compare=False)
    budget: Budget = field(default_factory=Budget, repr=False, compare=False)
    dry_runs: list[DryRun] | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Asked(Generic[R, T]):
    """The rows that a model was asked about, one reply per row, and calls and tokens used."""

    rows: Sequence[R]
    replies: list[Reply[T]]
    usage: Usage

    def __iter__(self) -> Iterator[tuple[R, Reply[T]]]:
        return zip(self.rows, self.replies, strict=True)

    @property
    def values(self) -> list[T | None]:
        """Return the value of each row; None if there is none."""
        return [reply.value for reply in self.replies]

    def table(self) -> pd.DataFrame:
        """Return columns ``value, reason, detail, key, from_store``, one row per input row."""
        columns = ["value", "reason", "detail", "key", "from_store"]
        records = map(attrgetter(*columns), self.replies)
        return pd.DataFrame(records, columns=columns, dtype=object)


def read_text(completion: Completion) -> str:
    """Return an answer's text, thoughts included: a parser for ``ask_table``."""
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

    Each prompt is asked once by all processes that share the store. A later run tries passing
    failures again and, with ``settings.batch``, collects replies.

    Args:
        rows: Rows, such as ``list(table.itertuples(index=False))``.
        prompt: Makes a row's prompt.
        parse: Reads a value from an answer, or raises ``UnparsableError``.
        llm: The model to ask.
        stage: Name for ``progress``.
        progress: Called as replies come.

    Returns:
        A reply per row, and usage.

    Raises:
        UsageError: If a prompt or setting cannot be sent, or no call can succeed (no key, server or
            model).
        MissingDependencyError: If the extra ``llm`` is not installed.
        RepliesAwaitedError: If replies are awaited in batches.
    """
    if llm.settings.batch and llm.budget.max_cost is not None:
        raise UsageError(
            f"the cost of a batch is not known before it is sent; leave {argument('max_cost')} or "
            f"{argument('batch')} out, or limit the number of calls"
        )
    usage = Usage(llm.settings.model)
    if llm.dry_runs is not None:
        prompts = map(prompt, rows)
        llm.dry_runs.append(dry_run(prompts, llm.settings, llm.store, llm.budget.prices))
        nothing: Reply[T] = Reply(None, OVER_BUDGET, "nothing was asked", "", from_store=False)
        return Asked(rows, [nothing] * len(rows), usage)

    def count(done: int) -> None:
        usage.prompts += done
        if progress is not None:
            progress(stage, usage.prompts, len(rows))

    run = _Run(llm, parse, usage, count)
    return Asked(rows, run.replies(map(prompt, rows)), usage)


class _Run(Generic[T]):
    def __init__(
        self,
        llm: Llm,
        parse: Callable[[Completion], T],
        usage: Usage,
        count: Callable[[int], None],
    ) -> None:
        self._llm = llm
        self._parse = parse
        self._usage = usage
        self._count = count
        self._calls_left = llm.budget.calls_left
        llm.budget.usages.append(usage)
        self._replies: dict[str, Reply[T]] = {}
        self._waiting: Counter[str] = Counter()  # keys under way, and rows that wait for each
        self._awaited: Counter[str] = Counter()  # keys in batches, and rows that await each
        self._sender: Sender | BatchSender | None = None
        self._batch_sender: BatchSender | None = None
        self._opened = ExitStack()
        self._is_served = False  # whether the model asked has answered

    def replies(self, prompts: Iterator[Prompt]) -> list[Reply[T]]:
        prompts_at_a_time = 64
        # Enough ahead that no connection waits for prompts, and few enough to hold in memory.
        most_waiting = max(512, 16 * self._llm.settings.concurrency)
        keys: list[str] = []
        with self._opened:
            while chunk := list(islice(prompts, prompts_at_a_time)):
                keys += self._take_on(chunk)
                while len(self._waiting) > most_waiting:
                    self._wait()
            while self._waiting:
                self._wait()
            if self._batch_sender is not None:
                self._batch_sender.send_rest()
            if self._batch_sender is not None and self._awaited:
                raise RepliesAwaitedError(self._awaited.total(), self._batch_sender.awaited())
        return [self._replies[key] for key in keys]

    def _take_on(self, prompts: Sequence[Prompt]) -> list[str]:
        requests = [request_for(prompt, self._llm.settings) for prompt in prompts]
        new: dict[str, Request] = {}
        for request in requests:
            reply = self._replies.get(request.key)
            if reply is not None:
                self._hand_out(reply, rows=1)
                continue
            if request.key in self._awaited:
                self._awaited[request.key] += 1
                continue
            if request.key not in self._waiting:
                self._llm.settings.refuse_key(request.content)
                new[request.key] = request
            self._waiting[request.key] += 1
        self._look_up(new)
        if new and self._sender is None and self._calls_left != 0:
            self._start_sending()
            # Another run may have asked while this one waited for the store's lock.
            self._look_up(new)
        due = list(new.values())
        n_affordable = len(due) if self._calls_left is None else self._calls_left
        for request in due[n_affordable:]:
            spent = Completion(None, failure=OVER_BUDGET, detail="max_calls is used up")
            self._settle(request.key, spent)
        if self._sender is not None:
            sent = due[:n_affordable]
            self._refuse_awaited(sent)
            self._sender.submit(sent)
            if self._calls_left is not None:
                self._calls_left -= len(sent)
        return [request.key for request in requests]

    def _look_up(self, requests: dict[str, Request]) -> None:
        for key, completion in self._llm.store.look_up(list(requests)).items():
            del requests[key]
            is_collected = self._batch_sender is not None and key in self._batch_sender.collected
            self._usage.collected += is_collected
            self._settle(key, completion, from_store=not is_collected)

    def _start_sending(self) -> None:
        llm = self._llm
        if llm.settings.transport is None:
            for package in ("openai", "aiohttp"):
                if find_spec(package) is None:
                    raise MissingDependencyError("asking LLMs", package, "llm")
        elif llm.settings.batch:
            raise UsageError(
                f"{llm.settings.where} takes no batches; leave {argument('batch')} out"
            )
        self._opened.enter_context(llm.store.asking(llm.settings.model))
        proven = self._usage.from_store > 0
        if not llm.settings.batch:
            self._sender = Sender(llm.settings, llm.store, self._usage, proven)
            self._opened.callback(self._sender.stop)
            return
        from arena.llm.batches.sender import BatchSender

        sender = BatchSender(llm.settings, llm.store, self._usage, proven)
        self._sender = self._batch_sender = sender
        self._opened.callback(sender.stop)
        sender.collect()

    def _refuse_awaited(self, requests: Sequence[Request]) -> None:
        """Refuse to pay again for what is awaited in batches."""
        if self._llm.settings.batch:
            return
        awaited = BatchLedger(self._llm.store).servers([request.key for request in requests])
        if awaited:
            server = next(iter(awaited.values()))
            raise UsageError(
                f"replies to these prompts are awaited in batches at {server}; collect them with "
                f"{argument('batch')}. To ask one by one instead, cancel the batches there and "
                "collect what they brought"
            )

    def _wait(self) -> None:
        if self._sender is None:
            raise RuntimeError("rows wait for a reply, and nothing was sent")
        finished = self._sender.finished.get()
        if isinstance(finished, BaseException):
            raise finished
        key, completion = finished
        if completion is None:
            self._awaited[key] = self._waiting.pop(key)
            self._llm.budget.n_awaited += 1
        else:
            self._settle(key, completion)

    def _settle(self, key: str, completion: Completion, from_store: bool = False) -> None:
        value, reason, detail = self._read(completion)
        reply = Reply(value, reason, detail, key, from_store)
        self._replies[key] = reply
        rows = self._waiting.pop(key)
        self._usage.from_store += from_store
        self._hand_out(reply, rows)

    def _read(self, completion: Completion) -> tuple[T | None, str | None, str]:
        served = completion.served_model
        if served is not None and not is_same_model(self._llm.settings.model, served):
            self._usage.count_other_model(served)
            settings = self._llm.settings
            is_accepted = settings.any_model or names_deployments(settings.base_url)
            if not (is_accepted or is_file_name(served)):
                self._stop_if_hopeless(served)
                return None, OTHER_MODEL, f"{served!r} answered"
        elif completion.is_final:
            self._is_served = True
        if completion.failure is not None:
            return None, completion.failure, completion.detail
        try:
            return self._parse(completion), None, ""
        except UnparsableError as error:
            is_cut = completion.finish_reason == CUT and self._llm.settings.max_tokens != 1
            return None, UNPARSABLE, _why_unparsable(error, completion, is_cut)

    def _stop_if_hopeless(self, served: str) -> None:
        n_of_other_models = sum(self._usage.other_models.values())
        if n_of_other_models < 3 or self._is_served:
            return
        settings = self._llm.settings
        raise UsageError(
            f"{settings.where} answers as {served[:80]!r}, and {settings.model!r} was asked; ask "
            "for the model by that name, or accept any model's replies (any_model = true): the "
            "answers so far are in the store"
        )

    def _hand_out(self, reply: Reply[T], rows: int) -> None:
        if reply.reason is not None:
            self._usage.count_failure(reply.reason, rows, reply.detail)
        self._count(rows)


def _why_unparsable(error: UnparsableError, completion: Completion, is_cut: bool) -> str:
    words = " ".join((completion.text or "").split())
    if len(words) > 160:
        words = f"{words[:80]} … {words[-80:]}"
    cut_off = "; it was cut off: raise max_tokens" if is_cut else ""
    return f"{error}{cut_off}; the reply: {words!r}"
