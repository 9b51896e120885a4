"""The features of one language as an array of systems, questions and features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

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

    def padded(self, questions: Sequence[str]) -> FeatureTensor:
        """Add questions that are not here yet, without answers."""
        absent = [name for name in dict.fromkeys(questions) if name not in set(self.questions)]
        if not absent:
            return self
        values = np.full((len(self.systems), len(absent), len(self.features)), np.nan)
        return replace(
            self,
            questions=(*self.questions, *absent),
            values=np.concatenate([self.values, values], axis=1),
            answered=np.pad(self.answered, ((0, 0), (0, len(absent)))),
        )


def feature_tensor(
    X: pd.DataFrame,
    language: str,
    features: Sequence[str],
    systems: Sequence[str] | None = None,
    questions: Sequence[str] | None = None,
) -> FeatureTensor:
    """Arrange the answers of one language as an array.

    Args:
        X: Columns ``language, system, query_id`` and one a feature. A row that stands twice
            counts twice: its question then has two places.
        language: Language to take.
        features: Feature columns to take.
        systems: Systems to take, answered or not; by default those in the table, sorted.
        questions: Questions to take, likewise.
    """
    rows = X[X["language"] == language]
    names = sorted(rows["system"].unique()) if systems is None else list(systems)
    asked = sorted(rows["query_id"].unique()) if questions is None else list(questions)
    system = pd.Index(names).get_indexer(pd.Index(rows["system"]))
    question = pd.Index(asked).get_indexer(pd.Index(rows["query_id"]))
    wanted = (system >= 0) & (question >= 0)
    again = np.zeros(len(rows), dtype=np.intp)
    code = (system * len(asked) + question)[wanted]
    if code.size and np.bincount(code).max() > 1:
        again[wanted] = pd.Series(code).groupby(code).cumcount().to_numpy()
    times = np.ones(len(asked), dtype=np.intp)
    np.maximum.at(times, question[wanted], again[wanted] + 1)
    starts = np.cumsum(times) - times
    cell = (system[wanted], starts[question[wanted]] + again[wanted])
    values = np.full((len(names), int(times.sum()), len(features)), np.nan)
    values[cell] = rows[list(features)].to_numpy(np.float64)[wanted]
    answered = np.zeros(values.shape[:2], dtype=np.bool_)
    answered[cell] = True
    places = tuple(str(name) for name in np.repeat(np.array(asked, dtype=object), times))
    return FeatureTensor(language, tuple(names), places, tuple(features), values, answered)


MissingRule = Literal["nan", "zero"]
"""What counts for a value that is missing: nothing, or 0."""
MISSING_RULES: tuple[MissingRule, ...] = ("nan", "zero")


def zero_filled(tensor: FeatureTensor, asked: Sequence[str]) -> FeatureTensor:
    """Count 0 for every missing value, and for those of an answer that is not there.

    So were the features of MIRAGE-Bench averaged: their sum over the number of questions. What one
    system gets does not depend on who answered beside it.

    Args:
        tensor: Features of S systems.
        asked: Questions that every system was asked, answered or not; elsewhere a system counts
            by its own answers alone.
    """
    padded = tensor.padded(asked)
    counts = padded.answered | np.isin(padded.questions, list(asked))
    filled = np.where(counts[:, :, None], np.nan_to_num(padded.values, nan=0.0), np.nan)
    return replace(padded, values=filled)


SMALLEST_DEVIATION = 1e-9


@dataclass(frozen=True)
class Scale:
    """Mean and standard deviation, per feature or of the targets; equal values have deviation 1."""

    mean: Floats
    deviation: Floats

    def standardize(self, values: Floats) -> Floats:
        """Take the mean off and divide by the deviation."""
        return np.asarray((values - self.mean) / self.deviation)

    def restore(self, values: Floats) -> Floats:
        """Undo ``standardize``."""
        return np.asarray(values * self.deviation + self.mean)


def scale_of(values: Floats) -> Scale:
    """Return the scale of each column's finite values, shape (S, ...) to (...).

    A column without values has mean 0.
    """
    present = np.isfinite(values)
    held = np.maximum(present.sum(axis=0), 1)
    mean = np.where(present, values, 0.0).sum(axis=0) / held
    squares = np.where(present, values - mean, 0.0) ** 2
    deviation = np.sqrt(squares.sum(axis=0) / held)
    return Scale(mean, np.where(deviation > SMALLEST_DEVIATION, deviation, 1.0))


def standardized_within(tensor: FeatureTensor, reference: FeatureTensor) -> FeatureTensor:
    """Standardize features by the reference's systems, in one language.

    Args:
        tensor: Features of S systems.
        reference: Features of the systems that set the scale: the deviation is that of systems'
            means over questions.
    """
    scale = scale_of(reference.means()[0])
    return replace(tensor, values=scale.standardize(tensor.values))


def mean_scale(scales: Sequence[Scale]) -> Scale:
    """Average scales, for a language that has none of its own."""
    return Scale(
        np.mean([scale.mean for scale in scales], axis=0),
        np.mean([scale.deviation for scale in scales], axis=0),
    )
