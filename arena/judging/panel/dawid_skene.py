"""Truth and judges' errors from votes alone, by expectation maximization (Dawid, Skene, 1979)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from arena.data.errors import UsageError

Floats = npt.NDArray[np.float64]

TOLERANCE = 1e-8
MOST_ROUNDS = 2_000
PRIOR_VOTES = 10.0
"""Votes that each judge is taken to have cast beforehand on items of each class."""
PRIOR_RIGHT = 0.7
"""Share of them that are right."""


@dataclass(frozen=True)
class DawidSkene:
    """A fit of N items, J judges, and K classes.

    Attributes:
        classes: Probability of each item's classes, shape (N, K).
        shares: Share of each class among the items, shape (K,).
        confusion: Probability that a judge votes l on an item of class k, shape (J, K, K).
        log_likelihood: Logarithm of the likelihood of the votes, without the prior.
        rounds: Rounds of expectation maximization.
        converged: Whether the last round changed no probability by more than the tolerance.
    """

    classes: Floats
    shares: Floats
    confusion: Floats
    log_likelihood: float
    rounds: int
    converged: bool


def fit_dawid_skene(
    votes: npt.ArrayLike, prior_votes: float = PRIOR_VOTES, tolerance: float = TOLERANCE
) -> DawidSkene:
    """Estimate each item's class and each judge's confusion matrix.

    Starts from each item's share of votes, as in the paper (equation 3.1). Unlike the paper's,
    judges are taken to be rather right than wrong: the plain likelihood has maxima where a class
    that hardly occurs, such as ties, stands for the disagreements of judges.

    Args:
        votes: How often each judge voted for each class of each item, shape (N, J, K); all zero
            where a judge has no vote on an item.
        prior_votes: Votes a judge is taken to have cast beforehand on items of each class, 70% of
            them right. 0 gives the plain maximum likelihood of the paper.
        tolerance: Largest change of a probability in the last round.

    Raises:
        UsageError: For votes of the wrong shape, negative ones, or an item without any.

    Source: A. P. Dawid and A. M. Skene, "Maximum likelihood estimation of observer error-rates
    using the EM algorithm", Applied Statistics 28, 1979.
    """
    counts = np.asarray(votes, dtype=np.float64)
    _check(counts, prior_votes)
    prior = _prior(counts.shape[2], prior_votes)
    totals = counts.sum(axis=1)
    classes = totals / totals.sum(axis=1, keepdims=True)
    rounds, change = 0, np.inf
    while rounds < MOST_ROUNDS and change > tolerance:
        shares, confusion = _maximize(counts, classes, prior)
        expected, log_likelihood = _expect(counts, shares, confusion)
        change = float(np.abs(expected - classes).max())
        classes, rounds = expected, rounds + 1
    return DawidSkene(classes, shares, confusion, log_likelihood, rounds, change <= tolerance)


def _check(counts: Floats, prior_votes: float) -> None:
    if counts.ndim != 3 or not counts.size:
        raise UsageError("votes must be (items, judges, classes), with one of each at least")
    if not np.isfinite(counts).all() or (counts < 0).any() or not 0 <= prior_votes < np.inf:
        raise UsageError("votes and prior_votes must be finite and at least 0")
    if (counts.sum(axis=(1, 2)) == 0).any():
        raise UsageError("an item has no votes; leave it out")


def _prior(size: int, prior_votes: float) -> Floats:
    """Return the votes cast beforehand, shape (K, K)."""
    wrong = (1 - PRIOR_RIGHT) / max(size - 1, 1)
    shares = np.full((size, size), wrong) + (PRIOR_RIGHT - wrong) * np.eye(size)
    return np.asarray(prior_votes * shares)


def _maximize(counts: Floats, classes: Floats, prior: Floats) -> tuple[Floats, Floats]:
    """Estimate shares and confusion matrices from the classes (equations 2.3 and 2.4)."""
    cast = np.einsum("nk,njl->jkl", classes, counts)
    return classes.mean(axis=0), _normalized(cast + prior)


def _normalized(weights: Floats) -> Floats:
    """Make rows sum to 1; a class that no item has is voted for evenly."""
    total = weights.sum(axis=-1, keepdims=True)
    even = np.full_like(weights, 1.0 / weights.shape[-1])
    return np.asarray(np.divide(weights, total, out=even, where=total > 0))


def _expect(counts: Floats, shares: Floats, confusion: Floats) -> tuple[Floats, float]:
    """Estimate the classes from shares and confusion matrices (equation 2.5)."""
    floor = np.finfo(np.float64).tiny
    logs = np.log(np.maximum(shares, floor)) + np.einsum(
        "njl,jkl->nk", counts, np.log(np.maximum(confusion, floor))
    )
    highest = logs.max(axis=1, keepdims=True)
    weights = np.exp(logs - highest)
    total = weights.sum(axis=1, keepdims=True)
    return weights / total, float((highest + np.log(total)).sum())
