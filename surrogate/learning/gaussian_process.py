"""The Gaussian process of ratings, whose kernels say how alike two systems are.

The model of small areas (Fay and Herriot, 1979), with an unknown mean per group (Rasmussen and
Williams, 2006, section 2.7) and variances of maximum restricted likelihood (Patterson and Thompson,
1971). Formulas: docs/reference/surrogate.md, sections 2 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from arena.data.types import Flags, Floats, Indices
from arena.rating.bradley_terry import ConvergenceError

JITTER = 1e-9
"""Added to the diagonal of the covariance, which is singular if exact ratings are alike."""
CONTRADICTION = 3.0
"""Joint standard errors beyond which a rating contradicts what the others make expected. Answers
composed to please a surrogate kept 44% of what they gain after two judged questions and 12% after
six, on three arenas, where no ordinary system came so far."""
MOST_CONTRADICTED = 3
"""Ratings that may be found to contradict the others: of more, the kernels are to blame."""
OWN_VARIANCE = 100.0
"""Residual variance, in squared logits, of a rating that is left to its own observation."""
NO_VARIANCES = (
    "the variances of the ratings did not converge; check whether published ratings or their "
    "standard errors are far too large or small"
)
MANY = 500
"""Largest number of ratings to learn variances from: more add little, and time grows as a cube."""


@dataclass(frozen=True)
class GaussianProcess:
    """A process of known variances, conditioned on N ratings.

    Attributes:
        variances: Of K kernels, then of the residual, shape (K + 1,).
        noise: Sampling covariance of the ratings, shape (N, N).
        restricted: The matrix P of restricted likelihood, shape (N, N).
        means: Estimated mean of each of G groups, shape (G,).
        is_contradicted: Which ratings rest on their own observation alone, shape (N,).
    """

    variances: Floats
    ratings: Floats
    noise: Floats
    restricted: Floats
    means: Floats
    is_contradicted: Flags

    @classmethod
    def of(
        cls,
        variances: Floats,
        kernels: Floats,
        ratings: Floats,
        noise: Floats,
        groups: Floats,
        is_contradicted: Flags | None = None,
    ) -> GaussianProcess:
        """Condition a process of known variances."""
        if is_contradicted is None:
            is_contradicted = np.zeros(len(ratings), dtype=bool)
        own_variances = np.where(is_contradicted, OWN_VARIANCE, 0.0) + variances[-1] + JITTER
        residual: Floats = noise + np.diag(own_variances)
        covariance = residual + np.tensordot(variances[:-1], kernels, 1)
        inverse = np.linalg.inv(covariance)
        solved = inverse @ groups
        precision = groups.T @ solved
        means: Floats = np.asarray(np.linalg.solve(precision, solved.T @ ratings), np.float64)
        restricted = np.asarray(inverse - solved @ np.linalg.solve(precision, solved.T), np.float64)
        return cls(variances, ratings, noise, restricted, means, is_contradicted)

    def resolved(self, kernels: Floats, groups: Floats) -> GaussianProcess:
        """Leave ratings that contradict predictions to themselves.

        A left-out rating's residual is (P y)ᵢ / Pᵢᵢ, its variance 1 / Pᵢᵢ.
        """
        # Answers written to please a surrogate then gain nothing once judged.
        process = self
        for _ in range(MOST_CONTRADICTED):
            # A rating that is alone in its group has neither a residual nor a precision.
            precisions = np.maximum(np.diag(process.restricted), JITTER)
            deviations = np.abs(process.dual) / np.sqrt(precisions)
            worst = int(np.argmax(deviations))
            if deviations[worst] <= CONTRADICTION:
                break
            is_contradicted = process.is_contradicted.copy()
            is_contradicted[worst] = True
            process = GaussianProcess.of(
                self.variances, kernels, self.ratings, self.noise, groups, is_contradicted
            )
        return process

    @property
    def dual(self) -> Floats:
        """Weight of each rating in predictions, shape (N,)."""
        return self.restricted @ self.ratings

    def posterior(self) -> tuple[Floats, Floats, Floats]:
        """Estimate ratings without noise (Fay and Herriot, 1979).

        Returns:
            Means, shape (N,); covariance, shape (N, N); and the weight of each item's own rating,
            (N,), 0 to 1 unless noise is shared.
        """
        # The noise that is estimated from the ratings is this matrix times them, shape (N, N).
        noise_filter = self.noise @ self.restricted
        means = self.ratings - self.noise @ self.dual
        covariance = self.noise - noise_filter @ self.noise
        return means, covariance, np.clip(1.0 - noise_filter.diagonal(), 0.0, 1.0)

    def derivatives(self, kernels: Floats) -> tuple[Floats, Floats]:
        """Return the restricted likelihood's negative gradient, (K + 1,), and Hessian.

        They are by the logarithms of variances.
        """
        # A part of the covariance is its own derivative by the logarithm of its variance.
        products = np.append(self.restricted @ kernels, self.restricted[None], axis=0)
        products *= self.variances[:, None, None]
        directions = np.append(kernels @ self.dual, self.dual[None], axis=0)
        directions *= self.variances[:, None]
        slopes = 0.5 * (np.trace(products, axis1=1, axis2=2) - directions @ self.dual)
        hessian = directions @ self.restricted @ directions.T + np.diag(slopes)
        hessian -= 0.5 * np.tensordot(products, products, ([1, 2], [2, 1]))
        return slopes, hessian


def fit_process(
    kernels: Floats,
    ratings: Floats,
    noise: Floats,
    groups: Floats,
    start: Floats | None = None,
) -> GaussianProcess:
    """Condition a Gaussian process on ratings (N,), kernels (K, N, N).

    ``noise`` is their sampling covariance, ``groups`` are one-hot, (N, G). Variances have wide
    log-normal priors centered on equal shares of the signal, and the likelihood is multiplied by
    their sum (Li and Lahiri, 2010). ``start`` are variances near the result, (K + 1,).
    """
    # Of the logarithm of each variance: a standard deviation of a factor of 4.5 up or down
    prior_precision = 1 / 1.5**2
    # Steps this short, in logarithms of variances, leave an error of about their square.
    shortest_step = 1e-7
    most_steps = 100
    if len(ratings) > MANY:
        rows = _spread_sample(ratings, groups)
        # The mean of a group without a sampled item cannot be estimated.
        is_present = groups[rows].any(axis=0)
        sampled = fit_process(
            kernels[:, rows[:, None], rows],
            ratings[rows],
            noise[np.ix_(rows, rows)],
            groups[rows][:, is_present],
            start,
        )
        return GaussianProcess.of(sampled.variances, kernels, ratings, noise, groups)
    n_variances = len(kernels) + 1
    center = np.log(_signal_variance(ratings, noise, groups) / n_variances)
    logs = np.full(n_variances, center) if start is None else np.log(start)
    for _ in range(most_steps):
        process = GaussianProcess.of(np.exp(logs), kernels, ratings, noise, groups)
        slopes, hessian = process.derivatives(kernels)
        # The negative logarithm of the variances' sum has the slopes of their shares.
        shares = process.variances / process.variances.sum()
        slopes += prior_precision * (logs - center) - shares
        hessian += np.outer(shares, shares) + np.diag(prior_precision - shares)
        step = _newton_step(slopes, hessian)
        if np.abs(step).max() <= shortest_step:
            return process
        logs = logs + step
    raise ConvergenceError(NO_VARIANCES)


def _newton_step(slopes: Floats, hessian: Floats) -> Floats:
    """Return a step downhill, even where the function is not convex."""
    longest_step = 1.0
    curvatures, axes = np.linalg.eigh(hessian)
    step = -axes @ (axes.T @ slopes / np.abs(curvatures))
    return np.asarray(step / max(np.abs(step).max() / longest_step, 1.0))


def _spread_sample(ratings: Floats, groups: Floats) -> Indices:
    """Choose ``MANY`` ratings, evenly from the lowest to the highest of each group."""
    ordered = np.lexsort((ratings, groups.argmax(axis=1)))
    positions = np.linspace(0, len(ordered) - 1, MANY).round().astype(np.intp)
    return ordered[positions]


def _signal_variance(ratings: Floats, noise: Floats, groups: Floats) -> float:
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
