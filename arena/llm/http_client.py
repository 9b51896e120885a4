"""The HTTP client below the SDK: calls go to aiohttp directly, and what they share is made once."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.request import getproxies

import aiohttp
import httpx2
import openai
from multidict import CIMultiDict
from yarl import URL

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
