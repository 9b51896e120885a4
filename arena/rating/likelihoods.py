"""Likelihoods of battles between two systems, with and without a model of ties.

Each is a function of the logit d that side A is better, and of a tie parameter tau where there is
one:

- ``HalfTies``: Bradley and Terry (1952); a tie is half a win for each side (or was left out).
  P(A) = sigma(d).
- ``Davidson`` (1970): P(A), P(tie), P(B) proportional to exp(d/2), exp(tau), exp(-d/2).

Arrays hold R replicates of P pairs, shape (P, R): replicates of a pair lie beside each other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy.special import expit

Floats = npt.NDArray[np.float64]
Booleans = npt.NDArray[np.bool_]
Columns = slice | npt.NDArray[np.intp]

TINY = 1e-300


@dataclass(frozen=True)
class Counts:
    """Battles of R replicates of P pairs, each array of shape (P, R).

    Attributes:
        wins: Won by side A.
        losses: Won by side B.
        ties: Ties.
    """

    wins: Floats
    losses: Floats
    ties: Floats

    @cached_property
    def battles(self) -> Floats:
        """Number of battles."""
        return self.wins + self.losses + self.ties

    @cached_property
    def halves(self) -> tuple[Floats, Floats]:
        """Half the wins less losses, and half the battles."""
        battles = self.wins + self.losses
        battles += self.ties
        battles *= 0.5
        margin = self.wins - self.losses
        margin *= 0.5
        return margin, battles

    @property
    def points(self) -> Floats:
        """Points of side A: 1 a win, 0.5 a tie."""
        return self.wins + 0.5 * self.ties

    def take(self, columns: Columns) -> Counts:
        """Keep some replicates."""
        return Counts(self.wins[:, columns], self.losses[:, columns], self.ties[:, columns])

    def among(self, rows: slice) -> Counts:
        """Keep some pairs."""
        return Counts(self.wins[rows], self.losses[rows], self.ties[rows])

    def pooled(self) -> Counts:
        """Average over replicates, shape (P, 1)."""
        means = (part.mean(axis=1, keepdims=True) for part in (self.wins, self.losses, self.ties))
        return Counts(*means)


@dataclass(frozen=True)
class Information:
    """Second moments of scores by d and tau, each of shape (P, R).

    Attributes:
        logit: Of d.
        cross: Of d and tau; None without a tie parameter.
        tie: Of tau.
    """

    logit: Floats
    cross: Floats | None = None
    tie: Floats | None = None


@dataclass(frozen=True)
class Likelihood(ABC):
    """Battles of pairs given logits d, shape (P, R), and tau, shape (R,); or both of all R, (P, 1).

    Attributes:
        counts: Wins, losses and ties.
    """

    counts: Counts
    has_tie_parameter: ClassVar[bool] = True

    @property
    def replicates(self) -> int:
        """Number of replicates R."""
        return int(self.counts.wins.shape[1])

    def take(self, columns: Columns) -> Self:
        """Keep some replicates."""
        return replace(self, counts=self.counts.take(columns))

    def among(self, rows: slice) -> Self:
        """Keep some pairs."""
        return replace(self, counts=self.counts.among(rows))

    def pooled(self) -> Self:
        """Average over replicates."""
        return replace(self, counts=self.counts.pooled())

    def won_and_lost(self) -> tuple[Booleans, Booleans]:
        """Tell whether either side won or tied a battle, two arrays of shape (P, R)."""
        tied = self.counts.ties > 0
        return (self.counts.wins > 0) | tied, (self.counts.losses > 0) | tied

    @abstractmethod
    def probabilities(self, logits: Floats, tie: Floats) -> tuple[Floats, ...]:
        """Probabilities of a win, a loss and a tie."""

    @abstractmethod
    def slopes(self, logits: Floats, tie: Floats) -> tuple[Floats, ...]:
        """Derivatives of the log-probabilities of a win, a loss and a tie by d, then by tau."""

    def score(self, logits: Floats, tie: Floats) -> tuple[Floats, Floats | None]:
        """First derivatives of the log-likelihood by d and tau, shape (P, R) each."""
        win_d, loss_d, tie_d, win_t, loss_t, tie_t = self.slopes(logits, tie)
        met = self.counts
        by_logit = met.wins * win_d + met.losses * loss_d + met.ties * tie_d
        return by_logit, met.wins * win_t + met.losses * loss_t + met.ties * tie_t

    def information(self, logits: Floats, tie: Floats) -> Information:
        """Expected information."""
        battles = self.counts.battles
        expected = [battles * probability for probability in self.probabilities(logits, tie)]
        return self._moments(expected, logits, tie)

    def _moments(self, weights: list[Floats], logits: Floats, tie: Floats) -> Information:
        slopes = self.slopes(logits, tie)

        def summed(one: tuple[Floats, ...], other: tuple[Floats, ...]) -> Floats:
            return np.asarray(sum(w * a * b for w, a, b in zip(weights, one, other, strict=True)))

        by_d, by_t = slopes[:3], slopes[3:]
        if not by_t:
            return Information(summed(by_d, by_d))
        return Information(summed(by_d, by_d), summed(by_d, by_t), summed(by_t, by_t))

    def loss(self, logits: Floats, tie: Floats) -> Floats:
        """Negative log-likelihood, shape (R,)."""
        counts = (self.counts.wins, self.counts.losses, self.counts.ties)
        terms = (
            np.where(count > 0, count * np.log(np.maximum(probability, TINY)), 0.0)
            for count, probability in zip(counts, self.probabilities(logits, tie), strict=True)
        )
        return -np.asarray(sum(part.sum(axis=0) for part in terms))


class HalfTies(Likelihood):
    """Bradley-Terry on points: a tie is half a win for each side."""

    has_tie_parameter = False

    def probabilities(self, logits: Floats, tie: Floats) -> tuple[Floats, ...]:
        """Probabilities of a win and a loss; a tie is neither."""
        raise NotImplementedError

    def slopes(self, logits: Floats, tie: Floats) -> tuple[Floats, ...]:  # noqa: ARG002
        """Derivatives of the log-probabilities of a win, a loss and half of each by d; no tau."""
        probability = expit(logits)
        return 1.0 - probability, -probability, 0.5 - probability

    def score(self, logits: Floats, tie: Floats) -> tuple[Floats, None]:  # noqa: ARG002
        """First derivative by d: points beyond those expected."""
        # points - battles * sigma(d), by sigma(d) = (1 + tanh(d / 2)) / 2: tanh takes a tenth of
        # the time of expit.
        half = 0.5 * logits
        margin, battles = self.counts.halves
        surplus = battles * np.tanh(half, out=half)
        np.subtract(margin, surplus, out=surplus)
        return surplus, None

    def information(self, logits: Floats, tie: Floats) -> Information:  # noqa: ARG002
        """Information of d."""
        return Information(self.counts.battles * expit(logits) * expit(-logits))

    def loss(self, logits: Floats, tie: Floats) -> Floats:  # noqa: ARG002
        """Negative log-likelihood, shape (R,)."""
        terms = self.counts.battles * np.logaddexp(0.0, logits) - self.counts.points * logits
        return np.asarray(terms.sum(axis=0))


class Davidson(Likelihood):
    """Davidson's model: a tie's probability grows with the geometric mean of the two strengths."""

    def probabilities(self, logits: Floats, tie: Floats) -> tuple[Floats, ...]:
        """Probabilities of a win, a loss and a tie."""
        top = np.maximum(np.abs(logits) / 2, tie)
        parts = np.exp(logits / 2 - top), np.exp(-logits / 2 - top), np.exp(tie - top)
        total = parts[0] + parts[1] + parts[2]
        return parts[0] / total, parts[1] / total, parts[2] / total

    def slopes(self, logits: Floats, tie: Floats) -> tuple[Floats, ...]:
        """Derivatives of the three log-probabilities by d, then of the three by tau."""
        win, loss, even = self.probabilities(logits, tie)
        mean = (win - loss) / 2
        return 0.5 - mean, -0.5 - mean, -mean, -even, -even, 1.0 - even
