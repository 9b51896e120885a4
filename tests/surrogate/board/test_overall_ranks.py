"""Overall ranks and how sure they are, from the joint posterior over languages."""

import itertools

import numpy as np
import pandas as pd
import pytest

from surrogate.board.estimation import joint_covariance, overall_board
from surrogate.board.tables import RATINGS, typed_board_table

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


def test_languages_that_err_together_make_no_rank_surer():
    board = board_of({"a": 0.3, "b": 0.0, "c": -0.3})
    alone = joint_covariance(parts_of(0.25), across(0.25, 0.0))
    together = joint_covariance(parts_of(0.25), across(0.25, 1.0))
    one = overall_board(
        board[board["language"] == "en"], joint_covariance({"en": parts_of(0.25)["en"]}, None)
    )
    sure, unsure = first_of(board, alone), first_of(board, together)
    assert sure["probability_best"] > unsure["probability_best"] + 0.05
    assert unsure["probability_best"] == pytest.approx(
        one.set_index("system").loc["a", "probability_best"], abs=0.03
    )
    unknown = first_of(board, joint_covariance(parts_of(0.25), None))
    assert unknown["probability_best"] == pytest.approx(unsure["probability_best"], abs=0.03)


def test_probabilities_add_up_and_intervals_hold_the_rank():
    board = board_of({"a": 0.1, "b": 0.0, "c": -2.0})
    table = overall_board(board, joint_covariance(parts_of(0.25), across(0.25, 0.5)))
    assert table["probability_best"].sum() == pytest.approx(1.0)
    assert (table["rank_low"] <= table["rank"]).all()
    assert (table["rank"] <= table["rank_high"]).all()
    assert table.set_index("system").loc["c", "probability_best"] < 0.01
    assert table.set_index("system").loc["a", "rank_high"] == 2  # though the best in each language


def test_two_equal_systems_are_the_best_with_one_half():
    board = board_of({"a": 0.0, "b": 0.0, "c": -9.0})
    found = overall_board(board, joint_covariance(parts_of(0.01), across(0.01, 0.0)))
    assert found["probability_best"].tolist()[:2] == pytest.approx([0.5, 0.5], abs=0.05)


def test_without_errors_nothing_is_said():
    board = board_of({"a": 0.3, "b": 0.0, "c": -0.3})
    for covariance in (None, joint_covariance(parts_of(np.nan), None)):
        table = overall_board(board, covariance)
        assert table[["rank_low", "rank_high", "probability_best"]].isna().all(axis=None)
        assert table["rank"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("correlation", [0.0, 0.5, 1.0])
def test_of_many_ratings_the_uncertainty_is_close_to_that_of_joint_draws(monkeypatch, correlation):
    board = board_of({"a": 0.3, "b": 0.0, "c": -0.4})
    covariance = joint_covariance(parts_of(0.25), across(0.25, correlation))
    joint = overall_board(board, covariance)
    monkeypatch.setattr("surrogate.board.estimation.MOST_RATINGS", 8)  # of nine
    by_language = overall_board(board, covariance)
    np.testing.assert_allclose(
        by_language["probability_best"].astype(float),
        joint["probability_best"].astype(float),
        atol=0.03,
    )
    assert by_language["rank_low"].tolist() == joint["rank_low"].tolist()
    assert by_language["rank_high"].tolist() == joint["rank_high"].tolist()


def test_of_many_systems_in_one_language_the_variances_alone_count(monkeypatch):
    board = board_of({"a": 0.3, "b": 0.0, "c": -0.4})
    covariance = joint_covariance(parts_of(0.25), across(0.25, 0.5))
    joint = overall_board(board, covariance)
    monkeypatch.setattr("surrogate.board.estimation.MOST_RATINGS", 2)
    alone = overall_board(board, covariance)
    np.testing.assert_allclose(
        alone["probability_best"].astype(float), joint["probability_best"].astype(float), atol=0.05
    )
