"""Soft verdicts count by their shares, wherever whole ones count."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena import UsageError
from arena.rating.battles import Battles
from arena.rating.outcomes import outcome_rows
from arena.rating.ratings import rate
from arena.rating.tournaments import bootstrap_tournaments

SYSTEMS = ("x", "y", "z")


def table(shares):
    """Make soft judgments of quarters, and the whole ones that they stand for, four times each."""
    soft, whole = [], []
    for number, (a, b) in enumerate(shares):
        key = {"query_id": f"q{number % 4}", "language": "en", "judge": "j"}
        key |= {"system_a": SYSTEMS[number % 3], "system_b": SYSTEMS[(number + 1) % 3]}
        soft.append(key | {"winner": "a", "soft": True})
        soft[-1] |= {"probability_a": a / 4, "probability_b": b / 4}
        said = ["a"] * a + ["b"] * b + ["tie"] * (4 - a - b)
        whole += [key | {"winner": each, "judge": f"j{k}"} for k, each in enumerate(said)]
    return pd.DataFrame(soft), pd.DataFrame(whole)


QUARTERS = st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(lambda ab: sum(ab) <= 4)


@given(st.lists(QUARTERS, min_size=3, max_size=12))
@settings(max_examples=25)
def test_shares_count_as_the_battles_they_stand_for(shares):
    soft, whole = (Battles.from_judgments(each) for each in table(shares))
    assert soft.judged == len(shares)
    by_side = (each.items_by_side.totals for each in (soft, whole))
    np.testing.assert_allclose(4 * np.array(next(by_side)), next(by_side))
    np.testing.assert_allclose(4 * soft.items.counts, whole.items.counts)
    np.testing.assert_allclose(4 * soft.items.points, whole.items.points)
    records = soft.records().set_index("system") * 4
    np.testing.assert_allclose(records, whole.records().set_index("system"))


def test_ratings_and_tournaments_are_those_of_the_battles_they_stand_for():
    soft, whole = table([(3, 1), (2, 2), (1, 2), (4, 0), (0, 3), (2, 1), (1, 1), (2, 0)])
    one, two = (rate(each, ridge=0.0, rounds=0, judge="all").table for each in (soft, whole))
    np.testing.assert_allclose(one["rating"], two["rating"], atol=1e-6)
    assert "|battles:8|" in rate(soft, rounds=20).signature
    first, second = (bootstrap_tournaments(each, 5, 4, ridge=0.0) for each in (soft, whole))
    np.testing.assert_allclose(first.coefficients, second.coefficients, atol=1e-5)


def test_whole_and_soft_judgments_stand_side_by_side():
    soft, whole = table([(3, 1), (2, 2)])
    both = pd.concat([soft, whole], ignore_index=True)
    rows, position, weight = outcome_rows(both)
    assert weight.sum() == pytest.approx(len(soft) + len(whole))
    assert np.bincount(position, weight).tolist() == pytest.approx([1.0] * len(both))
    assert list(rows.columns) == list(both.columns)
    assert outcome_rows(whole)[2] is None


@pytest.mark.parametrize(("a", "b"), [(None, 0.5), (0.8, 0.4), (-0.1, 0.5), ("much", 0.5)])
def test_unsound_shares_are_refused(a, b):
    soft, _ = table([(3, 1)])
    wrong = soft.astype(object).assign(probability_a=[a], probability_b=b)
    with pytest.raises(UsageError, match="no sound probability_a and probability_b"):
        Battles.from_judgments(wrong)
    with pytest.raises(UsageError, match="soft judgments need query_id"):
        Battles.from_judgments(soft.drop(columns="probability_a"))
