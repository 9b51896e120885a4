"""A board without any verdict: what it rests on, how it is marked, and what it is good for."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.data.errors import UsageError
from features import extract
from surrogate import build_board, rank_systems
from surrogate.board.conclusions import UNJUDGED_BY_CONSENSUS, UNJUDGED_BY_NOTHING
from surrogate.board.rank_reasons import NO_ANSWER
from surrogate.board.settings import NOBODY
from surrogate.board.summary import PREFERENCES, fingerprint
from surrogate.board.unjudged_board import (
    IS_REFERENCE,
    NEEDS_VERDICTS,
    NO_VERDICT,
    NOT_COMPARED,
    first_ratings,
    shares_below,
)

BY_VERDICTS = [
    *("surrogate_rating", "surrogate_low", "surrogate_high"),
    *("arena_rank", "arena_rating", "arena_low", "arena_high"),
]


def answers(values, feature="bleu"):
    """A feature table: question to the value of each system; the texts do not differ."""
    return pd.DataFrame(
        [
            ("en", system, question, value, "the same words")
            for question, of_systems in values.items()
            for system, value in of_systems.items()
        ],
        columns=["language", "system", "query_id", feature, "answer"],
    )


def test_a_share_is_of_the_other_answers_to_the_question_and_ties_count_half():
    values = pd.Series([0.1, 0.5, 0.5, 0.9, np.nan, 7.0])
    questions = pd.Series(["a", "a", "a", "a", "a", "b"])
    found = shares_below(values, questions)
    np.testing.assert_allclose(found, [0, 0.5, 0.5, 1, np.nan, np.nan])


def test_ratings_by_hand():
    table = answers({"q1": {"x": 3, "y": 2, "z": 1}, "q2": {"x": 1, "y": 2}})
    found = first_ratings(table, "en", ["x", "y", "z", "w"], 2)
    rows = found.table.set_index("system")
    assert found.used == ("bleu",)
    assert found.left_out == {"consensus": "the same for all answers to a question"}
    assert rows["rating"].to_dict() == pytest.approx(
        {"x": 0.5, "y": 0.75, "z": 0.0, "w": np.nan}, nan_ok=True
    )
    assert list(found.table["system"]) == ["y", "x", "z", "w"]
    assert rows.loc["y", "note"] == NO_VERDICT
    assert rows.loc["w", "note"] == NO_ANSWER
    assert rows.loc["z", "coverage"] == 0.5
    assert rows.loc["z", ["low", "high"]].tolist() == [0, 0]
    assert rows.loc["x", ["low", "high"]].tolist() == [0, 1]
    variances = pd.Series(np.diag(found.covariance), found.covariance.index)
    np.testing.assert_allclose(variances["x"] ** 0.5, rows.loc["x", "standard_error"])
    assert first_ratings(table[:2], "en", ["x", "y"], 1).covariance.isna().all(axis=None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("questions", "note"), [(["q1"], NEEDS_VERDICTS), (["q1", "q2"], NOT_COMPARED)]
)
def test_two_systems_that_nothing_tells_apart_say_whether_they_met(questions, note):
    table = pd.concat(
        [answers({questions[0]: {"x": np.nan}}), answers({questions[-1]: {"y": np.nan}})]
    )
    found = first_ratings(table, "en", ["x", "y"], len(questions))
    assert found.table["rating"].isna().all()
    assert set(found.table["note"]) == {note}


def test_reference_answers_of_questions_do_not_compete(unjudged):
    best = unjudged.info.reference_system
    own = unjudged.answers[unjudged.answers["system"] == best]
    own = own.rename(columns={"answer": "reference"})
    keys = ["language", "query_id"]
    others = [name for name in unjudged.info.systems if name != best]
    part = replace(
        unjudged,
        info=unjudged.info.model_copy(update={"systems": (*others,), "reference_system": None}),
        queries=unjudged.queries.merge(own[[*keys, "reference"]], on=keys),
        answers=unjudged.answers[unjudged.answers["system"] != best].reset_index(drop=True),
    )
    measured, as_before = (
        extract(arena, "bleu").set_index(["language", "query_id", "system"])["bleu"]
        for arena in (part, unjudged)
    )
    pd.testing.assert_series_equal(measured, as_before[measured.index])
    board = build_board(part, features="bleu")
    assert set(board.ratings["system"]) == set(others)
    assert fingerprint(part) != fingerprint(replace(part, queries=unjudged.queries))


def test_without_passages_features_count_by_what_judges_of_other_arenas_liked():
    values = {"q1": {"x": 3.0, "y": 2.0, "z": 1.0}, "q2": {"x": 1.0, "y": 2.0}, "q3": {"z": 9.0}}
    table = answers(values, "answer_length").assign(repetition=[0.0, 0.1, 0.2, 0.0, 0.0, 0.5])
    weights = {"answer_length": 3.0, "repetition": -1.0, "elsewhere": 9.0}
    found = first_ratings(table, "en", ["x", "y", "z"], 3, preferences=weights)
    rows = found.table.set_index("system")
    assert found.used == (PREFERENCES,)
    # On q1 both features agree; on q2 x has none and y all by length, and half by repetition.
    shares = {"x": (1 + 0.125) / 2, "y": (0.5 + 0.875) / 2, "z": 0.0}
    assert rows["rating"].to_dict() == pytest.approx(shares)
    negative = {name: -weight for name, weight in weights.items()}
    turned = first_ratings(table, "en", ["x", "y", "z"], 3, preferences=negative).table
    turned = turned.set_index("system")["rating"].to_dict()
    assert turned == pytest.approx({name: 1 - share for name, share in shares.items()})
    for unknown in ({}, {"elsewhere": 1.0}):
        as_before = first_ratings(table, "en", ["x", "y", "z"], 3, preferences=unknown)
        assert PREFERENCES not in as_before.used


@pytest.mark.slow
@settings(max_examples=20)
@given(st.permutations(range(12)), st.floats(0.1, 9))
def test_order_of_rows_and_unit_of_a_feature_change_nothing(order, factor):
    random = np.random.default_rng(3)
    table = answers(
        {f"q{i}": dict(zip("abc", random.normal(size=3), strict=True)) for i in range(4)}
    )
    moved = table.iloc[list(order)].assign(bleu=lambda rows: factor * rows["bleu"] ** 3 + 1)
    one, other = (first_ratings(rows, "en", ["a", "b", "c"], 4).table for rows in (table, moved))
    pd.testing.assert_frame_equal(one, other)


def test_what_rests_on_verdicts_is_missing_and_every_row_says_why(first_board, small_arena):
    rows = first_board.ratings
    assert len(rows) == 2 * len(small_arena.info.systems)
    assert rows[BY_VERDICTS].isna().all(axis=None)
    assert rows["note"].str.startswith(NO_VERDICT).all()
    assert rows.loc[rows["note"].str.endswith(IS_REFERENCE), "system"].nunique() == 1
    assert (rows["split"] == "unjudged").all()
    assert (rows["verdict_share"] == 0).all()
    assert rows["rating"].between(0, 1).all()
    assert (rows["low"] <= rows["rating"]).all()
    assert (rows["rank_low"] <= rows["rank"]).all()
    assert rows.groupby("language")["rating"].mean().tolist() == pytest.approx([0.5, 0.5], abs=0.02)
    assert first_board.verdict_ratings.empty
    assert first_board.win_matrix.empty
    assert first_board.overall["rank"].notna().all()
    assert first_board.overall["arena_rank"].isna().all()


def test_summary_report_and_signature_say_that_nobody_judged(first_board):
    summary = first_board.summary
    assert (summary.judge, summary.is_first, summary.is_published) == (NOBODY, True, False)
    assert summary.macro.conclusions == (UNJUDGED_BY_CONSENSUS,)
    assert all(item.conclusions == (UNJUDGED_BY_CONSENSUS,) for item in summary.languages.values())
    assert all("no logits" in str(item.remarks[0]) for item in summary.languages.values())
    assert summary.languages["sw"].systems_judged == summary.languages["sw"].judgments == 0
    assert first_board.judge_report.judge == NOBODY
    assert first_board.judge_report.label is None
    assert 'ratings = "consensus"' in summary.settings.toml()
    assert "judge" not in summary.settings.toml()


def test_a_board_whose_answers_nothing_tells_apart_says_that_no_system_has_a_rank(unjudged):
    alike = unjudged.select(languages=["en"])
    alike = replace(alike, answers=alike.answers.assign(answer="The same words."))
    board = build_board(alike, features="answer_length")
    assert board.overall["rank"].isna().all()
    assert board.summary.macro.conclusions == (UNJUDGED_BY_NOTHING,)
    assert board.summary.languages["en"].conclusions == (UNJUDGED_BY_NOTHING,)


def test_verdicts_that_are_there_are_not_looked_at(first_board, small_arena):
    asked = build_board(small_arena, feature_table=first_board.features, ratings="consensus")
    pd.testing.assert_frame_equal(asked.ratings, first_board.ratings)
    with pytest.raises(UsageError, match="look at no verdict"):
        build_board(small_arena, ratings="consensus", judge="simulated-teacher")


@pytest.mark.parametrize(
    "asked", [{"judge": "gpt-4"}, {"ratings": "surrogate"}, {"preset": "mirage"}]
)
def test_what_needs_verdicts_is_refused_without_any(unjudged, asked):
    with pytest.raises(UsageError, match="has no judgments to learn from"):
        build_board(unjudged, **asked)


def test_it_places_no_new_system(first_board, unjudged):
    new = unjudged.answers.head(3).assign(system="new")
    with pytest.raises(UsageError, match="without verdicts"):
        rank_systems(first_board, new, unjudged)
