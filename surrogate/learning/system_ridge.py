"""Predicting ratings of whole systems: a kernel ridge, blended with predictions by answers.

Formulas: docs/reference/surrogate.md, sections 2 and 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy

from arena.data.types import Floats
from arena.statistics.significance import NORMAL_90
from surrogate.learning.peers import PeerView
from surrogate.learning.system_vectors import Scale, SystemVectors
from surrogate.learning.training_data import SMALLEST

PENALTIES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""As shares of the kernels' mean variance."""


class RidgeRatings(NamedTuple):
    """Ratings of M systems less their language's mean; ``variances`` in units of the kernel."""

    keys: pd.MultiIndex
    ratings: Floats
    variances: Floats


class SystemRidge(NamedTuple):
    """The ridge, fitted to N ratings.

    Attributes:
        is_alone: Without predicted scores: it then has the consensus, and features shrunk by their
            reliability.
        variances: Mean diagonal of each kernel, by which it is divided, shape (K,).
        kernel: Of the ratings, shape (N, N).
        inverse: Of the ratings' covariance about unknown means of languages, shape (N, N).
        dual: Weight of each rating, shape (N,).
        left_out: Ratings less the others' mean, with the system left out in all languages.
    """

    scales: Mapping[str, Scale]
    vectors: SystemVectors
    is_alone: bool
    variances: Floats
    kernel: Floats
    penalty: float
    inverse: Floats
    dual: Floats
    left_out: RidgeRatings

    @classmethod
    def fit(
        cls, views: Mapping[str, PeerView], ratings: Mapping[str, Floats], is_alone: bool = False
    ) -> SystemRidge:
        """Learn from ratings by language, (N,), at least two each."""
        is_rated = {language: np.isfinite(values) for language, values in ratings.items()}
        scales = {language: Scale.of(views[language], rows) for language, rows in is_rated.items()}
        vectors = SystemVectors.of(
            {language: views[language] for language in ratings}, scales, is_rated
        )
        target = np.concatenate([ratings[language][rows] for language, rows in is_rated.items()])
        n_ratings = len(target)
        kernels = np.array(
            vectors.kernels(vectors, is_shrunk=is_alone, over_languages=vectors.over_languages)
        )
        diagonals = np.einsum("knn->k", kernels) / n_ratings
        variances = np.where(diagonals > SMALLEST, diagonals, np.inf)
        kernel = np.tensordot(1 / variances, kernels, 1)
        best = _best_penalty(kernel, target, vectors)
        # What is predicted is the distance from the mean of the language's other systems.
        predictions = target - best.residuals - _others_mean(target, vectors)
        return cls(
            scales=scales,
            vectors=vectors,
            is_alone=is_alone,
            variances=variances,
            kernel=kernel,
            penalty=best.penalty,
            inverse=best.inverse,
            dual=best.dual,
            left_out=RidgeRatings(vectors.keys, predictions, best.variances),
        )

    def predict(self, views: Mapping[str, PeerView], scales: Mapping[str, Scale]) -> RidgeRatings:
        """Rate systems."""
        vectors = SystemVectors.of(views, scales)
        kernel = self._kernel(vectors, self.vectors)
        prior_variances = self._kernel(vectors, vectors).diagonal().copy()
        for language in self.scales:
            # Var(f - mean of the rated) = Var(f) - 2 Cov(f, mean) + Var(mean)
            rows = vectors.languages == language
            is_rated = self.vectors.languages == language
            covariance_with_mean = kernel[np.ix_(rows, is_rated)].mean(axis=1)
            variance_of_mean = self.kernel[np.ix_(is_rated, is_rated)].mean()
            prior_variances[rows] += variance_of_mean - 2 * covariance_with_mean
            kernel[rows] -= self.kernel[is_rated].mean(axis=0)
        explained = np.einsum("mn,nk,mk->m", kernel, self.inverse, kernel)
        variances = np.maximum(prior_variances - explained, 0.0) + self.penalty
        return RidgeRatings(vectors.keys, kernel @ self.dual, variances)

    def _kernel(self, vectors: SystemVectors, others: SystemVectors) -> Floats:
        kernels = vectors.kernels(
            others, is_shrunk=self.is_alone, over_languages=self.vectors.over_languages
        )
        total = np.zeros((len(vectors.keys), len(others.keys)))
        for kernel, variance in zip(kernels, self.variances, strict=True):
            total += kernel / variance
        return total

    def contributions(self, vectors: SystemVectors) -> Floats:
        """Return features' contributions to ratings, (M, F), without texts."""
        over_languages = self.vectors.over_languages
        designs = vectors.designs(is_shrunk=self.is_alone, over_languages=over_languages)
        rated_designs = self.vectors.designs(is_shrunk=self.is_alone, over_languages=over_languages)
        contributions = np.zeros(designs[0].shape)
        for design, rated_design, variance in zip(
            designs, rated_designs, self.variances, strict=False
        ):
            contributions += design * (rated_design.T @ self.dual / variance)
        return contributions


