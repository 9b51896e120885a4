"""Boards on published ratings: as from judgments, but for what only judgments tell."""

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from arena import UsageError, rate, read_arena, write_arena
from arena.data.rows import write_rows
from arena.diagnostics import diagnose
from arena.rating.published import (
    ASSUMED,
    NO_ERRORS,
    SOME_ASSUMED,
    completed_variances,
    published_tournaments,
)
from features import extract
from surrogate import Board, build_board, place_systems
from surrogate.board.details import arena_table
from surrogate.board.judge.report import ONLY_RATINGS
from surrogate.board.summarize import PUBLISHED
from surrogate.learning.languages import TournamentSettings, language_data
from surrogate.learning.names import SURROGATE_NAMES, find_surrogate
from surrogate.publish.site.site import write_site
from surrogate.validation import validate
from surrogate.validation.learning_curves import learning_curves

ALPACAEVAL = Path(__file__).parents[4] / "shared" / "data" / "arenas" / "alpacaeval"
SETTINGS = TournamentSettings(tournaments=6, seed=3)
KEYS = ["language", "system"]


def as_published(arena):
    """Put the ratings of an arena's judgments in the place of them."""
    parts = []
    for language, rows in arena.judgments.groupby("language"):
        table = rate(rows, rounds=50).table
        error = (table["high"] - table["low"]) / (2 * 1.959963984540054)
        parts.append(table.assign(judge="published", language=language, standard_error=error))
    columns = list(arena.published_ratings)
    ratings = pd.concat(parts, ignore_index=True)[columns]
    return replace(arena, judgments=arena.judgments.iloc[:0], published_ratings=ratings)


@pytest.fixture(scope="module")
def published(small_arena):
    return as_published(small_arena)


@pytest.fixture(scope="module")
def english(english_arena):
    return as_published(english_arena)


@pytest.fixture(scope="module")
def tiny(tiny_arena):
    return as_published(tiny_arena)


@pytest.fixture(scope="module")
def features(quick_features):
    return quick_features


@pytest.fixture(scope="module")
def board(published, features):
    return build_board(published, feature_table=features, tournaments=2, seed=3)


def of(board, table):
    return getattr(board, table).set_index(KEYS).sort_index()


def test_the_arena_table_is_what_is_published(board, published):
    ratings = published.published_ratings.set_index(KEYS).sort_index()
    arena = of(board, "arena")
    np.testing.assert_allclose(arena["rating"], ratings["rating"], atol=1e-6)
    width = 1.959963984540054 * ratings["standard_error"]
    np.testing.assert_allclose(arena["high"] - arena["rating"], width, atol=2e-6)
    assert (arena["rank"].groupby("language").min() == 1).all()
    np.testing.assert_allclose(of(board, "ratings")["arena_rating"], ratings["rating"], atol=1e-6)


def test_tiers_and_ranks_are_those_of_judgments_but_for_the_draws(board, small_arena):
    by_language = small_arena.judgments.groupby("language")
    ratings = [arena_table(rate(rows), language) for language, rows in by_language]
    tiers, judged = of(board, "arena"), pd.concat(ratings).set_index(KEYS).sort_index()
    assert (tiers["tier"].groupby("language").min() == 1).all()
    assert (tiers["rank_low"] <= tiers["rank_high"]).all()
    assert (tiers["rank"] == judged["rank"]).all()
    assert np.corrcoef(tiers["tier"], judged["tier"])[0, 1] > 0.7


def test_the_board_says_what_it_rests_on(board):
    summary = board.summary
    assert summary.signature.startswith("judge:published|")
    assert summary.is_published
    for item in summary.languages.values():
        assert (item.judgments, item.systems_judged) == (0, 12)
        assert item.questions_judged == item.questions == 10
        assert PUBLISHED in item.notes
        assert item.tau_unseen is not None
        assert item.tau > 0.3
    report = board.judge_report
    assert (report.judge, report.judgments, report.systems) == ("published", 0, 12)
    assert report.languages == ("en", "sw")
    assert report.flip_rate.reason == report.position.reason == ONLY_RATINGS
    assert board.win_matrix.empty


