"""Exact Shapley values of a surrogate's predictions, by the package ``shap``.

A feature's value is what knowing it adds to a prediction, averaged over all orders in which the
features could become known; one that is not known yet takes the values of the background rows, one
row after the other (interventional values: Lundberg et al., 2020, "From local explanations to
global understanding with explainable AI for trees"; Lundberg and Lee, 2017). The values of a row
and the mean prediction over the background add up to the row's prediction.
"""

from __future__ import annotations

import warnings
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt
from joblib import delayed
from sklearn.ensemble import (
    ExtraTreesRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)

from arena.data.errors import MissingDependencyError, UsageError
from surrogate.learning.names import SURROGATE_NAMES, find_surrogate
from surrogate.learning.regressors import DECIMALS, ImputedRegressor, SmallForest, find_learner
from surrogate.learning.surrogates import (
    LanguageJudge,
    Surrogate,
    SystemSurrogate,
    train_language_judge,
)
from surrogate.learning.tensor import RANK_SUFFIX, FeatureTensor, viewed
from surrogate.learning.training import Field, training_rows
from surrogate.validation.study import Arranged, LanguageArena
from surrogate.validation.tasks import Progress, learner_state, run_tasks

Floats = npt.NDArray[np.float64]

EXPLAINED_LEARNERS = (
    *("random-forest", "extra-trees", "gradient-boosting", "xgboost"),
    *("linear", "ridge", "elastic-net"),
)
"""Learners of trees and linear ones, whose Shapley values are exact and cheap."""


def load_shap() -> Any:  # noqa: ANN401 - a module without types
    """Import the package ``shap``.

    Raises:
        MissingDependencyError: If it is not installed.
    """
    with warnings.catch_warnings():
        # Its color maps, made on import, use what matplotlib is about to retire.
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        try:
            import shap
        except ImportError as error:
            raise MissingDependencyError("SHAP importances", "shap", "shap") from error
    return shap


def shapley_values(estimator: Any, rows: Floats) -> Floats:  # noqa: ANN401 - any regressor
    """Return what each feature adds to the prediction of each of the rows trained on.

    Where boosted trees see both a feature and whether it was missing, the feature's value is the
    sum of the two.

    Args:
        estimator: A fitted regressor of one of ``EXPLAINED_LEARNERS``.
        rows: Those it was fitted on, shape (N, F), NaN for a missing value; they are the background
            as well.

    Returns:
        In the units of the target, shape (N, F).

    Raises:
        MissingDependencyError: If the package ``shap`` is not installed.
    """
    if not isinstance(estimator, ImputedRegressor):
        return _values(estimator, rows)
    preparation = estimator.preparation_
    prepared = _values(estimator.regressor_, preparation.transform(np.round(rows, DECIMALS)))
    indicated = preparation[0].indicator_.features_
    own = prepared[:, : rows.shape[1]]
    own[:, indicated] += prepared[:, rows.shape[1] :]
    return own


def _values(regressor: Any, rows: Floats) -> Floats:  # noqa: ANN401
    shap = load_shap()
    if hasattr(regressor, "coef_"):
        weights = regressor.coef_, float(regressor.intercept_)
        explainer = shap.LinearExplainer(weights, _background(shap, rows))
        return np.asarray(explainer.shap_values(rows))
    binned = isinstance(regressor, HistGradientBoostingRegressor)
    seen = rows if binned else rows.astype(np.float32)  # as these trees round them themselves
    explainer = shap.TreeExplainer(_trees(regressor), _background(shap, seen))
    return np.asarray(explainer.shap_values(seen), dtype=np.float64)


def _background(shap: Any, rows: npt.NDArray[Any]) -> Any:  # noqa: ANN401
    """All rows; by default ``shap`` takes a sample of 100."""
    return shap.maskers.Independent(rows, max_samples=len(rows))


def _trees(regressor: Any) -> Any:  # noqa: ANN401
    """Trees as ``shap`` knows them: a forest in its own notation, or boosted trees as they are."""
    if isinstance(regressor, SmallForest):
        trees = regressor.trees_
    elif isinstance(regressor, RandomForestRegressor | ExtraTreesRegressor):
        trees = [tree.tree_ for tree in regressor.estimators_]
    else:
        return regressor
    return {
        "trees": [_in_notation(tree, len(trees)) for tree in trees],
        "internal_dtype": np.float64,
        "input_dtype": np.float32,
    }


