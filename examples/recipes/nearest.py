"""The rating of the nearest judged system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import pandas as pd

from features import feature_columns
from features.engine.extraction import FEATURE_KEY
from surrogate.learning.surrogate import Arrays, Asked, Surrogate
from surrogate.learning.training_data import KnownRatings, RowKind, training_ratings


@dataclass(eq=False)
class NearestSurrogate(Surrogate):
    """Give a system the rating of the judged system with the closest mean features."""

    name: str = "nearest"
    rows: RowKind = "system"
    seed: int = 0

    @property
    def signature(self) -> str:
        """The settings as part of a board's signature."""
        return f"surrogate:{self.name}|rows:{self.rows}"

    @property
    def left_out_(self) -> dict[str, dict[str, str]]:
        """No feature is unusable."""
        return {language: {} for language in self.ratings_}

    def fit_with(
        self,
        X: pd.DataFrame,
        ratings: KnownRatings,
        arrays: Mapping[str, Arrays],  # noqa: ARG002 - it saves none
    ) -> Self:
        """Keep the features and ratings of the systems that have both."""
        self.features_ = tuple(X[feature_columns(X)].select_dtypes("number"))
        self.failures_ = {}
        self.ratings_ = {}
        for language, rated in training_ratings(ratings).items():
            answered = set(X.loc[X["language"] == language, "system"])
            self.ratings_[language] = rated.take([s for s in rated.systems if s in answered])
        trained = [(name, system) for name, systems in self.systems_.items() for system in systems]
        is_trained = pd.MultiIndex.from_frame(X[["language", "system"]]).isin(trained)
        self.X_ = X.loc[is_trained, [*FEATURE_KEY, *self.features_]].reset_index(drop=True)
        return self

    def predict(
        self,
        X: pd.DataFrame,
        questions: Asked | None = None,  # noqa: ARG002 - mean features do not depend on them
    ) -> pd.DataFrame:
        """Rate every system by its nearest neighbor."""
        features = list(self.features_)
        judged = self.X_.groupby(["language", "system"])[features].mean()
        predictions = []
        for (language, system), answers in X.groupby(["language", "system"]):
            rated = self.ratings_[language]
            distances = (judged.loc[language] - answers[features].mean()).abs().sum(axis=1)
            rating = rated.means[rated.systems.index(distances.idxmin())]
            predictions.append((language, system, rating, len(answers)))
        return pd.DataFrame(predictions, columns=["language", "system", "rating", "answers"])

    def importances(self) -> pd.DataFrame:
        """No share is known."""
        return pd.DataFrame(columns=["language", "feature", "importance"])
