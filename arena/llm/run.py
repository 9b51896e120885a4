"""The prompts under way, in order; equal prompts share one slot."""

from __future__ import annotations

import importlib.util
import json
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from queue import Empty
from typing import TYPE_CHECKING, Generic, TypeVar

from arena.data.errors import MissingDependencyError, UsageError
from arena.llm.replies import OVER_BUDGET, UNPARSABLE, Completion, Outcome, UnparsableError
from arena.llm.settings import Endpoint, ModelSettings, Prompt, Request, request_for
from arena.llm.store_rows import Result
from arena.llm.usage import Usage

T = TypeVar("T")


@dataclass(slots=True)
class Slot(Generic[T]):
    """A request and, once it has ended, how.

    Attributes:
        users: Prompts in the window that share it.
        shared: Whether one of them has been handed out.
        result: How it ended; None while under way.
        value: What was read from the answer.
        from_store: Whether the result was in the store.
    """

    request: Request
    users: int = 0
    shared: bool = False
    result: Result | None = None
    value: T | None = None
    from_store: bool = False


class Window(Generic[T]):
    """Prompts from the oldest that is not handed out to the newest that is taken on."""

    def __init__(self) -> None:
        self._order: deque[tuple[Prompt, Slot[T]]] = deque()
        self._slots: dict[str, Slot[T]] = {}

    def __len__(self) -> int:
        return len(self._order)

    def add(self, prompt: Prompt, request: Request) -> bool:
        """Append a prompt; False if its request is in the window already."""
        slot = self._slots.get(request.key)
        new = slot is None
        if slot is None:
            slot = self._slots[request.key] = Slot(request)
        slot.users += 1
        self._order.append((prompt, slot))
        return new

    def settle(self, result: Result, value: T | None, from_store: bool) -> None:
        """Note how a request ended."""
        slot = self._slots[result.key]
        slot.result, slot.value, slot.from_store = result, value, from_store

    def head_is_settled(self) -> bool:
        """Tell whether the oldest prompt has ended."""
        return self._order[0][1].result is not None

    def pop(self) -> tuple[Prompt, Slot[T]]:
        """Take out the oldest prompt, with its slot."""
        prompt, slot = self._order.popleft()
        slot.users -= 1
        if slot.users == 0:
            del self._slots[slot.request.key]
        return prompt, slot


def text_of(completion: Completion) -> str:
    """Take the text as it is: the parser where none is given."""
    return completion.text or ""


def parsed(result: Result, parse: Callable[[Completion], T]) -> tuple[Result, T | None]:
    """Read the value from a result, whatever an earlier parser read from it.

    Returns:
        The result with the value as JSON, or with the failure; and the value.

    Raises:
        UsageError: If the value cannot be written as JSON.
    """
    completion = result.completion
    if completion is None or completion.failure is not None:
        return result, None
    try:
        value = parse(completion)
    except UnparsableError as error:
        failed = replace(result, failure=UNPARSABLE, detail=str(error), parsed=None)
        return failed, None
    return replace(result, failure=None, detail="", parsed=_json(value)), value


def _json(value: object) -> str:
    try:
        return json.dumps(value, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"parse returned what JSON cannot hold ({error}); return plain values"
        ) from error


if TYPE_CHECKING:
    from arena.llm.client import Crew
    from arena.llm.store import Store


PROMPTS_AT_A_TIME = 64
LEAST_AHEAD = 512
AHEAD_PER_CONNECTION = 16

_LOOK_AGAIN_S = 0.25
_INTERRUPTIBLE_S = 1.0


