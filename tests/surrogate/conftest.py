"""A small simulated arena and its board, shared by the tests of this floor."""

import pytest

from arena.simulation import simulate
from surrogate import build_board


@pytest.fixture(scope="session")
def simulation():
    return simulate(languages=("en", "sw"), questions=10, seed=1)


@pytest.fixture(scope="session")
def small_arena(simulation):
    return simulation.arena


@pytest.fixture(scope="session")
def small_board(small_arena):
    return build_board(small_arena, tournaments=30, seed=3)
