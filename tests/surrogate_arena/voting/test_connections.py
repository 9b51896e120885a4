"""Slow and many connections to the server of ``view`` keep nobody else out."""

import socket
import time
from contextlib import ExitStack, suppress

import pytest

from surrogate_arena.voting import connections
from surrogate_arena.voting.connections import MOST_OF_ADDRESS, network_of

LIMIT_S = 0.5
ATTACKER = "127.0.0.2"


@pytest.fixture
def quick(monkeypatch):
    """Wait less for headers than the server does for people."""
    monkeypatch.setattr(connections, "HEADERS_S", LIMIT_S)


def opened(client, content):
    """Open a connection of an attacker, and send something."""
    try:
        attacker = socket.create_connection(
            ("127.0.0.1", client.port), timeout=20, source_address=(ATTACKER, 0)
        )
    except OSError:
        pytest.skip("there is no second address")
    attacker.sendall(content)
    return attacker


def drip(attackers):
    """Send a header line each; return those who could not: they were closed."""
    closed = set()
    for attacker in attackers:
        try:
            attacker.sendall(b"X-Slow: 1\r\n")
        except OSError:
            closed.add(attacker)
    return closed


def test_205_connections_that_drip_headers_close_the_server_for_nobody(client, quick):
    with ExitStack() as stack:
        attackers = {stack.enter_context(opened(client, b"GET / HTTP/1.1\r\n")) for _ in range(205)}
        assert client.ask("GET", "/index.html")[0] == 200
        refused = set()
        for attacker in attackers:
            attacker.setblocking(False)
            with suppress(BlockingIOError, ConnectionResetError):
                if b"too many connections" in attacker.recv(4096):
                    refused.add(attacker)
        assert len(refused) <= len(attackers) - MOST_OF_ADDRESS
        assert refused
        begin = time.monotonic()
        while len(closed := drip(attackers)) < len(attackers):
            assert time.monotonic() < begin + 20 * LIMIT_S, len(closed)
            assert client.ask("GET", "/index.html")[0] == 200
            time.sleep(LIMIT_S / 5)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"GET /index.html HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET / HT",
        b"GET /index.html HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999\r\n\r\n",
    ],
    ids=["nothing", "a second request", "a body that nobody reads"],
)
def test_whoever_sends_no_whole_request_is_closed(client, quick, content):
    with opened(client, content) as attacker:
        begin = time.monotonic()
        while not (closed := drip([attacker]) if content else ended(attacker)):
            assert time.monotonic() < begin + 20 * LIMIT_S
            time.sleep(LIMIT_S / 5)
        assert closed


def ended(attacker):
    attacker.settimeout(20)
    return attacker.recv(1) == b""


def test_a_request_in_time_and_the_next_one_are_answered(client, quick):
    with opened(client, b"") as voter, voter.makefile("rb") as replies:
        for _ in range(3):
            for part in (b"GET /none HTTP/1.1\r\nHo", b"st: 127.0.0.1\r\n\r\n"):
                voter.sendall(part)
                time.sleep(LIMIT_S / 5)
            assert b" 404 " in replies.readline()
            length = 0
            while (line := replies.readline()) != b"\r\n":
                name, _, value = line.partition(b": ")
                if name == b"content-length":
                    length = int(value)
            assert b"no such page" in replies.read(length)
            time.sleep(LIMIT_S * 1.5)


def test_addresses_of_one_machine_are_one():
    assert network_of(("2001:db8::1", 1)) == network_of(("2001:db8::ffff:2", 2))
    assert network_of(("2001:db8::1", 1)) != network_of(("2001:db8:0:1::1", 1))
    assert network_of(("::ffff:192.0.2.1", 1)) != network_of(("::ffff:192.0.2.2", 1))
    assert network_of(("192.0.2.1", 1)) != network_of(("192.0.2.2", 1))
