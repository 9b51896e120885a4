"""A language with few judged systems: all are rated, the surer the more of them are judged."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from features.engine.extraction import FEATURE_KEY
from surrogate import build_board
from surrogate.board.language_rows import BORROWED as FEW
from surrogate.learning.answers_surrogate import (
    AnswersSurrogate,
)
from surrogate.learning.language_data import TournamentSettings, language_data
from surrogate.learning.ratings import posterior_ratings
from surrogate.learning.replication import NOTHING_EXPECTED
from surrogate.learning.training_data import training_ratings


def judged_among(arena, systems):
    """All judgments in English; in Swahili those among some systems."""
    rows = arena.judgments
    kept = rows["system_a"].isin(systems) & rows["system_b"].isin(systems)
    kept |= rows["language"] == "en"
    return replace(arena, judgments=rows[kept].reset_index(drop=True))


def without_answers(arena, system):
    gone = (arena.answers["language"] == "sw") & (arena.answers["system"] == system)
    return replace(arena, answers=arena.answers[~gone].reset_index(drop=True))


@pytest.fixture(scope="module")
def rated(small_arena, quick_features):
    """Number of systems judged in Swahili, to ratings there: posterior, else what is expected."""
    order = [*small_arena.info.systems[3:], *small_arena.info.systems[:3]]
    found = {}
    for count in (0, 1, 2):
        arena = judged_among(small_arena, order[: max(count, 2)] if count else [])
        answered = without_answers(arena, order[1]) if count == 1 else arena
        X = quick_features.merge(answered.answers[FEATURE_KEY], on=FEATURE_KEY)
        data = language_data(arena, X, TournamentSettings(tournaments=2))
        known = training_ratings({item.language: item.tournaments for item in data})
        surrogate = AnswersSurrogate().fit(X, known)
        table = surrogate.predict(X).set_index(["language", "system"]).loc["sw"]
        if count:
            both = posterior_ratings(surrogate, known, NOTHING_EXPECTED)["sw"]
            own = {"rating": both.ratings, "standard_error": both.standard_errors}
            table = pd.DataFrame(own | {"share": both.shares}, index=list(both.systems))
            table = table[table.index != order[1]] if count == 1 else table
        found[count] = table, order[:count]
    return found


@pytest.mark.parametrize("count", [0, 1, 2])
def test_every_system_with_answers_is_rated(rated, count):
    table, judged = rated[count]
    assert len(table) == 12 - (count == 1)
    assert np.isfinite(table["rating"]).all()
    assert (table["standard_error"] > 0).all()
    if count:
        assert (table["share"].drop(judged) == 0).all()
        assert table.loc[judged, "share"].between(0, 1, inclusive="left").all()
        assert (table["share"] > 0).sum() == (count if count > 1 else 0)


def test_intervals_shrink_with_the_number_of_judged_systems(rated):
    widths = [table["standard_error"].mean() for table, _ in rated.values()]
    assert list(rated) == [0, 1, 2]
    assert (np.diff(widths) < 0).all()


@pytest.fixture(scope="module")
def board(small_arena, quick_features):
    arena = judged_among(small_arena, small_arena.info.systems[3:5])
    return build_board(arena, feature_table=quick_features, tournaments=2)


def test_a_board_rates_everybody_there_and_says_by_what(board):
    rows = board.ratings[board.ratings["language"] == "sw"]
    assert (rows["rank"].notna() == (rows["split"] != "unjudged")).all()
    assert (rows["rank"].isna() == rows["place"].notna()).all()
    assert (rows["low"] < rows["rating"]).all()
    assert np.isfinite(rows["high"]).all()
    assert rows["note"].str.endswith(FEW).all()
    judged = rows["split"] != "unjudged"
    assert judged.sum() == 2
    assert (rows.loc[~judged, "verdict_share"] == 0).all()
    assert board.overall["rank"].notna().all()
    summary = board.summary.languages["sw"]
    assert str(summary.remarks[0]).startswith("2 judged systems here")
    assert summary.systems_judged == 2
