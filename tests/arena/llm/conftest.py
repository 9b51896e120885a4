import contextlib

import pytest
from chat_server import ChatServer
from postgres_server import PostgresServer

pytest.importorskip("openai", reason="needs the extra llm")

from llm_requests import SETTINGS, endpoint

from arena.llm import complete, open_store


@pytest.fixture(scope="session")
def postgres():
    pytest.importorskip("psycopg", reason="needs the extra postgres")
    with PostgresServer() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request, tmp_path):
    if request.param == "sqlite":
        return str(tmp_path / "store.db")
    return request.getfixturevalue("postgres").new_schema()


@pytest.fixture
def store(store_url):
    with open_store(store_url) as opened:
        yield opened


@pytest.fixture
def sqlite_store(tmp_path):
    with open_store(tmp_path / "store.db") as opened:
        yield opened


@pytest.fixture
def serve():
    with contextlib.ExitStack() as stack:
        yield lambda *args, **kwargs: stack.enter_context(ChatServer(*args, **kwargs))


@pytest.fixture
def ask(serve):
    """Ask a fresh server that behaves so; returns the outcomes, the run's usage and the server."""

    def ask(asked, store, behave=None, parse=None, settings=SETTINGS, max_calls=None, **fields):
        server = serve(behave)
        where = endpoint(server, **fields)
        run = complete(
            asked, settings, endpoint=where, store=store, parse=parse, max_calls=max_calls
        )
        return list(run), run.usage, server

    return ask
