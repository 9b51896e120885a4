"""The HTTP client below the SDK: calls go to aiohttp directly, and what they share is made once."""

from __future__ import annotations

import asyncio
import json
import random
import re
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property, partial
from typing import Any
from urllib.request import getproxies

import aiohttp
import httpx2
import openai
from multidict import CIMultiDict
from yarl import URL

from arena.llm import replies
from arena.llm.replies import Completion, MalformedAnswerError, read_completion
from arena.llm.settings import Endpoint

_KEPT_ALIVE_S = 5.0  # as in the SDK's own client
_REDIRECTIONS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server sent back.

    Attributes:
        status: The HTTP status.
        headers: By name, in whatever case.
        content: The body, decompressed.
    """

    status: int
    headers: Mapping[str, str]
    content: bytes


def open_http_client(connections: int) -> httpx2.AsyncClient:
    """Return the client for the SDK: its own where the environment or the system names a proxy."""
    proxies = getproxies()
    if any(proxies.get(scheme) for scheme in ("http", "https", "all")):
        return openai.DefaultAioHttpClient()
    return DirectClient(connections)


class DirectClient(httpx2.AsyncClient):
    """Sends bodies in requests like one that the SDK has built, which takes longer than all else.

    What the SDK adds (address, key, headers) is the same for all requests of a run. Certificates
    and compression are those of ``openai.DefaultAioHttpClient``.
    """

    def __init__(self, connections: int) -> None:
        self._direct = _AiohttpTransport(connections)
        super().__init__(transport=self._direct, follow_redirects=True)
        self._rehearsing = False
        self._like: _Wire | None = None

    async def rehearse(self, post: Callable[[], Awaitable[object]]) -> None:
        """Note the request that the SDK posts, and send nothing."""
        self._rehearsing = True
        try:
            await post()
        finally:
            self._rehearsing = False

    async def send(
        self,
        request: httpx2.Request,
        **options: Any,  # noqa: ANN401
    ) -> httpx2.Response:
        """Send a request in httpx's way, unless it is rehearsed."""
        if self._rehearsing:
            self._like = _wire(request, aiohttp.ClientTimeout())
            return httpx2.Response(204, request=request)
        return await super().send(request, **options)

    async def send_like(self, body: bytes) -> Answer | None:
        """Send a request like the one rehearsed, with another body, for as long as that takes.

        Returns:
            The answer, be it an error; None if nothing was rehearsed, or the server redirects.

        Raises:
            httpx2.RequestError: If no answer came.
        """
        if self._like is None:
            return None
        answer = await self._direct.answer(self._like, body)
        if answer.status in _REDIRECTIONS and "location" in answer.headers:
            self._like = None
            return None
        return answer


@dataclass(frozen=True, slots=True)
class _Wire:
    """A request as aiohttp takes it, without the body."""

    method: str
    url: URL
    fields: CIMultiDict[str]
    timeout: aiohttp.ClientTimeout


class _AiohttpTransport(httpx2.AsyncBaseTransport):
    """Sends by aiohttp, and reads each answer whole."""

    def __init__(self, connections: int) -> None:
        self._connections = connections

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        wire = _wire(request, _time_limits(request))
        async with self._exchange(wire, await request.aread()) as answer:
            return await _response(answer, request)

    async def answer(self, wire: _Wire, body: bytes) -> Answer:
        async with self._exchange(wire, body) as answer:
            if "content-encoding" in answer.headers:
                content = (await _response(answer)).content
            else:
                content = await answer.read()
            return Answer(answer.status, answer.headers, content)

    async def aclose(self) -> None:
        await self._session.close()

    @asynccontextmanager
    async def _exchange(self, wire: _Wire, body: bytes) -> AsyncIterator[aiohttp.ClientResponse]:
        try:
            async with self._session.request(
                wire.method,
                wire.url,
                headers=wire.fields,
                data=body or None,
                timeout=wire.timeout,
                allow_redirects=False,
                ssl=self._certificates if wire.url.scheme == "https" else True,
            ) as answer:
                yield answer
        except TimeoutError as error:
            raise httpx2.TimeoutException(str(error)) from error
        except aiohttp.ClientError as error:
            raise httpx2.NetworkError(str(error)) from error

    @cached_property
    def _session(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=self._connections, keepalive_timeout=_KEPT_ALIVE_S
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,  # httpx does it
        )

    @cached_property
    def _certificates(self) -> ssl.SSLContext:
        return httpx2.create_ssl_context()


async def _response(
    answer: aiohttp.ClientResponse, request: httpx2.Request | None = None
) -> httpx2.Response:
    return httpx2.Response(
        answer.status, headers=answer.raw_headers, content=await answer.read(), request=request
    )


def _wire(request: httpx2.Request, timeout: aiohttp.ClientTimeout) -> _Wire:
    fields = CIMultiDict(request.headers.multi_items())
    fields.popall("content-length", None)
    fields.popall("transfer-encoding", None)
    return _Wire(request.method, URL(str(request.url), encoded=True), fields, timeout)


def _time_limits(request: httpx2.Request) -> aiohttp.ClientTimeout:
    limits = request.extensions["timeout"]
    return aiohttp.ClientTimeout(
        total=None,
        connect=limits["pool"],
        sock_connect=limits["connect"],
        sock_read=limits["read"],
    )


_JITTER = random.Random()  # noqa: S311  (spreads waits; no result depends on it)


