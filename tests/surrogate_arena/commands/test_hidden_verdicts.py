"""A board from few verdicts, beside those that it did not see."""

import re
from dataclasses import replace

import pandas as pd
import pytest
from scipy.stats import kendalltau

from arena import sample_arena
from arena.rating.ratings import rate
from surrogate import build_board
from surrogate_arena.commands.hidden_verdicts import comparison_sentences, hide_verdicts


@pytest.fixture(scope="module")
def hidden():
    return hide_verdicts(sample_arena().select(judges=["gpt-4o"]), questions=4)


@pytest.fixture(scope="module")
def board(hidden):
    features = ["answer_length", "repetition"]
    return build_board(hidden.shown, features=features, surrogate="linear", tournaments=2)


def test_few_questions_are_shown_and_none_with_one_system(hidden):
    shown, rest = hidden.shown.judgments, hidden.hidden
    assert shown["query_id"].nunique() == 4
    assert not set(shown["query_id"]) & set(rest["query_id"])
    systems = set(shown[["system_a", "system_b"]].stack())
    assert systems == set(hidden.shown.info.systems) - {hidden.unjudged}
    assert set(rest[["system_a", "system_b"]].stack()) == set(hidden.shown.info.systems)


def test_taus_are_of_judged_systems_and_the_place_is_that_of_the_board(board, hidden):
    first, last = comparison_sentences(board, hidden)
    truth = rate(hidden.hidden, rounds=0).table.set_index("system")
    on_board = board.ratings.set_index("system").drop(hidden.unjudged)
    quality = truth.loc[on_board.index, "rating"]
    taus = [kendalltau(on_board[name], quality).statistic for name in ("rating", "arena_rating")]
    assert re.findall(r"-?\d\.\d\d", first) == [f"{tau:.2f}" for tau in taus]
    assert f"rank {truth.loc[hidden.unjudged, 'rank']} by" in last
    without_place = replace(board, ratings=board.ratings.assign(place=pd.NA))
    assert "no place here" in list(comparison_sentences(without_place, hidden))[1]
