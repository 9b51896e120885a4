"""Sending one request by the OpenAI client over aiohttp, and saying why no completion came."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import aiohttp
import httpx2
import openai

from arena.llm import replies
from arena.llm.replies import (
    Completion,
    Fault,
    MalformedAnswerError,
    read_completion,
    read_embedding,
    shown_detail,
    without_key,
)
from arena.llm.settings import EMBEDDINGS, LlmSettings, Request

MOST_BYTES = 32 * 2**20
"""Most bytes of an answer that are read."""
PLAIN = "identity"
"""How answers are asked for: not compressed, so that none grows beyond the bound as it is read."""

_FILTER_CODES = ("content_filter", "content_policy", "ResponsibleAIPolicyViolation", "moderation")
_CONTEXT_SIGNS = ("context_length", "context length", "context window", "maximum context", "n_ctx")
_PASSING_STATUS = {408: replies.TIMEOUT, 409: replies.SERVER_ERROR, 429: replies.RATE_LIMITED}
_NO_CREDIT = "the account has no credit left; the results so far are in the store"
_ADVICE = {
    401: "the key is not accepted; check it, and the variable that `api_key_env` names",
    402: _NO_CREDIT,
    403: "the key may not use this model; check the model's name and the key's permissions",
    404: "check the model's name, and that base_url ends where /chat/completions or /embeddings "
    "begins",
}


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
        """Send one request, and read the answer, without the key; all within ``timeout_s``."""
        started = time.perf_counter()
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                response = await self._post(request)
            self._was_reached = True
            if not response.is_success:
                said = response.content.decode(errors="replace").strip()
                return status_fault(response.status_code, said, response.headers, self._api_key)
            read = read_embedding if request.path == EMBEDDINGS else read_completion
            completion = read(_json(response), time.perf_counter() - started)
            return without_key(completion, self._api_key)
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

    def _connection_fault(self, error: Exception) -> Fault:
        """Say what it means that no whole answer came."""
        causes: list[BaseException] = [error]
        while causes[-1].__cause__ is not None:
            causes.append(causes[-1].__cause__)
        cause = causes[-1]
        detail = shown_detail(str(cause) or type(cause).__name__, self._api_key)
        if isinstance(cause, MalformedAnswerError):
            return Fault(replies.MALFORMED, detail, again=True)
        if any(isinstance(each, aiohttp.ClientConnectorError) for each in causes):
            advice = "nothing answers there; start the server, or correct base_url"
            stops = None if self._was_reached else advice
            return Fault(replies.CONNECTION, detail, again=True, advice=stops)
        if any(isinstance(each, TimeoutError) for each in causes):
            return Fault(replies.TIMEOUT, "no answer in time", again=True)
        return Fault(replies.CONNECTION, detail, again=True)


async def _bound(response: httpx2.Response) -> None:
    """Read no more of a body than the bound."""
    packed = response.headers.get("content-encoding", PLAIN).strip().lower()
    if packed != PLAIN:
        raise MalformedAnswerError(f"the answer is packed as {packed}, which was not asked for")
    response.stream = _Bounded(response.stream)


class _Bounded(httpx2.AsyncByteStream):
    """The body of an answer, up to so many bytes."""

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


def status_fault(status: int, said: str, headers: Mapping[str, str], api_key: str) -> Fault:
    """Say what an answer with an error status means."""
    message = _message(said)
    if 300 <= status < 400:
        there = shown_detail(headers.get("location", "nowhere"), api_key)
        detail = f"it sends prompts on to {there}, where they were not sent"
        advice = "if that is whom you want to ask, give its address as base_url"
        return Fault(replies.REJECTED, detail, advice=advice)
    detail = shown_detail(f"status {status}: {message}" if message else f"status {status}", api_key)
    if status in (400, 403, 413, 422):
        if any(code.lower() in said.lower() for code in _FILTER_CODES):
            return Fault(replies.CONTENT_FILTER, detail)
        if any(sign in said.lower() for sign in _CONTEXT_SIGNS):
            return Fault(replies.CONTEXT_LENGTH, detail)
    is_spent = status == 429 and "insufficient_quota" in said
    known = _NO_CREDIT if is_spent else _ADVICE.get(status)
    if known is not None:  # what a server says of a wrong key may hold parts of it
        shown = f"status {status}" if status in (401, 403) else detail
        return Fault(replies.REJECTED, shown, advice=known)
    if status in _PASSING_STATUS or status >= 500:
        reason = _PASSING_STATUS.get(status, replies.SERVER_ERROR)
        return Fault(reason, detail, again=True, asked_wait_s=asked_wait(headers))
    return Fault(replies.REJECTED, detail)


def asked_wait(headers: Mapping[str, str]) -> float:
    """Read how many seconds a server asks to wait, from ``Retry-After``; 0 if it does not."""
    stated = headers.get("retry-after", "")
    try:
        return max(0.0, float(stated))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(stated)
        return max(0.0, moment.timestamp() - datetime.now(UTC).timestamp())
    except (ValueError, OverflowError, TypeError, IndexError):  # of absurd dates
        return 0.0


def _message(said: str) -> str:
    """Take the message out of what a server said, if it said it in JSON."""
    try:
        body = json.loads(said)
    except (ValueError, RecursionError):
        return said
    error = body.get("error", body) if isinstance(body, Mapping) else body
    message = error.get("message") if isinstance(error, Mapping) else None
    return str(message or error or said)


def _json(response: httpx2.Response) -> object:
    try:
        return json.loads(response.content)
    except (ValueError, RecursionError):
        raise MalformedAnswerError("the answer is not JSON; check where base_url leads") from None
