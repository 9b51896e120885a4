"""The likelihood of battles with a normal prior, and its derivatives, many replicates at once.

Parameters and counts have one column per replicate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy
from scipy.special import expit

from arena.data.errors import UsageError
from arena.data.types import Flags, Floats, Indices
from arena.rating.biases import Biases
from arena.rating.pairs import Pairs, winning_groups

Solver = Callable[[Floats], Floats]
"""Right-hand sides of shape (K, R) to solutions of that shape."""

DEFAULT_RIDGE = 0.1
"""Precision of the usual weak prior."""
SINGULAR = 1e-12
"""Square of a factor's diagonal below which the information matrix counts as singular."""


ENTRIES_AT_ONCE = 2**15
"""Entries (pairs x replicates) computed at a time, so that a processor's cache holds them."""


@dataclass(frozen=True)
class NormalPrior:
    """Independent normal prior of S ratings; precision 0 for none."""

    means: Floats
    precisions: Floats

    @classmethod
    def ridge(cls, systems: int, precision: float) -> NormalPrior:
        """Return a prior with mean 0 and one precision for all."""
        if not np.isfinite(precision) or precision < 0:
            raise UsageError("ridge must be at least 0")
        return cls(np.zeros(systems), np.full(systems, precision))


@dataclass(frozen=True)
class PenalizedLikelihood:
    """Battles of P pairs in R replicates, with a prior.

    A column of K parameters holds S coefficients, then biases (of a single replicate).

    Attributes:
        points: Points of each pair's first system, shape (P, R): 1 a win, 0.5 a tie.
        counts: Battles of each pair, shape (P, R).
    """

    pairs: Pairs
    points: Floats
    counts: Floats
    prior: NormalPrior
    biases: Biases | None = None

    @cached_property
    def full_prior(self) -> NormalPrior:
        """Return the prior of all K parameters."""
        if self.biases is None:
            return self.prior
        precisions = self.biases.prior_precisions
        return NormalPrior(
            means=np.append(self.prior.means, np.zeros(len(precisions))),
            precisions=np.append(self.prior.precisions, precisions),
        )

    def take(self, columns: slice | Indices) -> PenalizedLikelihood:
        """Keep some replicates."""
        return replace(self, points=self.points[:, columns], counts=self.counts[:, columns])

    def pooled(self) -> PenalizedLikelihood:
        """Average over replicates."""
        return replace(
            self,
            points=self.points.mean(axis=1, keepdims=True),
            counts=self.counts.mean(axis=1, keepdims=True),
        )

    def start(self) -> Floats:
        """Return the prior's means, shape (K, 1)."""
        return self.full_prior.means[:, None]

    def _logits(self, parameters: Floats) -> Floats:
        logits = parameters[self.pairs.first] - parameters[self.pairs.second]
        if self.biases is not None:
            logits += self.biases.logits(parameters[self.pairs.n_systems :, 0])[:, None]
        return logits

    @cached_property
    def _half_counts(self) -> Floats:
        return self.counts / 2

    @cached_property
    def _centered_points(self) -> Floats:
        """Points beyond those of equal systems, shape (P, R)."""
        return self.points - self._half_counts

    def _residuals(self, parameters: Floats) -> Floats:
        """Points beyond expectation, shape (P, R)."""
        # sigma(d) = (1 + tanh(d / 2)) / 2: tanh takes a tenth of the time of expit.
        halves = parameters / 2
        bias_halves = None
        if self.biases is not None:
            bias_halves = self.biases.logits(halves[self.pairs.n_systems :, 0])[:, None]
        residuals = np.empty(self.points.shape)
        step = max(1, ENTRIES_AT_ONCE // max(self.points.shape[1], 1))
        for start in range(0, len(residuals), step):
            rows = slice(start, start + step)
            half_logits = np.take(halves, self.pairs.first[rows], axis=0)
            half_logits -= np.take(halves, self.pairs.second[rows], axis=0)
            if bias_halves is not None:
                half_logits += bias_halves[rows]
            np.tanh(half_logits, out=half_logits)
            np.multiply(self._half_counts[rows], half_logits, out=residuals[rows])
            np.subtract(self._centered_points[rows], residuals[rows], out=residuals[rows])
        return residuals

    def gradient(self, parameters: Floats) -> Floats:
        """Return the gradient of the loss, shape (K, R)."""
        residuals = self._residuals(parameters)
        prior = self.full_prior
        gradient = prior.precisions[:, None] * (parameters - prior.means[:, None])
        slope: Floats = self.pairs.incidence @ residuals
        if self.biases is not None:
            slope = np.vstack([slope, self.biases.sums(residuals[:, 0])[:, None]])
        return gradient - slope

    def loss(self, parameters: Floats) -> Floats:
        """Return the penalized negative log-likelihood, shape (R,)."""
        logits = self._logits(parameters)
        terms = self.counts * np.logaddexp(0.0, logits) - self.points * logits
        prior = self.full_prior
        penalty = prior.precisions[:, None] * (parameters - prior.means[:, None]) ** 2
        return np.asarray(terms.sum(axis=0) + 0.5 * penalty.sum(axis=0))

    def solver(self, parameters: Floats) -> Solver:
        """Factorize one replicate's information at parameters (K, 1)."""
        logits = self._logits(parameters)
        # The variance of a verdict is p (1 - p), with p = sigma(d) and 1 - p = sigma(-d).
        information = (self.counts * expit(logits) * expit(-logits))[:, 0]
        matrix = self.pairs.information(information, self.biases)
        if not self.prior.precisions.any():
            # Without a prior the level is free; this fixes the mean at 0.
            n_systems = self.pairs.n_systems
            matrix[:n_systems, :n_systems] += 1.0 / n_systems
        matrix += np.diag(self.full_prior.precisions)
        factor = scipy.linalg.cho_factor(matrix)
        if (np.diag(factor[0]) ** 2 <= SINGULAR).any():
            raise np.linalg.LinAlgError("singular information")
        return lambda right: np.asarray(scipy.linalg.cho_solve(factor, right))

    def may_have_maximum(self) -> Flags:
        """Return which replicates have wins from each to each, (R,)."""
        if self.prior.precisions.all():
            return np.ones(self.points.shape[1], dtype=bool)
        replicates = zip(self.points.T, self.counts.T, strict=True)
        return np.array(
            [not winning_groups(self.pairs, *replicate).any() for replicate in replicates]
        )
