"""A Gaussian process with given kernels, averaged over how much each of them may matter.

The model of small areas (Fay and Herriot, 1979): a rating is a sum of functions, each with a
kernel, and a residual, observed with the sampling variance of its estimate; every group has a mean
of its own (Rasmussen and Williams, 2006, section 2.7). Few ratings leave the variances of these
parts open: predictions are averaged over several sets of them (Rue, Martino and Chopin, 2009,
section 6.5), for intervals at the best set alone would be too narrow. Where what was observed is
not normal, each set has the normal density that is like it around the set's own mode, and counts
by its evidence there (Laplace's approximation; Rasmussen and Williams, section 3.4): the density
around any one mode would take the variances for smaller than they are (Breslow and Lin, 1995).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, Self

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
MOST_STEPS = 50
LONGEST_STEP = 2.0
CONVERGED = 1e-6
"""Largest step to a mode, in units of the ratings."""
MANY = 500
"""Ratings that variances are learned from at most: so many know them, and time grows as a cube."""


class RatingLikelihood(Protocol):
    """What is observed of N ratings, as a normal density around some of them."""

    @property
    def ratings(self) -> Floats:
        """Mean of the density, shape (N,)."""

    @property
    def noise(self) -> Floats:
        """Its covariance, shape (N, N)."""

    @property
    def remainder(self) -> float:
        """Logarithm of the likelihood less that of the density, where they touch."""

    def around(self, ratings: Floats) -> Self:
        """Approximate the same around other ratings, shape (N,)."""

    def skewness(self, covariance: Floats) -> Floats:
        """Slopes of half the logarithm of the posterior's precision, by each rating, shape (N,).

        ``covariance`` is the posterior's at the ratings it is approximated around, shape (N, N).
        """


@dataclass(frozen=True)
class NormalRatings:
    """A ``RatingLikelihood`` of N ratings with normal errors, the same everywhere."""

    ratings: Floats
    noise: Floats
    remainder: float = 0.0

    def around(self, ratings: Floats) -> Self:  # noqa: ARG002
        """Return the same."""
        return self

    def skewness(self, covariance: Floats) -> Floats:
        """Return zeros, shape (N,)."""
        return np.zeros(len(covariance))


@dataclass(frozen=True)
class Fit:
    """N ratings of a process of known variances, around their mode.

    Attributes:
        seen: What is observed, around the mode.
        factor: Cholesky factor of the ratings' covariance, shape (N, N).
        groups: Its inverse times the items' groups, shape (N, G).
        precision: Of the groups' means, shape (G, G).
        means: Mean of each of G groups, shape (G,).
        dual: Weight of each training item in predictions, shape (N,).
    """

    seen: RatingLikelihood
    factor: Floats
    groups: Floats
    precision: Floats
    means: Floats
    dual: Floats

    @property
    def mode(self) -> Floats:
        """Ratings without their noise, shape (N,)."""
        return np.asarray(self.seen.ratings - self.seen.noise @ self.dual)

    @property
    def covariance(self) -> Floats:
        """What is not known of the mode, shape (N, N)."""
        noise = self.seen.noise
        return np.asarray(noise - noise @ self.restricted @ noise)

    @cached_property
    def restricted(self) -> Floats:
        """Inverse covariance of the ratings, the groups' means not known, shape (N, N)."""
        inverse = cho_solve((self.factor, True), np.eye(len(self.dual)))
        return np.asarray(inverse - self.groups @ np.linalg.solve(self.precision, self.groups.T))


def _fit(signal: Floats, seen: RatingLikelihood, groups: Floats) -> Fit:
    """Climb to the most probable ratings (Newton), whose covariance without noise is given."""
    fit = _around(signal, seen, groups)
    mode = fit.mode
    for _ in range(MOST_STEPS):
        around = fit.seen.around(mode)
        if around is fit.seen:
            break
        fit = _around(signal, around, groups)
        step = fit.mode - mode
        length = float(np.abs(step).max(initial=0.0))
        mode = mode + min(1.0, LONGEST_STEP / max(length, CONVERGED)) * step
        if length < CONVERGED:
            break
    return fit


def _around(signal: Floats, seen: RatingLikelihood, groups: Floats) -> Fit:
    covariance = signal + seen.noise + JITTER * np.eye(len(signal))
    factor = cholesky(covariance, lower=True)
    solved = cho_solve((factor, True), np.column_stack([groups, seen.ratings]))
    precision = groups.T @ solved[:, :-1]
    means = np.linalg.solve(precision, groups.T @ solved[:, -1])
    dual = solved[:, -1] - solved[:, :-1] @ means
    return Fit(seen, factor, solved[:, :-1], precision, means, dual)


