"""The main job on a simulated arena: what the board holds, and that it is reproducible."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from scipy.stats import kendalltau

from arena.data.errors import UsageError
from arena.statistics.agreement import kendall_tau
from features import Feature, extract
from surrogate import build_board
from surrogate.board.language_rows import UNJUDGED
from surrogate.board.rank_reasons import NO_ANSWER, VANISHED
from surrogate.board.remarks import headline
from surrogate.board.summary_builder import BORROWED
from surrogate.board.tables import read_feature_table


def without(arena, language, system):
    answers = arena.answers
    gone = (answers["language"] == language) & (answers["system"] == system)
    return replace(arena, answers=answers[~gone].reset_index(drop=True))


def test_the_board_is_close_to_the_known_truth(small_board, simulation):
    both = small_board.ratings.merge(simulation.truth, on=["language", "system"])
    for column in ("rating", "arena_rating", "surrogate_rating"):
        taus = [
            kendalltau(rows[column], rows["quality"]).statistic
            for _, rows in both.groupby("language")
        ]
        assert np.mean(taus) > 0.6


def test_a_board_learns_from_a_table_and_a_feature_of_ones_own(small_arena):
    own = Feature("own", "Of a user", "own", ("answer",), lambda sample: float(len(sample.text)))
    table = extract(small_arena, "answer_length")
    options = {"surrogate": "linear", "tournaments": 2}
    board = build_board(small_arena, feature_table=table, features=[own], **options)
    assert board.summary.settings.features == ("answer_length", "own")
    assert board.own_features == (own,)


@pytest.fixture(scope="module")
def gaps(bilingual_arena):
    """A board on which, in one of two languages, two systems have no answers, one no verdicts."""
    judged, unjudged = bilingual_arena.info.systems[:2]
    judgments = bilingual_arena.judgments
    takes_part = (judgments["system_a"] == unjudged) | (judgments["system_b"] == unjudged)
    left = judgments[~(takes_part & (judgments["language"] == "sw"))]
    arena = without(replace(bilingual_arena, judgments=left), "sw", unjudged)
    return build_board(
        without(arena, "sw", judged),
        **{
            "features": "answer_length,bleu",
            "surrogate": "linear",
            "tournaments": 2,
            "holdout": [],
        },
    )


def test_a_judged_system_without_answers_is_unranked(gaps, bilingual_arena):
    system = bilingual_arena.info.systems[0]
    row = gaps.ratings.set_index(["language", "system"]).loc[("sw", system)]
    assert row[["surrogate_rating", "rating", "rank"]].isna().all()
    assert pd.notna(row["arena_rating"])
    assert (row["coverage"], row["answers"], row["note"]) == (0.0, 0, VANISHED)


def test_a_system_without_answers_or_verdicts_is_unranked_with_its_coverage(gaps, bilingual_arena):
    system = bilingual_arena.info.systems[1]
    row = gaps.ratings.set_index(["language", "system"]).loc[("sw", system)]
    assert pd.isna(row["rank"])
    assert pd.isna(row["rating"])
    assert (row["coverage"], row["answers"], row["note"]) == (0.0, 0, NO_ANSWER)
    overall = gaps.overall.set_index("system").loc[system]
    assert pd.isna(overall["rank"])
    assert (overall["languages"], overall["coverage"]) == (1, 0.5)


def test_a_language_without_judgments_is_said(bilingual_arena, build_quickly):
    judgments = bilingual_arena.judgments
    english = judgments[judgments["language"] == "en"].reset_index(drop=True)
    board = build_quickly(replace(bilingual_arena, judgments=english))
    assert list(board.ratings["language"].unique()) == ["en"]
    silent = board.summary.languages["sw"]
    assert silent.tau is None
    assert [str(remark) for remark in silent.remarks] == [
        "no judgments here: nothing to learn from"
    ]
    assert silent.questions - silent.questions_judged == 6


def test_systems_that_no_judgments_connect_are_rated_as_if_nobody_had_judged_them(six_systems):
    """What they say of each other does not tell where they are on the others' scale."""
    outside = list(six_systems.info.systems[-2:])
    judgments = six_systems.judgments
    has_outside_a = judgments["system_a"].isin(outside)
    has_outside_b = judgments["system_b"].isin(outside)
    boards = []
    for is_kept in (has_outside_a == has_outside_b, ~has_outside_a & ~has_outside_b):
        arena = replace(six_systems, judgments=judgments[is_kept].reset_index(drop=True))
        boards.append(build_board(arena, features="answer_length,bleu", tournaments=2))
    groups, without_them = boards
    figures = ["language", "system", "rank", "rating", "low", "high", "split"]
    assert_frame_equal(groups.ratings[figures], without_them.ratings[figures])
    is_outside = groups.ratings["system"].isin(outside)
    assert (groups.ratings.loc[is_outside, "split"] == "unjudged").all()
    assert not groups.ratings["note"].str.contains("nobody has judged").any()
    (remark,) = groups.summary.macro.remarks
    assert all(name in remark.sentence for name in outside)
    assert groups.judge_report.first_places == ()
    assert without_them.summary.macro.remarks == ()


