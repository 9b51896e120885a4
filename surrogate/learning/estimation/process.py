"""A Gaussian process with given kernels, whose variances are learned from the ratings.

The model of small areas (Fay and Herriot, 1979): a rating is a sum of functions, each with a
kernel, and a residual, observed with the sampling covariance of its estimate; every group has its
own unknown mean (Rasmussen and Williams, 2006, section 2.7). The variances are the most probable
ones by the restricted likelihood (Patterson and Thompson, 1971).
Formulas: docs/reference/formulas.md, "Verdicts and surrogate".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from arena.data.types import Floats, Indices

JITTER = 1e-9
"""Added to the diagonal of the covariance, which is singular if exact ratings are alike."""
MANY = 500
"""Largest number of ratings to learn variances from: more add little, and time grows as a cube."""


@dataclass(frozen=True)
class GaussianProcess:
    """A process of known variances, conditioned on N ratings.

    Attributes:
        variances: Variance of each of K kernels, then of the residual, shape (K + 1,).
        ratings: The ratings, shape (N,).
        noise: Their sampling covariance, shape (N, N).
        restricted: Inverse of their covariance about unknown group means (the matrix P of
            restricted likelihood), shape (N, N).
        means: Estimated mean of each of G groups, shape (G,).
        half: Half the logarithm of that covariance's determinant.
    """

    variances: Floats
    ratings: Floats
    noise: Floats
    restricted: Floats
    means: Floats
    half: float

    @classmethod
    def of(
        cls, variances: Floats, kernels: Floats, ratings: Floats, noise: Floats, groups: Floats
    ) -> GaussianProcess:
        """Condition a process of known variances; arguments as for ``fit_process``."""
        residual = noise + (variances[-1] + JITTER) * np.eye(len(ratings))
        covariance = residual + np.tensordot(variances[:-1], kernels, 1)
        inverse = np.linalg.inv(covariance)
        solved = inverse @ groups
        precision = groups.T @ solved
        means = np.asarray(np.linalg.solve(precision, solved.T @ ratings))
        restricted = inverse - solved @ np.linalg.solve(precision, solved.T)
        half = 0.5 * (np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(precision)[1])
        return cls(variances, ratings, noise, restricted, means, float(half))

    @property
    def dual(self) -> Floats:
        """Weight of each rating in predictions, shape (N,)."""
        return self.restricted @ self.ratings

    def posterior(self) -> tuple[Floats, Floats, Floats]:
        """Estimate the ratings without their noise.

        The empirical best linear unbiased predictor (Fay and Herriot, 1979).

        Returns:
            Means, shape (N,); covariance, shape (N, N); and by how much each mean moves with the
            item's own rating, shape (N,), 1 where that has no noise and 0 where it has nothing
            but noise. Noise that items share could take it beyond either.
        """
        # The noise that is estimated from the ratings is this matrix times them, shape (N, N).
        noise_filter = self.noise @ self.restricted
        means = self.ratings - self.noise @ self.dual
        covariance = self.noise - noise_filter @ self.noise
        return means, covariance, np.clip(1.0 - noise_filter.diagonal(), 0.0, 1.0)

    def slopes(self, kernels: Floats) -> Floats:
        """Gradient of minus the restricted likelihood by the variances, shape (K + 1,)."""
        dual = self.dual
        of_kernels = np.tensordot(kernels, self.restricted, 2) - kernels @ dual @ dual
        of_residual = np.trace(self.restricted) - dual @ dual
        return 0.5 * np.append(of_kernels, of_residual)


def fit_process(kernels: Floats, ratings: Floats, noise: Floats, groups: Floats) -> GaussianProcess:
    """Condition a Gaussian process on ratings.

    Variances have independent log-normal priors, wide and centered on equal shares of the signal,
    and the likelihood is multiplied by their sum (Li and Lahiri, 2010): with few ratings the plain
    likelihood often takes everything for noise, and intervals would be too narrow.

    Args:
        kernels: K kernels among the N items, shape (K, N, N), each of mean diagonal 1.
        ratings: Their ratings, shape (N,).
        noise: The ratings' sampling covariance, shape (N, N).
        groups: Group of each item, one-hot, shape (N, G).
    """
    # Standard deviation of the logarithm of each variance: a factor of 4.5 up or down
    prior_deviation = 1.5
    if len(ratings) > MANY:
        rows = _spread_sample(ratings, groups)
        # The mean of a group without a sampled item cannot be estimated.
        is_present = groups[rows].any(axis=0)
        sampled = fit_process(
            kernels[:, rows[:, None], rows],
            ratings[rows],
            noise[np.ix_(rows, rows)],
            groups[rows][:, is_present],
        )
        return GaussianProcess.of(sampled.variances, kernels, ratings, noise, groups)
    n_variances = len(kernels) + 1
    start = np.full(n_variances, np.log(_signal_variance(ratings, noise, groups) / n_variances))

    def loss(logs: Floats) -> tuple[float, Floats]:
        """Minus the logarithm of the variances' posterior density, and its gradient."""
        variances = np.exp(logs)
        deviations = logs - start
        prior_slopes = deviations / prior_deviation**2
        process = GaussianProcess.of(variances, kernels, ratings, noise, groups)
        value = 0.5 * float(ratings @ process.dual) + process.half - np.log(variances.sum())
        value += 0.5 * float(prior_slopes @ deviations)
        slopes = process.slopes(kernels) - 1 / variances.sum()
        # The chain rule: the slope by a logarithm is that by the variance, times the variance.
        return value, variances * slopes + prior_slopes

    best = scipy.optimize.minimize(loss, start, jac=True, method="L-BFGS-B").x
    return GaussianProcess.of(np.exp(best), kernels, ratings, noise, groups)


def _spread_sample(ratings: Floats, groups: Floats) -> Indices:
    """Choose ``MANY`` ratings, evenly from the lowest to the highest of each group."""
    ordered = np.lexsort((ratings, groups.argmax(axis=1)))
    positions = np.linspace(0, len(ordered) - 1, MANY).round().astype(np.intp)
    return np.asarray(ordered[positions])


def _signal_variance(ratings: Floats, noise: Floats, groups: Floats) -> float:
    """Estimate the variance of the ratings about their groups' means that is not noise."""
    # Smallest share of the ratings' variance, or of their noise, that is taken for signal
    smallest_share = 0.25
    group_means = np.linalg.lstsq(groups, ratings, rcond=None)[0]
    residuals = ratings - groups @ group_means
    freedom = max(len(ratings) - groups.shape[1], 1)
    variance = float(residuals @ residuals) / freedom
    signal = variance - float(np.diag(noise).mean())
    # Equal ratings are not known to be equal, by as much as their noise, and a logit at most.
    smallest = max(variance, min(float(np.diag(noise).min()), 1.0))
    return float(max(signal, smallest_share * smallest, JITTER))
