"""Scores against values computed by hand and by other libraries."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import kendalltau
from sklearn.metrics import r2_score

from arena.statistics.agreement import resampled_taus
from surrogate.learning.cross_fitting import fold_count
from surrogate.learning.outcomes import Outcome
from surrogate_arena.studies.scores import ALIKE, NOT_RATED, outcome_scores

TRUTH = np.array([1.0, 2.0, 3.0, 4.0])


def outcome(predicted, truth=TRUTH, folds=None):
    names = tuple(f"s{place}" for place in range(np.shape(predicted)[-1]))
    both = (np.atleast_2d(np.array(item, float)) for item in (predicted, truth))
    return Outcome("en", names, *both, folds=None if folds is None else np.atleast_2d(folds))


def test_scores_of_a_ranking_with_one_swap():
    predicted = np.array([1.0, 3.0, 2.0, 4.0])
    found = outcome(predicted)
    assert found.tau == pytest.approx(4 / 6)
    assert found.pairwise_accuracy == pytest.approx(5 / 6)
    assert found.explained == pytest.approx(r2_score(TRUTH, predicted))


def test_coverage_counts_ratings_inside_90_percent_of_their_predictions():
    rated = replace(
        outcome([1.0, 2.0, 3.0, 9.0]), standard_errors=np.array([[0.1, 0.1, np.nan, 0.1]])
    )
    assert rated.coverage == pytest.approx(2 / 3)
    assert np.isnan(outcome(TRUTH).coverage)
    scores = outcome_scores([rated], 0)
    assert scores["coverage"].tolist() == pytest.approx([2 / 3, 2 / 3])


def test_only_systems_held_out_together_are_compared():
    """In each pair the order is right, and all is wrong between the pairs."""
    right = outcome([3.0, 4.0, 1.0, 2.0], folds=[0, 0, 1, 1])
    assert (right.tau, right.pairwise_accuracy) == (1.0, 1.0)
    wrong = outcome([2.0, 1.0, 4.0, 3.0], folds=[0, 0, 1, 1])
    assert (wrong.tau, wrong.pairwise_accuracy) == (-1.0, 0.0)
    twice = outcome(
        np.vstack([right.predicted, wrong.predicted]),
        np.vstack([TRUTH, TRUTH]),
        np.vstack([right.folds, wrong.folds]),
    )
    assert twice.tau == 0.0


@pytest.mark.parametrize("systems", [6, 9, 12, 53])
def test_the_mean_of_the_training_systems_has_no_rank_and_the_truth_a_perfect_one(systems):
    """Compared over folds, the mean of the others ranks systems upside down."""
    random = np.random.default_rng(systems)
    truth = np.tile(random.normal(size=systems), (3, 1))
    folds = np.array([random.permutation(systems) % fold_count(systems) for _ in range(3)])
    means = np.array(
        [
            [row[own != own[place]].mean() for place in range(systems)]
            for row, own in zip(truth, folds, strict=True)
        ]
    )
    knows_nothing = outcome(means, truth, folds)
    assert (knows_nothing.tau, knows_nothing.explained) == (0.0, pytest.approx(0.0))
    noisy = [
        outcome(means + 1e-3 * random.normal(size=means.shape), truth, folds).tau
        for _ in range(300)
    ]
    assert abs(np.mean(noisy)) < 0.06
    perfect = outcome(truth, truth, folds)
    assert (perfect.tau, perfect.explained) == (pytest.approx(1.0), 1.0)


def test_resampled_taus_are_those_of_the_resampled_systems():
    random = np.random.default_rng(0)
    predicted, truth = random.normal(size=9), random.normal(size=9)
    predicted[4] = predicted[5]
    times = random.multinomial(9, np.full(9, 1 / 9), size=20)
    found = resampled_taus(predicted, truth, times)
    for tau, drawn in zip(found, times, strict=True):
        kept = np.repeat(np.arange(9), drawn)
        assert tau == pytest.approx(kendalltau(predicted[kept], truth[kept]).statistic)


def test_what_is_not_defined_has_a_reason_and_is_left_out_of_the_average():
    systems = ("a", "b", "c", "d")
    nothing = Outcome("sw", systems, np.full((1, 4), np.nan), TRUTH[None], reasons=("why",))
    perfect = Outcome("en", systems, TRUTH[None], TRUTH[None])
    rows = outcome_scores([perfect, nothing], 0).set_index("language")
    assert rows.loc["macro", "tau"] == pytest.approx(1.0)
    assert rows.loc["sw", ["tau", "tau_low"]].isna().all()
    assert list(rows["reason"]) == ["", "why", ""]
    empty = outcome_scores([nothing], 0).set_index("language").loc["macro"]
    assert np.isnan(empty["tau"])
    assert empty["reason"]


def test_ratings_without_an_order_are_said_to_be_alike():
    few, same, alike = (
        outcome_scores([outcome(*both)], 0).iloc[0]
        for both in (
            ([1.0, np.nan, np.nan, 4.0], TRUTH),
            (np.ones(4), TRUTH),
            (TRUTH, np.ones(4)),
        )
    )
    assert (few.reason, same.reason, alike.reason) == (NOT_RATED, ALIKE, ALIKE)
    assert (same.tau, same.tau_low, same.tau_high) == (0.0, 0.0, 0.0)
    assert np.isnan([few.tau, alike.tau]).all()


def test_intervals_hang_on_no_name_where_a_fold_has_no_rating_of_a_system():
    random = np.random.default_rng(2)
    predicted, truth = random.normal(size=(2, 9)), random.normal(size=(2, 9))
    truth[0, [1, 6, 7]] = np.nan
    bounds = set()
    for names in ("abcdefghi", "ihgfedcba", "defghiabc"):
        order = np.argsort(list(names))
        turned = predicted[:, order], truth[:, order]
        item = outcome_scores([Outcome("en", tuple(sorted(names)), *turned)], 0).iloc[0]
        bounds.add((round(item["tau_low"], 9), round(item["tau_high"], 9)))
    assert len(bounds) == 1
