"""Prediction-powered means against hand-made cases, and their coverage."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from arena.data.errors import UsageError
from surrogate.ranking.advice import judgments_to_separate
from surrogate.ranking.prediction_powered import prediction_powered_mean


def test_perfect_predictions_of_very_many_make_the_outcomes_of_all_known():
    random = np.random.default_rng(1)
    predicted, others = random.normal(size=30), random.normal(size=1_000_000)
    done = prediction_powered_mean(predicted, predicted, others)
    assert done.weight == pytest.approx(1, abs=1e-3)
    assert done.powered.value == pytest.approx(others.mean(), abs=1e-3)
    assert done.width_ratio < 0.02


def test_the_weight_is_that_of_ppi_plus_plus():
    random = np.random.default_rng(2)
    predicted, others = random.normal(size=400), random.normal(size=800)
    outcomes = 0.5 * predicted + random.normal(size=400)
    done = prediction_powered_mean(outcomes, predicted, others)
    covariance = np.cov(outcomes, predicted)
    expected = covariance[0, 1] / (covariance[1, 1] * (1 + 400 / 800))
    assert done.weight == pytest.approx(expected, rel=1e-3)
    value = outcomes.mean() + expected * (others.mean() - predicted.mean())
    assert done.powered.value == pytest.approx(value, abs=1e-3)


def test_constant_predictions_give_the_classical_interval():
    outcomes = np.array([0.0, 1.0, 1.0, 0.5, 0.0, 1.0])
    done = prediction_powered_mean(outcomes, np.full(6, 0.7), np.full(50, 0.7))
    low, high = ttest_1samp(outcomes, 0).confidence_interval()
    assert done.weight == 0
    assert done.powered.value == done.classical.value
    assert done.powered.low == pytest.approx(done.classical.low)
    assert (done.classical.low, done.classical.high) == pytest.approx((low, high))
    same = prediction_powered_mean(np.ones(6), np.full(6, 0.7), np.full(50, 0.7))
    assert math.isnan(same.width_ratio)


def repeated(slope, size, others, times=2000, bias=0.0):
    random = np.random.default_rng(3)
    done = []
    for _ in range(times):
        predicted, unjudged = random.normal(size=size), random.normal(size=others)
        outcomes = slope * predicted + random.normal(size=size)
        done.append(prediction_powered_mean(outcomes, predicted + bias, unjudged + bias))
    return done


@pytest.mark.parametrize(
    ("slope", "size"),
    [
        (1.0, 20),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in ((0.0, 20), (1.0, 60), (-1.0, 60))
        ),
    ],
)
def test_nineteen_of_twenty_intervals_hold_the_mean_and_nothing_is_biased(slope, size):
    done = repeated(slope, size, 10 * size, bias=5.0)
    covered = np.mean([item.powered.low <= 0 <= item.powered.high for item in done])
    values = np.array([item.powered.value for item in done])
    assert 0.93 <= covered <= 0.97
    assert abs(values.mean()) < 4 * values.std() / np.sqrt(len(values))


def test_useless_predictions_cost_little_and_good_ones_save_much():
    useless = np.mean([item.width_ratio for item in repeated(0.0, 100, 1000, 300)])
    useful = np.mean([item.width_ratio for item in repeated(2.0, 100, 1000, 300)])
    assert 0.98 < useless < 1.01
    assert useful == pytest.approx(math.sqrt((2 + 1 / 10) / 5), abs=0.03)  # weight 1


def test_where_all_items_have_outcomes_predictions_say_nothing():
    found = prediction_powered_mean([0, 1, 1, 0.5, 1, 0], [0.2, 0.9, 0.6, 0.4, 0.8, 0.1], [])
    assert found.powered == found.classical
    assert found.powered.value == pytest.approx(3.5 / 6)
    assert (found.weight, found.unjudged, found.width_ratio) == (0, 0, 1)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((np.ones(4), np.ones(4), np.ones(9)), "4 outcomes are too few; at least 5"),
        ((np.ones(9), np.ones(8), np.ones(9)), "two lists of the same length"),
        ((np.ones(9), np.full(9, np.nan), np.ones(9)), "leave missing ones out"),
    ],
)
def test_what_cannot_be_estimated_is_said(parts, message):
    with pytest.raises(UsageError, match=message):
        prediction_powered_mean(*parts)
    with pytest.raises(UsageError, match="level = 2 is out of range"):
        prediction_powered_mean(np.ones(9), np.ones(9), np.ones(9), level=2)


def test_a_pair_that_is_won_six_times_in_ten_needs_some_two_hundred_judgments():
    # By hand: ((1.959964 / 2 + 0.841621 * sqrt(0.24)) / 0.1)^2 = 193.8
    assert judgments_to_separate(0.6) == 194
    assert judgments_to_separate(0.4) == 194
    assert judgments_to_separate(0.5) is None
    with pytest.raises(UsageError, match="win_rate = 1"):
        judgments_to_separate(1.5)
    with pytest.raises(UsageError, match="above 0 and below 1"):
        judgments_to_separate(0.6, level=1.0)


@given(st.floats(0.51, 1), st.floats(0.5, 0.99))
def test_the_closer_and_the_surer_the_more_judgments(win_rate, power):
    needed = judgments_to_separate(win_rate, power=power)
    assert needed >= judgments_to_separate(min(1.0, win_rate + 0.05), power=power)
    assert needed >= judgments_to_separate(win_rate, power=power / 2)


def test_the_number_of_judgments_has_the_power_it_is_meant_to_have():
    random = np.random.default_rng(4)
    needed = judgments_to_separate(0.65)
    won = random.binomial(needed, 0.65, size=20_000) / needed
    found = np.abs(won - 0.5) > 1.959964 * 0.5 / np.sqrt(needed)
    assert found.mean() == pytest.approx(0.8, abs=0.05)
