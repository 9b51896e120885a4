"""Regressors as surrogates: those of scikit-learn's form, and of MIRAGE-Bench by name."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
import pandas as pd

from arena.computing.workers import work
from arena.data.errors import MissingDependencyError, UsageError
from arena.data.types import Flags, Floats
from arena.statistics.bootstrap import seed_sequence
from features.engine.extraction import FEATURE_KEY, feature_columns
from surrogate.learning.regressor_text import read
from surrogate.learning.surrogate import (
    FEWEST_SYSTEMS,
    IMPORTANCE_COLUMNS,
    NO_VALUE,
    RANDOM_FOREST,
    REGRESSORS,
    TREES,
    Arrays,
    Asked,
    Surrogate,
    joined,
    reseeded,
    too_few,
    with_features,
)
from surrogate.learning.training_data import (
    DEFAULT_ROWS,
    FeatureTensor,
    KnownRatings,
    MissingRule,
    RowKind,
    TrainingRatings,
    TrainingRows,
    feature_tensor,
    training_ratings,
    training_rows,
    zero_filled,
)

Model = tuple[Any, Flags]
"""A regressor fitted to one language, and which features it uses, shape (F,)."""


@dataclass(eq=False)
class RegressionSurrogate(Surrogate):
    """A regressor of the systems' coefficients, a language at a time (MIRAGE-Bench, section 4.3).

    ``missing`` values do not count (``nan``) or count 0 (``zero``).
    """

    name: str
    rows: RowKind = DEFAULT_ROWS
    seed: int = 0
    missing: MissingRule = "nan"
    trees: int = TREES
    n_jobs: int = 1

    @property
    def signature(self) -> str:
        """Settings as part of a board's signature."""
        rule = "" if self.missing == "nan" else f"|missing:{self.missing}"
        return f"surrogate:{self.name}|rows:{self.rows}{rule}"

    def fit_with(
        self, X: pd.DataFrame, ratings: KnownRatings, arrays: Mapping[str, Arrays]
    ) -> Self:
        """Train one model per language; see ``Surrogate.fit_with``."""
        if arrays:
            raise UsageError("a surrogate of features is learned again, not kept as arrays")
        self.features_ = tuple(X[feature_columns(X)].select_dtypes("number").columns)
        self.answers_ = {}
        self.ratings_ = {}
        self.failures_ = {}
        for language, rated in sorted(training_ratings(ratings).items()):
            rows = X[X["language"] == language]
            answering = set(rows["system"])
            systems = [name for name in rated.systems if name in answering]
            if not systems:
                self.failures_[language] = f"{language}: {too_few(0, len(self.features_))}"
                continue
            questions = sorted({*rows["query_id"], *rated.questions})
            answers = feature_tensor(rows, language, self.features_, systems, questions)
            self.answers_[language] = self._filled(answers, answers.questions)
            self.ratings_[language] = rated.take(systems)
        self.X_ = self._training_rows(X)
        self._train()
        return self

    def _training_rows(self, X: pd.DataFrame) -> pd.DataFrame:
        trained: list[tuple[str, str]] = []
        for language, names in self.systems_.items():
            trained.extend((language, name) for name in names)
        keys = pd.MultiIndex.from_frame(X[["language", "system"]])
        columns = [*FEATURE_KEY, *self.features_]
        return X.loc[keys.isin(trained), columns].reset_index(drop=True)

    def _train(self) -> None:
        languages = list(self.ratings_)
        data = [(self.answers_[name], self.ratings_[name]) for name in languages]
        train = partial(_trained, reseeded(self, self.seed))
        self.models_: dict[str, Model] = {}
        results = work(train, data, self.n_jobs)
        for language, (model, failure) in zip(languages, results, strict=True):
            if model is None:
                self.failures_[language] = failure
            else:
                self.models_[language] = model

    @property
    def left_out_(self) -> dict[str, dict[str, str]]:
        """Language to feature to why it could not be used."""
        reasons = {}
        for language, (_, is_used) in self.models_.items():
            unused = np.array(self.features_)[~is_used].tolist()
            reasons[language] = dict.fromkeys(unused, NO_VALUE)
        return reasons

    def predict(self, X: pd.DataFrame, questions: Asked | None = None) -> pd.DataFrame:
        """Rate every system by its mean features."""
        table = with_features(X, self)
        parts = []
        for name, rows in table.groupby("language"):
            language = str(name)
            if questions is not None:
                asked = tuple(questions.get(language, ()))
            elif language in self.answers_:
                asked = self.answers_[language].questions
            else:
                asked = ()
            tensor = self._filled(feature_tensor(rows, language, self.features_), asked)
            part = pd.DataFrame(
                {
                    "language": language,
                    "system": tensor.systems,
                    "rating": self._ratings_by_features(language, tensor),
                    "answers": tensor.answered.sum(axis=1),
                }
            )
            parts.append(part)
        return pd.concat(parts, ignore_index=True)

    def _ratings_by_features(self, language: str, tensor: FeatureTensor) -> Floats:
        ratings = np.full(len(tensor.systems), np.nan)
        if language not in self.models_:
            return ratings
        estimator, is_used = self.models_[language]
        means = tensor.means()[0][:, is_used]
        has_value = np.isfinite(means).any(axis=1)
        if has_value.any():
            ratings[has_value] = estimator.predict(means[has_value])
        return ratings

    def importances(self) -> pd.DataFrame:
        """Return the mean decrease in impurity, or the size of coefficients."""
        parts = []
        for language, (estimator, is_used) in self.models_.items():
            shares = np.full(len(self.features_), np.nan)
            shares[is_used] = _shares(estimator, int(is_used.sum()))
            part = {"language": language, "feature": self.features_, "importance": shares}
            parts.append(pd.DataFrame(part))
        return joined(parts, IMPORTANCE_COLUMNS)

    def _filled(self, tensor: FeatureTensor, asked: Sequence[str]) -> FeatureTensor:
        return zero_filled(tensor, asked) if self.missing == "zero" else tensor