def wait_before_retry(endpoint: Endpoint, retries_made: int, asked_s: float | None) -> float | None:
    """Choose how long to wait before the next try.

    Args:
        endpoint: Says how many retries there are and how long to wait.
        retries_made: Retries so far.
        asked_s: What the server asks for, in seconds, if it does.

    Returns:
        Seconds to wait; None if there is to be no further try.
    """
    if retries_made >= endpoint.retries:
        return None
    if asked_s is not None and asked_s > endpoint.longest_wait_s:
        return None
    backoff = min(endpoint.longest_wait_s, endpoint.backoff_s * 2.0**retries_made)
    spread = _JITTER.random()
    return max(backoff * (0.5 + 0.5 * spread), (asked_s or 0.0) + 0.1 * backoff * spread)


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """Read how long a server asks to wait, from ``retry-after-ms`` or ``Retry-After``.

    Returns:
        Seconds, at least 0; None if the server does not say, or not in a way one can read.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    stated = headers.get("retry-after")
    seconds = _number(stated)
    return seconds if seconds is not None or stated is None else _until(stated)


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if number >= 0 else None


def _until(date: str) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, moment.timestamp() - datetime.now(UTC).timestamp())


class Gate:
    """Holds back new calls while the server asks to wait: it speaks for all of them."""

    def __init__(self) -> None:
        self._opens = 0.0

    def close_for(self, seconds: float) -> None:
        """Hold calls back for so many seconds from now."""
        self._opens = max(self._opens, time.monotonic() + seconds)

    def remaining_s(self) -> float:
        """Return the seconds until calls may go out."""
        return max(0.0, self._opens - time.monotonic())


SHOWN_CHARACTERS = 300

_FILTER_CODES = ("content_filter", "content_policy", "ResponsibleAIPolicyViolation", "moderation")
_CONTEXT_SIGNS = ("context_length", "context length", "context window", "maximum context", "n_ctx")
_KEY_LIKE = re.compile(r"\bsk-[\w*.-]+")
_PASSING_STATUS = {408: replies.TIMEOUT, 409: replies.SERVER_ERROR, 429: replies.RATE_LIMITED}


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a call brought no completion.

    Attributes:
        reason: One of ``arena.llm.failures``.
        detail: What the server or the network said, without keys.
        again: Whether to try again in this run.
        asked_wait_s: How long the server asks to wait, if it does.
        advice: What the user must fix, where no call can succeed before; else None.
        answered: Whether a server answered at all.
    """

    reason: str
    detail: str
    again: bool = False
    asked_wait_s: float | None = None
    advice: str | None = None
    answered: bool = True


def fault_of(error: Exception, api_key: str) -> Fault:
    """Say what an exception of a call means.

    Raises:
        Exception: ``error`` itself, if it is none that a call is known to end in.
    """
    if isinstance(error, MalformedAnswerError):
        return Fault(replies.MALFORMED, _shown(str(error), api_key), again=True)
    if isinstance(
        error, openai.APIConnectionError | httpx2.RequestError | aiohttp.ClientError | OSError
    ):
        return _connection_fault(error, api_key)
    raise error


def status_fault(answer: Answer, api_key: str) -> Fault:
    """Say what an answer with an error status means."""
    status, said = answer.status, answer.content.decode(errors="replace").strip()
    message = _message(said)
    detail = _shown(f"status {status}: {message}" if message else f"status {status}", api_key)
    if status in (400, 403, 413, 422):
        if any(code.lower() in said.lower() for code in _FILTER_CODES):
            return Fault(replies.CONTENT_FILTER, detail)
        if any(sign in said.lower() for sign in _CONTEXT_SIGNS):
            return Fault(replies.CONTEXT_LENGTH, detail)
    advice = _advice(status, said)
    if advice is not None:  # what a server says of a wrong key may hold parts of it
        shown = f"status {status}" if status in (401, 403) else detail
        return Fault(replies.REJECTED, shown, advice=advice)
    if status in _PASSING_STATUS or status >= 500:
        reason = _PASSING_STATUS.get(status, replies.SERVER_ERROR)
        return Fault(reason, detail, again=True, asked_wait_s=asked_wait(answer.headers))
    return Fault(replies.REJECTED, detail)


def _advice(status: int, said: str) -> str | None:
    if status == 401:
        return "the key is not accepted; check it, and the variable that api_key_env names"
    if status == 403:
        return "the key may not use this model; check the model's name and the key's permissions"
    if status == 404:
        return "check the model's name, and that base_url ends where /chat/completions begins"
    if status == 402 or (status == 429 and "insufficient_quota" in said):
        return "the account has no credit left; the results so far are in the store"
    return None


def _message(said: str) -> str:
    """Take the message out of what a server said, if it said it in JSON."""
    try:
        body = json.loads(said)
    except (ValueError, RecursionError):
        return said
    error = body.get("error", body) if isinstance(body, Mapping) else body
    message = error.get("message") if isinstance(error, Mapping) else None
    return str(message or error or said)


def _connection_fault(error: Exception, api_key: str) -> Fault:
    causes = _causes(error)
    unreachable = any(isinstance(cause, aiohttp.ClientConnectorError) for cause in causes)
    if not unreachable and any(isinstance(cause, TimeoutError) for cause in causes):
        return Fault(replies.TIMEOUT, "no answer in time", again=True, answered=False)
    detail = _shown(str(causes[-1]) or type(causes[-1]).__name__, api_key)
    advice = "nothing answers there; start the server, or correct base_url" if unreachable else None
    return Fault(replies.CONNECTION, detail, again=True, advice=advice, answered=False)


def _causes(error: BaseException) -> list[BaseException]:
    causes = [error]
    while causes[-1].__cause__ is not None:
        causes.append(causes[-1].__cause__)
    return causes


def _shown(text: str, api_key: str) -> str:
    if len(api_key) >= 8:
        text = text.replace(api_key, "[key]")
    text = _KEY_LIKE.sub("[key]", " ".join(text.split()))
    text = text.replace("\0", "").encode(errors="replace").decode()
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"


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
