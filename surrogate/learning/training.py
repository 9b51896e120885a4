"""What surrogates learn from: features of answers against ratings of their systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import UsageError
from arena.data.types import Flags, Floats, Indices
from arena.rating.pairs import JudgedItems
from arena.rating.tournaments import DECIMALS, Tournaments

RowKind = Literal["system", "overall"]
DEFAULT_ROWS: RowKind = "system"
MissingRule = Literal["nan", "zero"]
"""What counts for a value that is missing: nothing, or 0."""
RATING_COLUMNS = ("language", "system", "rating")
KnownRatings: TypeAlias = Mapping[str, Tournaments] | Mapping[str, "TrainingRatings"] | pd.DataFrame
"""Language to tournaments, or a table ``language, system, rating`` with or without ``variance``."""


@dataclass(frozen=True)
class FeatureTensor:
    """Features of every answer of one language.

    Attributes:
        values: Of S systems, Q questions (query ids) and F features, shape (S, Q, F); NaN where a
            value is missing or there is no answer.
        answered: Which system answered which question, shape (S, Q).
    """

    language: str
    systems: tuple[str, ...]
    questions: tuple[str, ...]
    values: Floats
    answered: Flags

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
        return mean_of(totals, held)

    def on(self, questions: Sequence[str]) -> FeatureTensor:
        """Keep some questions, in the order given."""
        position = {question: index for index, question in enumerate(self.questions)}
        columns = [position[question] for question in questions]
        values, answered = self.values[:, columns], self.answered[:, columns]
        return replace(self, questions=tuple(questions), values=values, answered=answered)


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
        features: Columns to take.
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
    return FeatureTensor(language, tuple(names), places, values, answered)


def zero_filled(tensor: FeatureTensor, asked: Sequence[str]) -> FeatureTensor:
    """Count 0 for every missing value, and for those of an answer that is not there.

    So were the features of MIRAGE-Bench averaged: their sum over the number of questions. What one
    system gets does not depend on who answered beside it.

    Args:
        tensor: Features of S systems.
        asked: Questions that every system was asked, answered or not; elsewhere a system counts
            by its own answers alone.
    """
    absent = [name for name in dict.fromkeys(asked) if name not in set(tensor.questions)]
    questions, behind = (*tensor.questions, *absent), ((0, 0), (0, len(absent)))
    answered = np.pad(tensor.answered, behind)
    values = np.pad(np.nan_to_num(tensor.values, nan=0.0), (*behind, (0, 0)))
    counts = answered | np.isin(questions, list(asked))
    filled = np.where(counts[:, :, None], values, np.nan)
    return FeatureTensor(tensor.language, tensor.systems, questions, filled, answered)


@dataclass(frozen=True)
class TrainingRatings:
    """Ratings of the systems of one language, over T samples of its questions.

    Attributes:
        systems: The S systems.
        questions: The Q questions that were judged; none where only ratings are known.
        draws: How often each sample holds each question, shape (T, Q).
        coefficients: Rating of each system in each sample (logits), shape (T, S); NaN where it
            has none.
        items: Outcomes of the battles; none where only ratings are known.
        variance: Sampling variance of each rating, shape (S,), where it is given; NaN where it is
            not known.
    """

    systems: tuple[str, ...]
    questions: tuple[str, ...]
    draws: Indices
    coefficients: Floats
    items: JudgedItems
    variance: Floats | None = None

    @property
    def means(self) -> Floats:
        """Mean rating of each system over the samples, shape (S,); NaN if never rated."""
        return finite_means(self.coefficients)

    def take(self, systems: Sequence[str]) -> TrainingRatings:
        """Keep some systems, in the order given, and the battles among them."""
        places = [self.systems.index(system) for system in systems]
        return replace(
            self,
            systems=tuple(systems),
            coefficients=self.coefficients[:, places],
            variance=None if self.variance is None else self.variance[places],
            items=self.items.among(places),
        )


def training_ratings(ratings: KnownRatings) -> dict[str, TrainingRatings]:
    """Return ratings by language, whatever form they come in."""
    if isinstance(ratings, pd.DataFrame):
        return _of_table(ratings)
    return {
        language: _of_tournaments(item) if isinstance(item, Tournaments) else item
        for language, item in ratings.items()
    }


def _of_tournaments(given: Tournaments) -> TrainingRatings:
    battles, drawn = given.battles, (given.draws, given.coefficients)
    return TrainingRatings(
        battles.systems, battles.questions, *drawn, battles.items, given.variance
    )


def _of_table(table: pd.DataFrame) -> dict[str, TrainingRatings]:
    absent = [name for name in RATING_COLUMNS if name not in table]
    if absent:
        raise UsageError(f"the table of ratings lacks {', '.join(absent)}")
    if table.duplicated(["language", "system"]).any():
        raise UsageError("the table of ratings has a system twice in a language")
    return {
        str(language): TrainingRatings(
            systems=tuple(rows["system"]),
            questions=(),
            draws=np.ones((1, 0), dtype=np.intp),
            coefficients=rows["rating"].to_numpy(np.float64)[None],
            items=JudgedItems.none(len(rows), 0),
            variance=rows["variance"].to_numpy(np.float64) if "variance" in rows else None,
        )
        for language, rows in table.sort_values(["language", "system"]).groupby("language")
    }


@dataclass(frozen=True)
class TrainingRows:
    """Rows to fit a regressor on: features (N, F), coefficients (N,), systems with any row."""

    features: Floats
    targets: Floats
    systems: int


def training_rows(tensor: FeatureTensor, ratings: TrainingRatings, kind: RowKind) -> TrainingRows:
    """Build the training rows of T tournaments.

    Args:
        tensor: Features of the S training systems' answers to every question, judged or not.
        ratings: Of the same systems; those without a rating are left out.
        kind: ``system``: one row a system and tournament, its features averaged over the
            tournament's questions (as Algorithm 1 of MIRAGE-Bench has them for one tournament);
            ``overall``: one row a system, its features averaged over all questions of the tensor,
            its target the mean coefficient (what MIRAGE-Bench's boards are made by).
    """
    if kind == "overall":
        # Splits of a tree that are equally good are chosen by the last digits of the targets.
        features, targets = tensor.means()[0], np.round(ratings.means, DECIMALS)
    else:
        judged = tensor.on(ratings.questions) if ratings.questions else tensor
        targets = ratings.coefficients.ravel()
        draws = ratings.draws if ratings.questions else None
        features = judged.means(draws).reshape(len(targets), tensor.values.shape[2])
    usable = np.isfinite(targets) & np.isfinite(features).any(axis=1)
    owners = np.flatnonzero(usable) % max(len(tensor.systems), 1)
    return TrainingRows(features[usable], targets[usable], len(np.unique(owners)))


def finite_means(values: Floats) -> Floats:
    """Return the mean of the finite values along the first axis; NaN where there is none."""
    present = np.isfinite(values)
    return mean_of(np.where(present, values, 0.0).sum(axis=0), present.sum(axis=0))


def mean_of(totals: Floats, times: npt.NDArray[Any]) -> Floats:
    """Divide totals by how many were added; NaN where none was."""
    return np.asarray(np.divide(totals, times, out=np.full(times.shape, np.nan), where=times > 0))