class _LeftOut(NamedTuple):
    """A penalty, and how well it predicts each of N ratings with its system left out."""

    penalty: float
    inverse: Floats  # (N, N)
    dual: Floats  # (N,)
    residuals: Floats  # (N,)
    variances: Floats  # (N,), of the residuals, in units of the kernel

    @classmethod
    def best(
        cls, penalties: Floats, inverses: Floats, target: Floats, vectors: SystemVectors
    ) -> _LeftOut:
        """Leave each system out of all languages at once, in closed form; keep the best penalty.

        With P the inverse covariance, the residuals of a block B are P_BB⁻¹ (P y)_B (Rasmussen and
        Williams, 2006, section 5.4.2, for blocks). ``inverses`` are of each penalty, (T, N, N).
        """
        duals = inverses @ target
        residuals = np.zeros_like(duals)
        variances = np.zeros_like(duals)
        system_codes, _ = vectors.owners
        n_languages = np.bincount(system_codes)
        in_order = np.argsort(system_codes, kind="stable")
        for size in np.unique(n_languages):
            # Systems in as many languages are left out together: (B, size)
            blocks = in_order[n_languages[system_codes[in_order]] == size].reshape(-1, size)
            covariances = np.linalg.pinv(inverses[:, blocks[:, :, None], blocks[:, None, :]])
            residuals[:, blocks] = (covariances @ duals[:, blocks, None])[..., 0]
            variances[:, blocks] = np.diagonal(covariances, axis1=2, axis2=3)
        best = int(np.argmin((residuals**2).sum(axis=1)))
        return cls(
            penalty=float(penalties[best]),
            inverse=inverses[best],
            dual=duals[best],
            residuals=residuals[best],
            variances=variances[best],
        )


def _others_mean(ratings: Floats, vectors: SystemVectors) -> Floats:
    """Return the mean rating of the other systems in each one's language, shape (N,)."""
    same_language = np.equal.outer(vectors.languages, vectors.languages)
    n_others = np.maximum(same_language.sum(axis=1) - 1, 1)
    return np.asarray((same_language @ ratings - ratings) / n_others)


def _best_penalty(kernel: Floats, target: Floats, vectors: SystemVectors) -> _LeftOut:
    n_ratings = len(target)
    # The means of languages are unknown: ratings and kernel are projected onto what is left when
    # each language's mean is taken out, which the penalty does not touch.
    same_language = np.equal.outer(vectors.languages, vectors.languages)
    centering = np.eye(n_ratings) - same_language / same_language.sum(axis=1)
    eigenvalues, eigenvectors = np.linalg.eigh(centering @ kernel @ centering)
    eigenvectors = centering @ eigenvectors
    mean_variance = max(float(np.trace(kernel)) / n_ratings, SMALLEST)
    penalties = mean_variance * np.array(PENALTIES)
    shrunk = np.maximum(eigenvalues, 0.0) + penalties[:, None]
    inverses = (eigenvectors / shrunk[:, None, :]) @ eigenvectors.T
    return _LeftOut.best(penalties, inverses, target, vectors)