def _trained(
    surrogate: RegressionSurrogate, data: tuple[FeatureTensor, TrainingRatings]
) -> tuple[Model | None, str]:
    answers, ratings = data
    rows = training_rows(answers, ratings, surrogate.rows)
    is_used = np.asarray(np.isfinite(rows.features).any(axis=0))
    if not is_used.any() or rows.systems < FEWEST_SYSTEMS:
        return None, f"{answers.language}: {too_few(rows.systems, int(is_used.sum()))}"
    keys = ("surrogate", answers.language, "final")
    state = int(seed_sequence(surrogate.seed, *keys).generate_state(1)[0])
    used_rows = rows._replace(features=rows.features[:, is_used])
    try:
        estimator = fit_regressor(surrogate.name, used_rows, state, surrogate.trees)
    except ValueError as error:  # five folds of four systems, say
        return None, f"{answers.language}: {surrogate.name} cannot learn from this: {error}"
    return (estimator, is_used), ""


def fit_regressor(name: str, rows: TrainingRows, random_state: int, trees: int = TREES) -> Any:  # noqa: ANN401 - any regressor
    """Fit the regressor of ``made``, converged or not."""
    # Maximum of rows for a regressor whose time grows with their square or cube: of more, a random
    # sample is taken
    most_rows = 1000
    from sklearn.exceptions import ConvergenceWarning

    # Modules of scikit-learn whose time grows with the square or cube of the rows.
    slow_modules = {"svm", "neural_network", "gaussian_process", "kernel_ridge", "neighbors"}
    estimator = made(name, random_state, trees)
    regressor = _steps(estimator)[-1][1]
    # Rows are ordered by their values, so that no random draw depends on a system's name.
    order = np.lexsort((*rows.features.T, rows.targets))
    is_slow = not slow_modules.isdisjoint(type(regressor).__module__.split("."))
    if is_slow and len(order) > most_rows:
        random = np.random.default_rng(random_state)
        order = order[np.sort(random.choice(len(order), most_rows, replace=False))]
    # Weights of 1 change a forest's stream of random numbers, which published figures rest on.
    weights = {"sample_weight": np.ones(len(order))} if name == RANDOM_FOREST else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(rows.features[order], rows.targets[order], **weights)


def _shares(estimator: Any, n_features: int) -> Floats:  # noqa: ANN401 - any regressor
    """Return features' shares in a regressor's decisions, shape (F,), or NaN."""
    regressor = _steps(estimator)[-1][1]
    if hasattr(regressor, "feature_importances_"):
        shares = np.asarray(regressor.feature_importances_, dtype=np.float64)
    else:
        coefficients = np.asarray(getattr(regressor, "coef_", np.nan), dtype=np.float64)
        sizes = np.abs(coefficients).reshape(-1)
        shares = sizes / max(float(sizes.sum()), 1e-300)
    return shares if shares.shape == (n_features,) else np.full(n_features, np.nan)


def made(name: str, random_state: int, trees: int = TREES) -> Any:  # noqa: ANN401 - any regressor
    """Make a regressor by name or text, with medians if needed."""
    from sklearn.base import is_regressor  # loaded where a regressor is asked for: it is slow
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.utils import get_tags

    try:
        estimator = read(REGRESSORS.get(name, name))
    except UsageError as error:
        if name in REGRESSORS:
            raise MissingDependencyError(f"the surrogate {name}", name, name) from error
        raise
    if not is_regressor(estimator):
        raise UsageError(f"{name} is not a regressor")
    _set_parameters(estimator, name, random_state, trees)
    steps = _steps(estimator)
    for _, step in steps:
        if "Imputer" in type(step).__name__:
            return estimator
        if hasattr(step, "fit") and not get_tags(step).input_tags.allow_nan:
            medians = SimpleImputer(strategy="median", keep_empty_features=True)
            return Pipeline([("medians", medians), *steps])
    return estimator


def _set_parameters(estimator: Any, name: str, random_state: int, trees: int) -> None:  # noqa: ANN401 - any regressor
    if name == "xgboost":  # its seeds have 31 bits
        random_state %= 2**31
    parameters = estimator.get_params()
    for parameter in parameters:
        if parameter.split("__")[-1] == "random_state":
            estimator.set_params(**{parameter: random_state})
    if name == RANDOM_FOREST:
        estimator.set_params(n_estimators=trees)
    if name in REGRESSORS and "n_jobs" in parameters:
        estimator.set_params(n_jobs=1)


def _steps(estimator: Any) -> list[tuple[str, Any]]:  # noqa: ANN401 - any regressor
    return list(getattr(estimator, "steps", [("regressor", estimator)]))
