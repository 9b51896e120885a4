"""Boards on published ratings: as from judgments, but for what only judgments tell."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from published_ratings import as_published

from arena.rating.tournaments import (
    ASSUMED,
    NO_ERRORS,
    SOME_ASSUMED,
    published_tournaments,
)
from surrogate import Board, build_board
from surrogate.board.summary_builder import PUBLISHED

KEYS = ["language", "system"]


@pytest.fixture(scope="module")
def published(small_arena):
    return as_published(small_arena)


@pytest.fixture(scope="module")
def english(english_arena):
    return as_published(english_arena)


@pytest.fixture(scope="module")
def board(published, quick_features):
    return build_board(published, feature_table=quick_features, tournaments=2, seed=3)


def of(board, table):
    return getattr(board, table).set_index(KEYS).sort_index()


def test_the_arena_table_is_what_is_published(board, published):
    ratings = published.published_ratings.set_index(KEYS).sort_index()
    arena = of(board, "verdict_ratings")
    np.testing.assert_allclose(arena["rating"], ratings["rating"], atol=1e-6)
    width = 1.6448536269514722 * ratings["standard_error"]
    np.testing.assert_allclose(arena["high"] - arena["rating"], width, atol=2e-6)
    assert (arena["rank"].groupby("language").min() == 1).all()
    np.testing.assert_allclose(of(board, "ratings")["arena_rating"], ratings["rating"], atol=1e-6)


def test_the_board_says_what_it_rests_on(board):
    summary = board.summary
    assert summary.signature.startswith("judge:published|")
    assert summary.is_published
    for item in summary.languages.values():
        assert (item.judgments, item.systems_judged) == (0, 12)
        assert item.questions_judged == item.questions == 10
        assert PUBLISHED in item.remarks
        assert item.tau_unseen is not None
        assert item.tau > 0.3
    report = board.judge_report
    assert (report.judge, report.label, report.first_places) == ("published", None, ())
    assert board.win_matrix.empty


def test_it_is_saved_like_any_other(board, tmp_path):
    saved = board.save(tmp_path / "board")
    assert Board.load(tmp_path / "board").summary == saved.summary


def test_draws_have_the_mean_and_the_spread_that_is_published(published):
    rows = published.published_ratings[published.published_ratings["language"] == "en"]
    drawn = published_tournaments(rows, ["q1", "q2", "q3"], 4000, 2)
    again = published_tournaments(rows.iloc[::-1], ["q3", "q1", "q2"], 4000, 2)
    np.testing.assert_array_equal(drawn.coefficients, again.coefficients)
    known = rows.sort_values("system")
    np.testing.assert_allclose(drawn.coefficients.mean(axis=0), known["rating"], atol=1e-7)
    np.testing.assert_allclose(drawn.coefficients.std(axis=0), known["standard_error"], rtol=0.06)
    assert (drawn.draws.sum(axis=1) == 2).all()
    first = drawn.systems[0]
    left = drawn.without([first])
    assert left.systems == drawn.systems[1:]
    np.testing.assert_array_equal(left.coefficients, drawn.coefficients[:, 1:])
    np.testing.assert_array_equal(left.mean_coefficients, drawn.ratings[1:])
    np.testing.assert_array_equal(left.variance, drawn.variance[1:])


def test_without_errors_there_are_no_intervals_and_the_board_says_so(english, build_quickly):
    bare = english.published_ratings.assign(standard_error=np.nan)
    board = build_quickly(replace(english, published_ratings=bare))
    assert board.verdict_ratings["low"].isna().all()
    assert board.verdict_ratings["rank"].notna().all()
    assert board.verdict_ratings["tier"].isna().all()
    assert set(board.verdict_ratings["note"]) == {NO_ERRORS.sentence}
    assert NO_ERRORS in board.summary.languages["en"].remarks
    judged = board.ratings[board.ratings["split"] != "unjudged"]
    np.testing.assert_array_equal(judged["rating"], judged["arena_rating"])
    bounds = ["low", "high", "rank_low", "rank_high", "tier"]
    assert judged[bounds].isna().all(axis=None)
    assert judged["rank"].notna().all()


def test_where_some_errors_are_missing_those_of_others_are_assumed_and_counted(
    published, build_quickly
):
    ratings = published.published_ratings
    name = ratings["system"].iloc[3]
    lacks = ratings["system"] == name
    some = ratings.assign(standard_error=ratings["standard_error"].where(~lacks))
    board = build_quickly(replace(published, published_ratings=some), surrogate="default")
    own = (board.ratings["system"] == ratings["system"].iloc[3]) & board.ratings[
        "arena_rating"
    ].notna()
    assert own.sum() == 2
    # A rating that counted as exact would rest on itself alone.
    assert (board.ratings.loc[own, "verdict_share"] < 0.999).all()
    judged = board.ratings[board.ratings["split"] != "unjudged"]
    assert judged[["low", "high", "rank_low", "rank_high", "tier"]].notna().all(axis=None)
    english = some[some["language"] == "en"]
    assumed = np.sqrt((english["standard_error"] ** 2).median())
    row = of(board, "verdict_ratings").loc[("en", name)]
    assert (row["high"] - row["rating"]) / 1.6448536269514722 == pytest.approx(assumed, abs=1e-5)
    assert row["note"] == ASSUMED.format(assumed)
    assert SOME_ASSUMED.format(1, 12, assumed) in map(str, board.summary.languages["en"].remarks)
    assert (of(board, "verdict_ratings")["note"] != "").sum() == 2


def test_what_has_no_answer_or_no_rating_is_counted(english, build_quickly):
    ratings = english.published_ratings
    first = english.info.systems[0]
    others = ratings[ratings["system"] != first]
    elsewhere = others.head(1).assign(system="elsewhere", language="en", rating=9.0)
    arena = replace(english, published_ratings=pd.concat([others, elsewhere]))
    board = build_quickly(arena, holdout=())
    notes = list(map(str, board.summary.languages["en"].remarks))
    assert (
        "1 published rating of systems without answers here: nothing is learned from them" in notes
    )
    assert "1 system of 12 that answered have no published rating" in notes
    row = of(board, "ratings").loc[("en", first)]
    assert (row["split"], pd.isna(row["arena_rating"])) == ("unjudged", True)
    assert np.isfinite(row["surrogate_rating"])
    assert "elsewhere" not in set(board.verdict_ratings["system"])
