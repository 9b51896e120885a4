"""Connections of the server: nobody may hold them by requests that never end."""

from __future__ import annotations

import asyncio
import ipaddress

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_OF_ADDRESS = 50
"""Connections of one address, of which a browser opens six: voters may share one."""
HEADERS_S = 10.0
"""Seconds for the headers of a request."""
TOO_MANY = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n"
    b"Your address has too many connections here.\n"
)


class BoundedConnection(H11Protocol):
    """A connection that is one of few of its address, and closed where a request is slow."""

    _slow: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection, and wait for its first request."""
        super().connection_made(transport)
        network = network_of(self.client)
        n_of_network = 0
        for other in self.connections:
            if isinstance(other, BoundedConnection) and network_of(other.client) == network:
                n_of_network += 1
        if n_of_network > MOST_OF_ADDRESS:
            transport.write(TOO_MANY)
            transport.close()
            return
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Read data; the time limit is over once the headers are there."""
        super().data_received(data)
        # What comes after the answer, such as a body that nobody reads, is no request either.
        if self.conn.their_state is h11.IDLE or self.conn.our_state is h11.DONE:
            self._wait()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the time limit."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._slow is None:
            self._slow = self.loop.call_later(HEADERS_S, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._slow is not None:
            self._slow.cancel()
            self._slow = None


def network_of(client: tuple[str, int] | None) -> object:
    """Return what one machine has: an address of version 4, or a network /64 of version 6."""
    if client is None:
        return None
    address = ipaddress.ip_address(client[0])
    if isinstance(address, ipaddress.IPv4Address) or address.ipv4_mapped:
        return address
    return ipaddress.IPv6Network((address, 64), strict=False)
