"""A Gaussian process with given kernels, averaged over how much each of them may matter.

The model of small areas (Fay and Herriot, 1979): a rating is a sum of functions, each with a
kernel, and a residual, observed with the sampling variance of its estimate; every group has a mean
of its own (Rasmussen and Williams, 2006, section 2.7). Few ratings leave the variances of these
parts open: predictions are averaged over several sets of them (Rue, Martino and Chopin, 2009,
section 6.5), for intervals at the best set alone would be too narrow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_solve, cholesky
from scipy.optimize import minimize
from scipy.special import softmax

Floats = npt.NDArray[np.float64]
Loss = Callable[[Floats], tuple[float, Floats]]

RESIDUAL = 0.03
"""Share of the signal's variance that the residual has by the prior, beside rich kernels."""
PRIOR_DEVIATION = 1.5
"""Of the logarithm of each weight; by a factor of 4.5 up or down."""
SMALLEST_SHARE = 0.25
"""Of the ratings' variance, that is signal at least, where the noise is estimated larger."""
JITTER = 1e-9
STRETCH = 1.1
"""How far points lie from the best variances, as a factor of where they would lie at least."""
DIFFERENCE = 1e-4
"""Of the logarithms of variances, for second derivatives."""


@dataclass(frozen=True)
class ConditionedProcess:
    """A Gaussian process of known variances, conditioned on N ratings.

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
        shrinkage = self.noise @ self._restricted
        covariance = self.noise - shrinkage @ self.noise
        return self.ratings - self.noise @ self.dual, covariance, 1.0 - np.diag(shrinkage)

    def component(self, kernel: int, cross: Floats, own: Floats) -> tuple[Floats, Floats]:
        """Estimate the function of one kernel; see ``GaussianProcess.component``."""
        spread = self.weights[kernel] * cross
        covariance = self.weights[kernel] * own - spread @ self._restricted @ spread.T
        return spread @ self.dual, covariance

    @property
    def _restricted(self) -> Floats:
        """Inverse covariance of the ratings, the groups' means not known, shape (N, N)."""
        inverse = cho_solve((self._factor, True), np.eye(len(self.ratings)))
        known = self._groups @ np.linalg.solve(self._precision, self._groups.T)
        return np.asarray(inverse - known)

    def predict(self, cross: Floats, own: Floats, groups: Floats) -> tuple[Floats, Floats]:
        """Predict M items; see ``GaussianProcess.predict``.

        Returns:
            Mean and variance, the residual included, two arrays of shape (M,).
        """
        kernel = np.tensordot(self.weights, cross, 1)
        mean = groups @ self.means + kernel @ self.dual
        solved = cho_solve((self._factor, True), kernel.T)
        unknown = groups - kernel @ self._groups
        variance = self.weights @ own + self.residual - np.einsum("mn,nm->m", kernel, solved)
        variance += np.einsum("mg,gh,mh->m", unknown, np.linalg.inv(self._precision), unknown)
        return mean, np.maximum(variance, 0.0)


