"""A store of replies."""

import pytest

from arena.llm import open_store


@pytest.fixture
def store_path(tmp_path):
    return tmp_path / "store.db"


@pytest.fixture
def store(store_path):
    with open_store(store_path) as opened:
        yield opened