def test_its_site_and_files_are_like_any_other(board, tmp_path):
    saved = board.save(tmp_path / "board")
    assert Board.load(tmp_path / "board").summary == saved.summary
    index = write_site(saved, tmp_path / "site").read_text(encoding="utf-8")
    assert "24 published ratings by published" in index
    judge = (tmp_path / "site" / "judge.html").read_text(encoding="utf-8")
    assert ONLY_RATINGS in judge


@pytest.mark.parametrize("name", sorted(SURROGATE_NAMES))
def test_every_surrogate_learns_from_published_ratings(name, tiny, features):
    if name == "xgboost" and find_spec("xgboost") is None:
        pytest.skip("install the extra xgboost")
    own = features.merge(tiny.answers[["language", "system", "query_id"]])
    board = build_board(tiny, feature_table=own, tournaments=2, surrogate=name, seed=3)
    assert board.ratings["rank"].notna().all()
    assert board.summary.languages["en"].tau_unseen is not None
    new = own[own["system"] == tiny.info.systems[0]].assign(system="newcomer")
    placed = place_systems(board, new, tiny.queries).new.set_index("language")
    assert np.isfinite(placed.loc["en", "rating"])


def test_what_leaves_judgments_out_says_that_there_are_none(published, features):
    curve = learning_curves(
        published, feature_table=features, shares=[0.8], repeats=1, tournaments=SETTINGS
    ).table.set_index("axis")
    assert curve.loc["systems", "tau"].notna().all()
    assert curve.loc["questions", "tau"].isna().all()
    own = curve[curve["language"] == "sw"]
    assert "only ratings are published" in own.loc["judgments", "reason"]
    with pytest.raises(UsageError, match="no judgments to diagnose, only published ratings"):
        diagnose(published)


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
    with pytest.raises(UsageError, match="at least 1"):
        published_tournaments(rows, ["q1"], 0)
    with pytest.raises(UsageError, match="one language at a time"):
        published_tournaments(published.published_ratings, ["q1"])


def test_the_process_learns_the_same_from_tournaments_and_from_a_table(published, features):
    data = language_data(published, features, SETTINGS)
    drawn = find_surrogate("gaussian-process").fit(
        features, {item.language: item.tournaments for item in data}
    )
    table = published.published_ratings.assign(
        variance=published.published_ratings["standard_error"] ** 2
    )
    told = find_surrogate("gaussian-process").fit(features, table)
    np.testing.assert_allclose(
        drawn.predict(features)["rating"], told.predict(features)["rating"], atol=1e-5
    )


def test_without_errors_there_are_no_intervals_and_the_board_says_so(english, build_quickly):
    bare = english.published_ratings.assign(standard_error=np.nan)
    board = build_quickly(replace(english, published_ratings=bare))
    assert board.arena["low"].isna().all()
    assert board.arena["rank"].notna().all()
    assert board.arena["tier"].isna().all()
    assert set(board.arena["note"]) == {NO_ERRORS}
    assert NO_ERRORS in board.summary.languages["en"].notes
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
    board = build_quickly(replace(published, published_ratings=some), surrogate="gaussian-process")
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
    row = of(board, "arena").loc[("en", name)]
    assert (row["high"] - row["rating"]) / 1.959963984540054 == pytest.approx(assumed, abs=1e-5)
    assert row["note"] == ASSUMED.format(assumed)
    assert SOME_ASSUMED.format(1, 12, assumed) in board.summary.languages["en"].notes
    assert (of(board, "arena")["note"] != "").sum() == 2


def test_exact_ratings_and_none_tell_nothing_of_the_errors_of_others():
    np.testing.assert_array_equal(
        completed_variances(np.array([0.0, 4.0, np.nan, 1.0, 2.0])), [0.0, 4.0, 2.0, 1.0, 2.0]
    )
    np.testing.assert_array_equal(completed_variances(np.array([0.0, np.nan])), [0.0, np.nan])