@dataclass(frozen=True)
class GaussianProcess:
    """Gaussian processes of C sets of variances, each conditioned on the same N ratings.

    Attributes:
        parts: The C processes.
        probabilities: Of each set of variances, shape (C,), sum 1.
    """

    parts: tuple[ConditionedProcess, ...]
    probabilities: Floats

    @property
    def dual(self) -> Floats:
        """Weight of each training item in what each kernel predicts, shape (K, N)."""
        return self._mean([np.outer(part.weights, part.dual) for part in self.parts])

    @property
    def variances(self) -> Floats:
        """Variance of each of K kernels, then of the residual, shape (K + 1,)."""
        return self._mean([np.append(part.weights, part.residual) for part in self.parts])

    @property
    def means(self) -> Floats:
        """Mean of each of G groups, shape (G,)."""
        return self._mean([part.means for part in self.parts])

    def on(self, kernels: Floats, ratings: Floats, noise: Floats, groups: Floats) -> Self:
        """Condition the same variances on other ratings; arguments as of ``fit_process``."""
        parts = tuple(
            condition(part.weights, part.residual, kernels, ratings, noise, groups)
            for part in self.parts
        )
        return replace(self, parts=parts)

    def posterior(self) -> tuple[Floats, Floats, Floats]:
        """Estimate the training items' ratings; see ``ConditionedProcess.posterior``."""
        means, covariances, shares = zip(*(part.posterior() for part in self.parts), strict=True)
        return *self._moments(means, covariances), self._mean(shares)

    def component(self, kernel: int, cross: Floats, own: Floats) -> tuple[Floats, Floats]:
        """Estimate the function of one kernel at M points.

        Args:
            kernel: Which of the K kernels.
            cross: Kernel of the points with the training items, shape (M, N).
            own: Kernel of the points with each other, shape (M, M).

        Returns:
            Means, shape (M,), and covariance, shape (M, M).
        """
        parts = (part.component(kernel, cross, own) for part in self.parts)
        return self._moments(*zip(*parts, strict=True))

    def predict(self, cross: Floats, own: Floats, groups: Floats) -> tuple[Floats, Floats]:
        """Predict M items.

        Args:
            cross: Kernels of the items with the training items, shape (K, M, N).
            own: Kernels of each item with itself, shape (K, M).
            groups: Which group each item is in, shape (M, G), rows of zeros and a one.

        Returns:
            Mean and standard error, the residual included, two arrays of shape (M,).
        """
        predicted = [part.predict(cross, own, groups) for part in self.parts]
        means, variances = zip(*predicted, strict=True)
        mean = self._mean(means)
        between = self._mean([(each - mean) ** 2 for each in means])
        return mean, np.sqrt(self._mean(variances) + between)

    def _moments(
        self, means: Sequence[Floats], covariances: Sequence[Floats]
    ) -> tuple[Floats, Floats]:
        """Mean, and covariance within and between the parts."""
        mean = self._mean(means)
        apart = np.array(means) - mean
        return mean, self._mean(covariances) + (apart.T * self.probabilities) @ apart

    def _mean(self, values: Sequence[Floats]) -> Floats:
        return np.asarray(np.tensordot(self.probabilities, np.array(values), 1))


def fit_process(
    kernels: Floats, ratings: Floats, noise: Floats, groups: Floats, residual: float = RESIDUAL
) -> GaussianProcess:
    """Condition a Gaussian process on ratings.

    The weights of the kernels and of the residual are those that the restricted likelihood finds
    probable under independent log-normal priors, wide and centered on equal shares of the signal,
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

    best = minimize(loss, start, jac=True, method="L-BFGS-B").x
    points, probabilities = _probable(loss, best)
    return GaussianProcess(
        tuple(
            condition(np.exp(logs[:-1]), float(np.exp(logs[-1])), kernels, ratings, noise, groups)
            for logs in points
        ),
        probabilities,
    )


def _probable(loss: Loss, best: Floats) -> tuple[Floats, Floats]:
    """Choose points that stand for a density, around its mode.

    The mode and two points on each axis of the density's curvature there, on a sphere, each by
    what the density has there (Rue, Martino and Chopin, 2009, section 6.5). Were it normal, they
    would have its mean and its covariance.

    Args:
        loss: Minus the logarithm of the density, and its gradient.
        best: Its mode, shape (D,).

    Returns:
        Points, shape (2D + 1, D), and their probabilities, shape (2D + 1,).
    """
    size = len(best)
    steps = DIFFERENCE * np.eye(size)
    slopes = np.array([loss(best + step)[1] - loss(best - step)[1] for step in steps])
    curvature = (slopes + slopes.T) / (4 * DIFFERENCE)
    values, axes = np.linalg.eigh(curvature)
    lengths = STRETCH * np.sqrt(size / np.maximum(values, PRIOR_DEVIATION**-2))
    points = best + np.concatenate(
        [np.zeros((1, size)), axes.T * lengths[:, None], -axes.T * lengths[:, None]]
    )
    sphere = STRETCH**-2 / (2 * size) * np.exp(0.5 * size * STRETCH**2)
    volumes = np.array([1.0 - STRETCH**-2, *[sphere] * (2 * size)])
    densities = np.array([-loss(point)[0] for point in points])
    return points, np.asarray(softmax(densities + np.log(volumes)))


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
) -> ConditionedProcess:
    """Condition a Gaussian process of known variances on ratings; see ``fit_process``."""
    parts = np.concatenate([kernels, np.eye(len(ratings))[None]])
    factor = cholesky(_covariance(np.append(weights, residual), parts, noise), lower=True)
    solved = cho_solve((factor, True), np.column_stack([groups, ratings]))
    precision = groups.T @ solved[:, :-1]
    means = np.linalg.solve(precision, groups.T @ solved[:, -1])
    return ConditionedProcess(
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
