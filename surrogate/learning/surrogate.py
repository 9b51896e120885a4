"""Surrogates: their interface, and those that have names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self, TypeVar, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import UsageError, checked_choice
from arena.data.types import Floats
from arena.data.wording import count_of
from surrogate.learning.training_data import (
    DEFAULT_ROWS,
    KnownRatings,
    MissingRule,
    RowKind,
    TrainingRatings,
)

Arrays = Mapping[str, npt.NDArray[Any]]
Asked = Mapping[str, Sequence[str]]
"""Language to the questions (query ids) that systems were asked, answered or not."""

DEFAULT_SURROGATE = "default"
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
"""Name to the regressor that it stands for: the five that MIRAGE-Bench compares (table 3)."""
SURROGATE_NAMES: tuple[str, ...] = (*REGRESSORS, DEFAULT_SURROGATE)
"""Surrogates that have names; a text that names a regressor of scikit-learn's form is one, too."""

FEWEST_SYSTEMS = 3
TREES = 100
EXPLANATION_COLUMNS = ["language", "system", "moved_by", "like_winners", "like_losers"]
IMPORTANCE_COLUMNS = ["language", "feature", "importance"]
NO_VALUE = "no training answer has a value"
OBSERVED = "observed"
BLEND = "blend"
"""Keys of arrays that are learned from all languages together."""
ANSWER_MARK = "\x1f"
"""Separates a system's name from the question, where a single answer is rated like a system."""


class Covariances(NamedTuple):
    """Kernels of mean diagonal 1 of N systems, (K, N, N)."""

    keys: pd.MultiIndex
    kernels: Floats


class Surrogate(ABC):
    """Predicts ratings of systems from their answers and the ratings of others.

    An estimator in the sense of scikit-learn: ``clone`` gives an unfitted copy.

    Attributes:
        rows: One training row per ``system`` and tournament, or one ``overall``.
        pooled: Whether it learns from all languages together, and rates others.
        has_errors: Whether it predicts standard errors.
        reads_texts: Whether it also learns from the column ``answer``.
        failures_: Language to why it could not be learned from.
        borrowing_: Languages with few rated systems, for which others' verdicts count.
        X_: The rows it was trained on.
        ratings_: Language to the ratings of the systems trained on.
    """

    pooled: ClassVar[bool] = False
    has_errors: ClassVar[bool] = False
    reads_texts: ClassVar[bool] = False
    borrowing_: frozenset[str] = frozenset()

    name: str
    rows: RowKind
    seed: int
    features_: tuple[str, ...]
    failures_: dict[str, str]
    X_: pd.DataFrame
    ratings_: dict[str, TrainingRatings]

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 - scikit-learn's
        """Return the parameters of the constructor."""
        parameters = fields(self)  # type: ignore[arg-type]  # every subclass is a dataclass
        return {parameter.name: getattr(self, parameter.name) for parameter in parameters}

    @property
    def systems_(self) -> dict[str, tuple[str, ...]]:
        """Return the systems trained on, by language."""
        return {language: rated.systems for language, rated in self.ratings_.items()}

    @property
    @abstractmethod
    def left_out_(self) -> dict[str, dict[str, str]]:
        """Return language to feature to why it could not be used."""

    @property
    @abstractmethod
    def signature(self) -> str:
        """Write the settings as part of a board's signature."""

    def fit(self, X: pd.DataFrame, ratings: KnownRatings) -> Self:
        """Learn from the systems that are in the table and have a rating.

        Args:
            X: Columns ``language, system, query_id`` and one per feature; perhaps ``answer``. A row
                that appears twice counts twice.
            ratings: Language to tournaments, or a table ``language, system, rating`` and perhaps
                ``variance`` (squared logits).

        Raises:
            UsageError: If no language can be learned from; ``failures_`` says why.
        """
        self.fit_with(X, ratings, {})
        if not self.systems_.keys() - self.failures_.keys():
            reasons = "; ".join(dict.fromkeys(self.failures_.values()))
            raise UsageError(reasons or "no system has both answers and a rating to learn from")
        return self

    @abstractmethod
    def fit_with(
        self, X: pd.DataFrame, ratings: KnownRatings, arrays: Mapping[str, Arrays]
    ) -> Self:
        """Learn all but ``arrays`` of an earlier fit; UsageError if they do not fit."""

    def unread_questions(
        self,
        X: pd.DataFrame,  # noqa: ARG002 - for surrogates that draw questions
        judged: Collection[str],  # noqa: ARG002
    ) -> set[str]:
        """Return the questions of one language whose answers are neither learned from nor rated."""
        return set()

    def arrays(self) -> dict[str, Arrays]:
        """Return learned plain arrays, by language, that are costly to learn again."""
        return {}

    @abstractmethod
    def predict(self, X: pd.DataFrame, questions: Asked | None = None) -> pd.DataFrame:
        """Rate every system by its answers as a new one.

        Args:
            X: Columns ``language, system, query_id`` and one per feature.
            questions: Language to the questions asked, where missing answers count 0 (``missing``);
                by default those of the training answers.

        Returns:
            Columns ``language, system, rating, answers`` and perhaps ``standard_error``, sorted.
            The rating (logits) is NaN in a language that was not learned from and for a system
            without values.

        Raises:
            UsageError: If a feature of training answers is missing.
        """

    def covariances(self, X: pd.DataFrame | None = None) -> Covariances | None:  # noqa: ARG002
        """Return kernels of all systems trained on, then of further ones of ``X``, if any."""
        return None

    def explain(self, X: pd.DataFrame) -> pd.DataFrame:
        """Explain systems' ratings, where that is possible.

        Returns:
            Columns ``language, system``; ``moved_by``, features with the logits that each adds and
            the difference from the peers' mean; ``like_winners`` and ``like_losers``, questions
            whose judged answer most like the system's won more, or less. The most telling come
            first.
        """
        return pd.DataFrame(columns=EXPLANATION_COLUMNS, index=X.index[:0])

    @abstractmethod
    def importances(self) -> pd.DataFrame:
        """Return columns ``language, feature, importance`` (shares); NaN where not known."""


