"""What a surrogate is to those who train, validate and compare them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.linear_model import ElasticNet, LinearRegression

from arena.data.errors import UsageError
from surrogate.learning.regressors import (
    DEFAULT_LEARNER,
    ImputedRegressor,
    RidgePerRow,
    find_learner,
    rounded,
)
from surrogate.learning.tensor import (
    RANK_SUFFIX,
    FeatureTensor,
    Scale,
    View,
    feature_tensor,
    mean_scale,
    scale_of,
    standardized_within,
    viewed,
)
from surrogate.learning.training import Field, RowKind, TrainingRows, predict_systems, training_rows

Floats = npt.NDArray[np.float64]


class FittedSurrogate(Protocol):
    """A trained surrogate of one or several languages."""

    def predict(self, tensor: FeatureTensor, field: FeatureTensor) -> Floats:
        """Rate systems by their answers.

        Args:
            tensor: Features of S systems in one language.
            field: Features of the systems to compare them with, in the same language and on at
                least the same questions: those trained on; in a language without judgments, all.

        Returns:
            Bradley-Terry coefficients, shape (S,); NaN for a system without answers.
        """


class Surrogate(Protocol):
    """A way to learn ratings from features."""

    @property
    def pooled(self) -> bool:
        """Whether one model serves all languages, and so languages it has not seen."""

    def fit(self, fields: Sequence[Field], random_state: int) -> FittedSurrogate:
        """Train on the fields, one a language.

        Raises:
            UsageError: If too few systems can be trained on, or no feature has a value.
        """

    def for_all_languages(self) -> Surrogate:
        """Return the surrogate that learns the same from all languages together."""


@dataclass(frozen=True)
class LinearForm:
    """A linear regressor of F features, P of them once M indicators of missing values are added.

    Attributes:
        medians: What stands for a missing value, shape (F,).
        indicated: Whether a feature has an indicator of what is missing, shape (F,), M of them.
        means: Taken from each prepared feature, shape (P,).
        scales: What it is divided by then, above 0, shape (P,).
        low: Least value of a prepared feature that is taken as it is, shape (P,); may be -inf.
        high: Greatest such value, shape (P,); may be inf.
        center: Prepared features of which the rating is the intercept, shape (P,).
        coefficients: What each prepared feature adds (log-odds), shape (P,).
        intercept: Rating at the center, shape ().
    """

    medians: Floats
    indicated: npt.NDArray[np.bool_]
    means: Floats
    scales: Floats
    low: Floats
    high: Floats
    center: Floats
    coefficients: Floats
    intercept: Floats

    def predict(self, features: npt.ArrayLike) -> Floats:
        """Predict from features that may be missing, shape (N, F) to (N,)."""
        return np.asarray(self.intercept + self._deviations(features) @ self.coefficients)

    def contributions(self, features: npt.ArrayLike) -> Floats:
        """Return what each feature adds to the intercept, its indicator's part included, (N, F)."""
        return self._per_feature(self._deviations(features) * self.coefficients)

    @property
    def shares(self) -> Floats:
        """Sizes of the standardized features' coefficients as shares that sum to 1, shape (F,).

        The coefficient of an indicator counts for its feature; all are 0 if no coefficient is not.
        """
        sizes = self._per_feature(np.abs(self.coefficients)[None])[0]
        return np.asarray(sizes / sizes.sum() if sizes.any() else sizes)

    def _deviations(self, features: npt.ArrayLike) -> Floats:
        rows = rounded(np.asarray(features, dtype=np.float64))
        missing = np.isnan(rows)
        filled = np.where(missing, self.medians, rows)
        prepared = np.hstack([filled, missing[:, self.indicated].astype(np.float64)])
        prepared = (prepared - self.means) / self.scales
        return np.asarray(np.clip(prepared, self.low, self.high) - self.center)

    def _per_feature(self, parts: Floats) -> Floats:
        size = len(self.medians)
        whole = parts[:, :size].copy()
        whole[:, self.indicated] += parts[:, size:]
        return whole


