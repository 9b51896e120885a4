"""Tiers, rank intervals and the win matrix of judged systems."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest

from arena.rating.ratings import rate
from surrogate.board import tables
from surrogate.board.details import arena_table, win_table


def round_robin(strengths, questions=40, seed=0):
    random = np.random.default_rng(seed)
    rows = [
        (f"q{question:02}", one, other, "a" if random.logistic() < first - second else "b")
        for question in range(questions)
        for (one, first), (other, second) in itertools.combinations(strengths.items(), 2)
    ]
    table = pd.DataFrame(rows, columns=["query_id", "system_a", "system_b", "winner"])
    return table.assign(language="en", judge="judge")


STRENGTHS = {"best": 3.0, "good": 2.8, "weak": -2.8, "worst": -3.0}


def test_systems_far_apart_are_distinguishable_and_near_ones_are_not():
    table = arena_table(rate(round_robin(STRENGTHS), rounds=100), "en").set_index("system")
    assert table.loc[["best", "good"], "tier"].tolist() == [1, 1]
    assert table.loc[["weak", "worst"], "tier"].tolist() == [2, 2]
    assert table.loc[["best", "good"], "rank_high"].max() == 2
    assert table.loc[["weak", "worst"], "rank_low"].min() == 3
    assert (table["note"] == "").all()


def test_the_arena_table_and_tiers_of_a_board_are_those_of_fit(
    small_arena, small_board, build_quickly, run, arena_folder, capsys, monkeypatch
):
    """To 1e-9, where a board's numbers are not rounded to the six decimals that it keeps."""
    rounded = small_board
    monkeypatch.setattr(tables, "DECIMALS", 15)
    board = build_quickly(small_arena, seed=3)
    for language in small_arena.info.languages:
        fitted = rate(small_arena.judgments, language=language, seed=3).table.set_index("system")
        capsys.readouterr()
        assert run("fit", arena_folder, "--language", language, "--seed", 3, "--json") == 0
        printed = pd.DataFrame(json.loads(capsys.readouterr().out)["ratings"]).set_index("system")
        columns = ["rank", "rating", "low", "high", "tier", "rank_low", "rank_high"]
        ours, kept = (
            made.arena[made.arena["language"] == language]
            .set_index("system")[columns]
            .astype(float)
            for made in (board, rounded)
        )
        assert set(ours.index) == set(fitted.index)
        for fit in (fitted, printed):
            expected = fit[columns].astype(float).reindex(ours.index)
            np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-9)
            np.testing.assert_allclose(kept, ours.round(6), rtol=0, atol=1e-9)


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


@pytest.mark.parametrize("seed", [0, 1])
def test_wins_one_way_are_losses_the_other_way(seed):
    judgments = round_robin(STRENGTHS, seed=seed)
    table = win_table(judgments)
    there = table.set_index(["system", "opponent"])
    back = table.set_index(["opponent", "system"]).reindex(there.index)
    assert (there["wins"] == back["losses"]).all()
    assert table["wins"].sum() == len(judgments)
