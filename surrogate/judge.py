"""Surrogate judges: one trained regressor a language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.errors import UsageError
from surrogate.learners import DEFAULT_LEARNER
from surrogate.linear_form import linear_form
from surrogate.tensor import FeatureTensor, feature_tensor
from surrogate.training import RowKind, predict_systems, training_rows

Floats = npt.NDArray[np.float64]
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
        coefficients, its features standardised. NaN where the learner has neither.
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
