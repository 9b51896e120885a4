"""What surrogates learn from: features of answers against ratings of their systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import UsageError
from arena.rating.pairs import JudgedItems
from arena.rating.tournaments import DECIMALS, Tournaments
from surrogate.learning.tensor import FeatureTensor, feature_tensor

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]
RowKind = Literal["system", "overall", "question"]
ROW_KINDS: tuple[RowKind, ...] = ("system", "overall", "question")
DEFAULT_ROWS: RowKind = "system"
RATING_COLUMNS = ("language", "system", "rating")


@dataclass(frozen=True)
class TrainingRatings:
    """KnownRatings of the systems of one language, over T samples of its questions.

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
    draws: Integers
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


KnownRatings: TypeAlias = Mapping[str, Tournaments] | Mapping[str, TrainingRatings] | pd.DataFrame
"""Language to tournaments, or a table ``language, system, rating`` with or without ``variance``."""


def training_ratings(ratings: KnownRatings) -> dict[str, TrainingRatings]:
    """Return ratings by language, whatever form they come in.

    Raises:
        UsageError: If a table lacks a column or rates a system twice.
    """
    if isinstance(ratings, pd.DataFrame):
        return _of_table(ratings)
    return {
        language: _of_tournaments(item) if isinstance(item, Tournaments) else item
        for language, item in ratings.items()
    }


def _of_tournaments(tournaments: Tournaments) -> TrainingRatings:
    battles = tournaments.battles
    return TrainingRatings(
        systems=battles.systems,
        questions=battles.questions,
        draws=tournaments.draws,
        coefficients=tournaments.coefficients,
        items=battles.items,
        variance=tournaments.variance,
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
class TrainingSet:
    """What is known of the training systems of one language.

    Attributes:
        answers: Features of the S training systems' answers to every question, judged or not.
        ratings: KnownRatings of the same systems in the same order.
    """

    answers: FeatureTensor
    ratings: TrainingRatings

    @property
    def language(self) -> str:
        """Language code."""
        return self.answers.language

    @property
    def judged(self) -> FeatureTensor:
        """Features of the answers to the judged questions, in the ratings' order."""
        return self.answers.take(questions=self.ratings.questions)


def training_sets(
    X: pd.DataFrame, ratings: Mapping[str, TrainingRatings], features: Sequence[str]
) -> dict[str, TrainingSet]:
    """Bring features and ratings together: the systems that have both.

    Args:
        X: Columns ``language, system, query_id`` and one a feature.
        ratings: Language to its ratings.
        features: Feature columns to learn from.

    Returns:
        Language to what is known there; languages without any such system are left out.
    """
    sets = {}
    answering = {str(name): set(rows["system"]) for name, rows in X.groupby("language")}
    for language, rated in sorted(ratings.items()):
        systems = [name for name in rated.systems if name in answering.get(language, set())]
        if not systems:
            continue
        asked = set(X.loc[X["language"] == language, "query_id"]) | set(rated.questions)
        answers = feature_tensor(X, language, features, systems, sorted(asked))
        known = rated.take(systems)
        if not known.questions:
            size = len(answers.questions)
            known = replace(
                known,
                questions=answers.questions,
                draws=np.ones((1, size), dtype=np.intp),
                items=JudgedItems.none(len(systems), size),
            )
        sets[language] = TrainingSet(answers, known)
    return sets


@dataclass(frozen=True)
class TrainingRows:
    """Rows to fit a regressor on.

    Attributes:
        features: Shape (N, F).
        targets: Coefficients, shape (N,).
        weights: Multiplicity of each row, shape (N,).
        systems: Systems that contribute at least one row.
    """

    features: Floats
    targets: Floats
    weights: Floats
    systems: int


def training_rows(
    tensor: FeatureTensor, draws: Integers, coefficients: Floats, kind: RowKind
) -> TrainingRows:
    """Build the training rows of T tournaments.

    Args:
        tensor: Features of the S training systems.
        draws: How often each tournament holds each question, shape (T, Q).
        coefficients: Target of each system in each tournament, shape (T, S); NaN is left out.
        kind: ``system``: one row a system and tournament, its features averaged over the
            tournament's questions (as Algorithm 1 of MIRAGE-Bench has them for one tournament);
            ``overall``: one row a system, its features averaged over all questions of the tensor,
            its target the mean coefficient (what MIRAGE-Bench's boards are made by);
            ``question``: one row an answer, weighted by its draws, its target the system's mean
            coefficient.
    """
    if kind == "system":
        owner = np.tile(np.arange(len(tensor.systems)), len(draws))
        features = tensor.means(draws).reshape(len(owner), len(tensor.features))
        targets, weights = coefficients.ravel(), np.ones(len(owner))
    elif kind == "overall":
        owner = np.arange(len(tensor.systems))
        # Splits of a tree that are equally good are chosen by the last digits of the targets.
        features, targets = tensor.means()[0], np.round(finite_means(coefficients), DECIMALS)
        weights = np.ones(len(owner))
    else:
        times = draws.sum(axis=0)
        owner, question = np.nonzero(tensor.answered & (times > 0))
        features = tensor.values[owner, question]
        targets = finite_means(coefficients)[owner]
        weights = times[question].astype(np.float64)
    usable = np.isfinite(targets) & np.isfinite(features).any(axis=1)
    contributing = len(np.unique(owner[usable]))
    return TrainingRows(features[usable], targets[usable], weights[usable], contributing)


def finite_means(values: Floats) -> Floats:
    """Return the mean of the finite values along the first axis; NaN where there is none."""
    present = np.isfinite(values)
    totals, times = np.where(present, values, 0.0).sum(axis=0), present.sum(axis=0)
    return np.asarray(np.divide(totals, times, out=np.full(times.shape, np.nan), where=times > 0))
