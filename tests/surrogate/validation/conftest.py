"""A small simulated arena with features at hand, and surrogates that are quick to train."""

import numpy as np
import pytest

from arena.simulation import simulate
from surrogate.learning.languages import language_data
from surrogate.validation import TournamentSettings

SETTINGS = TournamentSettings(tournaments=6)


@pytest.fixture(scope="session")
def simulated():
    return simulate(languages=("en", "sw"), questions=10, seed=1)


@pytest.fixture(scope="session")
def table(simulated):
    """The true quality of each system with noise, a feature that says nothing, and gaps."""
    random = np.random.default_rng(0)
    keys = ["language", "system", "query_id"]
    rows = simulated.arena.answers[keys].merge(simulated.truth, on=["language", "system"])
    made = rows[keys].assign(
        close=rows["quality"] + 0.05 * random.normal(size=len(rows)),
        nothing=random.normal(size=len(rows)),
    )
    made.loc[random.random(len(made)) < 0.05, "nothing"] = np.nan
    return made.sort_values(keys, ignore_index=True)


@pytest.fixture(scope="session")
def settings():
    return SETTINGS


@pytest.fixture(scope="session")
def data_of():
    """Arrange an arena and a feature table, language by language."""

    def arrange(arena, features):
        return language_data(arena, features, SETTINGS)

    return arrange
