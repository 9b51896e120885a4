"""One call to an endpoint by the openai SDK, without retries."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import httpx2
import openai

from arena.llm.completions import Completion, MalformedAnswerError, read_completion
from arena.llm.faults import Fault, fault_of, status_fault
from arena.llm.http_client import Answer, DirectClient, open_http_client
from arena.llm.settings import Endpoint


class Caller:
    """Sends requests to one endpoint.

    Attributes:
        endpoint: Where they go.
        reached: Whether a server has answered yet, be it with an error.
    """

    def __init__(
        self,
        client: openai.AsyncOpenAI,
        direct: DirectClient | None,
        endpoint: Endpoint,
        api_key: str,
    ) -> None:
        self.endpoint = endpoint
        self.reached = False
        self._client = client
        self._direct = direct
        self._api_key = api_key

    async def call(self, body: bytes) -> Completion | Fault:
        """Send one request, which is JSON, and read the answer."""
        started = time.perf_counter()
        try:
            async with asyncio.timeout(self.endpoint.timeout_s):
                answer = await self._send(body)
            self.reached = True
            if not 200 <= answer.status < 300:
                return status_fault(answer, self._api_key)
            return read_completion(_json(answer), time.perf_counter() - started)
        except Exception as error:  # fault_of raises again what it does not know
            return fault_of(error, self._api_key)

    async def _send(self, body: bytes) -> Answer:
        if self._direct is not None:
            answer = await self._direct.send_like(body)
            if answer is not None:
                return answer
        try:
            response = await _post(self._client, body)
        except openai.APIStatusError as error:
            response = error.response
        return Answer(response.status_code, response.headers, response.content)


async def _post(client: openai.AsyncOpenAI, body: bytes) -> httpx2.Response:
    # Not chat.completions.create: its typed models take longer than all else together, and drop
    # fields that gateways send instead of an answer.
    return await client.post("/chat/completions", cast_to=httpx2.Response, content=body)


def _json(answer: Answer) -> object:
    try:
        return json.loads(answer.content)
    except (ValueError, RecursionError):
        if "json" in answer.headers.get("content-type", ""):
            raise MalformedAnswerError("the answer is not whole JSON") from None
        raise MalformedAnswerError("the answer is no JSON; check where base_url leads") from None


@asynccontextmanager
async def open_caller(endpoint: Endpoint, api_key: str) -> AsyncIterator[Caller]:
    """Open the connections to an endpoint."""
    http_client = open_http_client(endpoint.concurrency)
    async with openai.AsyncOpenAI(
        api_key=api_key,
        base_url=endpoint.base_url,
        timeout=endpoint.timeout_s,
        max_retries=0,  # ours are counted
        http_client=http_client,
    ) as client:
        direct = http_client if isinstance(http_client, DirectClient) else None
        if direct is not None:
            await direct.rehearse(partial(_post, client, b""))
        yield Caller(client, direct, endpoint, api_key)
