"""Scores against values computed by hand and by other libraries."""

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr
from sklearn.metrics import r2_score

from arena.statistics.rank_agreement import resampled_taus
from surrogate.learning.cross_fitting import Outcome
from surrogate.validation.scores import ALIKE, NOT_RATED, mean_scores, score, score_outcomes

TRUTH = np.array([1.0, 2.0, 3.0, 4.0])


def test_scores_of_a_ranking_with_one_swap():
    predicted = np.array([1.0, 3.0, 2.0, 4.0])
    found = score(predicted, TRUTH)
    assert found.tau == pytest.approx(4 / 6)
    assert found.pairwise_accuracy == pytest.approx(5 / 6)
    assert found.spearman == pytest.approx(spearmanr(predicted, TRUTH).statistic)
    assert found.r2 == pytest.approx(r2_score(TRUTH, predicted))


def test_predicted_ties_count_half_and_true_ties_not_at_all():
    found = score(np.array([1.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0]))
    assert found.pairwise_accuracy == pytest.approx((0.5 + 1 + 1) / 3)
    found = score(np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0, 2.0]))
    assert found.pairwise_accuracy == pytest.approx(1.0)


def test_missing_ratings_are_left_out_and_too_few_are_undefined():
    with_gap = score(np.array([1.0, np.nan, 3.0, 4.0]), TRUTH)
    assert with_gap.tau == pytest.approx(1.0)
    too_few = score(np.array([1.0, np.nan, np.nan, 4.0]), TRUTH)
    assert np.isnan([too_few.tau, too_few.r2]).all()
    assert np.isnan(score(np.ones(4), TRUTH).tau)
    assert mean_scores([with_gap, too_few]).tau == pytest.approx(1.0)


def test_resampled_taus_are_those_of_the_resampled_systems():
    random = np.random.default_rng(0)
    predicted, truth = random.normal(size=9), random.normal(size=9)
    predicted[4] = predicted[5]
    times = random.multinomial(9, np.full(9, 1 / 9), size=20)
    found = resampled_taus(predicted, truth, times)
    for tau, drawn in zip(found, times, strict=True):
        kept = np.repeat(np.arange(9), drawn)
        assert tau == pytest.approx(kendalltau(predicted[kept], truth[kept]).statistic)


def test_what_is_not_defined_is_null_with_a_reason_and_left_out_of_the_average():
    systems = ("a", "b", "c", "d")
    nothing = Outcome("sw", systems, np.full((1, 4), np.nan), TRUTH[None], reasons=("why",))
    perfect = Outcome("en", systems, TRUTH[None], TRUTH[None])
    done = score_outcomes([perfect, nothing], 0)
    content = done.as_json()
    assert content["tau"] == pytest.approx(1.0)
    assert content["per_language"]["sw"]["tau"] is None
    assert content["per_language"]["sw"]["tau_low"] is None
    assert content["per_language"]["sw"]["reason"] == "why"
    assert content["per_language"]["en"]["reason"] is None
    empty = score_outcomes([nothing], 0).as_json()
    assert empty["tau"] is None
    assert empty["reason"] == "no language has a defined score"


def test_systems_without_a_rating_are_not_counted():
    systems = ("a", "b", "c", "d")
    gap = Outcome("en", systems, np.array([[1.0, np.nan, 3.0, 4.0]]), TRUTH[None])
    done = score_outcomes([gap], 0)
    assert done.per_language["en"].n_systems == done.scores.n_systems == 3


def test_ratings_without_an_order_are_said_to_be_alike():
    systems = ("a", "b", "c", "d")
    few = Outcome("en", systems, np.array([[1.0, np.nan, np.nan, 4.0]]), TRUTH[None])
    for predicted, truth in ((np.ones(4), TRUTH), (TRUTH, np.ones(4))):
        alike = Outcome("sw", systems, predicted[None], truth[None])
        found = score_outcomes([few, alike], 0).per_language
        assert (found["en"].reason, found["sw"].reason) == (NOT_RATED, ALIKE)


def test_intervals_hang_on_no_name_where_a_fold_has_no_rating_of_a_system():
    random = np.random.default_rng(2)
    predicted, truth = random.normal(size=(2, 9)), random.normal(size=(2, 9))
    truth[0, [1, 6, 7]] = np.nan
    bounds = set()
    for names in ("abcdefghi", "ihgfedcba", "defghiabc"):
        order = np.argsort(list(names))
        turned = predicted[:, order], truth[:, order]
        item = score_outcomes([Outcome("en", tuple(sorted(names)), *turned)], 0).scores
        bounds.add((round(item.tau_low, 9), round(item.tau_high, 9)))
    assert len(bounds) == 1
