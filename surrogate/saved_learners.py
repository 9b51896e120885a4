"""The learners whose surrogates a file can hold: what is stored of them, and what is trusted.

Forests are stored as they are and checked tree by tree; linear regressors are stored as arrays.
The others run compiled code on whatever they hold (xgboost, gradient boosting, support vectors),
or are objects of many parts, and are not stored.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

from arena.errors import UsageError
from surrogate.learners import find_learner
from surrogate.linear_form import LinearForm, as_numbers, from_numbers, linear_form
from surrogate.trusted_forest import check_forest

_KINDS: MappingProxyType[str, type] = MappingProxyType(
    {
        "random-forest": RandomForestRegressor,
        "extra-trees": ExtraTreesRegressor,
        "linear": LinearForm,
        "ridge": LinearForm,
        "elastic-net": LinearForm,
    }
)
SAVED_LEARNERS = tuple(_KINDS)
"""Learners that a board can be saved with."""


def check_savable(learner: str) -> None:
    """Check that a judge of a learner can be saved.

    Raises:
        UsageError: If there is no such learner, or what it learns could not be checked when it
            is read.
    """
    find_learner(learner)
    if learner not in _KINDS:
        raise UsageError(
            f"a judge of learner {learner} cannot be saved, as it could not be checked when it is "
            f"read; use one of {', '.join(SAVED_LEARNERS)}"
        )


def stored(estimator: object, learner: str) -> object:
    """Return what a file is to hold of a fitted regressor.

    Raises:
        UsageError: If a judge of that learner cannot be saved, or this is not one.
    """
    check_savable(learner)
    if _KINDS[learner] is not LinearForm:
        return estimator
    form = linear_form(estimator)
    if form is None:
        raise UsageError(f"a {type(estimator).__name__} is no regressor of learner {learner}")
    return as_numbers(form)


def trusted(content: object, learner: str, features: int) -> Any:  # noqa: ANN401 - any regressor
    """Return the regressor that a file holds, once it is checked.

    Args:
        content: What the file holds; see ``stored``.
        learner: The learner it is to be of.
        features: Number of features it is to be given.

    Raises:
        UsageError: If it is of another learner, unsound, or of one that no file can hold.
    """
    check_savable(learner)
    if _KINDS[learner] is LinearForm:
        return from_numbers(content, features)
    check_forest(content, _KINDS[learner], features)
    return content
