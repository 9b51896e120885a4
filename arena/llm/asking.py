"""Asking until there is an answer, the retries are used up, or it makes no sense to go on."""

from __future__ import annotations

import asyncio

from arena.errors import UsageError
from arena.llm.completions import Completion
from arena.llm.failures import MALFORMED, REJECTED
from arena.llm.faults import Fault
from arena.llm.retries import Gate, wait_before_retry
from arena.llm.transport import Caller
from arena.llm.usage import Usage

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
            UsageError: If no call can succeed before the user has mended something.
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
