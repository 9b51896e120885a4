"""How few verdicts hold up first place: what is named takes it away, and less does not."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.quality.decisive_verdicts import first_place
from arena.rating.ratings import rate

COLUMNS = ["query_id", "language", "system_a", "system_b", "winner", "judge"]


def drawn(strengths, questions, seed, ties=0.1):
    """Verdicts on all pairs, drawn by strengths in logits."""
    rng = np.random.default_rng(seed)
    rows = []
    for q, (one, other) in itertools.product(
        range(questions), itertools.combinations(sorted(strengths), 2)
    ):
        wins = rng.random() < 1 / (1 + np.exp(strengths[other] - strengths[one]))
        winner = "tie" if rng.random() < ties else "a" if wins else "b"
        rows.append((f"q{q}", "en", one, other, winner, "j"))
    return pd.DataFrame(rows, columns=COLUMNS)


def lead_of(judgments, system):
    """How far the system is above the best of the others; by another fit."""
    rated = rate(judgments, ridge=0.1, judge="j", language="en").table.set_index("system")["rating"]
    return rated[system] - rated.drop(system).max()


def without(judgments, decisive):
    keys = ["query_id", "system_a", "system_b", "winner"]
    dropped = pd.DataFrame(decisive, columns=keys)
    rows = judgments.merge(dropped.assign(gone=True), on=keys, how="left")
    return judgments[rows["gone"].isna().to_numpy()]


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), gap=st.floats(0.0, 1.0))
def test_without_the_named_verdicts_the_successor_is_first(seed, gap):
    judgments = drawn({"a": gap, "b": 0.0, "c": -0.3, "d": -1.0}, 30, seed)
    place = first_place(judgments, "en", "j")
    if place is None:  # two first ones
        return
    assert lead_of(judgments, place.first) > 0
    assert lead_of(without(judgments, place.decisive), place.successor) > 0
    kept = without(judgments, place.decisive[:-1])
    assert lead_of(kept, place.first) > -1e-5  # one verdict less is not enough


def test_few_verdicts_hold_up_a_narrow_first_place_and_many_a_clear_one():
    narrow = first_place(drawn({"a": 0.05, "b": 0.0, "c": -1.0}, 200, 3), "en", "j")
    clear = first_place(drawn({"a": 2.0, "b": 0.0, "c": -1.0}, 200, 3), "en", "j")
    assert narrow.share < 0.05 < 0.2 < clear.share
    assert len(clear.decisive) == clear.dropped


@pytest.mark.parametrize("winner", ["tie"])
def test_nobody_is_first_where_all_are_equal(winner):
    judgments = drawn({"a": 0.0, "b": 0.0}, 20, 1).assign(winner=winner)
    assert first_place(judgments, "en", "j") is None


def test_systems_that_verdicts_do_not_connect_have_no_first_one():
    judgments = drawn({"a": 2.0, "b": 0.0}, 20, 1)
    apart = judgments.assign(system_a="c", system_b="d")
    assert first_place(pd.concat([judgments, apart]), "en", "j") is None