def test_a_reference_of_no_error_takes_the_ranks_of_no_other(english, build_quickly):
    ratings = english.published_ratings
    reference = ratings["system"] == ratings["system"].iloc[0]
    errors = ratings["standard_error"].where(~reference, 0.0)
    board = build_quickly(replace(english, published_ratings=ratings.assign(standard_error=errors)))
    judged = board.ratings[board.ratings["split"] != "unjudged"]
    assert judged[["low", "high", "rank_low", "rank_high", "tier"]].notna().all(axis=None)
    exact = judged[judged["system"] == ratings["system"].iloc[0]]
    np.testing.assert_allclose(exact["low"], exact["high"], atol=1e-3)
    assert (exact["rank_low"] <= exact["rank_high"]).all()


def test_what_has_no_answer_or_no_rating_is_counted(english, build_quickly):
    ratings = english.published_ratings
    first = english.info.systems[0]
    others = ratings[ratings["system"] != first]
    elsewhere = others.head(1).assign(system="elsewhere", language="en", rating=9.0)
    arena = replace(english, published_ratings=pd.concat([others, elsewhere]))
    board = build_quickly(arena, holdout=())
    notes = board.summary.languages["en"].notes
    assert (
        "1 published rating of systems without answers here: nothing is learned from them" in notes
    )
    assert "1 system of 12 that answered have no published rating" in notes
    row = of(board, "ratings").loc[("en", first)]
    assert (row["split"], pd.isna(row["arena_rating"])) == ("unjudged", True)
    assert np.isfinite(row["rating"])
    assert "elsewhere" not in set(board.arena["system"])


def test_commands_take_a_folder_with_published_ratings(tiny, run, tmp_path, capsys):
    folder, out = tmp_path / "arena", tmp_path / "board"
    write_arena(tiny, folder)
    options = ("--features", "answer_length,repetition", "--surrogate", "ridge")
    options = (*options, "--jobs", 1, "--tournaments", 2)
    assert run("board", folder, "--out", out, "--judge", "published", *options) == 0
    assert run("validate", folder, "--judge", "published", "--repeats", 1, *options) == 0
    rows = tiny.answers[tiny.answers["system"] == tiny.info.systems[0]]
    write_rows(rows.assign(system="newcomer"), tmp_path / "answers.jsonl")
    assert run("rank", tmp_path / "answers.jsonl", "--board", out) == 0
    assert "newcomer" in capsys.readouterr().out
    assert run("fit", folder) == run("diagnose", folder) == 2
    assert "only published ratings" in capsys.readouterr().err


def test_with_judgments_beside_them_the_judge_is_named(small_arena, published):
    both = replace(small_arena, published_ratings=published.published_ratings)
    with pytest.raises(UsageError, match="several judges; choose one"):
        both.judged_by()
    assert both.judged_by("published").judgments.empty
    assert diagnose(both).findings[-1].check == "published"


@pytest.mark.slow
@pytest.mark.skipif(not ALPACAEVAL.is_dir(), reason="the shared arenas are absent")
@pytest.mark.parametrize("judge", ["published", "published:length_controlled_winrate"])
def test_unseen_systems_of_a_public_board_are_ranked(judge):
    arena = read_arena(ALPACAEVAL)
    done = validate(
        arena,
        surrogate="gaussian-process",
        judge=judge,
        feature_table=extract(arena, "answer_length,repetition,markup_artifacts,truncation"),
        repeats=1,
    )
    assert done.scores.n_systems == 114
    assert done.scores.tau > 0.7


def test_few_tournaments_are_drawn_about_the_same_ratings(english, features):
    (data,) = language_data(english, features, SETTINGS)
    name = data.systems[0]
    few = data.drawing(2).without([name]).tournaments
    assert few.coefficients.shape == (2, len(data.systems) - 1)
    assert len(few.draws) == 2
    np.testing.assert_allclose(few.coefficients.mean(axis=0), few.mean_coefficients, atol=1e-9)
    np.testing.assert_array_equal(few.mean_coefficients, data.truth[1:])