class Run(Generic[T]):
    """An iterator over outcomes, in the order of the prompts; see ``complete``.

    Attributes:
        usage: What was asked and used so far.
    """

    def __init__(
        self,
        prompts: Iterable[Prompt],
        settings: ModelSettings,
        endpoint: Endpoint,
        store: Store,
        parse: Callable[[Completion], T],
        max_calls: int | None = None,
        progress: Callable[[Usage], None] | None = None,
    ) -> None:
        self.usage = Usage(settings.model)
        self._prompts = iter(prompts)
        self._settings = settings
        self._endpoint = endpoint
        self._store = store
        self._parse = parse
        self._calls_left = max_calls
        self._progress = progress
        self._ahead = max(LEAST_AHEAD, AHEAD_PER_CONNECTION * endpoint.concurrency)
        self._window: Window[T] = Window()
        self._busy: dict[str, Request] = {}
        self._look_again_at = 0.0
        self._answered_before = False
        self._owner = ""
        self._crew: Crew[T] | None = None
        self._outcomes = self._run()

    def __iter__(self) -> Iterator[Outcome[T]]:
        return self

    def __next__(self) -> Outcome[T]:
        return next(self._outcomes)

    def __enter__(self) -> Run[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Send no further call, wait for those under way, and keep what they bring."""
        self._outcomes.close()

    def _run(self) -> Generator[Outcome[T], None, None]:
        self._owner = self._store.enter()
        try:
            self._fill()
            while self._window:
                while not self._window.head_is_settled():
                    self._wait()
                yield self._hand_out()
                self._fill()
        finally:
            self._leave()

    def _leave(self) -> None:
        try:
            if self._crew is not None:
                self._crew.stop()
        finally:
            self._store.leave(self._owner)

    def _fill(self) -> None:
        """Take on further prompts, while there is room for many at once."""
        while len(self._window) <= self._ahead - PROMPTS_AT_A_TIME:
            chunk = list(islice(self._prompts, PROMPTS_AT_A_TIME))
            if not chunk:
                return
            asked = [(prompt, request_for(prompt, self._settings)) for prompt in chunk]
            new = [request for prompt, request in asked if self._window.add(prompt, request)]
            self._claim(self._within_budget(new))

    def _within_budget(self, requests: Sequence[Request]) -> Sequence[Request]:
        """Leave out, and settle, what would need more calls than there may be."""
        if self._calls_left is None:
            return requests
        answered = self._store.look_up([request.key for request in requests])
        unanswered = [request for request in requests if request.key not in answered]
        for request in unanswered[self._calls_left :]:
            unasked = Result(request.key, None, OVER_BUDGET, "max_calls is used up")
            self._window.settle(unasked, None, from_store=False)
        affordable = unanswered[: self._calls_left]
        self._calls_left -= len(affordable)
        keys = {request.key for request in affordable} | set(answered)
        return [request for request in requests if request.key in keys]

    def _claim(self, requests: Sequence[Request]) -> None:
        """Settle what is answered, hand the crew what is ours, and note what others are at."""
        if not requests:
            return
        claims = self._store.claim(self._owner, requests, self._settings.model)
        mine, changed = [], []
        for request in requests:
            claim = claims[request.key]
            if claim.state == "busy":
                self._busy[request.key] = request
                continue
            self._busy.pop(request.key, None)
            if claim.result is None:
                mine.append(request)
            else:
                changed += self._settle_again(claim.result, from_store=claim.state == "done")
        self._store.save_parsed(changed)
        self._submit(mine)

    def _settle_again(self, stored: Result, from_store: bool) -> list[Result]:
        """Settle by a result that is there; returns it if this parser reads it otherwise."""
        result, value = parsed(stored, self._parse)
        self._window.settle(result, value, from_store)
        self._answered_before = self._answered_before or from_store
        return [] if result == stored else [result]

    def _submit(self, requests: Sequence[Request]) -> None:
        if not requests:
            return
        if self._crew is None:
            self._crew = self._start_crew()
        self._crew.submit(requests)

    def _start_crew(self) -> Crew[T]:
        for package in ("openai", "aiohttp"):
            if importlib.util.find_spec(package) is None:
                raise MissingDependencyError("asking LLMs", package, "llm")
        from arena.llm.client import Crew

        return Crew(
            self._endpoint,
            self._store,
            self._owner,
            self._parse,
            self.usage,
            proven=self._answered_before,
        )

    def _wait(self) -> None:
        """Wait for results: of the crew, and of other runs."""
        if self._crew is None:
            time.sleep(_LOOK_AGAIN_S)
        else:
            self._receive(self._crew)
        if self._busy and time.monotonic() >= self._look_again_at:
            self._claim(list(self._busy.values()))
            self._look_again_at = time.monotonic() + _LOOK_AGAIN_S

    def _receive(self, crew: Crew[T]) -> None:
        try:
            finished = crew.finished.get(timeout=_LOOK_AGAIN_S if self._busy else _INTERRUPTIBLE_S)
        except Empty:
            return
        if isinstance(finished, BaseException):
            raise finished
        for answered in finished:
            self._window.settle(answered.result, answered.value, from_store=False)

    def _hand_out(self) -> Outcome[T]:
        prompt, slot = self._window.pop()
        usage, result = self.usage, slot.result
        if result is None:
            raise AssertionError("a slot was handed out before it was settled")
        usage.prompts += 1
        usage.repeated += slot.shared
        usage.from_store += slot.from_store and not slot.shared
        slot.shared = True
        if result.failure is not None:
            usage.count_failure(result.failure)
        if self._progress is not None:
            self._progress(usage)
        return Outcome(
            prompt,
            result.key,
            result.completion,
            slot.value,
            result.failure,
            result.detail,
            slot.from_store,
        )