def linear_form(estimator: object) -> LinearForm | None:
    """Return what a fitted regressor computes as a linear form; None if it is not linear."""
    if isinstance(estimator, LinearForm):
        return estimator
    if not isinstance(estimator, ImputedRegressor):
        return None
    regressor = estimator.regressor_
    if isinstance(regressor, RidgePerRow):
        center, intercept = regressor.center_, regressor.target_mean_
    elif isinstance(regressor, LinearRegression | ElasticNet):
        center, intercept = np.zeros_like(regressor.coef_), regressor.intercept_
    else:
        return None
    imputer, scaler = (step for _, step in estimator.preparation_.steps)
    low, high = estimator.range_ if estimator.within_range else (-np.inf, np.inf)
    indicated = np.zeros(len(imputer.statistics_), dtype=np.bool_)
    indicated[imputer.indicator_.features_] = True
    return LinearForm(
        medians=imputer.statistics_,
        indicated=indicated,
        means=scaler.mean_,
        scales=scaler.scale_,
        low=np.broadcast_to(low, center.shape).copy(),
        high=np.broadcast_to(high, center.shape).copy(),
        center=center,
        coefficients=regressor.coef_,
        intercept=np.asarray(intercept, dtype=np.float64),
    )


def as_numbers(form: LinearForm) -> dict[str, Any]:
    """Return a linear form's arrays by name."""
    return {item.name: getattr(form, item.name) for item in fields(form)}


def from_numbers(numbers: object, features: int) -> LinearForm:
    """Return the linear form of arrays that were read from a file, once they are checked.

    Args:
        numbers: What the file holds; see ``as_numbers``.
        features: Number of features it is to be given.

    Raises:
        UsageError: If an array is absent, of another type or shape, or holds no proper numbers.
    """
    names = [item.name for item in fields(LinearForm)]
    if type(numbers) is not dict or set(numbers) != set(names):
        raise UsageError(f"it holds {_named(numbers)}, not the numbers of a linear regressor")
    indicated = numbers["indicated"]
    if not _is_array(indicated, np.bool_, (features,)):
        raise UsageError("its linear regressor is not fitted on the features it names")
    prepared = (features + int(indicated.sum()),)
    shapes = dict.fromkeys(names, prepared) | {"medians": (features,), "intercept": ()}
    for name in names:
        if name != "indicated" and not _is_array(numbers[name], np.float64, shapes[name]):
            raise UsageError(f"the {name} of its linear regressor have the wrong type or shape")
    form = LinearForm(**numbers)
    if not _is_sound(form):
        raise UsageError("its linear regressor holds values that are no proper numbers")
    return form


def _named(numbers: object) -> str:
    return "other entries" if type(numbers) is dict else f"a {type(numbers).__name__}"


def _is_array(value: object, dtype: type[np.generic], shape: tuple[int, ...]) -> bool:
    return type(value) is np.ndarray and value.dtype == dtype and value.shape == shape


def _is_sound(form: LinearForm) -> bool:
    finite = (form.medians, form.means, form.scales, form.center, form.coefficients, form.intercept)
    return bool(
        all(np.isfinite(values).all() for values in finite)
        and (form.scales > 0).all()
        and (form.low <= form.high).all()
    )


Integers = npt.NDArray[np.intp]

DEFAULT_ROWS: RowKind = "system"
FEWEST_SYSTEMS = 3
NO_VALUE = "no training answer has a value"
IMPORTANCES = "feature_importances_"
"""Where scikit-learn's ensembles of trees have the shares of their features."""


@dataclass(frozen=True)
class Recipe:
    """How a surrogate is trained.

    Attributes:
        learner: Name of the regressor, one of ``learners.LEARNERS``.
        rows: One training row a ``system`` or a ``question``.
    """

    learner: str = DEFAULT_LEARNER
    rows: RowKind = DEFAULT_ROWS

    @property
    def signature(self) -> str:
        """The settings as part of a board's signature."""
        return f"model:{self.learner}|rows:{self.rows}"


@dataclass(frozen=True)
class LanguageJudge:
    """A surrogate judge of one language.

    Attributes:
        language: Language code.
        features: Features it uses, in the regressor's order.
        systems: Systems it was trained on.
        recipe: How it was trained.
        estimator: The fitted regressor.
        left_out: Features that could not be used, and why.
    """

    language: str
    features: tuple[str, ...]
    systems: tuple[str, ...]
    recipe: Recipe
    estimator: Any
    left_out: Mapping[str, str] = field(default_factory=dict)

    def predict(self, tensor: FeatureTensor, draws: Integers | None = None) -> Floats:
        """Predict each system's Bradley-Terry coefficient from its answers.

        Args:
            tensor: Features of S systems; must hold this judge's features.
            draws: How often to count each question, shape (Q,); by default once each.

        Returns:
            Shape (S,); NaN for a system without answers.
        """
        own = tensor.take(features=self.features)
        return predict_systems(self.estimator, own, self.recipe.rows, draws)

    def importances(self) -> dict[str, float]:
        """Share of each feature in the regressor's decisions.

        The mean decrease in impurity of an ensemble of trees; the size of a linear regressor's
        coefficients, its features standardized. NaN where the learner has neither.
        """
        linear = linear_form(self.estimator)
        unknown = np.full(len(self.features), np.nan)
        shares = linear.shares if linear else getattr(self.estimator, IMPORTANCES, unknown)
        return {name: float(share) for name, share in zip(self.features, shares, strict=True)}


