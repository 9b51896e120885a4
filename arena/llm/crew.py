"""Workers on an event loop in a thread of its own, so that Jupyter's loop does not matter."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Generic, TypeVar

from arena.llm.asking import Asker
from arena.llm.completions import Completion
from arena.llm.failures import FINAL
from arena.llm.faults import Fault
from arena.llm.owners import LEASE_S
from arena.llm.parsing import parsed
from arena.llm.prompts import Request
from arena.llm.settings import Endpoint
from arena.llm.store_rows import Result
from arena.llm.transport import open_caller
from arena.llm.usage import Usage

if TYPE_CHECKING:
    from arena.llm.store import Store

T = TypeVar("T")

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
