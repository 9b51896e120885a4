"""A small simulated arena and its board, shared by the tests of this floor."""

import pytest

from arena import write_arena
from arena.simulation import simulate
from surrogate import build_board
from surrogate.cli.app import main


@pytest.fixture(scope="session")
def simulation():
    return simulate(languages=("en", "sw"), questions=10, seed=1)


@pytest.fixture(scope="session")
def small_arena(simulation):
    return simulation.arena


@pytest.fixture(scope="session")
def small_board(small_arena):
    return build_board(small_arena, tournaments=30, seed=3)


@pytest.fixture(scope="session")
def arena_folder(small_arena, tmp_path_factory):
    folder = tmp_path_factory.mktemp("arena")
    write_arena(small_arena, folder)
    return folder


@pytest.fixture(scope="session")
def run():
    """Run a command in this process and return its exit status."""

    def run_command(*arguments):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as stop:
            return stop.code
        return 0

    return run_command
