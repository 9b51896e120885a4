"""The features of one language as an array of systems, questions and features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import UsageError

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


View = Literal["raw", "rank", "both"]
VIEWS: tuple[View, ...] = ("raw", "rank", "both")
RANK_SUFFIX = ":rank"


def viewed(tensor: FeatureTensor, field: FeatureTensor, view: View) -> FeatureTensor:
    """Show features as they are, as ranks within their question, or both.

    Args:
        tensor: Features of S systems.
        field: Features of the systems to compare with, on at least the same questions.
        view: ``raw``, ``rank`` or ``both`` (first raw, then ranks).

    Returns:
        Values of shape (S, Q, F), or (S, Q, 2F) for ``both``.

    Raises:
        UsageError: If the view is unknown.
    """
    if view not in VIEWS:
        raise UsageError(f"unknown view {view!r}; use one of {', '.join(VIEWS)}")
    if view == "raw":
        return tensor
    names = tuple(f"{name}{RANK_SUFFIX}" for name in tensor.features)
    ranks = question_ranks(tensor, field)
    if view == "rank":
        return replace(tensor, features=names, values=ranks)
    values = np.concatenate([tensor.values, ranks], axis=2)
    return replace(tensor, features=(*tensor.features, *names), values=values)


def question_ranks(tensor: FeatureTensor, field: FeatureTensor) -> Floats:
    """Compare each answer with the field's answers to its question, feature by feature.

    A system is compared with the field alone: never with itself, nor with the other systems of
    ``tensor``, so what it gets does not depend on who is ranked beside it.

    Returns:
        Share of the field's values below minus share above, in [-1, 1], shape (S, Q, F); NaN
        where the answer or the whole field has no value.
    """
    aligned = field.take(questions=tensor.questions, features=tensor.features)
    ranks = np.full(tensor.values.shape, np.nan)
    for row, system in enumerate(tensor.systems):
        others = [place for place, name in enumerate(aligned.systems) if name != system]
        signs = np.sign(tensor.values[row] - aligned.values[others])
        present = np.isfinite(signs)
        totals = np.where(present, signs, 0.0).sum(axis=0)
        compared = present.sum(axis=0)
        np.divide(totals, compared, out=ranks[row], where=compared > 0)
    return ranks


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


def standardized_within(tensor: FeatureTensor, field: FeatureTensor) -> FeatureTensor:
    """Standardize features by the field's systems, in one language.

    Args:
        tensor: Features of S systems.
        field: Features of the systems that set the scale: the deviation is that of systems'
            means over questions.
    """
    scale = scale_of(field.means()[0])
    return replace(tensor, values=scale.standardize(tensor.values))


def mean_scale(scales: Sequence[Scale]) -> Scale:
    """Average scales, for a language that has none of its own."""
    return Scale(
        np.mean([scale.mean for scale in scales], axis=0),
        np.mean([scale.deviation for scale in scales], axis=0),
    )
