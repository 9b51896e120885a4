"""Training rows of a surrogate: features of answers against Bradley-Terry coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from arena.data.errors import UsageError
from arena.rating.tournaments import Tournaments
from surrogate.learning.tensor import FeatureTensor

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]
RowKind = Literal["system", "question"]
ROW_KINDS: tuple[RowKind, ...] = ("system", "question")


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
            tournament's questions (the rows of MIRAGE-Bench); ``question``: one row an answer,
            weighted by its draws, its target the system's mean coefficient.

    Raises:
        UsageError: If the kind is unknown.
    """
    if checked_row_kind(kind) == "system":
        return _system_rows(tensor, draws, coefficients)
    return _question_rows(tensor, draws, coefficients)


def checked_row_kind(name: str) -> RowKind:
    """Return a kind of training rows by name.

    Raises:
        UsageError: If the name is unknown.
    """
    for kind in ROW_KINDS:
        if kind == name:
            return kind
    raise UsageError(f"unknown rows {name!r}; use one of {', '.join(ROW_KINDS)}")


def _system_rows(tensor: FeatureTensor, draws: Integers, coefficients: Floats) -> TrainingRows:
    owner = np.tile(np.arange(len(tensor.systems)), len(draws))
    features = tensor.means(draws).reshape(len(owner), len(tensor.features))
    return _usable(features, coefficients.ravel(), np.ones(len(owner)), owner)


def _question_rows(tensor: FeatureTensor, draws: Integers, coefficients: Floats) -> TrainingRows:
    times = draws.sum(axis=0)
    owner, question = np.nonzero(tensor.answered & (times > 0))
    held = np.isfinite(coefficients)
    totals = np.where(held, coefficients, 0.0).sum(axis=0)
    tournaments = held.sum(axis=0)
    missing = np.full(len(totals), np.nan)
    mean = np.divide(totals, tournaments, out=missing, where=tournaments > 0)
    weights = times[question].astype(np.float64)
    return _usable(tensor.values[owner, question], mean[owner], weights, owner)


def _usable(features: Floats, targets: Floats, weights: Floats, owner: Integers) -> TrainingRows:
    usable = np.isfinite(targets) & np.isfinite(features).any(axis=1)
    contributing = len(np.unique(owner[usable]))
    return TrainingRows(features[usable], targets[usable], weights[usable], contributing)


def predict_systems(
    estimator: Any,  # noqa: ANN401 - any regressor
    tensor: FeatureTensor,
    kind: RowKind,
    draws: Integers | None = None,
) -> Floats:
    """Predict the coefficient of each system from its answers.

    Args:
        estimator: Fitted regressor.
        tensor: Features of S systems.
        kind: The kind of rows the regressor was trained on.
        draws: How often the sample holds each question, shape (Q,); by default once each.

    Returns:
        Shape (S,); NaN for a system without any feature value.
    """
    times = np.ones(len(tensor.questions), dtype=np.intp) if draws is None else draws
    if kind == "system":
        return _predict_rows(estimator, tensor.means(times[None])[0])
    owner, question = np.nonzero(tensor.answered & (times > 0))
    values = _predict_rows(estimator, tensor.values[owner, question])
    return _mean_per_owner(values, times[question].astype(np.float64), owner, len(tensor.systems))


def _predict_rows(estimator: Any, features: Floats) -> Floats:  # noqa: ANN401
    values = np.full(len(features), np.nan)
    usable = np.isfinite(features).any(axis=1)
    if usable.any():
        values[usable] = estimator.predict(features[usable])
    return values


def _mean_per_owner(values: Floats, weights: Floats, owner: Integers, size: int) -> Floats:
    usable = np.isfinite(values)
    totals = np.bincount(owner[usable], (values * weights)[usable], size)
    held = np.bincount(owner[usable], weights[usable], size)
    return np.asarray(np.divide(totals, held, out=np.full(size, np.nan), where=held > 0))


@dataclass(frozen=True)
class Field:
    """The training systems of one language.

    Attributes:
        answers: Features of the S training systems' answers to every question, judged or not.
        tournaments: Tournaments among these systems and no others, on the judged questions.
    """

    answers: FeatureTensor
    tournaments: Tournaments

    @property
    def language(self) -> str:
        """Language code."""
        return self.answers.language

    @property
    def judged(self) -> FeatureTensor:
        """Features of the answers to the judged questions, in the tournaments' order."""
        return self.answers.take(questions=self.tournaments.battles.questions)

    @property
    def targets(self) -> Floats:
        """Mean Bradley-Terry coefficient of each system, shape (S,)."""
        return self.tournaments.mean_coefficients

    def one_tournament(self, index: int) -> Field:
        """Keep a single tournament."""
        kept = slice(index, index + 1)
        single = replace(
            self.tournaments,
            draws=self.tournaments.draws[kept],
            coefficients=self.tournaments.coefficients[kept],
        )
        return replace(self, tournaments=single)

    def without(self, systems: Sequence[str]) -> Field:
        """Leave systems out: their answers, battles and coefficients.

        The others keep the coefficients that tournaments with all of them gave.
        """
        tournaments = self.tournaments.without(systems)
        return Field(self.answers.take(systems=tournaments.systems), tournaments)