AnySurrogate = TypeVar("AnySurrogate", bound=Surrogate)


def too_few(systems: int, features: int) -> str:
    """Say why so few systems or features teach nothing."""
    return (
        f"{count_of(systems, 'system')} with judged answers and {count_of(features, 'feature')} "
        f"to train on, where at least {FEWEST_SYSTEMS} systems and a feature are needed"
    )


def joined(parts: Sequence[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    """Join tables of these columns, of which there may be none."""
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(columns))


def known_features(surrogate: Surrogate) -> tuple[str, ...]:
    """Return features that new answers need."""
    has_value = surrogate.X_[list(surrogate.features_)].notna().any()
    return tuple(name for name in surrogate.features_ if has_value[name])


def with_features(X: pd.DataFrame, surrogate: Surrogate) -> pd.DataFrame:
    """Add NaN for features that no training answer had."""
    absent = [name for name in surrogate.features_ if name not in X]
    if absent:
        required = list(surrogate.X_[absent].dropna(axis="columns", how="all"))
        if required:
            raise UsageError(f"the feature table lacks {', '.join(required)}; extract them first")
        X = X.assign(**dict.fromkeys(absent, np.nan))
    if X.empty:
        raise UsageError("the feature table has no answer to rate")
    return X


def reseeded(surrogate: AnySurrogate, seed: int, **parameters: object) -> AnySurrogate:
    """Return an unfitted copy with another seed and parameters."""
    values = surrogate.get_params()
    for name, value in parameters.items():
        if name in values:
            values[name] = value
    values["seed"] = seed
    return type(surrogate)(**values)


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
        name: One of ``SURROGATE_NAMES``, or a regressor such as
            ``sklearn.ensemble.GradientBoostingRegressor(max_depth=2)``.
        rows: One training row a ``system`` and tournament, or a system ``overall``.
        missing: Whether missing values do not count (``nan``) or count 0.
        seed: Seed of all that it draws.
        n_jobs: Processes to train languages in; -1 for all cores.

    Raises:
        UsageError: If one is unknown, or the surrogate does not have the rule.

    Examples:
        >>> find_surrogate("linear").signature
        'surrogate:linear|rows:system'
    """
    checked_choice(rows, get_args(RowKind), "rows")
    checked_choice(missing, get_args(MissingRule), "rule of missing values")
    if name == DEFAULT_SURROGATE:
        if missing != "nan":
            raise UsageError(f'{name} does not support missing="{missing}"; use {RANDOM_FOREST}')
        from surrogate.learning.answers_surrogate import AnswersSurrogate

        return AnswersSurrogate(name=name, rows=rows, seed=seed)
    from surrogate.learning.regression import RegressionSurrogate, made  # not always needed

    if "." in name:
        made(name, random_state=0)
    else:
        checked_choice(name, SURROGATE_NAMES, "surrogate")
    return RegressionSurrogate(name, rows=rows, seed=seed, missing=missing, n_jobs=n_jobs)


def surrogate_name(surrogate: Any) -> Any:  # noqa: ANN401 - a surrogate, its name or a regressor
    """Return the name of a regressor's surrogate; other values as they are."""
    if isinstance(surrogate, str | Surrogate):
        return surrogate
    if isinstance(surrogate, type):
        raise UsageError(f"{surrogate.__name__} is a class; give an object: {surrogate.__name__}()")
    from sklearn.base import BaseEstimator, is_regressor  # slow to load

    from surrogate.learning.regressor_text import written

    is_other = isinstance(surrogate, BaseEstimator) and is_regressor(surrogate)
    return written(surrogate) if is_other else surrogate
