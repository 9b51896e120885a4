"""A Gaussian process with given kernels: weights by marginal likelihood, prediction in closed form.

The model of small areas (Fay and Herriot, 1979): a rating is a sum of functions, each with a
kernel, and a residual, observed with the sampling variance of its estimate; every group has a mean
of its own (Rasmussen and Williams, 2006, section 2.7).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_solve, cholesky
from scipy.optimize import minimize

Floats = npt.NDArray[np.float64]

RESIDUAL = 0.03
"""Share of the signal's variance that the residual has by the prior, beside rich kernels."""
PRIOR_DEVIATION = 1.5
"""Of the logarithm of each weight; by a factor of 4.5 up or down."""
SMALLEST_SHARE = 0.25
"""Of the ratings' variance, that is signal at least, where the noise is estimated larger."""
JITTER = 1e-9


@dataclass(frozen=True)
class GaussianProcess:
    """A Gaussian process conditioned on N ratings.

    Attributes:
        weights: Variance of each of K kernels, shape (K,).
        residual: Variance of what no kernel explains.
        means: Mean of each of G groups, shape (G,).
        dual: Weight of each training item in predictions, shape (N,).
        ratings: What it is conditioned on, shape (N,).
        noise: Their sampling covariance, shape (N, N).
    """

    weights: Floats
    residual: float
    means: Floats
    dual: Floats
    ratings: Floats
    noise: Floats
    _factor: Floats
    _groups: Floats
    _precision: Floats

    def posterior(self) -> tuple[Floats, Floats, Floats]:
        """Estimate the ratings of the training items without their noise.

        The empirical best linear unbiased predictor (Fay and Herriot, 1979).

        Returns:
            Means, shape (N,); covariance, shape (N, N); and by how much each mean moves with the
            item's own rating, shape (N,), 1 where that has no noise and 0 where it has nothing
            but noise.
        """
        inverse = cho_solve((self._factor, True), np.eye(len(self.ratings)))
        restricted = inverse - self._groups @ np.linalg.solve(self._precision, self._groups.T)
        shrinkage = self.noise @ restricted
        covariance = self.noise - shrinkage @ self.noise
        return self.ratings - self.noise @ self.dual, covariance, 1.0 - np.diag(shrinkage)

    def predict(self, cross: Floats, own: Floats, groups: Floats) -> tuple[Floats, Floats]:
        """Predict M items.

        Args:
            cross: Kernels of the items with the training items, shape (K, M, N).
            own: Kernels of each item with itself, shape (K, M).
            groups: Which group each item is in, shape (M, G), rows of zeros and a one.

        Returns:
            Mean and standard error, the residual included, two arrays of shape (M,).
        """
        kernel = np.tensordot(self.weights, cross, 1)
        mean = groups @ self.means + kernel @ self.dual
        solved = cho_solve((self._factor, True), kernel.T)
        unknown = groups - kernel @ self._groups
        variance = self.weights @ own + self.residual - np.einsum("mn,nm->m", kernel, solved)
        variance += np.einsum("mg,gh,mh->m", unknown, np.linalg.inv(self._precision), unknown)
        return mean, np.sqrt(np.maximum(variance, 0.0))


def fit_process(
    kernels: Floats, ratings: Floats, noise: Floats, groups: Floats, residual: float = RESIDUAL
) -> GaussianProcess:
    """Condition a Gaussian process on ratings.

    The weights of the kernels and of the residual maximize the restricted marginal likelihood
    under independent log-normal priors, wide and centered on equal shares of the signal,
    with little left to the residual where kernels are rich.

    Args:
        kernels: K kernels among the N items, shape (K, N, N), each of mean diagonal 1.
        ratings: Shape (N,).
        noise: Sampling covariance of the ratings, shape (N, N).
        groups: Which group each item is in, shape (N, G), rows of zeros and a one.
        residual: Share of the signal's variance that the residual has by the prior.
    """
    count, size = kernels.shape[:2]
    spread = ratings - groups @ np.linalg.lstsq(groups, ratings, rcond=None)[0]
    variance = float(spread @ spread) / max(size - groups.shape[1], 1)
    signal = max(variance - float(np.diag(noise).mean()), SMALLEST_SHARE * variance, JITTER)
    start = np.log(signal * np.array([*[1.0 / max(count, 1)] * count, residual]))
    parts = np.concatenate([kernels, np.eye(size)[None]])

    def loss(logs: Floats) -> tuple[float, Floats]:
        value, gradient = _negative_log_likelihood(np.exp(logs), parts, ratings, noise, groups)
        away = (logs - start) / PRIOR_DEVIATION**2
        return value + 0.5 * float(away @ (logs - start)), gradient + away

    found = minimize(loss, start, jac=True, method="L-BFGS-B")
    weights = np.exp(found.x)
    return condition(weights[:-1], float(weights[-1]), kernels, ratings, noise, groups)


def _covariance(weights: Floats, parts: Floats, noise: Floats) -> Floats:
    return np.asarray(np.tensordot(weights, parts, 1) + noise + JITTER * np.eye(len(noise)))


def _negative_log_likelihood(
    weights: Floats, parts: Floats, ratings: Floats, noise: Floats, groups: Floats
) -> tuple[float, Floats]:
    """Restricted likelihood (Patterson and Thompson, 1971) and its gradient by the logarithms."""
    factor = cholesky(_covariance(weights, parts, noise), lower=True)
    inverse = cho_solve((factor, True), np.eye(len(ratings)))
    projected = inverse @ groups
    precision = groups.T @ projected
    restricted = inverse - projected @ np.linalg.solve(precision, projected.T)
    dual = restricted @ ratings
    value = 0.5 * ratings @ dual + np.log(np.diag(factor)).sum()
    value += 0.5 * np.linalg.slogdet(precision)[1]
    traces = np.tensordot(parts, restricted, 2)
    fits = np.einsum("n,knm,m->k", dual, parts, dual, optimize=True)
    return float(value), 0.5 * weights * (traces - fits)


def condition(
    weights: Floats,
    residual: float,
    kernels: Floats,
    ratings: Floats,
    noise: Floats,
    groups: Floats,
) -> GaussianProcess:
    """Condition a Gaussian process of known weights on ratings; see ``fit_process``."""
    parts = np.concatenate([kernels, np.eye(len(ratings))[None]])
    factor = cholesky(_covariance(np.append(weights, residual), parts, noise), lower=True)
    solved = cho_solve((factor, True), np.column_stack([groups, ratings]))
    precision = groups.T @ solved[:, :-1]
    means = np.linalg.solve(precision, groups.T @ solved[:, -1])
    return GaussianProcess(
        weights=weights,
        residual=float(residual),
        means=means,
        dual=solved[:, -1] - solved[:, :-1] @ means,
        ratings=ratings,
        noise=noise,
        _factor=factor,
        _groups=solved[:, :-1],
        _precision=precision,
    )
