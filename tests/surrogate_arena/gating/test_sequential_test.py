"""The test with three looks: error rates, power, and what it says of few scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from arena import UsageError
from surrogate_arena.gating.sequential_test import LAST, NotWorseTest, SequentialTest

POINTS = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
SCORES = st.lists(st.sampled_from(list(POINTS)), min_size=1, max_size=40)


@given(SCORES)
def test_bounds_are_students_with_a_0_and_a_1_more_and_mirror_each_other(scores):
    low, high = SequentialTest().interval(scores)
    expected = ttest_1samp([*scores, 0.0, 1.0], 0.5).confidence_interval(1 - 0.05 * LAST)
    assert (low, high) == pytest.approx((max(expected.low, 0), min(expected.high, 1)))
    turned = SequentialTest().interval([1 - score for score in scores])
    assert turned == pytest.approx((1 - high, 1 - low))


def ends(mean, planned, sequences, seed, test=None):
    """What tests with their three looks say of scores 0, 0.5 and 1, and after how many."""
    random, test = np.random.default_rng(seed), test or SequentialTest()
    shares = [0.8 - mean, 0.4, mean - 0.2]
    decisions, sizes = [], []
    for _ in range(sequences):
        drawn = random.choice([0.0, 0.5, 1.0], size=planned, p=shares)
        for look in test.looks(planned):
            name = test.decide(drawn[:look], is_last=look == planned)
            if name:
                break
        decisions.append(name)
        sizes.append(look)
    return {name: decisions.count(name) / sequences for name in set(decisions)}, np.mean(sizes)


def test_false_alarms_power_and_early_ends():
    planned = SequentialTest().scores_needed(0.05, 0.15)
    assert 450 < planned < 550
    equal, _ = ends(0.5, planned, 400, 1)
    assert equal.get("better", 0) + equal.get("worse", 0) <= 0.06
    near, size = ends(0.55, planned, 400, 2)
    assert near["better"] >= 0.77
    assert near.get("same", 0) + near.get("worse", 0) <= 0.05
    assert size < planned
    far, size = ends(0.7, planned, 100, 3)
    assert far == {"better": 1.0}
    assert size == pytest.approx(planned / 4, rel=0.01)


def test_what_a_number_of_scores_finds():
    test = SequentialTest()
    assert test.looks(10) == [3, 5, 10]
    assert test.looks(1) == [1]
    assert test.decide([]) is None
    assert test.decide([1.0] * 4) is None
    assert test.decide([1.0] * 12) == "better"
    assert test.decide([0.0] * 12) == "worse"
    assert test.decide([0.5] * 8) is None
    assert test.decide([0.5] * 40) == "same"
    needed = test.scores_needed(0.1, 0.15)
    assert test.difference_found(needed, 0.15) == pytest.approx(0.1, rel=0.01)
    assert test.difference_found(0, 0.15) == 0.5


@pytest.mark.parametrize(
    "make",
    [
        lambda: SequentialTest(error=0),
        lambda: SequentialTest(margin=0.5),
        lambda: SequentialTest().decide([1.5]),
        lambda: SequentialTest().decide([float("nan")]),
        lambda: SequentialTest().scores_needed(0.0, 0.1),
    ],
)
def test_numbers_out_of_range_are_refused(make):
    with pytest.raises(UsageError):
        make()


@given(SCORES)
def test_not_worse_is_students_one_sided_bound_above_the_margin(scores):
    padded = [*scores, 0.0, 1.0]
    test = NotWorseTest()
    level = 1 - 0.05 * LAST
    low = ttest_1samp(padded, 0.5, alternative="greater").confidence_interval(level).low
    high = ttest_1samp(padded, 0.5, alternative="less").confidence_interval(level).high
    expected = "not worse" if low > 0.45 else "worse" if high < 0.45 else None
    assert test.decide(scores) == expected
    assert test.interval(scores) == pytest.approx((max(low, 0), min(high, 1)))


def test_not_worse_is_rarely_said_at_the_margin_and_mostly_of_equals():
    test = NotWorseTest()
    planned = test.scores_needed(0.05, 0.15)
    assert planned < SequentialTest().scores_needed(0.05, 0.15)
    assert test.difference_found(planned, 0.15) == pytest.approx(0.05, rel=0.01)
    at_margin, _ = ends(0.45, planned, 400, 8, test)
    assert at_margin.get("not worse", 0) <= 0.07
    assert at_margin.get("worse", 0) <= 0.07
    equal, _ = ends(0.5, planned, 400, 9, test)
    assert equal["not worse"] >= 0.75
    assert equal.get("worse", 0) <= 0.02


@pytest.mark.parametrize("mean", [0.47, 0.48])
def test_a_system_within_the_margin_is_rarely_worse_however_many_scores(mean):
    """That one half is excluded must not fail it."""
    decisions, _ = ends(mean, 2_000, 200, 10, NotWorseTest())
    assert decisions.get("worse", 0) <= 0.03
    further, _ = ends(0.35, 2_000, 50, 11, NotWorseTest())
    assert further == {"worse": 1.0}
