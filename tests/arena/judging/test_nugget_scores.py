"""Scores of nuggets: closed forms, bounds, and what verdicts follow from them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.judging.nuggets.scores import nugget_points, score_nuggets

IMPORTANCE = st.sampled_from(["vital", "okay"])
SUPPORT = st.sampled_from(["supported", "partly", "not"])
MARKS = st.lists(st.tuples(IMPORTANCE, SUPPORT), min_size=1, max_size=20)


def test_the_scores_of_trec_by_hand():
    """Two vital nuggets, one of them partly; two okay ones, one of them supported."""
    marks = [("vital", "supported"), ("vital", "partly"), ("okay", "supported"), ("okay", "not")]
    scores = score_nuggets(marks)
    assert scores.weighted == pytest.approx((1 + 0.5 + 0.5 * 1) / (2 + 0.5 * 2))
    assert scores.vital_strict == 0.5
    assert scores.all_strict == 0.5


def test_without_vital_nuggets_there_is_no_vital_score():
    scores = score_nuggets([("okay", "partly"), ("okay", "supported")])
    assert scores.vital_strict is None
    assert (scores.weighted, scores.all_strict) == (0.75, 0.5)


@given(MARKS, st.randoms())
def test_the_order_of_nuggets_does_not_matter(marks, random):
    shuffled = random.sample(marks, len(marks))
    assert score_nuggets(shuffled) == score_nuggets(marks)


@given(MARKS)
def test_scores_lie_between_none_and_all_and_strict_ones_are_lower(marks):
    points, possible = nugget_points(marks)
    assert 0 <= points <= possible
    in_full = [(importance, "supported") for importance, _ in marks]
    assert score_nuggets(in_full).weighted == score_nuggets(in_full).all_strict == 1.0
    strict = [
        (importance, support if support == "supported" else "not") for importance, support in marks
    ]
    assert score_nuggets(strict).weighted <= score_nuggets(marks).weighted
