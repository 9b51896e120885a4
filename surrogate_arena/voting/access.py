"""Who may ask the server for what: hosts, origins, tokens, and headers of every reply."""

from __future__ import annotations

import hmac
import ipaddress
import socket
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
VOTING_PATHS = frozenset({"/vote.html", "/pair", "/vote"})
"""What a voter may ask for; the pages of the board would show whose answers are judged."""
TOKEN = "token"  # noqa: S105 - the name of a parameter
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
FRAMES = "frame-ancestors 'none'"
"""What the policy in a page cannot say; anything but a page may do nothing at all."""
NOTHING = f"default-src 'none'; {FRAMES}"
LINK_NEEDED = "Open the link with its token, which surrogate-arena view printed.\n"


@dataclass(frozen=True)
class Tokens:
    """Secrets in links: ``board`` opens everything, ``vote`` the page to vote alone."""

    board: str
    vote: str


@dataclass(frozen=True)
class Access:
    """The server's address, and its tokens."""

    host: str
    port: int
    tokens: Tokens | None = None

    def is_known_host(self, header: str) -> bool:
        """Return whether a request means this server by its ``Host``.

        A page of another site can have its own name lead here (DNS rebinding).
        """
        try:
            name = urlsplit(f"//{header}").hostname or ""
        except ValueError:
            return False
        if name in LOOPBACK_NAMES or name == self.host.lower():
            return True
        if self.tokens is None:
            return False
        return _is_address(name) or name in {socket.gethostname().lower(), socket.getfqdn().lower()}

    def cookie(self, role: str) -> str:
        """Return the name of the cookie that holds a token."""
        return f"surrogate-arena-{role}-{self.port}"


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Guard:
    """Refuses requests that ``Access`` does not allow."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let the application do it."""
        if scope["type"] != "http":
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                is_page = headers.get("content-type", "").startswith("text/html")
                headers["Content-Security-Policy"] = FRAMES if is_page else NOTHING
                headers.update(HEADERS)
            await send(message)

        reply = self._refusal(scope) or self._app
        await reply(scope, receive, send_guarded)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._access.is_known_host(hosts[0]):
            return PlainTextResponse("This server is not known by that name.\n", 403)
        if scope["method"] not in ("GET", "HEAD") and not _is_same_origin(headers):
            return PlainTextResponse("Requests from other pages are refused.\n", 403)
        return self._token_refusal(scope, headers)

    def _token_refusal(self, scope: Scope, headers: Headers) -> Response | None:
        tokens = self._access.tokens
        if tokens is None:
            return None
        path = scope["path"]
        secrets = {"board": tokens.board}
        if path in VOTING_PATHS:
            secrets["vote"] = tokens.vote
        shown = _read_token(scope["query_string"].decode("latin-1"))
        for role, secret in secrets.items():
            if _is_equal(shown, secret):
                # The token leaves the address, so that nobody copies or logs it by accident.
                reply = RedirectResponse(path, 303)
                reply.set_cookie(
                    self._access.cookie(role), secret, httponly=True, samesite="lax", path="/"
                )
                return reply
        # Other servers of this host set cookies too: one that is malformed spoils no other.
        cookies = cookie_parser(headers.get("cookie", ""))
        for role, secret in secrets.items():
            if _is_equal(cookies.get(self._access.cookie(role), ""), secret):
                return None
        return PlainTextResponse(LINK_NEEDED, 403)


def _read_token(query: str) -> str:
    try:
        fields = parse_qs(query, max_num_fields=10)
    except ValueError:
        return ""
    return fields.get(TOKEN, [""])[0]


def _is_equal(text: str, secret: str) -> bool:
    return hmac.compare_digest(text.encode("utf-8", "surrogatepass"), secret.encode())


def _is_same_origin(headers: Headers) -> bool:
    try:
        origin = urlsplit(headers.get("origin", ""))
    except ValueError:
        return False
    return origin.scheme in ("http", "https") and origin.netloc == headers["host"]