@pytest.mark.slow
def test_too_few_systems_to_train_on_are_said_not_ranked(small_arena, quick_features):
    pair = list(small_arena.info.systems[:2])
    judgments = small_arena.judgments
    two = judgments[judgments["system_a"].isin(pair) & judgments["system_b"].isin(pair)]
    arena = replace(small_arena, judgments=two)
    board = build_board(arena, feature_table=quick_features, tournaments=2)
    is_judged = board.ratings["system"].isin(pair)
    assert board.ratings.loc[~is_judged, "rank"].isna().all()
    assert (board.ratings.loc[is_judged, "verdict_share"] == 1.0).all()
    assert board.ratings.loc[is_judged, "note"].str.startswith("by its verdicts alone: ").all()
    assert "at least 3 systems and a feature are needed" in str(
        board.summary.languages["en"].remarks[0]
    )
    # The note of every language is the same, so that a table over languages has it once.
    assert board.ratings.loc[is_judged, "note"].nunique() == 1
    assert set(board.surrogate.failures_) == {"en", "sw"}
    assert board.ratings["surrogate_low"].isna().all()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"surrogate": "oracle"}, "unknown surrogate 'oracle'"),
        ({"holdout": ["nobody"]}, "nobody"),
    ],
)
def test_what_is_misspelt_is_said_before_anything_is_measured(tiny_arena, options, said):
    stages = []
    with pytest.raises(UsageError, match=said):
        build_board(tiny_arena, progress=lambda *stage: stages.append(stage), **options)
    assert stages == []


@pytest.mark.slow
def test_permuting_the_rows_of_the_arena_changes_nothing(small_arena, small_board):
    shuffled = replace(
        small_arena,
        queries=small_arena.queries.sample(frac=1, random_state=1).reset_index(drop=True),
        answers=small_arena.answers.sample(frac=1, random_state=2).reset_index(drop=True),
        judgments=small_arena.judgments.sample(frac=1, random_state=3).reset_index(drop=True),
    )
    board = build_board(shuffled, tournaments=10, seed=3)
    for table in ("ratings", "importances", "verdict_ratings", "differences", "win_matrix"):
        pd.testing.assert_frame_equal(getattr(board, table), getattr(small_board, table))
    assert board.judge_report == small_board.judge_report


