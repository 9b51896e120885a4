"""Boards from few verdicts, compared with verdicts that they did not see."""

from dataclasses import replace

import pandas as pd
import pytest
from scipy.stats import kendalltau

from arena import UsageError
from arena.rating.ratings import rate
from surrogate_arena.commands.hidden_verdicts import (
    compare_with_hidden,
    hide_verdicts,
    rated_systems,
)

QUESTIONS = 4


@pytest.fixture(scope="module")
def hidden(small_arena):
    return hide_verdicts(small_arena, QUESTIONS)


@pytest.fixture(scope="module")
def board(hidden, build_quickly):
    return build_quickly(hidden.shown)


def question_ids(judgments):
    return judgments.groupby("language")["query_id"].agg(set)


def test_few_questions_are_shown_and_all_others_hidden(small_arena, hidden):
    shown = question_ids(hidden.shown.judgments)
    rest = question_ids(hidden.hidden)
    assert (shown.map(len) == QUESTIONS).all()
    for language, ids in question_ids(small_arena.judgments).items():
        assert shown[language] | rest[language] == ids
        assert not shown[language] & rest[language]
    pd.testing.assert_frame_equal(hidden.shown.answers, small_arena.answers)


def test_the_unjudged_system_has_hidden_verdicts_only(small_arena, hidden):
    shown = hidden.shown.judgments[["system_a", "system_b"]]
    assert hidden.unjudged not in set(shown.stack())
    assert hidden.unjudged in set(hidden.hidden[["system_a", "system_b"]].stack())
    assert hidden.unjudged != small_arena.info.reference_system
    others = set(small_arena.info.systems) - {hidden.unjudged}
    assert set(shown.stack()) == others


@pytest.mark.slow
def test_seeds_draw_other_questions_and_systems(small_arena):
    draws = [hide_verdicts(small_arena, QUESTIONS, seed) for seed in range(8)]
    assert len({draw.unjudged for draw in draws}) > 1
    shown = {frozenset(draw.shown.judgments["query_id"]) for draw in draws}
    assert len(shown) > 1
    again = hide_verdicts(small_arena, QUESTIONS, 3)
    pd.testing.assert_frame_equal(again.hidden, draws[3].hidden)


def test_the_draw_does_not_depend_on_names_of_systems(small_arena, hidden):
    names = sorted(small_arena.info.systems)
    renamed = dict(zip(names, (f"system {name[::-1]}" for name in names), strict=True))
    info = small_arena.info
    arena = replace(
        small_arena,
        info=info.model_copy(
            update={
                "systems": tuple(renamed[name] for name in info.systems),
                "reference_system": renamed[info.reference_system],
            }
        ),
        answers=small_arena.answers.replace({"system": renamed}),
        judgments=small_arena.judgments.replace({"system_a": renamed, "system_b": renamed}),
    )
    assert hide_verdicts(arena, QUESTIONS).unjudged == renamed[hidden.unjudged]


def test_nothing_to_compare_with_is_refused(small_arena):
    with pytest.raises(UsageError, match="draw fewer"):
        hide_verdicts(small_arena, 10)


def test_taus_are_those_of_judged_systems_with_the_hidden_ratings(board, hidden):
    compared = compare_with_hidden(board, hidden)
    taus = compared.taus.set_index("language")
    for language, rows in hidden.hidden.groupby("language"):
        truth = rate(rows, rounds=0).table.set_index("system")["rating"].drop(hidden.unjudged)
        on_board = board.table(language).set_index("system").loc[truth.index]
        assert taus.loc[language, "rating"] == pytest.approx(
            kendalltau(on_board["rating"], truth).statistic
        )
        assert taus.loc[language, "verdicts_alone"] == pytest.approx(
            kendalltau(on_board["arena_rating"], truth).statistic
        )


def test_the_place_of_the_unjudged_system_is_that_of_the_board(board, hidden):
    places = compare_with_hidden(board, hidden).places.set_index("language")
    truth = rated_systems(hidden.hidden).set_index(["language", "system"])["rank"]
    for language in hidden.shown.info.languages:
        row = board.table(language).set_index("system").loc[hidden.unjudged]
        place = places.loc[language]
        assert place["place"] == row["place"]
        assert place["hidden_rank"] == truth[language, hidden.unjudged]
        is_inside = row["place_low"] <= place["hidden_rank"] <= row["place_high"]
        assert place["is_inside"] == is_inside


def test_a_system_without_place_is_inside_nothing(board, hidden):
    columns = ["place", "place_low", "place_high"]
    ratings = board.ratings.copy()
    ratings.loc[ratings["system"] == hidden.unjudged, columns] = pd.NA
    places = compare_with_hidden(replace(board, ratings=ratings), hidden).places
    assert places["place"].isna().all()
    assert not places["is_inside"].any()
