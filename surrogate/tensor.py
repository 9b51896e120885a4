"""The features of one language as an array of systems, questions and features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class FeatureTensor:
    """Features of every answer of one language.

    Attributes:
        language: Language code.
        systems: The S systems.
        questions: The Q questions (query ids).
        features: The F feature names.
        values: Shape (S, Q, F); NaN where a value is missing or there is no answer.
        answered: Which system answered which question, shape (S, Q).
    """

    language: str
    systems: tuple[str, ...]
    questions: tuple[str, ...]
    features: tuple[str, ...]
    values: Floats
    answered: npt.NDArray[np.bool_]

    def means(self, draws: npt.ArrayLike | None = None) -> Floats:
        """Average each system's features over questions, missing values left out.

        Args:
            draws: How often each of T samples holds each question, shape (T, Q); by default
                one sample that holds every question once.

        Returns:
            Shape (T, S, F); NaN where a sample holds no value.
        """
        weights = np.ones((1, len(self.questions))) if draws is None else np.asarray(draws)
        present = np.isfinite(self.values)
        totals = np.einsum("tq,sqf->tsf", weights, np.where(present, self.values, 0.0))
        held = np.einsum("tq,sqf->tsf", weights, present.astype(np.float64))
        return np.asarray(np.divide(totals, held, out=np.full_like(totals, np.nan), where=held > 0))

    def take(
        self,
        systems: Sequence[str] | None = None,
        questions: Sequence[str] | None = None,
        features: Sequence[str] | None = None,
    ) -> FeatureTensor:
        """Keep some systems, questions and features, in the order given."""
        kept_systems = self.systems if systems is None else tuple(systems)
        kept_questions = self.questions if questions is None else tuple(questions)
        kept_features = self.features if features is None else tuple(features)
        rows = [self.systems.index(system) for system in kept_systems]
        position = {question: index for index, question in enumerate(self.questions)}
        columns = [position[question] for question in kept_questions]
        layers = [self.features.index(feature) for feature in kept_features]
        return FeatureTensor(
            self.language,
            kept_systems,
            kept_questions,
            kept_features,
            self.values[np.ix_(rows, columns, layers)],
            self.answered[np.ix_(rows, columns)],
        )


def feature_tensor(
    table: pd.DataFrame,
    language: str,
    features: Sequence[str],
    systems: Sequence[str],
    questions: Sequence[str],
) -> FeatureTensor:
    """Arrange a feature table of one language as an array.

    Args:
        table: Columns ``language, system, query_id`` and one a feature.
        language: Language to take.
        features: Feature columns to take.
        systems: Systems to take, answered or not.
        questions: Questions to take, answered or not.
    """
    rows = table[table["language"] == language]
    system = pd.Index(list(systems)).get_indexer(pd.Index(rows["system"]))
    question = pd.Index(list(questions)).get_indexer(pd.Index(rows["query_id"]))
    wanted = (system >= 0) & (question >= 0)
    cell = (system[wanted], question[wanted])
    values = np.full((len(systems), len(questions), len(features)), np.nan)
    values[cell] = rows.loc[wanted, list(features)].to_numpy(np.float64)
    answered = np.zeros(values.shape[:2], dtype=np.bool_)
    answered[cell] = True
    return FeatureTensor(
        language, tuple(systems), tuple(questions), tuple(features), values, answered
    )