@pytest.mark.slow
def test_few_systems_leave_wide_intervals(bilingual_arena, six_systems, build_quickly):
    five = list(bilingual_arena.info.systems[:5])
    judgments = bilingual_arena.judgments
    among = judgments["system_a"].isin(five) & judgments["system_b"].isin(five)
    english = judgments[among & (judgments["language"] == "en")]
    board = build_quickly(replace(six_systems, judgments=english), holdout=[])
    ratings = board.ratings
    predicted_width = ratings["surrogate_high"] - ratings["surrogate_low"]
    judged = ratings["arena_rating"].notna()
    assert (predicted_width[~judged] > (ratings["high"] - ratings["low"])[judged].max()).all()
    assert board.ratings.loc[judged, ["low", "high"]].notna().all(axis=None)
    interval = board.summary.languages["en"].interval
    # The reference system is not among the unseen.
    assert interval.residuals == 4
    assert interval.half_width is not None
    pooled = build_quickly(replace(bilingual_arena, judgments=judgments[among]), holdout=[])
    interval = pooled.summary.languages["en"].interval
    assert (interval.residuals, interval.freedom) == (4, 3)
    assert pooled.ratings["surrogate_low"].notna().all()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "no feature table"),
        ("language,system,score\nen,x,1\n", "query_id"),
        ("language,system,query_id\nen,x,q1\n", "no feature column"),
        ("language,system,query_id,score\nen,x,q1,high\n", "not a number"),
    ],
)
def test_feature_tables_that_cannot_be_used_are_refused(tmp_path, text, said):
    path = tmp_path / "features.csv"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UsageError, match=said):
        read_feature_table(path)


def test_unknown_judges_and_empty_arenas_are_refused(small_arena):
    with pytest.raises(UsageError, match="no judge 'gpt-9' here; the judges are simulated-teacher"):
        build_board(small_arena, judge="gpt-9")
    empty = replace(small_arena, judgments=small_arena.judgments.iloc[:0])
    with pytest.raises(UsageError, match="has no judgments to learn from"):
        build_board(empty, ratings="surrogate")


@pytest.mark.slow
def test_a_language_without_verdicts_borrows_from_the_others_and_says_so(small_arena, small_board):
    english = small_arena.judgments[small_arena.judgments["language"] == "en"]
    board = build_board(
        replace(small_arena, judgments=english.reset_index(drop=True)),
        feature_table=small_board.features,
        tournaments=2,
    )
    rows = board.ratings[board.ratings["language"] == "sw"].set_index("system")
    assert (rows["note"] == UNJUDGED).all()
    assert (rows["verdict_share"] == 0).all()
    assert rows["arena_rating"].isna().all()
    assert (rows["rank_low"] <= rows["rank"]).all()
    assert (rows["low"] < rows["rating"]).all()
    verdicts = small_board.verdict_ratings
    truth = verdicts[verdicts["language"] == "sw"].set_index("system")["rating"]
    assert kendall_tau(rows["rating"].to_numpy(), truth.reindex(rows.index).to_numpy()) > 0.4
    assert board.summary.languages["sw"].remarks == (BORROWED,)
    assert board.overall["rank"].notna().all()


def test_verdicts_narrow_what_the_surrogate_predicts(small_board, small_arena):
    rows = small_board.ratings
    assert len(rows) == 2 * len(small_arena.info.systems)
    assert (rows["coverage"] == 1.0).all()
    assert rows["verdict_share"].between(0, 1, inclusive="neither").all()
    assert (rows["high"] - rows["low"] < rows["surrogate_high"] - rows["surrogate_low"]).all()
    assert rows["rating"].between(rows["low"], rows["high"]).all()
    assert rows["rank"].between(rows["rank_low"], rows["rank_high"]).all()
    for _, own in rows.groupby("language"):
        assert own.sort_values("rating", ascending=False)["rank"].is_monotonic_increasing


def test_a_language_without_verdicts_that_is_not_ranked_is_named(small_board):
    ratings = small_board.ratings
    is_sw = ratings["language"] == "sw"
    parts = small_board.summary.languages
    unjudged = parts["sw"].model_copy(update={"systems_judged": 0})
    languages = {**parts, "sw": unjudged}
    summary = small_board.summary.model_copy(update={"languages": languages})
    ranked = replace(small_board, summary=summary)
    assert "Swahili" not in headline(ranked)
    unranked = ratings.assign(rank=ratings["rank"].mask(is_sw))
    assert "Swahili does not count" in headline(replace(ranked, ratings=unranked))
