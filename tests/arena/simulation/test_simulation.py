"""Simulating: the same seed gives the same arena, and bad arguments are refused."""

from __future__ import annotations

import pandas as pd
import pytest

from arena.simulation import (
    DEFAULT_SYSTEMS,
    SystemProfile,
    simulate,
)

PERFECT = SystemProfile(name="sim-perfect")
WEAK = SystemProfile(0.2, 0.3, 0.2, 0.4, 0.3, 0.25, name="sim-weak")


@pytest.fixture(scope="module")
def default():
    return simulate()


def test_the_same_seed_gives_the_same_tables_and_another_seed_does_not(default):
    again = simulate()
    for name in ("queries", "answers", "judgments"):
        pd.testing.assert_frame_equal(getattr(again.arena, name), getattr(default.arena, name))
    pd.testing.assert_frame_equal(again.truth, default.truth)
    other = simulate(seed=1)
    assert (other.arena.answers["answer"] != default.arena.answers["answer"]).mean() > 0.2
    pd.testing.assert_frame_equal(other.truth, default.truth)


def test_further_systems_languages_and_questions_change_nothing_else(default):
    some = simulate(DEFAULT_SYSTEMS[2:5][::-1], ["sw", "ja"], questions=7)
    for name, rows in (("answers", 2 * 7 * 3), ("judgments", 2 * 7 * 3)):
        few, all_rows = getattr(some.arena, name), getattr(default.arena, name)
        assert len(few) == rows
        assert len(few.merge(all_rows, how="inner", on=list(few.columns))) == rows
    key = ["language", "query_id"]
    both = some.arena.queries.merge(default.arena.queries, on=key)
    assert len(both) == 14
    assert (both["passages_x"] == both["passages_y"]).all()
