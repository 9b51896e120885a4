"""Surrogates that predict a system's coefficient from its answers' features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.errors import UsageError
from surrogate.field import Field
from surrogate.judge import FEWEST_SYSTEMS, LanguageJudge, Recipe, train_language_judge
from surrogate.learners import find_learner
from surrogate.pooling import Scale, mean_scale, scale_of, standardised_within
from surrogate.relative import RANK_SUFFIX, View, viewed
from surrogate.surrogates import FittedSurrogate
from surrogate.tensor import FeatureTensor
from surrogate.training import TrainingRows, predict_systems, training_rows

Floats = npt.NDArray[np.float64]


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

    Features and coefficients are standardised within each language, so that what differs between
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
        shown = standardised_within(
            viewed(field.judged, field.answers, self.view),
            viewed(field.answers, field.answers, self.view),
        )
        targets = scale.standardise(field.tournaments.coefficients)
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
        shown = standardised_within(
            viewed(tensor, field, self.view), viewed(field, field, self.view)
        )
        names = [name for name, used in zip(shown.features, self.used, strict=True) if used]
        values = predict_systems(self.regressor, shown.take(features=names), self.recipe.rows)
        scale = self.scales.get(tensor.language) or mean_scale(list(self.scales.values()))
        return scale.restore(values)