def train_language_judge(
    tensor: FeatureTensor,
    draws: Integers,
    coefficients: Floats,
    recipe: Recipe,
    estimator: Any,  # noqa: ANN401 - any regressor
) -> LanguageJudge:
    """Train a surrogate on T tournaments.

    Args:
        tensor: Features of the S training systems on the judged questions.
        draws: How often each tournament holds each question, shape (T, Q).
        coefficients: Bradley-Terry coefficients, shape (T, S).
        recipe: Learner and kind of rows.
        estimator: Unfitted regressor of the recipe's learner.

    Raises:
        UsageError: If fewer than three systems can be trained on, or no feature has a value.
    """
    with_value = [bool(has) for has in np.isfinite(tensor.values).any(axis=(0, 1)).ravel()]
    used = [name for name, usable in zip(tensor.features, with_value, strict=True) if usable]
    rows = training_rows(tensor.take(features=used), draws, coefficients, recipe.rows)
    if not used or rows.systems < FEWEST_SYSTEMS:
        raise UsageError(
            f"{tensor.language}: {rows.systems} systems with judged answers and {len(used)} "
            f"features to train on; at least {FEWEST_SYSTEMS} and 1 are needed"
        )
    estimator.fit(rows.features, rows.targets, sample_weight=rows.weights)
    return LanguageJudge(
        language=tensor.language,
        features=tuple(used),
        systems=tensor.systems,
        recipe=recipe,
        estimator=estimator,
        left_out={name: NO_VALUE for name in tensor.features if name not in used},
    )


@dataclass(frozen=True)
class SurrogateJudge:
    """A surrogate judge of several languages.

    Attributes:
        features: Features to extract from answers before they are judged.
        languages: Language code to its judge.
        signature: Settings that reproduce the judge.
    """

    features: tuple[str, ...]
    languages: Mapping[str, LanguageJudge]
    signature: str

    def predict(self, table: pd.DataFrame) -> pd.DataFrame:
        """Rate every system of a feature table, language by language.

        Args:
            table: Columns ``language, system, query_id`` and one for each of ``features``.

        Returns:
            Columns ``language, system, rating, answers``; rating is NaN in a language that the
            judge was not trained for.

        Raises:
            UsageError: If a feature column is missing.
        """
        absent = [name for name in self.features if name not in table.columns]
        if absent:
            raise UsageError(f"the feature table lacks {', '.join(absent)}; extract them first")
        counts = table.groupby(["language", "system"]).size().reset_index(name="answers")
        parts = [
            part.assign(rating=self._rate(table, str(language), list(part["system"])))
            for language, part in counts.groupby("language")
        ]
        return pd.concat(parts, ignore_index=True)[["language", "system", "rating", "answers"]]

    def _rate(self, table: pd.DataFrame, language: str, systems: list[str]) -> Floats:
        judge = self.languages.get(language)
        if judge is None:
            return np.full(len(systems), np.nan)
        questions = sorted(table.loc[table["language"] == language, "query_id"].unique())
        return judge.predict(feature_tensor(table, language, judge.features, systems, questions))


@dataclass(frozen=True)
class SystemSurrogate:
    """One regressor of coefficients a language (MIRAGE-Bench, section 4.3).

    Attributes:
        recipe: Learner and kind of rows.
        view: Features as they are, as ranks within their question, or both.
    """

    recipe: Recipe
    view: View = "raw"
    pooled: bool = False

    def fit(self, fields: Sequence[Field], random_state: int) -> FittedSurrogate:
        """Train one regressor a language; see ``Surrogate.fit``."""
        judges = {
            field.language: train_language_judge(
                viewed(field.judged, field.answers, self.view),
                field.tournaments.draws,
                field.tournaments.coefficients,
                self.recipe,
                _regressor(self.recipe, fields, random_state),
            )
            for field in fields
        }
        return _FittedPerLanguage(judges, self.view)

    def for_all_languages(self) -> PooledSurrogate:
        """Return the pooled surrogate of the same recipe."""
        return PooledSurrogate(self.recipe, self.view)