class Blend(NamedTuple):
    """A blend of scores and ridge into a rating.

    Each has a weight; ``slope`` and ``error`` in logits; ``usual_variance`` is the
    ridge's mean predictive variance when left out; ``reliability`` is the share of the ratings'
    variance that is not sampling noise.
    """

    score_weight: float
    ridge_weight: float
    slope: float
    error: float
    usual_variance: float
    reliability: float

    @classmethod
    def fit(
        cls, parts: Floats, target: Floats, variances: Floats, reliability: float = 1.0
    ) -> Blend:
        """Learn it from both predictions of left-out systems, (N, 2), and the ridge's variances."""
        weights = _weights(parts, target, reliability)
        predictions = parts @ weights
        slope = _calibration_slope(predictions, target, reliability)
        residuals = target - slope * predictions
        degrees_of_freedom = max(len(residuals) - 1, 1)
        # The error is estimated from few systems, so a normal interval would be too narrow:
        # Student's quantile replaces the normal one of a 90% interval.
        student_factor = scipy.special.stdtrit(degrees_of_freedom, 0.95) / NORMAL_90
        residual_variance = float(residuals @ residuals) / degrees_of_freedom
        return cls(
            score_weight=float(weights[0]),
            ridge_weight=float(weights[1]),
            slope=slope,
            error=float(np.sqrt(residual_variance) * student_factor),
            usual_variance=float(variances.mean()),
            reliability=reliability,
        )

    def ratings(self, parts: Floats) -> Floats:
        """Return ratings in logits, shape (N,), of both predictions, shape (N, 2)."""
        return np.asarray(self.slope * (parts @ np.array([self.score_weight, self.ridge_weight])))

    def standard_errors(self, variances: Floats) -> Floats:
        """Return standard errors, larger for unusual systems, shape (N,)."""
        return self.error * np.sqrt(variances / self.usual_variance)


def _weights(parts: Floats, target: Floats, reliability: float) -> Floats:
    """Return the weight of both parts in the blend, shape (2,).

    Each is divided by its left-out root mean square; scores count twice, the ridge by the ratings'
    reliability (docs/reference/surrogate.md, section 3).
    """
    shares = np.array([2 / 3, 1 / 3 * reliability])
    units = np.sqrt(np.mean(parts**2, axis=0))
    # A part whose left-out predictions hardly vary says next to nothing, and must not be blown up
    # to the size of the other part: its unit is at least 2% of the spread of ratings.
    smallest = max(0.02 * float(np.sqrt(np.mean(target**2))), SMALLEST)
    is_informative = units > SMALLEST
    shares = np.where(is_informative, shares, 0.0)
    if not shares.any():
        # Nothing but a ridge that learned from noise: its order is the best that there is.
        shares = is_informative.astype(np.float64)
    total = max(float(shares.sum()), SMALLEST)
    return np.asarray(shares / total / np.maximum(units, smallest))


def _calibration_slope(predictions: Floats, target: Floats, reliability: float) -> float:
    """Return the logits that a unit of the blend is worth, shrunk by the ratings' reliability."""
    # A floor of both, so that the order of predictions survives where left-out systems show no
    # correlation, and where ratings are noise.
    smallest = 0.1
    # The belief that ratings spread by one logit counts for this number of systems.
    prior_systems = 1
    n_systems = len(target)
    target_square = float(target @ target)
    prediction_square = max(float(predictions @ predictions), SMALLEST)
    norms = np.sqrt(prediction_square * max(target_square, SMALLEST))
    correlation = max(float(predictions @ target) / norms, smallest)
    # The two spreads are averaged geometrically. An arithmetic mean would let one logit swamp the
    # ratings of an arena whose systems are close, and place most new systems above all judged ones.
    exponent = n_systems / (n_systems + prior_systems)
    variance = max(target_square / n_systems, SMALLEST) ** exponent
    spread = np.sqrt(variance / (prediction_square / n_systems))
    return float(max(reliability, smallest) * correlation * spread)
