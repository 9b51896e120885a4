"""Sending one request by the OpenAI client over aiohttp, and explaining failures."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping

import aiohttp
import httpx2
import openai

from arena.llm import replies
from arena.llm.answers import read_answer
from arena.llm.completions import MalformedAnswerError
from arena.llm.llm_settings import LlmSettings
from arena.llm.replies import Completion, Fault, shown_detail
from arena.llm.requests import Request
from arena.llm.server_errors import ReportedError, reported, reported_error

MOST_BYTES = 32 * 2**20
"""Most bytes of an answer that are read."""
PLAIN = "identity"
"""How answers are asked for: not compressed, so that none grows beyond the bound as it is read."""


class ServerTransport:
    """Sends requests to one server, each once."""

    def __init__(self, settings: LlmSettings) -> None:
        self._settings = settings
        self._api_key = settings.api_key()
        self._was_reached = False
        self._client = openai.AsyncOpenAI(
            api_key=self._api_key,
            base_url=settings.base_url,
            timeout=settings.timeout_s,
            max_retries=0,  # ours are counted, and wait as one for a server that asks to
            default_headers={"accept-encoding": PLAIN},
            http_client=openai.DefaultAioHttpClient(
                event_hooks={"response": [_bound]}, follow_redirects=False
            ),
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def call(self, request: Request) -> Completion | Fault:
        """Send one request, and read the answer, within ``timeout_s``."""
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                response = await self._post(request)
            self._was_reached = True
            return self._read(response, request)
        except MalformedAnswerError as error:
            return Fault(replies.MALFORMED, shown_detail(str(error), self._api_key), again=True)
        except (openai.APIConnectionError, httpx2.RequestError, OSError) as error:
            return self._connection_fault(error)
        except Exception as error:  # of a library, on what a server sent: no reason to end a run
            detail = shown_detail(f"{type(error).__name__}: {error}", self._api_key)
            return Fault(replies.MALFORMED, detail, again=True)

    async def _post(self, request: Request) -> httpx2.Response:
        # Not chat.completions.create: its models drop fields that gateways send for an answer.
        try:
            return await self._client.post(
                request.path, cast_to=httpx2.Response, content=request.body.encode()
            )
        except openai.APIStatusError as error:
            return error.response

    def _read(self, response: httpx2.Response, request: Request) -> Completion | Fault:
        status = response.status_code
        if 300 <= status < 400:
            return _redirect_fault(response.headers, self._api_key)
        payload: object = None
        report: ReportedError | None
        if not response.is_success:
            report = reported(status, response.content.decode(errors="replace").strip())
        else:
            payload = _payload(response)
            report = reported_error(payload)
        return read_answer(request, payload, report, response.headers, self._api_key)

    def _connection_fault(self, error: Exception) -> Fault:
        causes: list[BaseException] = [error]
        while causes[-1].__cause__ is not None:
            causes.append(causes[-1].__cause__)
        cause = causes[-1]
        detail = shown_detail(str(cause) or type(cause).__name__, self._api_key)
        if isinstance(cause, MalformedAnswerError):
            return Fault(replies.MALFORMED, detail, again=True)
        if any(isinstance(error, aiohttp.ClientConnectorError) for error in causes):
            # A server that has answered before may be restarting: that is no reason to stop.
            advice = None
            if not self._was_reached:
                advice = "nothing answers there; start the server, or correct base_url"
            return Fault(replies.CONNECTION, detail, again=True, advice=advice)
        if any(isinstance(error, TimeoutError) for error in causes):
            return Fault(replies.TIMEOUT, "no answer in time", again=True)
        return Fault(replies.CONNECTION, detail, again=True)


async def _bound(response: httpx2.Response) -> None:
    packed = response.headers.get("content-encoding", PLAIN).strip().lower()
    if packed != PLAIN:
        raise MalformedAnswerError(f"the answer is compressed as {packed}, which was not requested")
    response.stream = _Bounded(response.stream)


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.SyncByteStream | httpx2.AsyncByteStream) -> None:
        if not isinstance(stream, httpx2.AsyncByteStream):
            raise TypeError("an asynchronous client has asynchronous streams")
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._stream:
            size += len(part)
            if size > MOST_BYTES:
                raise MalformedAnswerError(f"the answer is longer than {MOST_BYTES} bytes")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


def _redirect_fault(headers: Mapping[str, str], api_key: str) -> Fault:
    """Return a redirect's fault: prompts go to no other address."""
    # A query may hold a key.
    target = shown_detail(headers.get("location", "nowhere").partition("?")[0], api_key)
    detail = f"it redirects prompts to {target}, which the settings do not name"
    advice = "if that is whom you want to ask, give its address as base_url"
    return Fault(replies.REJECTED, detail, advice=advice)


def _payload(response: httpx2.Response) -> object:
    try:
        # Some servers do not escape line breaks in texts.
        return json.loads(response.content.decode(errors="replace"), strict=False)
    except (ValueError, RecursionError):
        raise MalformedAnswerError("the answer is not JSON; check where base_url leads") from None