@dataclass(frozen=True)
class GaussianProcess:
    """Gaussian processes of C sets of variances, each conditioned on the same N ratings.

    Attributes:
        weights: Variance of each of K kernels, shape (C, K).
        residuals: Variance of what no kernel explains, shape (C,).
        fits: The ratings around their mode, of each set.
        probabilities: Of each set of variances, shape (C,), sum 1.
    """

    weights: Floats
    residuals: Floats
    fits: tuple[Fit, ...]
    probabilities: Floats

    @property
    def variances(self) -> Floats:
        """Variance of each of K kernels, then of the residual, shape (K + 1,)."""
        return self._mean(np.column_stack([self.weights, self.residuals]))

    def posterior(self) -> tuple[Floats, Floats, Floats]:
        """Estimate the ratings of the training items without their noise.

        The empirical best linear unbiased predictor (Fay and Herriot, 1979).

        Returns:
            Means, shape (N,); covariance, shape (N, N); and by how much each mean moves with the
            item's own rating, shape (N,), 1 where that has no noise and 0 where it has nothing
            but noise.
        """
        shares = [1.0 - np.diag(fit.seen.noise @ fit.restricted) for fit in self.fits]
        modes = [fit.mode for fit in self.fits]
        moments = self._moments(modes, [fit.covariance for fit in self.fits])
        return *moments, self._mean(shares)

    def component(self, kernel: int, cross: Floats, own: Floats) -> tuple[Floats, Floats]:
        """Estimate the function of one kernel at M points.

        Args:
            kernel: Which of the K kernels.
            cross: Kernel of the points with the training items, shape (M, N).
            own: Kernel of the points with each other, shape (M, M).

        Returns:
            Means, shape (M,), and covariance, shape (M, M).
        """
        means, covariances = [], []
        for weight, fit in zip(self.weights[:, kernel], self.fits, strict=True):
            spread = weight * cross
            means.append(spread @ fit.dual)
            covariances.append(weight * own - spread @ fit.restricted @ spread.T)
        return self._moments(means, covariances)

    def predict(self, cross: Floats, own: Floats, groups: Floats) -> tuple[Floats, Floats]:
        """Predict M items.

        Args:
            cross: Kernels of the items with the training items, shape (K, M, N).
            own: Kernels of each item with itself, shape (K, M).
            groups: Which group each item is in, shape (M, G), rows of zeros and a one.

        Returns:
            Mean and standard error, the residual included, two arrays of shape (M,).
        """
        means, variances = [], []
        for weights, residual, fit in zip(self.weights, self.residuals, self.fits, strict=True):
            kernel = np.tensordot(weights, cross, 1)
            means.append(groups @ fit.means + kernel @ fit.dual)
            solved = cho_solve((fit.factor, True), kernel.T)
            unknown = groups - kernel @ fit.groups
            variance = weights @ own + residual - np.einsum("mn,nm->m", kernel, solved)
            inverse = np.linalg.inv(fit.precision)
            variance += np.einsum("mg,gh,mh->m", unknown, inverse, unknown)
            variances.append(np.maximum(variance, 0.0))
        mean = self._mean(means)
        between = self._mean([(each - mean) ** 2 for each in means])
        return mean, np.sqrt(self._mean(variances) + between)

    def _moments(
        self, means: Sequence[Floats], covariances: Sequence[Floats]
    ) -> tuple[Floats, Floats]:
        """Mean, and covariance within and between the sets."""
        mean = self._mean(means)
        apart = np.array(means) - mean
        return mean, self._mean(covariances) + (apart.T * self.probabilities) @ apart

    def _mean(self, values: npt.ArrayLike) -> Floats:
        return np.asarray(np.tensordot(self.probabilities, np.asarray(values), 1))


def fit_process(
    kernels: Floats,
    observed: RatingLikelihood,
    groups: Floats,
    residual: float = RESIDUAL,
    adjusted: bool = False,
) -> GaussianProcess:
    """Condition a Gaussian process on ratings.

    The weights of the kernels and of the residual are those that the restricted likelihood finds
    probable under independent log-normal priors, wide and centered on equal shares of the signal,
    with little left to the residual where kernels are rich.

    Args:
        kernels: K kernels among the N items, shape (K, N, N), each of mean diagonal 1.
        observed: What is observed of their ratings.
        groups: Which group each item is in, shape (N, G), rows of zeros and a one.
        residual: Share of the signal's variance that the residual has by the prior.
        adjusted: Multiply the likelihood by the sum of the variances (Li and Lahiri, 2010). Of few
            ratings without telling kernels it often finds nothing but noise, and intervals would
            be too narrow.
    """
    if len(groups) > MANY:
        return _fit_many(kernels, observed, groups, residual, adjusted)
    count, size = kernels.shape[:2]
    ratings = observed.ratings
    spread = ratings - groups @ np.linalg.lstsq(groups, ratings, rcond=None)[0]
    variance = float(spread @ spread) / max(size - groups.shape[1], 1)
    noise = float(np.diag(observed.noise).mean())
    signal = max(variance - noise, SMALLEST_SHARE * variance, JITTER)
    start = np.log(signal * np.array([*[1.0 / max(count, 1)] * count, residual]))
    parts = np.concatenate([kernels, np.eye(size)[None]])
    likelihood = MarginalLikelihood(parts, groups, observed)

    def loss(logs: Floats) -> tuple[float, Floats]:
        variances = np.exp(logs)
        value, gradient = likelihood.loss(variances)
        away = (logs - start) / PRIOR_DEVIATION**2
        value += 0.5 * float(away @ (logs - start)) - adjusted * np.log(variances.sum())
        return value, gradient + away - adjusted * variances / variances.sum()

    best = minimize(loss, start, jac=True, method="L-BFGS-B").x
    points, probabilities = _probable(loss, best)
    sets = np.exp(points)
    found = condition(sets[:, :-1], sets[:, -1], kernels, likelihood.seen, groups)
    return replace(found, probabilities=probabilities)


