"""Listening: the socket, the addresses to open, and uvicorn."""

from __future__ import annotations

import secrets
import socket
from contextlib import suppress

import uvicorn
from starlette.types import ASGIApp

from arena.data.errors import UsageError, argument
from surrogate_arena.voting.access import LOOPBACK_NAMES, TOKEN, Access, Guard, Tokens
from surrogate_arena.voting.connections import BoundedConnection

MOST_CONNECTIONS = 200
WILDCARDS = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared with, not listened at


class Server:
    """A server that listens, and answers once it runs; other machines need a token."""

    def __init__(self, app: ASGIApp, host: str, port: int) -> None:
        self._socket = _listening_socket(host, port)
        is_local = host.lower() in LOOPBACK_NAMES
        # 256 random bits each.
        tokens = None if is_local else Tokens(secrets.token_urlsafe(), secrets.token_urlsafe())
        self._access = Access(host, self._socket.getsockname()[1], tokens)
        config = uvicorn.Config(
            Guard(app, self._access),
            log_level="warning",
            access_log=False,
            lifespan="off",
            ws="none",
            http=BoundedConnection,
            loop="asyncio",
            proxy_headers=False,
            server_header=False,
            limit_concurrency=MOST_CONNECTIONS,
            h11_max_incomplete_event_size=16_384,
            timeout_graceful_shutdown=5,
        )
        self._server = uvicorn.Server(config)

    @property
    def is_open(self) -> bool:
        """Whether other machines may reach it, by links with tokens."""
        return self._access.tokens is not None

    @property
    def board_link(self) -> str:
        """The link to the board, with its token if one is needed."""
        tokens = self._access.tokens
        return self._link("/", "" if tokens is None else tokens.board)

    @property
    def voting_link(self) -> str:
        """The link to the page to vote on, with its token if one is needed."""
        tokens = self._access.tokens
        return self._link("/vote.html", "" if tokens is None else tokens.vote)

    def run(self) -> None:
        """Answer until the process is interrupted."""
        with suppress(KeyboardInterrupt):
            self._server.run(sockets=[self._socket])

    def stop(self) -> None:
        """Let ``run`` return soon, from any thread."""
        self._server.should_exit = True

    def _link(self, path: str, token: str) -> str:
        host = self._access.host
        if host in WILDCARDS:
            host = socket.gethostname()
        if ":" in host:
            host = f"[{host}]"
        query = f"?{TOKEN}={token}" if token else ""
        return f"http://{host}:{self._access.port}{path}{query}"


def _listening_socket(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(MOST_CONNECTIONS)
        except OSError:
            listener.close()
            raise
    except (OSError, UnicodeError) as error:
        raise UsageError(
            f"nothing can be served at {host} ({argument('host')}), port {port}: {error}; "
            f"another port may be free: {argument('port')}"
        ) from error
    return listener
