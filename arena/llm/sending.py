"""Sending requests, several at the same time, and again after what may pass."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Sequence
from concurrent.futures import Future, wait
from queue import SimpleQueue
from threading import Thread
from typing import Protocol

from arena.llm.llm_settings import LlmSettings
from arena.llm.prospects import Prospects
from arena.llm.replies import BROKEN_OFF, Completion, Fault
from arena.llm.requests import Request
from arena.llm.store import Store
from arena.llm.usage import Usage

LONGEST_WAIT_S = 60.0
"""If a server asks to wait for longer, the call fails."""
MOST_BROKEN = 3
"""Maximum number of tries of a prompt whose answers are broken off: each may be paid for."""


class Transport(Protocol):
    """Sends each request once."""

    async def call(self, request: Request) -> Completion | Fault:
        """Send one request, and read the answer."""

    async def close(self) -> None:
        """Close connections."""


def _open_transport(settings: LlmSettings) -> Transport:
    if settings.transport is not None:
        return settings.transport  # type: ignore[no-any-return]
    from arena.llm.transport import ServerTransport

    return ServerTransport(settings)


class Sender:
    """Sends requests in a thread, and writes results as they arrive.

    A killed process loses the calls under way at most.
    """

    def __init__(self, settings: LlmSettings, store: Store, usage: Usage, proven: bool) -> None:
        """Open the connections; ``proven`` if the model answered before."""
        self.finished: SimpleQueue[tuple[str, Completion | None] | BaseException] = SimpleQueue()
        self._settings = settings
        self._store = store
        self._usage = usage
        self._prospects = Prospects(settings, proven)
        self._closed_until = 0.0
        self._calls: set[Future[None]] = set()
        settings.api_key()  # before a thread begins
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="arena-llm", daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result()

    def submit(self, requests: Sequence[Request]) -> None:
        """Take on requests."""
        for request in requests:
            call = asyncio.run_coroutine_threadsafe(self._settle(request), self._loop)
            self._calls.add(call)
            call.add_done_callback(self._calls.discard)

    def stop(self) -> None:
        """Wait for calls under way; Ctrl-C drops them."""
        self._loop.call_soon_threadsafe(self._stopping.set)
        try:
            wait(list(self._calls))
        finally:
            for call in list(self._calls):
                call.cancel()
            asyncio.run_coroutine_threadsafe(self._transport.close(), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _open(self) -> None:
        self._stopping = asyncio.Event()
        self._slots = asyncio.Semaphore(self._settings.concurrency)
        self._transport = _open_transport(self._settings)

    async def _settle(self, request: Request) -> None:
        async with self._slots:
            try:
                tries, completion = await self._send(request)
                if completion is not None:
                    await asyncio.to_thread(self._store.save, request, completion, tries)
                    self.finished.put((request.key, completion))
            except Exception as error:  # for the thread that waits for results
                self._stopping.set()
                self.finished.put(error)

    async def _send(self, request: Request) -> tuple[int, Completion | None]:
        tries = 0
        fault = None
        while tries <= self._settings.retries:
            await self._pause(self._closed_until - time.monotonic())
            if self._stopping.is_set():
                break
            tries += 1
            self._usage.calls += 1
            self._usage.retries += tries > 1
            answer = await self._transport.call(request)
            if isinstance(answer, Completion):
                self._prospects.count_answered()
                self._usage.count_tokens(answer.tokens_in, answer.tokens_out)
                if answer.is_final:
                    return tries, answer
                fault = Fault(answer.failure or BROKEN_OFF, answer.detail, again=True, is_paid=True)
            else:
                fault = answer
            self._prospects.check_fault(fault)
            if not fault.again or fault.asked_wait_s > LONGEST_WAIT_S:
                break
            if fault.is_paid and tries >= MOST_BROKEN:
                break
            if tries <= self._settings.retries:
                # Each further wait is twice as long.
                first_wait_s = 0.5
                backoff = min(LONGEST_WAIT_S, first_wait_s * 2.0 ** (tries - 1))
                # Servers limit all calls together, so all of them wait.
                open_again = time.monotonic() + fault.asked_wait_s
                self._closed_until = max(self._closed_until, open_again)
                await self._pause(max(backoff, fault.asked_wait_s) * random.uniform(1.0, 1.1))  # noqa: S311
        if fault is None:
            return tries, None
        self._prospects.count_failed(fault)
        return tries, Completion(None, failure=fault.reason, detail=fault.detail)

    async def _pause(self, seconds: float) -> None:
        if seconds > 0:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), seconds)
