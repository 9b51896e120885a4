"""One call to an endpoint by the openai SDK, without retries."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import openai

from arena.llm.completions import Completion, MalformedAnswerError, read_completion
from arena.llm.faults import Fault, fault_of
from arena.llm.http_client import open_http_client
from arena.llm.settings import Endpoint


class Caller:
    """Sends requests to one endpoint.

    Attributes:
        endpoint: Where they go.
        reached: Whether a server has answered yet, be it with an error.
    """

    def __init__(self, client: openai.AsyncOpenAI, endpoint: Endpoint, api_key: str) -> None:
        self.endpoint = endpoint
        self.reached = False
        self._client = client
        self._api_key = api_key

    async def call(self, body: bytes) -> Completion | Fault:
        """Send one request, which is JSON, and read the answer."""
        try:
            completion = await self._call(body)
        except Exception as error:  # fault_of raises again what it does not know
            fault = fault_of(error, self._api_key)
            self.reached = self.reached or fault.answered
            return fault
        self.reached = True
        return completion

    async def _call(self, body: bytes) -> Completion:
        started = time.perf_counter()
        async with asyncio.timeout(self.endpoint.timeout_s):
            # Not chat.completions.create: its typed models take longer than all else together,
            # and drop fields that gateways send instead of an answer.
            payload = await self._client.post("/chat/completions", cast_to=object, content=body)
        if isinstance(payload, str):
            raise MalformedAnswerError("the answer is no JSON; check where base_url leads")
        return read_completion(payload, time.perf_counter() - started)


@asynccontextmanager
async def open_caller(endpoint: Endpoint, api_key: str) -> AsyncIterator[Caller]:
    """Open the connections to an endpoint."""
    async with openai.AsyncOpenAI(
        api_key=api_key,
        base_url=endpoint.base_url,
        timeout=endpoint.timeout_s,
        max_retries=0,  # ours are counted
        http_client=open_http_client(endpoint.concurrency),
    ) as client:
        yield Caller(client, endpoint, api_key)
