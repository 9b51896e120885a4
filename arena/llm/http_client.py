"""The HTTP client below the SDK: calls go to aiohttp directly, and what they share is made once."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.request import getproxies

import aiohttp
import httpx2
import openai
from multidict import CIMultiDict

_WIRE = "arena_wire"
_KEPT_ALIVE_S = 5.0  # as in the SDK's own client


def open_http_client(connections: int) -> httpx2.AsyncClient:
    """Return the client for the SDK: its own where the environment or the system names a proxy."""
    proxies = getproxies()
    if any(proxies.get(scheme) for scheme in ("http", "https", "all")):
        return openai.DefaultAioHttpClient()
    return DirectClient(connections)


class DirectClient(httpx2.AsyncClient):
    """Sends without httpx's way round: forms, streams and redirects take it all the same.

    Certificates, time limits and compression are those of ``openai.DefaultAioHttpClient``.
    """

    def __init__(self, connections: int) -> None:
        self._direct = _AiohttpTransport(connections)
        super().__init__(transport=self._direct, follow_redirects=True)
        self._template: httpx2.Request | None = None
        self._template_of: object = None
        self._redirected = False

    def build_request(
        self,
        method: str,
        url: httpx2.URL | str,
        *,
        content: Any = None,  # noqa: ANN401
        **options: Any,  # noqa: ANN401
    ) -> httpx2.Request:
        """Build a request; all but the body is the last one's where it is the same."""
        if self._redirected or not isinstance(content, bytes):
            return super().build_request(method, url, content=content, **options)
        template_of = (method, url, options)
        if self._template is None or template_of != self._template_of:
            self._template = super().build_request(method, url, **options)
            self._template.headers.pop("content-length", None)  # that of each body is sent
            self._template.extensions[_WIRE] = _wire(self._template)
            self._template_of = template_of
        template = self._template
        return httpx2.Request(
            template.method,
            template.url,
            headers=template.headers,
            stream=httpx2.ByteStream(content),
            extensions=template.extensions,
        )

    async def send(
        self,
        request: httpx2.Request,
        *,
        stream: bool = False,
        **options: Any,  # noqa: ANN401
    ) -> httpx2.Response:
        """Send a request; to a server that has redirected one, in httpx's way."""
        if _WIRE not in request.extensions or stream or options or self._redirected:
            return await super().send(request, stream=stream, **options)
        response = await self._direct.handle_async_request(request)
        if response.has_redirect_location:
            self._redirected = True
            del request.extensions[_WIRE]  # it leads to the old address
            return await super().send(request)
        return response


@dataclass(frozen=True, slots=True)
class _Wire:
    """A request as aiohttp takes it, without the body."""

    url: str
    fields: CIMultiDict[str]
    timeout: aiohttp.ClientTimeout


class _AiohttpTransport(httpx2.AsyncBaseTransport):
    """Sends by aiohttp, and reads each answer whole."""

    def __init__(self, connections: int) -> None:
        self._connections = connections

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        wire = request.extensions.get(_WIRE) or _wire(request)
        try:
            return await self._exchange(request, wire)
        except TimeoutError as error:
            raise httpx2.TimeoutException(str(error)) from error
        except aiohttp.ClientError as error:
            raise httpx2.NetworkError(str(error)) from error

    async def aclose(self) -> None:
        await self._session.close()

    async def _exchange(self, request: httpx2.Request, wire: _Wire) -> httpx2.Response:
        async with self._session.request(
            request.method,
            wire.url,
            headers=wire.fields,
            data=await request.aread() or None,
            timeout=wire.timeout,
            allow_redirects=False,
            ssl=self._certificates if request.url.scheme == "https" else True,
        ) as answer:
            return httpx2.Response(
                answer.status,
                headers=answer.raw_headers,
                content=await answer.read(),
                request=request,
            )

    @cached_property
    def _session(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=self._connections, keepalive_timeout=_KEPT_ALIVE_S
            ),
            auto_decompress=False,  # httpx does it
        )

    @cached_property
    def _certificates(self) -> ssl.SSLContext:
        return httpx2.create_ssl_context()


def _wire(request: httpx2.Request) -> _Wire:
    limits = request.extensions["timeout"]
    fields = CIMultiDict(request.headers.multi_items())
    fields.popall("content-length", None)
    fields.popall("transfer-encoding", None)
    timeout = aiohttp.ClientTimeout(
        total=None,
        connect=limits["pool"],
        sock_connect=limits["connect"],
        sock_read=limits["read"],
    )
    return _Wire(str(request.url), fields, timeout)
