"""A pool of workers that send requests, send them again after what may pass, and keep results."""

from __future__ import annotations

import asyncio
import contextlib
import random
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from queue import SimpleQueue
from typing import Protocol

from arena.data.errors import UsageError
from arena.llm.replies import FINAL, MALFORMED, REJECTED, Completion, Fault
from arena.llm.settings import LlmSettings, Request
from arena.llm.store import Result, Store
from arena.llm.usage import Usage

HOPELESS_AFTER = 3
"""Unusable answers in a row, from the first on, after which the request itself must be wrong."""

_JITTER = random.Random()  # noqa: S311  (spreads waits; no result depends on it)


def wait_before_retry(
    settings: LlmSettings, retries_made: int, asked_s: float | None
) -> float | None:
    """Choose how long to wait before the next try.

    Args:
        settings: Say how many retries there are and how long to wait.
        retries_made: Retries so far.
        asked_s: What the server asks for, in seconds, if it does.

    Returns:
        Seconds to wait; None if there is to be no further try.
    """
    if retries_made >= settings.retries:
        return None
    if asked_s is not None and asked_s > settings.longest_wait_s:
        return None
    backoff = min(settings.longest_wait_s, settings.backoff_s * 2.0**retries_made)
    spread = _JITTER.random()
    return max(backoff * (0.5 + 0.5 * spread), (asked_s or 0.0) + 0.1 * backoff * spread)


class Transport(Protocol):
    """Sends each request once."""

    settings: LlmSettings
    reached: bool

    async def call(self, request: Request) -> Completion | Fault:
        """Send one request, and read the answer."""


def open_transport(settings: LlmSettings, api_key: str) -> AbstractAsyncContextManager[Transport]:
    """Open a model on this machine, or the connections to a server."""
    if settings.local:
        from arena.llm.local.transport import open_local

        return open_local(settings)
    from arena.llm.transport import open_server

    return open_server(settings, api_key)


class Retrier:
    """Sends requests to one server for any number of workers, which wait as one if it asks to.

    Attributes:
        usage: Where calls, retries and tokens are counted.
        stopping: When set, no further call is sent.
        proven: Whether this server has answered such a request before.
    """

    def __init__(
        self, transport: Transport, usage: Usage, stopping: asyncio.Event, proven: bool = False
    ) -> None:
        self.usage = usage
        self.stopping = stopping
        self.proven = proven
        self._transport = transport
        self._closed_until = 0.0
        self._unusable = 0

    async def send(self, request: Request) -> Result | None:
        """Send a request, and send it again after what may pass.

        Returns:
            The answer or the last fault; None if stopped before the first call.

        Raises:
            UsageError: If no call can succeed before the user has changed something.
        """
        tries = 0
        fault: Fault | None = None
        while await self._may_call():
            tries += 1
            self.usage.calls += 1
            self.usage.retries += tries > 1
            answer = await self._transport.call(request)
            if isinstance(answer, Completion):
                self.proven = True
                self.usage.count_tokens(answer.tokens_in, answer.tokens_out)
                return Result(request.key, answer, answer.failure, tries=tries)
            fault = answer
            self._stop_if_fatal(fault)
            if not await self._wait(fault, tries - 1):
                break
        if fault is None:
            return None
        self._stop_if_hopeless(fault)
        completion = Completion(None, failure=fault.reason) if fault.reason in FINAL else None
        return Result(request.key, completion, fault.reason, fault.detail, tries)

    async def _may_call(self) -> bool:
        while not self.stopping.is_set() and (wait := self._closed_until - time.monotonic()) > 0:
            await self._sleep(wait)
        return not self.stopping.is_set()

    async def _wait(self, fault: Fault, retries_made: int) -> bool:
        """Wait for the next try; False if there is to be none."""
        if not fault.again:
            return False
        wait = wait_before_retry(self._transport.settings, retries_made, fault.asked_wait_s)
        if wait is None:
            return False
        if fault.asked_wait_s:
            self._closed_until = max(self._closed_until, time.monotonic() + fault.asked_wait_s)
        await self._sleep(wait)
        return True

    async def _sleep(self, seconds: float) -> None:
        """Sleep, unless stopped."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.stopping.wait()

    def _stop_if_fatal(self, fault: Fault) -> None:
        if fault.advice is not None and (fault.answered or not self._transport.reached):
            raise self._error(fault, fault.advice)

    def _stop_if_hopeless(self, fault: Fault) -> None:
        if fault.reason not in (REJECTED, MALFORMED):
            self.proven = self.proven or not fault.again
            return
        self._unusable += not self.proven
        if not self.proven and self._unusable >= HOPELESS_AFTER:
            raise self._error(fault, "no call has succeeded; check the model's settings")

    def _error(self, fault: Fault, advice: str) -> UsageError:
        return UsageError(
            f"{self._transport.settings.where} cannot be used with the model "
            f"{self.usage.model}: {fault.detail}; {advice}"
        )


class WorkerPool:
    """Sends requests in a thread of its own, and writes each result as it arrives.

    A worker waits for its result to be written before it takes the next request, so that a
    process that is killed loses the calls under way at most.

    Attributes:
        finished: Results that are in the store; or the error that stopped the pool.
    """

    def __init__(
        self, settings: LlmSettings, store: Store, run_id: str, usage: Usage, proven: bool
    ) -> None:
        self.finished: SimpleQueue[Result | BaseException] = SimpleQueue()
        self._settings = settings
        self._api_key = settings.api_key()
        self._store = store
        self._run_id = run_id
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
        self._workers: list[asyncio.Task[None]] = []
        async with open_transport(self._settings, self._api_key) as transport:
            retrier = Retrier(transport, self._usage, self._stopping, self._proven)
            self._workers = [
                asyncio.create_task(self._work(retrier)) for _ in range(self._settings.concurrency)
            ]
            self._started.set()
            await asyncio.gather(*self._workers, return_exceptions=True)

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

    async def _work(self, retrier: Retrier) -> None:
        while (request := await self._waiting.get()) is not None and not self._stopping.is_set():
            try:
                result = await retrier.send(request)
                if result is not None:
                    await asyncio.to_thread(self._store.save, self._run_id, [result])
                    self.finished.put(result)
            except Exception as error:
                self._fail(error)
