"""Likelihoods of battles between two systems, with and without a model of ties.

Each is a function of the log-odds d that side A is better, and of a tie parameter tau where there
is one:

- ``Halved``: Bradley and Terry (1952); a tie is half a win for each side (or was left out).
  P(A) = sigma(d).
- ``Davidson`` (1970): P(A), P(tie), P(B) proportional to exp(d/2), exp(tau), exp(-d/2).
- ``RaoKupper`` (1967): with threshold eta = exp(tau), P(A) = sigma(d - eta),
  P(B) = sigma(-d - eta), and a tie otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.special import expit

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Counts:
    """Battles of R replicates in M cells, each array of shape (R, M).

    Attributes:
        wins: Won by side A.
        losses: Won by side B.
        ties: Ties.
    """

    wins: Floats
    losses: Floats
    ties: Floats

    def take(self, rows: npt.NDArray[np.intp]) -> Counts:
        """Keep some replicates."""
        return Counts(self.wins[rows], self.losses[rows], self.ties[rows])

    def pooled(self) -> Counts:
        """Average over replicates, shape (1, M)."""
        means = (part.mean(axis=0, keepdims=True) for part in (self.wins, self.losses, self.ties))
        return Counts(*means)


@dataclass(frozen=True)
class Derivatives:
    """Of the log-likelihood by d and tau, each of shape (R, M).

    Attributes:
        by_odds: First derivative by d.
        by_tie: First derivative by tau; None without a tie parameter.
        odds_information: Expected information of d.
        cross_information: Expected information of d and tau.
        tie_information: Expected information of tau.
    """

    by_odds: Floats
    by_tie: Floats | None
    odds_information: Floats
    cross_information: Floats | None
    tie_information: Floats | None


class Likelihood(Protocol):
    """Battles in M cells given log-odds."""

    has_tie_parameter: bool

    @property
    def replicates(self) -> int:
        """Number of replicates R."""
        ...

    def take(self, rows: npt.NDArray[np.intp]) -> Likelihood:
        """Keep some replicates."""
        ...

    def pooled(self) -> Likelihood:
        """Average over replicates."""
        ...

    def slopes(self, odds: Floats, tie: Floats | None) -> tuple[Floats, ...]:
        """Derivatives of the log-chances of a win, a loss and a tie by d, then by tau."""
        ...

    def score(self, odds: Floats, tie: Floats | None) -> tuple[Floats, Floats | None]:
        """First derivatives by d and tau, shape (R, M) each."""
        ...

    def derivatives(self, odds: Floats, tie: Floats | None) -> Derivatives:
        """First derivatives and expected information."""
        ...

    def loss(self, odds: Floats, tie: Floats | None) -> Floats:
        """Negative log-likelihood, shape (R,)."""
        ...


@dataclass(frozen=True)
class Halved:
    """Bradley-Terry on points.

    Attributes:
        points: Points of side A (1 a win, 0.5 a tie), shape (R, M).
        counts: Battles, shape (R, M).
    """

    points: Floats
    counts: Floats
    has_tie_parameter = False

    @property
    def replicates(self) -> int:
        """Number of replicates R."""
        return len(self.points)

    def take(self, rows: npt.NDArray[np.intp] | slice) -> Halved:
        """Keep some replicates, those of a cell beside each other in memory."""
        return Halved(np.asfortranarray(self.points[rows]), np.asfortranarray(self.counts[rows]))

    def pooled(self) -> Halved:
        """Average over replicates."""
        return Halved(
            self.points.mean(axis=0, keepdims=True), self.counts.mean(axis=0, keepdims=True)
        )

    def slopes(self, odds: Floats, tie: Floats | None) -> tuple[Floats, ...]:  # noqa: ARG002
        """Derivatives of the log-chances of a win, a loss and half of each by d; no tau."""
        chance = expit(odds)
        return 1.0 - chance, -chance, 0.5 - chance

    def score(self, odds: Floats, tie: Floats | None) -> tuple[Floats, None]:  # noqa: ARG002
        """First derivative by d, shape (R, M)."""
        return self.points - self.counts * expit(odds), None

    def derivatives(self, odds: Floats, tie: Floats | None) -> Derivatives:  # noqa: ARG002
        """First derivative and information of d."""
        chance = expit(odds)
        information = self.counts * chance * (1.0 - chance)
        return Derivatives(self.points - self.counts * chance, None, information, None, None)

    def loss(self, odds: Floats, tie: Floats | None) -> Floats:  # noqa: ARG002
        """Negative log-likelihood, shape (R,)."""
        terms = self.counts * np.logaddexp(0.0, odds) - self.points * odds
        return np.asarray(terms.sum(axis=1))


@dataclass(frozen=True)
class _WithTies:
    """What the likelihoods with a tie parameter share.

    Attributes:
        counts: Wins, losses and ties.
    """

    counts: Counts
    has_tie_parameter = True

    @property
    def replicates(self) -> int:
        """Number of replicates R."""
        return len(self.counts.wins)

    def take(self, rows: npt.NDArray[np.intp]) -> Self:
        """Keep some replicates."""
        return replace(self, counts=self.counts.take(rows))

    def pooled(self) -> Self:
        """Average over replicates."""
        return replace(self, counts=self.counts.pooled())

    def probabilities(self, odds: Floats, tie: Floats | None) -> tuple[Floats, Floats, Floats]:
        """Chances of a win, a loss and a tie."""
        raise NotImplementedError

    def slopes(self, odds: Floats, tie: Floats | None) -> tuple[Floats, ...]:
        """Derivatives of the three log-chances by d, then of the three by tau."""
        raise NotImplementedError

    def score(self, odds: Floats, tie: Floats | None) -> tuple[Floats, Floats | None]:
        """First derivatives by d and tau, shape (R, M) each."""
        win_d, loss_d, tie_d, win_t, loss_t, tie_t = self.slopes(odds, tie)
        held = self.counts
        by_odds = held.wins * win_d + held.losses * loss_d + held.ties * tie_d
        return by_odds, held.wins * win_t + held.losses * loss_t + held.ties * tie_t

    def derivatives(self, odds: Floats, tie: Floats | None) -> Derivatives:
        """First derivatives and expected information."""
        by_odds, by_tie = self.score(odds, tie)
        chances = self.probabilities(odds, tie)
        slopes = self.slopes(odds, tie)
        battles = self.counts.wins + self.counts.losses + self.counts.ties

        def expected(one: tuple[Floats, ...], other: tuple[Floats, ...]) -> Floats:
            products = (p * a * b for p, a, b in zip(chances, one, other, strict=True))
            return np.asarray(battles * sum(products))

        by_d, by_t = slopes[:3], slopes[3:]
        return Derivatives(
            by_odds, by_tie, expected(by_d, by_d), expected(by_d, by_t), expected(by_t, by_t)
        )

    def loss(self, odds: Floats, tie: Floats | None) -> Floats:
        """Negative log-likelihood, shape (R,)."""
        held = (self.counts.wins, self.counts.losses, self.counts.ties)
        chances = self.probabilities(odds, tie)
        terms = (
            np.where(count > 0, count * np.log(np.maximum(chance, 1e-300)), 0.0)
            for count, chance in zip(held, chances, strict=True)
        )
        return -np.asarray(sum(part.sum(axis=1) for part in terms))


class Davidson(_WithTies):
    """Davidson's model: a tie's chance grows with the geometric mean of the two strengths."""

    def probabilities(self, odds: Floats, tie: Floats | None) -> tuple[Floats, Floats, Floats]:
        """Chances of a win, a loss and a tie."""
        tau = _column(tie)
        top = np.maximum(np.abs(odds) / 2, tau)
        parts = np.exp(odds / 2 - top), np.exp(-odds / 2 - top), np.exp(tau - top)
        total = parts[0] + parts[1] + parts[2]
        return parts[0] / total, parts[1] / total, parts[2] / total

    def slopes(self, odds: Floats, tie: Floats | None) -> tuple[Floats, ...]:
        """Derivatives of the three log-chances by d, then of the three by tau."""
        win, loss, even = self.probabilities(odds, tie)
        mean = (win - loss) / 2
        return 0.5 - mean, -0.5 - mean, -mean, -even, -even, 1.0 - even


class RaoKupper(_WithTies):
    """Rao and Kupper's model: a battle within a threshold is a tie."""

    def probabilities(self, odds: Floats, tie: Floats | None) -> tuple[Floats, Floats, Floats]:
        """Chances of a win, a loss and a tie."""
        threshold = np.exp(_column(tie))
        win, loss = expit(odds - threshold), expit(-odds - threshold)
        even = -np.expm1(-2 * threshold) * expit(odds + threshold) * expit(threshold - odds)
        return win, loss, even

    def slopes(self, odds: Floats, tie: Floats | None) -> tuple[Floats, ...]:
        """Derivatives of the three log-chances by d, then of the three by tau."""
        threshold = np.exp(_column(tie))
        win, loss, _ = self.probabilities(odds, tie)
        tie_by_odds = win - loss
        by_threshold = 2.0 / np.expm1(2 * threshold) + win + loss
        return (
            1.0 - win,
            loss - 1.0,
            -tie_by_odds,
            -(1.0 - win) * threshold,
            -(1.0 - loss) * threshold,
            by_threshold * threshold,
        )