@dataclass(frozen=True)
class PooledSurrogate:
    """One regressor of coefficients for all languages.

    Features and coefficients are standardized within each language, so that what differs between
    languages (how long answers are, how far systems lie apart) does not count.

    Attributes:
        recipe: Learner and kind of rows.
        view: Features as they are, as ranks within their question, or both.
    """

    recipe: Recipe
    view: View = "raw"
    pooled: bool = True

    def fit(self, fields: Sequence[Field], random_state: int) -> FittedSurrogate:
        """Train one regressor on the rows of all fields; see ``Surrogate.fit``."""
        scales = {field.language: scale_of(field.targets) for field in fields}
        parts = [self._rows(field, scales[field.language]) for field in fields]
        features = np.concatenate([part.features for part in parts])
        used = np.isfinite(features).any(axis=0)
        if max(part.systems for part in parts) < FEWEST_SYSTEMS or not used.any():
            raise UsageError(
                f"at least {FEWEST_SYSTEMS} systems with judged answers in some language and one "
                "feature with a value are needed to train on"
            )
        regressor = _regressor(self.recipe, fields, random_state)
        regressor.fit(
            features[:, used],
            np.concatenate([part.targets for part in parts]),
            sample_weight=np.concatenate([part.weights for part in parts]),
        )
        return _FittedForAll(regressor, used, self.recipe, self.view, scales)

    def for_all_languages(self) -> PooledSurrogate:
        """Return itself."""
        return self

    def _rows(self, field: Field, scale: Scale) -> TrainingRows:
        shown = standardized_within(
            viewed(field.judged, field.answers, self.view),
            viewed(field.answers, field.answers, self.view),
        )
        targets = scale.standardize(field.tournaments.coefficients)
        return training_rows(shown, field.tournaments.draws, targets, self.recipe.rows)


def feature_shares(surrogate: SystemSurrogate, field: Field, random_state: int) -> dict[str, float]:
    """Train on one language and return the share of each feature in the regressor's decisions.

    Args:
        surrogate: Its regressor; see ``LanguageJudge.importances``.
        field: What it learns from.
        random_state: Seed of the learner.

    Returns:
        Feature to its share, that of its ranks included; NaN where the learner has none, and
        nothing for a feature it could not use.
    """
    view = viewed(field.judged, field.answers, surrogate.view)
    judge = train_language_judge(
        view,
        field.tournaments.draws,
        field.tournaments.coefficients,
        surrogate.recipe,
        _regressor(surrogate.recipe, [field], random_state),
    )
    shares: dict[str, float] = {}
    for name, share in judge.importances().items():
        own = name.removesuffix(RANK_SUFFIX)
        shares[own] = shares.get(own, 0.0) + share
    return shares


def _regressor(recipe: Recipe, fields: Sequence[Field], random_state: int) -> Any:  # noqa: ANN401
    learner = find_learner(recipe.learner)
    single = len(fields) == 1 and len(fields[0].tournaments.draws) == 1
    return learner.tournament(random_state) if single else learner.final(random_state)


@dataclass(frozen=True)
class _FittedPerLanguage:
    judges: Mapping[str, LanguageJudge]
    view: View

    def predict(self, tensor: FeatureTensor, field: FeatureTensor) -> Floats:
        return self.judges[tensor.language].predict(viewed(tensor, field, self.view))


@dataclass(frozen=True)
class _FittedForAll:
    regressor: Any
    used: npt.NDArray[np.bool_]
    recipe: Recipe
    view: View
    scales: Mapping[str, Scale]

    def predict(self, tensor: FeatureTensor, field: FeatureTensor) -> Floats:
        shown = standardized_within(
            viewed(tensor, field, self.view), viewed(field, field, self.view)
        )
        names = [name for name, used in zip(shown.features, self.used, strict=True) if used]
        values = predict_systems(self.regressor, shown.take(features=names), self.recipe.rows)
        scale = self.scales.get(tensor.language) or mean_scale(list(self.scales.values()))
        return scale.restore(values)
