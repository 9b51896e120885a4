"""A small arena beside a configuration, for boards that are quick to build."""

import shutil
from functools import partial

import pytest

from arena import write_arena
from surrogate_arena.runs.config import read_configuration
from surrogate_arena.runs.run import bring_up_to_date

QUICK = """
out = "boards"

[defaults]
tournaments = 2
holdout = []
surrogate = "linear"
features = ["answer_length", "citations"]
"""
ONE_BOARD = "[boards.a]\narena = 'arena'\n"


@pytest.fixture
def place(tiny_arena, tmp_path):
    """A folder with an arena in it."""
    write_arena(tiny_arena, tmp_path / "arena", ".jsonl")
    return tmp_path


@pytest.fixture(scope="session")
def configure_in():
    """Write a configuration of quick boards into a folder, and read it."""

    def write(folder, text, servers=()):
        path = folder / "boards.toml"
        path.write_text(QUICK + text, encoding="utf-8")
        return read_configuration(path, servers)

    return write


@pytest.fixture
def configure(place, configure_in):
    """Write a configuration beside the arena, and read it."""
    return partial(configure_in, place)


@pytest.fixture(scope="session")
def made_once(tiny_arena, configure_in, tmp_path_factory):
    """A folder with an arena, a configuration of one board, and what was made of it."""
    folder = tmp_path_factory.mktemp("made")
    write_arena(tiny_arena, folder / "arena", ".jsonl")
    boards = configure_in(folder, ONE_BOARD)
    report = bring_up_to_date(boards, boards.out)
    assert [outcome.state for outcome in report.boards] == ["made"]
    return folder


@pytest.fixture
def made(made_once, place):
    """The same in a folder of this test's own; what was made holds wherever it is."""
    shutil.copytree(made_once, place, dirs_exist_ok=True)
    return read_configuration(place / "boards.toml")


@pytest.fixture
def make():
    """Bring boards up to date, and tell what became of each."""

    def run(boards, **options):
        report = bring_up_to_date(boards, boards.out, **options)
        return {outcome.board: outcome for outcome in report.boards}

    return run


@pytest.fixture
def states():
    """Tell the state of each board."""

    def of(outcomes):
        return {name: outcome.state for name, outcome in outcomes.items()}

    return of
