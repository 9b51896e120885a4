"""Overall ranks and how sure they are, from the joint posterior over languages."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from surrogate.board.derived_tables import joint_covariance, overall_board
from surrogate.board.language_rows import ranked_rows
from surrogate.board.ranks import (
    ARENA_COLUMNS,
    PLACE_COLUMNS,
    RANK_COLUMNS,
    WINS_COLUMNS,
    mutual_wins,
    with_wins,
)
from surrogate.board.tables import RATINGS, typed_board_table

RANKING = [*RANK_COLUMNS, *PLACE_COLUMNS, *ARENA_COLUMNS, "tier", "language", "system"]
LANGUAGES, SYSTEMS = ("de", "en", "ja"), ("a", "b", "c")


def board_of(ratings):
    """Ratings of systems, the same in every language."""
    rows = [
        {"language": code, "system": name, "rating": ratings[name]}
        for code, name in itertools.product(LANGUAGES, SYSTEMS)
    ]
    table = pd.DataFrame(rows).reindex(columns=list(RATINGS.columns))
    table = table.assign(coverage=1.0, split="train", note="")
    ranks = table.groupby("language")["rating"].rank(ascending=False, method="min")
    wins, _ = mutual_wins(np.array([ratings[name] for name in SYSTEMS]))
    table["wins"] = list(wins) * len(LANGUAGES)
    return typed_board_table(table.assign(rank=ranks), RATINGS)


def parts_of(variance):
    return {code: pd.DataFrame(np.eye(3) * variance, SYSTEMS, SYSTEMS) for code in LANGUAGES}


def across(variance, correlation):
    index = pd.MultiIndex.from_product([LANGUAGES, SYSTEMS], names=["language", "system"])
    same = np.equal.outer(
        index.get_level_values("system"), index.get_level_values("system")
    ).astype(float)
    whole = variance * (correlation * same + (1 - correlation) * np.eye(9))
    return pd.DataFrame(whole, index, index)


def first_of(board, covariance):
    table = overall_board(board, covariance).set_index("system")
    return table.loc["a"]


def width(row):
    return row["wins_high"] - row["wins_low"]


def test_languages_that_err_together_make_no_rank_surer():
    board = board_of({"a": 0.3, "b": 0.0, "c": -0.3})
    alone = first_of(board, joint_covariance(parts_of(0.25), across(0.25, 0.0)))
    together = first_of(board, joint_covariance(parts_of(0.25), across(0.25, 1.0)))
    assert width(together) == pytest.approx(width(alone) * np.sqrt(3), rel=0.06)
    unknown = first_of(board, joint_covariance(parts_of(0.25), None))
    assert width(unknown) == pytest.approx(width(together))


def test_intervals_of_wins_hold_them_and_ranks_their_rank():
    board = board_of({"a": 0.1, "b": 0.0, "c": -2.0})
    table = overall_board(board, joint_covariance(parts_of(0.25), across(0.25, 0.5)))
    assert (table["rank_low"] <= table["rank"]).all()
    assert (table["rank"] <= table["rank_high"]).all()
    assert (table["wins_low"] < table["wins"]).all()
    assert (table["wins"] < table["wins_high"]).all()
    assert table["rank_high"].tolist() == [2, 2, 3]  # though a is the best in each language
    assert table["tier"].tolist() == [1, 1, 2]


def test_intervals_of_wins_are_those_of_draws_of_all_ratings():
    board = board_of({"a": 1.5, "b": 0.0, "c": -1.0})
    covariance = joint_covariance(parts_of(0.1), across(0.1, 0.3))
    ratings = np.tile([1.5, 0.0, -1.0], 3)
    draws = np.random.default_rng(0).multivariate_normal(ratings, covariance, 20_000)
    wins = np.zeros((len(draws), 3))
    for start in (0, 3, 6):
        part = draws[:, start : start + 3]
        for one, other in itertools.permutations(range(3), 2):
            wins[:, one] += expit(part[:, one] - part[:, other]) / 6
    low, high = np.percentile(wins, (5, 95), axis=0)
    table = overall_board(board, covariance)
    np.testing.assert_allclose(table["wins_low"], low, atol=0.01)
    np.testing.assert_allclose(table["wins_high"], high, atol=0.01)


def test_wins_of_systems_far_apart_have_intervals():
    board = board_of({"a": 50.0, "b": 0.0, "c": -50.0})
    table = overall_board(board, joint_covariance(parts_of(0.25), across(0.25, 0.0)))
    ends = table[["wins_low", "wins_high"]].to_numpy()
    np.testing.assert_allclose(ends[[0, 2]], [[1.0, 1.0], [0.0, 0.0]], atol=1e-6)


def test_equal_systems_share_a_rank():
    board = board_of({"a": 0.0, "b": 0.0, "c": -9.0})
    found = overall_board(board, joint_covariance(parts_of(0.01), across(0.01, 0.0)))
    assert found["rank"].tolist() == [1, 1, 3]
    assert found["rank_high"].tolist() == [2, 2, 3]


def test_without_errors_nothing_is_said():
    board = board_of({"a": 0.3, "b": 0.0, "c": -0.3})
    for covariance in (None, joint_covariance(parts_of(np.nan), None)):
        table = overall_board(board, covariance)
        unknown = ["rank_low", "rank_high", "tier", "wins_low", "wins_high"]
        assert table[unknown].isna().all(axis=None)
        assert table["rank"].tolist() == [1, 2, 3]


@given(
    ratings=st.lists(st.integers(-3000, 3000), min_size=2, max_size=8),
    placed=st.integers(-3000, 3000),
    half_width=st.integers(0, 3000),
)
def test_in_one_language_a_place_is_the_same_overall(ratings, placed, half_width):
    names = [f"s{number}" for number in range(len(ratings))]
    columns = dict.fromkeys(RATINGS.columns, np.nan) | {"coverage": 1.0, "split": "", "note": ""}
    rows = pd.DataFrame(columns, [*names, "new"]).drop(columns=[*WINS_COLUMNS, *RANKING])
    # Thousandths: no two ratings differ by less than what is rounded.
    rows["rating"] = np.array([*ratings, placed]) / 1000
    rows["is_placed"] = rows.index == "new"
    rows["low"] = rows["rating"] - half_width / 1000
    rows["high"] = rows["rating"] + half_width / 1000
    covariance = pd.DataFrame(np.eye(len(rows)) * 0.04, rows.index, rows.index)
    table = ranked_rows(with_wins(rows, covariance), covariance, "en")
    overall = overall_board(table, covariance)
    in_language = table.loc[table["system"] == "new", PLACE_COLUMNS]
    at_all = overall.loc[overall["system"] == "new", PLACE_COLUMNS]
    assert in_language.to_numpy().tolist() == at_all.to_numpy().tolist()
