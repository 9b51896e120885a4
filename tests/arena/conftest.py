"""A store, and servers of the tests' own."""

import contextlib

import pytest
from chat_server import ChatServer

from arena.llm import open_store


@pytest.fixture
def serve():
    with contextlib.ExitStack() as stack:
        yield lambda *args, **kwargs: stack.enter_context(ChatServer(*args, **kwargs))


@pytest.fixture
def store_path(tmp_path):
    return tmp_path / "store.db"


@pytest.fixture
def store(store_path):
    with open_store(store_path) as opened:
        yield opened