def _in_notation(tree: Any, number: int) -> dict[str, Any]:  # noqa: ANN401
    left, right = tree.children_left, tree.children_right
    return {
        "children_left": left,
        "children_right": right,
        "children_default": np.where(tree.missing_go_to_left, left, right),
        "features": tree.feature,
        "thresholds": _rounded_down(tree.threshold),
        "values": tree.value[:, :, 0] / number,
        "node_sample_weight": tree.weighted_n_node_samples,
    }


def _rounded_down(thresholds: Floats) -> Floats:
    """Largest single-precision numbers that are not above the thresholds.

    They part rows of single precision as the thresholds do; ``shap``, which compares in single
    precision, would round to the nearest, beyond rows that lie just above.
    """
    nearest = thresholds.astype(np.float32)
    lower = np.nextafter(nearest, np.float32(-np.inf))
    return np.where(nearest > thresholds, lower, nearest).astype(np.float64)


STAGE = "Shapley values"


def explained(name: str) -> SystemSurrogate:
    """Return a surrogate whose Shapley values can be had.

    Args:
        name: One of ``surrogate.surrogate_names.SURROGATE_NAMES``.

    Raises:
        MissingDependencyError: If the package ``shap`` is not installed.
        UsageError: If the surrogate is unknown, no one regressor a language, or neither of trees
            nor linear.
    """
    load_shap()
    surrogate = find_surrogate(name)
    if not _is_explained(surrogate):
        known = [other for other in SURROGATE_NAMES if _is_explained(find_surrogate(other))]
        raise UsageError(
            f"SHAP importances are for one regressor a language, of trees or linear, which {name} "
            f"is not; use one of {', '.join(known)}"
        )
    return surrogate


def _is_explained(surrogate: Surrogate) -> TypeGuard[SystemSurrogate]:
    if not isinstance(surrogate, SystemSurrogate):
        return False
    return surrogate.recipe.learner in EXPLAINED_LEARNERS


def shapley_shares(
    at_hand: Arranged, surrogate: SystemSurrogate, n_jobs: int, progress: Progress | None
) -> dict[str, Floats]:
    """Return how much of what moves the ratings is due to each feature.

    A surrogate is trained on each tournament, and what each feature adds to the rating of each
    system in it is taken without its sign and averaged over systems.

    Args:
        at_hand: The arena.
        surrogate: One that ``explained`` returns.
        n_jobs: Processes to use.
        progress: Called as languages end.

    Returns:
        Language code to shares, shape (T, F), each row with sum 1; NaN for a feature that the
        surrogate could not use, and where it rates all systems alike.
    """
    tasks = [delayed(_of_language)(item, surrogate, at_hand.how.seed) for item in at_hand.arenas]
    found = run_tasks(tasks, n_jobs, _at_stage(progress))
    return {item.language: shares for item, shares in zip(at_hand.arenas, found, strict=True)}


def _at_stage(progress: Progress | None) -> Progress | None:
    if progress is None:
        return None
    return lambda _, done, total: progress(STAGE, done, total)


def _of_language(arena: LanguageArena, surrogate: SystemSurrogate, seed: int) -> Floats:
    field = Field(arena.answers, arena.tournaments)
    view = viewed(field.judged, field.answers, surrogate.view)
    shares = np.full((len(arena.tournaments.draws), len(arena.answers.features)), np.nan)
    for index, row in enumerate(shares):
        state = learner_state(seed, "shares", arena.language, str(index))
        for name, share in _of_tournament(view, field.one_tournament(index), surrogate, state):
            row[arena.answers.features.index(name.removesuffix(RANK_SUFFIX))] = share
    return shares


def _of_tournament(
    view: FeatureTensor, field: Field, surrogate: SystemSurrogate, state: int
) -> list[tuple[str, float]]:
    draws, coefficients = field.tournaments.draws, field.tournaments.coefficients
    regressor = find_learner(surrogate.recipe.learner).tournament(state)
    judge = train_language_judge(view, draws, coefficients, surrogate.recipe, regressor)
    sizes = _mean_sizes(judge, view, field)
    total = sizes.sum()
    shares = sizes / total if total > 0 else np.full(len(sizes), np.nan)
    return list(zip(judge.features, map(float, shares), strict=True))


def _mean_sizes(judge: LanguageJudge, view: FeatureTensor, field: Field) -> Floats:
    """Mean size of each feature's Shapley values over the rows trained on, in log-odds, (F,)."""
    rows = training_rows(
        view.take(features=judge.features),
        field.tournaments.draws,
        field.tournaments.coefficients,
        judge.recipe.rows,
    )
    values = shapley_values(judge.estimator, rows.features)
    return np.asarray(np.abs(values).mean(axis=0))
