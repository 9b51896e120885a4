"""Surrogates that predict a system's rating by a regressor of its features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import UsageError
from surrogate.learning.regression.regressors import (
    by_value,
    contributions,
    fit_regressor,
    shares,
)
from surrogate.learning.surrogate import FEWEST_SYSTEMS, Arrays, FeatureSurrogate, too_few
from surrogate.learning.tensor import FeatureTensor, Scale, mean_scale, scale_of
from surrogate.learning.training import TrainingRows, TrainingSet, finite_means, training_rows

Floats = npt.NDArray[np.float64]
Booleans = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class RegressionModel:
    """What was learned of one language, or of all together.

    Attributes:
        estimator: The fitted regressor.
        used: Which features it uses, shape (F,).
        scales: Language to the scale of its ratings; empty where they are not standardized.
    """

    estimator: Any
    used: Booleans
    scales: Mapping[str, Scale]


@dataclass(eq=False, repr=False)
class RegressionSurrogate(FeatureSurrogate):
    """A regressor of the systems' coefficients (MIRAGE-Bench, section 4.3).

    With ``pooled`` features and coefficients are standardized within each language.

    Attributes:
        name: See ``surrogate.learning.regression.regressors.made``.
    """

    def train(
        self, sets: Sequence[TrainingSet], random_state: int, arrays: Arrays | None
    ) -> RegressionModel:
        """Fit the regressor on the rows of all the sets; see ``FeatureSurrogate.train``."""
        scales = {
            item.language: scale_of(item.ratings.means) for item in (sets if self.pooled else ())
        }
        parts = [self._rows(item, scales.get(item.language)) for item in sets]
        features = np.concatenate([part.features for part in parts])
        used = np.isfinite(features).any(axis=0)
        systems = max(part.systems for part in parts)
        if not used.any() or systems < FEWEST_SYSTEMS:
            place = "" if self.pooled else f"{sets[0].language}: "
            raise UsageError(place + too_few(systems, int(used.sum())))
        if arrays is not None:
            raise UsageError("a surrogate of features is learned again, not kept as arrays")
        rows = TrainingRows(
            features[:, used],
            np.concatenate([part.targets for part in parts]),
            np.concatenate([part.weights for part in parts]),
            systems,
        )
        learned = fit_regressor(self.name, by_value(rows), random_state, self.trees)
        return RegressionModel(learned, used, scales)

    def training_rows(self, item: TrainingSet) -> TrainingRows:
        """Return the rows that a language's model is trained on, of the features it uses."""
        model = self.models_[item.language]
        rows = self._rows(item, model.scales.get(item.language))
        return TrainingRows(rows.features[:, model.used], rows.targets, rows.weights, rows.systems)

    def _rows(self, item: TrainingSet, scale: Scale | None) -> TrainingRows:
        targets = item.ratings.coefficients
        shown = self.shown(item.answers, item.answers)
        if self.rows != "overall":
            shown = shown.take(questions=item.ratings.questions)
        return training_rows(
            shown,
            item.ratings.draws,
            targets if scale is None else scale.standardize(targets),
            self.rows,
        )

    def rate(
        self, model: RegressionModel, tensor: FeatureTensor, reference: FeatureTensor
    ) -> Floats:
        """Rate systems by their mean features, or by the mean over answers, shape (S,)."""
        if self.rows == "question":
            return finite_means(self.rate_answers(model, tensor, reference).T)
        shown = self.shown(tensor, reference)
        return _restored(model, tensor.language, _predicted(model, shown.means()[0]))

    def rate_answers(
        self, model: RegressionModel, tensor: FeatureTensor, reference: FeatureTensor
    ) -> Floats:
        """Rate answer by answer, shape (S, Q)."""
        shown = self.shown(tensor, reference)
        ratings = np.full(shown.answered.shape, np.nan)
        ratings[shown.answered] = _predicted(model, shown.values[shown.answered])
        return _restored(model, tensor.language, ratings)

    def shares(self, model: RegressionModel) -> Floats:
        """Share of each feature in the regressor's decisions, shape (F,)."""
        found = np.full(len(model.used), np.nan)
        found[model.used] = shares(model.estimator, int(model.used.sum()))
        return found

    def attributions(self, X: pd.DataFrame) -> pd.DataFrame | None:
        """Say what each feature adds to a rating, where the regressor tells.

        The rating of a system of which nothing is known (the mean at a forest's roots, the
        intercept of a linear regressor) plus all contributions is its rating.
        """
        parts = []
        for tensor, reference, model in self._languages(X):
            found = None if model is None else self._contributions(model, tensor, reference)
            if found is not None:
                size = len(self.features_)
                parts.append(
                    pd.DataFrame(
                        {
                            "language": tensor.language,
                            "system": np.repeat(np.array(tensor.systems, dtype=object), size),
                            "feature": list(self.features_) * len(tensor.systems),
                            "contribution": found.ravel(),
                        }
                    )
                )
        return pd.concat(parts, ignore_index=True) if parts else None

    def _contributions(
        self, model: RegressionModel, tensor: FeatureTensor, reference: FeatureTensor
    ) -> Floats | None:
        """What each feature adds to each system's rating, shape (S, F)."""
        shown = self.shown(tensor, reference)
        of_answers = self.rows == "question"
        rows = shown.values[shown.answered] if of_answers else shown.means()[0]
        usable = np.isfinite(rows[:, model.used]).any(axis=1)
        added = np.full(rows.shape, np.nan)
        if usable.any():
            found = contributions(model.estimator, rows[usable][:, model.used])
            if found is None:
                return None
            added[np.ix_(usable, model.used)] = found[1]
        if tensor.language in model.scales:
            added *= model.scales[tensor.language].deviation
        if not of_answers:
            return added
        whole = np.full(shown.values.shape, np.nan)
        whole[shown.answered] = added
        return finite_means(whole.transpose(1, 0, 2))


def _predicted(model: RegressionModel, rows: Floats) -> Floats:
    """Predict the rows that have a value of a feature that is used, shape (N, F) to (N,)."""
    known = rows[:, model.used]
    usable = np.isfinite(known).any(axis=1)
    values = np.full(len(rows), np.nan)
    if usable.any():
        values[usable] = model.estimator.predict(known[usable])
    return values


def _restored(model: RegressionModel, language: str, ratings: Floats) -> Floats:
    if not model.scales:
        return ratings
    scale = model.scales.get(language) or mean_scale(list(model.scales.values()))
    return scale.restore(ratings)