def _column(tie: Floats | None) -> Floats:
    """Return tau as a column, shape (R, 1)."""
    return np.zeros((1, 1)) if tie is None else tie[:, None]


Integers = npt.NDArray[np.intp]

DENSE_ENTRIES = 50_000
"""Up to this size of the design, dense products are faster than gathering and sparse sums."""


@dataclass(frozen=True)
class Cells:
    """M cells, each a system on side A against one on side B, with covariates of the odds.

    The log-odds of a cell are theta[first] - theta[second] + covariates @ beta.

    Attributes:
        first: System on side A, shape (M,).
        second: System on side B, shape (M,).
        n_systems: Number of systems S.
        covariates: Shape (M, C); a position effect is a column of ones.
    """

    first: Integers
    second: Integers
    n_systems: int
    covariates: Floats

    @property
    def size(self) -> int:
        """Number of coefficients: systems, then covariates."""
        return self.n_systems + int(self.covariates.shape[1])

    @cached_property
    def _design(self) -> csr_array:
        cells = np.arange(len(self.first))
        rows = np.concatenate([cells, cells])
        columns = np.concatenate([self.first, self.second])
        values = np.concatenate([np.ones(len(cells)), -np.ones(len(cells))])
        return csr_array((values, (rows, columns)), shape=(len(cells), self.n_systems))

    @cached_property
    def _dense(self) -> Floats | None:
        if len(self.first) * self.n_systems > DENSE_ENTRIES:
            return None
        return np.hstack([self._design.toarray(), self.covariates])

    @cached_property
    def _transposed(self) -> csr_array:
        return self._design.T.tocsr()

    @cached_property
    def _incidence(self) -> csr_array:
        return abs(self._transposed)

    @cached_property
    def _on_side_b(self) -> csr_array:
        return (self._incidence - self._transposed) / 2

    def surplus(self, strengths: Floats, points: Floats, counts: Floats, work: Floats) -> Floats:
        """Return each system's points beyond those expected; for cells without covariates.

        Args:
            strengths: exp(theta), shape (S, R), or (S, 1) for all replicates.
            points: Points of the first system of each cell, shape (M, R).
            counts: Battles of each cell, shape (M, R).
            work: Memory to use, shape (2, M, R).

        Returns:
            Shape (S, R).
        """
        chance, other = work
        if strengths.shape[1] < work.shape[2]:
            of_first, of_second = strengths[self.first], strengths[self.second]
            np.multiply(counts, of_first / (of_first + of_second), out=chance)
        else:
            np.take(strengths, self.first, axis=0, out=chance, mode="clip")
            np.take(strengths, self.second, axis=0, out=other, mode="clip")
            other += chance
            chance /= other
            chance *= counts
        np.subtract(points, chance, out=chance)
        return np.asarray(self._transposed @ chance)

    def points_won(self, points: Floats, counts: Floats) -> Floats:
        """Return the points each system won, shape (S, R), of cells' of shape (M, R)."""
        return np.asarray(self._transposed @ points + self._on_side_b @ counts)

    def battles(self, counts: Floats) -> Floats:
        """Return the battles of each system, shape (S, R), of cells' of shape (M, R)."""
        return np.asarray(self._incidence @ counts)

    def odds(self, coefficients: Floats) -> Floats:
        """Log-odds of every cell.

        Args:
            coefficients: Shape (R, size).

        Returns:
            Shape (R, M).
        """
        if self._dense is not None:
            return np.asarray(coefficients @ self._dense.T)
        theta, beta = np.split(coefficients, [self.n_systems], axis=1)
        odds = theta[:, self.first]
        odds -= theta[:, self.second]
        return odds + beta @ self.covariates.T if beta.shape[1] else odds

    def collect(self, values: Floats) -> Floats:
        """Sum cell values into the coefficients they depend on (the transpose of ``odds``).

        Args:
            values: Shape (R, M).

        Returns:
            Shape (R, size).
        """
        if self._dense is not None:
            return np.asarray(values @ self._dense)
        if len(values) == 1:
            systems = self._sum(values[0])[None]
        else:
            systems = (self._transposed @ values.T).T
        if not self.covariates.shape[1]:
            return np.asarray(systems)
        return np.hstack([systems, values @ self.covariates])

    def collect_sparse(self, values: csr_array) -> Floats:
        """Do as ``collect`` for a sparse matrix of cell values, shape (R, M)."""
        systems = (values @ self._design).toarray()
        if not self.covariates.shape[1]:
            return np.asarray(systems)
        return np.hstack([systems, values @ self.covariates])

    def _sum(self, values: Floats) -> Floats:
        won = np.bincount(self.first, values, self.n_systems)
        return np.asarray(won - np.bincount(self.second, values, self.n_systems))

    def information(self, weights: Floats) -> Floats:
        """Return the weighted normal matrix of the design.

        Args:
            weights: Information of each cell's log-odds, shape (M,).

        Returns:
            Shape (size, size).
        """
        systems = self.n_systems
        matrix = np.zeros((self.size, self.size))
        pairs = self.first * systems + self.second
        met = np.bincount(pairs, weights, systems * systems).reshape(systems, systems)
        met = met + met.T
        matrix[:systems, :systems] = np.diag(met.sum(axis=1)) - met
        if self.covariates.shape[1]:
            weighted = self.covariates * weights[:, None]
            across = np.column_stack([self._sum(column) for column in weighted.T])
            matrix[:systems, systems:] = across
            matrix[systems:, :systems] = across.T
            matrix[systems:, systems:] = self.covariates.T @ weighted
        return matrix

    def sparse_information(self, weights: Floats) -> csr_array:
        """Return the same as ``information`` as a sparse matrix; for cells without covariates."""
        scaled = self._design.multiply(weights[:, None]).tocsr()
        return csr_array(self._transposed @ scaled)
