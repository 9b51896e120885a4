"""Asking a model many prompts: what the store has is not asked again."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from arena.data.errors import UsageError
from arena.llm.replies import FINAL, MALFORMED, REJECTED, Completion
from arena.llm.run import Run, parsed, text_of
from arena.llm.settings import Endpoint, ModelSettings, Prompt, Request
from arena.llm.store_claims import LEASE_S
from arena.llm.store_rows import Result
from arena.llm.transport import Caller, Fault, Gate, open_caller, wait_before_retry
from arena.llm.usage import Usage

if TYPE_CHECKING:
    from arena.llm.store import Store

T = TypeVar("T")


@overload
def complete(
    prompts: Iterable[Prompt],
    settings: ModelSettings,
    *,
    endpoint: Endpoint,
    store: Store,
    parse: None = None,
    max_calls: int | None = None,
    progress: Callable[[Usage], None] | None = None,
) -> Run[str]: ...


@overload
def complete(
    prompts: Iterable[Prompt],
    settings: ModelSettings,
    *,
    endpoint: Endpoint,
    store: Store,
    parse: Callable[[Completion], T],
    max_calls: int | None = None,
    progress: Callable[[Usage], None] | None = None,
) -> Run[T]: ...


def complete(
    prompts: Iterable[Prompt],
    settings: ModelSettings,
    *,
    endpoint: Endpoint,
    store: Store,
    parse: Callable[[Completion], Any] | None = None,
    max_calls: int | None = None,
    progress: Callable[[Usage], None] | None = None,
) -> Run[Any]:
    """Ask a model, and hand out one outcome for each prompt, in their order.

    Prompts are taken some hundreds ahead of the outcome handed out, so memory does not grow with
    their number. Each answer is in the store before it is handed out, and is asked once: by this
    run, by a later one, or by another process with the same store. What failed in passing (see
    ``arena.llm.failures``) is a counted failure after its retries, and a later run tries it again.

    Nothing is sent before the first outcome is taken. To leave early, use the run in a ``with``
    block or ``close`` it: calls under way are waited for and kept.

    Args:
        prompts: What to ask; may be a generator.
        settings: Of which model.
        endpoint: Where.
        store: Where answers are and go.
        parse: Reads a value, which JSON can hold, from an answer, or raises ``UnparsableError``.
            It runs in another thread; None takes the text. Answers of the store are parsed anew.
        max_calls: Most prompts to send; the rest end as ``over_budget``, unless in the store.
        progress: Called with the counts before each outcome.

    Returns:
        An iterator of ``Outcome``; its ``usage`` counts calls, tokens and failures.

    Raises:
        UsageError: From the iterator: if there is no key, or the endpoint says what no further
            call can change (a wrong key, an unknown model, no server at the address).
        MissingDependencyError: From the iterator: if the SDK is not installed and a call is due.
    """
    if max_calls is not None and max_calls < 0:
        raise UsageError(f"max_calls is {max_calls}; give 0 or more, or None for no limit")
    return Run(prompts, settings, endpoint, store, parse or text_of, max_calls, progress)


HOPELESS_AFTER = 3
"""Unusable answers in a row, from the first on, after which the request itself must be wrong."""


class Asker:
    """Makes the calls of one run to one endpoint, for any number of workers.

    Attributes:
        usage: Where calls, retries and tokens are counted.
        stopping: When set, no further call is sent.
        proven: Whether this endpoint has answered such a request before.
    """

    def __init__(
        self, caller: Caller, usage: Usage, stopping: asyncio.Event, proven: bool = False
    ) -> None:
        self.usage = usage
        self.stopping = stopping
        self.proven = proven
        self._caller = caller
        self._gate = Gate()
        self._unusable = 0

    async def ask(self, body: bytes) -> tuple[Completion | Fault, int] | None:
        """Send a request, and send it again after what may pass.

        Returns:
            The answer or the last fault, and the number of calls; None if stopped before the first.

        Raises:
            UsageError: If no call can succeed before the user has fixed something.
        """
        tries = 0
        last: Fault | None = None
        while await self._may_call():
            tries += 1
            self.usage.calls += 1
            self.usage.retries += tries > 1
            answer = await self._caller.call(body)
            if isinstance(answer, Completion):
                self.proven = True
                self.usage.count_tokens(answer.tokens_in, answer.tokens_out)
                return answer, tries
            last = answer
            self._stop_if_fatal(last)
            if not await self._wait(last, tries - 1):
                break
        if last is None:
            return None
        self._stop_if_hopeless(last)
        return last, tries

    async def _may_call(self) -> bool:
        while not self.stopping.is_set() and (held := self._gate.remaining_s()) > 0:
            await self._sleep(held)
        return not self.stopping.is_set()

    async def _wait(self, fault: Fault, retries_made: int) -> bool:
        """Wait for the next try; False if there is to be none."""
        if not fault.again:
            return False
        wait = wait_before_retry(self._caller.endpoint, retries_made, fault.asked_wait_s)
        if wait is None:
            return False
        if fault.asked_wait_s:
            self._gate.close_for(fault.asked_wait_s)
        await self._sleep(wait)
        return True

    async def _sleep(self, seconds: float) -> None:
        """Sleep, unless stopped."""
        try:
            async with asyncio.timeout(seconds):
                await self.stopping.wait()
        except TimeoutError:
            return

    def _stop_if_fatal(self, fault: Fault) -> None:
        if fault.advice is not None and (fault.answered or not self._caller.reached):
            raise self._error(fault, fault.advice)

    def _stop_if_hopeless(self, fault: Fault) -> None:
        if fault.reason not in (REJECTED, MALFORMED):
            self.proven = self.proven or not fault.again
            return
        self._unusable += not self.proven
        if not self.proven and self._unusable >= HOPELESS_AFTER:
            raise self._error(fault, "no call has succeeded; check the model's settings")

    def _error(self, fault: Fault, advice: str) -> UsageError:
        endpoint = self._caller.endpoint
        return UsageError(
            f"{endpoint.base_url} cannot be used with the model {self.usage.model}: "
            f"{fault.detail}; {advice}"
        )


if TYPE_CHECKING:
    from arena.llm.store import Store


_FEW_CONNECTIONS = 16
_CONNECTIONS_PER_UNWRITTEN = 8


@dataclass(slots=True)
class Answered(Generic[T]):
    """A result that is in the store by now, with the value read from it."""

    result: Result
    value: T | None


class _Batch(Generic[T]):
    """Results that are written together; ``written`` is done when they are, or cannot be."""

    def __init__(self) -> None:
        self.answered: list[Answered[T]] = []
        self.written: asyncio.Future[None] = asyncio.get_running_loop().create_future()


class Crew(Generic[T]):
    """Answers requests in the background, and writes each result as it arrives.

    A worker waits for its result to be written before it asks again, so that a process that is
    killed loses the calls under way at most. With 16 connections or more, one result for every
    8 connections may be on its way to the store while its worker goes on.

    Attributes:
        finished: What is written, in batches; or the error that stopped the crew.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        store: Store,
        owner: str,
        parse: Callable[[Completion], T],
        usage: Usage,
        proven: bool,
    ) -> None:
        self.finished: SimpleQueue[list[Answered[T]] | BaseException] = SimpleQueue()
        self._endpoint = endpoint
        self._api_key = endpoint.api_key()
        self._store = store
        self._owner = owner
        self._parse = parse
        self._usage = usage
        self._proven = proven
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, name="arena-llm", daemon=True)
        self._thread.start()
        self._started.wait()

    def submit(self, requests: Sequence[Request]) -> None:
        """Take on requests that the store has given to this run."""
        self._on_loop(partial(self._take_on, requests))

    def stop(self) -> None:
        """Send no further call, wait for those under way, and write what they bring.

        An interrupt (Ctrl-C) while waiting drops the calls under way.
        """
        self._on_loop(self._stop)
        try:
            self._thread.join()
        except KeyboardInterrupt:
            self._on_loop(self._drop)
            self._thread.join()
            raise

    def _on_loop(self, action: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended; `finished` says why
            self._loop.call_soon_threadsafe(action)

    def _run(self) -> None:
        try:
            asyncio.run(self._main())
        except asyncio.CancelledError:
            return
        except BaseException as error:  # for the thread that waits for results
            self.finished.put(error)
        finally:
            self._started.set()

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: asyncio.Queue[Request | None] = asyncio.Queue()
        self._stopping = asyncio.Event()
        self._filled = asyncio.Event()
        self._batch: _Batch[T] = _Batch()
        self._last_batch = False
        self._unwritten = 0
        self._most_unwritten = _most_unwritten(self._endpoint.concurrency)
        self._workers: list[asyncio.Task[None]] = []
        async with open_caller(self._endpoint, self._api_key) as caller:
            asker = Asker(caller, self._usage, self._stopping, self._proven)
            self._workers = [
                asyncio.create_task(self._work(asker)) for _ in range(self._endpoint.concurrency)
            ]
            writer = asyncio.create_task(self._write_batches())
            alive = asyncio.create_task(self._stay_alive())
            self._started.set()
            await asyncio.gather(*self._workers, return_exceptions=True)
            self._last_batch = True
            self._filled.set()
            await writer
            alive.cancel()

    def _take_on(self, requests: Sequence[Request]) -> None:
        for request in requests:
            self._waiting.put_nowait(request)

    def _stop(self) -> None:
        self._stopping.set()
        for _ in self._workers:
            self._waiting.put_nowait(None)  # wakes those who wait for work

    def _drop(self) -> None:
        for worker in self._workers:
            worker.cancel()

    def _fail(self, error: BaseException) -> None:
        if not self._stopping.is_set():
            self.finished.put(error)
            self._stop()

    async def _work(self, asker: Asker) -> None:
        while (request := await self._waiting.get()) is not None and not self._stopping.is_set():
            try:
                await self._answer(asker, request)
            except Exception as error:
                self._fail(error)

    async def _answer(self, asker: Asker, request: Request) -> None:
        asked = await asker.ask(request.body())
        if asked is None:
            return
        result = _result(request, *asked)
        try:
            result, value = parsed(result, self._parse)
        except Exception:
            await self._write(Answered(result, None))  # it is paid for
            raise
        await self._write(Answered(result, value))

    async def _write(self, answered: Answered[T]) -> None:
        """Hand a result over to be written; where many are waiting, until it is."""
        batch = self._batch
        batch.answered.append(answered)
        self._unwritten += 1
        self._filled.set()
        if self._unwritten > self._most_unwritten:
            await asyncio.shield(batch.written)

    async def _write_batches(self) -> None:
        while not self._last_batch or self._batch.answered:
            await self._filled.wait()
            self._filled.clear()
            if self._batch.answered:
                await self._write_batch()

    async def _write_batch(self) -> None:
        batch, self._batch = self._batch, _Batch()
        results = [each.result for each in batch.answered]
        try:
            await asyncio.to_thread(self._store.save, self._owner, results)
        except Exception as error:
            self._fail(error)
        else:
            self.finished.put(batch.answered)
        self._unwritten -= len(results)
        batch.written.set_result(None)

    async def _stay_alive(self) -> None:
        while True:
            await asyncio.sleep(LEASE_S / 3)
            try:
                await asyncio.to_thread(self._store.renew, self._owner)
            except Exception as error:
                self._fail(error)


def _most_unwritten(concurrency: int) -> int:
    """How many results may wait to be written while their workers go on."""
    return 0 if concurrency < _FEW_CONNECTIONS else concurrency // _CONNECTIONS_PER_UNWRITTEN


def _result(request: Request, answer: Completion | Fault, tries: int) -> Result:
    if isinstance(answer, Fault):
        final = answer.reason in FINAL
        completion = Completion(text=None, failure=answer.reason) if final else None
        return Result(request.key, completion, answer.reason, answer.detail, tries=tries)
    return Result(request.key, answer, answer.failure, tries=tries)
