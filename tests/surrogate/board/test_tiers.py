"""Tiers, rank intervals and the win matrix of judged systems."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.rating.intervals import ranks_and_tiers
from arena.rating.ratings import rate
from surrogate.board.detail_tables import win_table


@pytest.mark.slow
def test_the_arena_table_and_tiers_of_a_board_are_those_of_fit(
    small_arena, small_board, run, arena_folder, capsys
):
    columns = ["rank", "rating", "low", "high", "tier", "rank_low", "rank_high"]
    for language, rows in small_board.arena.groupby("language"):
        fitted = rate(small_arena.judgments, language=language, seed=3).table
        capsys.readouterr()
        assert run("fit", arena_folder, "--language", language, "--seed", 3, "--json") == 0
        printed = pd.DataFrame(json.loads(capsys.readouterr().out)["ratings"])
        ours = rows.set_index("system")[columns].astype(float)
        for fit in (fitted, printed):
            expected = fit.set_index("system")[columns].astype(float).reindex(ours.index)
            np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-6)


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
