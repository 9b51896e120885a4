"""The surrogates, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, get_args

from arena.data.errors import UsageError, checked_choice
from surrogate.learning.answers_surrogate import AnswersSurrogate
from surrogate.learning.surrogate import Surrogate, reseeded
from surrogate.learning.training import DEFAULT_ROWS, MissingRule, RowKind

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

DEFAULT_SURROGATE = "answers"
RANDOM_FOREST = "random-forest"
REGRESSORS: Mapping[str, str] = MappingProxyType(
    {
        RANDOM_FOREST: "sklearn.ensemble.RandomForestRegressor",
        "linear": "sklearn.linear_model.LinearRegression",
        "svr": "sklearn.svm.SVR",
        "mlp": "sklearn.neural_network.MLPRegressor",
        "xgboost": "xgboost.XGBRegressor",
    }
)
"""The surrogates that MIRAGE-Bench compares (table 3): name to the regressor it stands for."""
PAPERS_SURROGATE = RANDOM_FOREST
"""What MIRAGE-Bench builds its boards with (section 4.3)."""
TABLE_3_SURROGATES = tuple(REGRESSORS)
"""The surrogates that MIRAGE-Bench compares."""
SURROGATE_NAMES: tuple[str, ...] = (*REGRESSORS, DEFAULT_SURROGATE)
"""Surrogates that have names; a text that names a regressor of scikit-learn's form is one, too."""


def find_surrogate(
    name: str = DEFAULT_SURROGATE,
    *,
    rows: RowKind = DEFAULT_ROWS,
    missing: MissingRule = "nan",
    seed: int = 0,
    n_jobs: int = 1,
) -> Surrogate:
    """Return an unfitted surrogate by name.

    Args:
        name: One of ``SURROGATE_NAMES``, or a regressor's dotted name with its parameters, such as
            ``sklearn.ensemble.GradientBoostingRegressor(max_depth=2)``.
        rows: One training row a ``system`` and tournament, or a system ``overall``.
        missing: Whether a missing value of a feature does not count (``nan``) or counts 0.
        seed: Of all that it draws.
        n_jobs: Processes to train languages in; -1 for all cores.

    Raises:
        UsageError: If one of these is unknown, or the surrogate does not have the rule.
    """
    checked_choice(rows, get_args(RowKind), "rows")
    checked_choice(missing, get_args(MissingRule), "rule of missing values")
    if name == DEFAULT_SURROGATE:
        if missing != "nan":
            raise UsageError(f'{name} does not support missing="{missing}"; use {PAPERS_SURROGATE}')
        return AnswersSurrogate(name=name, rows=rows, seed=seed)
    from surrogate.learning.regression import RegressionSurrogate, made  # not always needed

    if "." in name:
        made(name, random_state=0)
    else:
        checked_choice(name, SURROGATE_NAMES, "surrogate")
    return RegressionSurrogate(name, rows=rows, seed=seed, missing=missing, n_jobs=n_jobs)


def as_surrogate(
    surrogate: str | Surrogate | BaseEstimator,
    rows: RowKind = DEFAULT_ROWS,
    missing: MissingRule = "nan",
) -> Surrogate:
    """Return an unfitted surrogate, given its name, a surrogate to copy, or a regressor.

    ``rows`` and ``missing`` are for surrogates by name and regressors; see ``find_surrogate``.
    """
    named: str | Surrogate = surrogate_name(surrogate)
    if isinstance(named, str):
        return find_surrogate(named, rows=rows, missing=missing)
    return reseeded(named, named.seed)


def surrogate_name(surrogate: Any) -> Any:  # noqa: ANN401 - a surrogate, its name or a regressor
    """Return the name of the surrogate that a regressor makes, and anything else as it is.

    Raises:
        UsageError: For a class.
    """
    if isinstance(surrogate, str | Surrogate):
        return surrogate
    if isinstance(surrogate, type):
        raise UsageError(f"{surrogate.__name__} is a class; give an object: {surrogate.__name__}()")
    from sklearn.base import BaseEstimator, is_regressor  # slow to load

    from surrogate.learning.regressor_text import written

    is_other = isinstance(surrogate, BaseEstimator) and is_regressor(surrogate)
    return written(surrogate) if is_other else surrogate
