"""Tiers, rank intervals and the win matrix of judged systems."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from arena.rating.intervals import ranks_and_tiers
from surrogate.board.derived_tables import win_table


def test_the_win_matrix_counts_every_judgment_from_both_sides():
    judgments = pd.DataFrame(
        [("x", "y", "a"), ("y", "x", "a"), ("x", "y", "tie"), ("x", "z", "b")],
        columns=["system_a", "system_b", "winner"],
    ).assign(language="en", query_id="q")
    table = win_table(judgments).set_index(["system", "opponent"])
    assert table.loc[("x", "y"), ["wins", "losses", "ties"]].tolist() == [1, 1, 1]
    assert table.loc[("y", "x"), ["wins", "losses", "ties"]].tolist() == [1, 1, 1]
    assert table.loc[("x", "z"), ["wins", "losses", "ties"]].tolist() == [0, 1, 0]
    assert ("y", "z") not in table.index


def test_whose_rank_may_be_the_first_is_in_the_first_tier():
    ratings = np.array([3.0, 2.0, 1.0, 0.9])
    covariance = np.diag([0.01, 0.01, 0.01, 9.0])  # the last one is hardly known
    found = ranks_and_tiers(ratings, covariance)
    assert found["tier"].tolist() == [1, 2, 3, 1]
    assert found["rank_low"].tolist() == [1, 2, 3, 1]


@given(st.integers(0, 10_000))
def test_nobody_whose_rank_may_be_the_first_is_in_a_later_tier(seed):
    rng = np.random.default_rng(seed)
    ratings, errors = rng.normal(size=8), rng.uniform(0.05, 2, size=8)
    found = ranks_and_tiers(ratings, np.diag(errors**2))
    assert (found["tier"][found["rank_low"] == 1] == 1).all()