def _fit_many(
    kernels: Floats, observed: RatingLikelihood, groups: Floats, residual: float, adjusted: bool
) -> GaussianProcess:
    """Learn the best variances from some of the ratings, evenly among each group's."""
    ordered = np.lexsort((observed.ratings, groups.argmax(axis=1)))
    kept = ordered[np.linspace(0, len(ordered) - 1, MANY).round().astype(np.intp)]
    some = NormalRatings(observed.ratings[kept], observed.noise[np.ix_(kept, kept)])
    seen = groups[kept][:, groups[kept].any(axis=0)]
    learned = fit_process(kernels[:, kept[:, None], kept], some, seen, residual, adjusted)
    return condition(learned.weights[:1], learned.residuals[:1], kernels, observed, groups)


def _probable(loss: Loss, best: Floats) -> tuple[Floats, Floats]:
    """Choose points that stand for a density, around its mode.

    The mode and two points on each axis of the density's curvature there, on a sphere, each by
    what the density has there (Rue, Martino and Chopin, 2009, section 6.5). Were it normal, they
    would have its mean and its covariance. Takes minus the density's logarithm and its mode, shape
    (D,); returns points, shape (2D + 1, D), and their probabilities.
    """
    size = len(best)
    steps = DIFFERENCE * np.eye(size)
    slopes = np.array([loss(best + step)[1] - loss(best - step)[1] for step in steps])
    curvature = (slopes + slopes.T) / (4 * DIFFERENCE)
    values, axes = np.linalg.eigh(curvature)
    lengths = STRETCH * np.sqrt(size / np.maximum(values, PRIOR_DEVIATION**-2))
    away = axes.T * lengths[:, None]
    points = best + np.concatenate([np.zeros((1, size)), away, -away])
    sphere = STRETCH**-2 / (2 * size) * np.exp(0.5 * size * STRETCH**2)
    volumes = np.array([1.0 - STRETCH**-2, *[sphere] * (2 * size)])
    densities = np.array([-loss(point)[0] for point in points])
    return points, np.asarray(softmax(densities + np.log(volumes)))


@dataclass
class MarginalLikelihood:
    """How well sets of variances explain what is observed.

    Attributes:
        parts: Covariances that the variances weigh, shape (K + 1, N, N).
        groups: Which group each item is in, shape (N, G).
        seen: What is observed, around the mode of the last set of variances: the next is near.
    """

    parts: Floats
    groups: Floats
    seen: RatingLikelihood

    def loss(self, variances: Floats) -> tuple[float, Floats]:
        """Minus the restricted likelihood, and its gradient by the logarithms of the variances.

        Patterson and Thompson (1971); where what is observed is not normal, by Laplace's
        approximation around the mode, that moves with the variances.
        """
        signal = np.tensordot(variances, self.parts, 1)
        fit = _fit(signal, self.seen, self.groups)
        self.seen = seen = fit.seen
        traces = np.tensordot(self.parts, fit.restricted, 2)
        fits = self.parts @ fit.dual
        # Half the logarithm of the ratings' determinant, the groups' means not known.
        known = 0.5 * np.linalg.slogdet(fit.precision)[1]
        half = float(np.log(np.diag(fit.factor)).sum() + known)
        value = 0.5 * seen.ratings @ fit.dual + half - seen.remainder
        shrunk = seen.noise @ fit.restricted
        bent = seen.skewness(fit.covariance)
        slopes = 0.5 * (traces - fits @ fit.dual) + fits @ (shrunk.T @ bent)
        return float(value), variances * slopes


def condition(
    weights: Floats,
    residuals: Floats,
    kernels: Floats,
    observed: RatingLikelihood,
    groups: Floats,
) -> GaussianProcess:
    """Condition Gaussian processes of known variances, equally probable ones, on ratings.

    Takes weights of K kernels in C sets, shape (C, K), residuals, shape (C,), and what
    ``fit_process`` takes.
    """
    fits = tuple(
        _fit(np.tensordot(own, kernels, 1) + residual * np.eye(len(groups)), observed, groups)
        for own, residual in zip(weights, residuals, strict=True)
    )
    return GaussianProcess(weights, residuals, fits, np.full(len(fits), 1 / len(fits)))
