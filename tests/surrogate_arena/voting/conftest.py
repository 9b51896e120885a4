"""A board and its arena on a server, as ``view`` starts it."""

import pytest
from view_client import running

from arena import write_arena

pytest.importorskip("starlette", reason="needs surrogate-arena[serve]")
pytest.importorskip("uvicorn", reason="needs surrogate-arena[serve]")


@pytest.fixture(scope="module")
def folders(quick_board, small_arena, tmp_path_factory):
    """A board's folder and its arena's."""
    place = tmp_path_factory.mktemp("view")
    write_arena(small_arena, place / "arena")
    quick_board.save(place / "board", place / "arena")
    return place / "board", place / "arena"


@pytest.fixture(scope="module")
def client(folders):
    with running(folders) as started:
        yield started


@pytest.fixture
def folder(arena, tmp_path):
    """The folder of a test file's own arena."""
    write_arena(arena, tmp_path / "arena")
    return tmp_path / "arena"
