"""The project's own regressors pass scikit-learn's checks of estimators."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.neural_network import MLPRegressor
from sklearn.svm import SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

from surrogate.learning.regressors import ImputedRegressor, RidgePerRow, SmallForest

WEIGHTS = "check_sample_weight_equivalence_on_dense_data"
OURS = [
    RidgePerRow(),
    SmallForest(n_estimators=10),
    ImputedRegressor(Ridge()),
    ImputedRegressor(RidgePerRow(), within_range=True),
    ImputedRegressor(SVR(), most_rows=100),
]


def expected_failures(estimator):
    """Checks that do not apply, and why."""
    if isinstance(estimator, SmallForest):
        return {WEIGHTS: "a bootstrap draws other rows where a row stands twice"}
    if isinstance(estimator, ImputedRegressor):
        return {WEIGHTS: "medians and deviations are those of the rows, whatever they weigh"}
    return {}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(OURS, expected_failed_checks=expected_failures)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", [*OURS, ImputedRegressor(MLPRegressor(max_iter=5))])
def test_weights_that_weigh_nothing_are_refused(estimator):
    features, targets = np.arange(12.0).reshape(6, 2), np.arange(6.0)
    for weights in (np.zeros(6), -np.ones(6), np.ones(5)):
        with pytest.raises(ValueError, match="weight"):
            estimator.fit(features, targets, sample_weight=weights)
