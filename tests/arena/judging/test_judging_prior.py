"""What judging expects of the systems before the first verdict."""

from dataclasses import replace

import pandas as pd
import pytest

from surrogate import build_board
from surrogate.ranking import judging_prior
from surrogate.ranking.prior import expected_systems

KEYS = ["language", "system"]


@pytest.fixture(scope="module")
def chat(unjudged):
    empty = pd.Series([[] for _ in range(len(unjudged.queries))], dtype=object)
    return replace(unjudged, queries=unjudged.queries.assign(passages=empty))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["unjudged", "chat"])
def test_the_prior_is_that_of_a_first_board_of_the_same_questions(name, request):
    arena = request.getfixturevalue(name)
    prior = judging_prior(arena)
    expected = expected_systems(build_board(arena), arena)
    prior, expected = (table.sort_values(KEYS, ignore_index=True) for table in (prior, expected))
    # A board's ratings are rounded.
    pd.testing.assert_frame_equal(prior, expected, rtol=0.0, atol=1e-5)
