"""The Gaussian process of ratings, whose kernels say how alike two systems are.

The model of small areas (Fay and Herriot, 1979), with an unknown mean per group (Rasmussen and
Williams, 2006, section 2.7) and variances of maximum restricted likelihood (Patterson and Thompson,
1971). Formulas: docs/reference/surrogate.md, sections 2 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from arena.data.types import Flags, Floats, Indices

SMALLEST = 1e-9
"""Below it, a number is 0 but for rounding."""
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
        half: Half the log-determinants in the restricted likelihood.
    """

    variances: Floats
    ratings: Floats
    noise: Floats
    restricted: Floats
    means: Floats
    is_contradicted: Flags
    half: float

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
        half = 0.5 * (np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(precision)[1])
        return cls(variances, ratings, noise, restricted, means, is_contradicted, float(half))

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

    def slopes(self, kernels: Floats) -> Floats:
        """Return the restricted likelihood's negative gradient, (K + 1,)."""
        dual = self.dual
        of_kernels = np.tensordot(kernels, self.restricted, 2) - kernels @ dual @ dual
        of_residual = np.trace(self.restricted) - dual @ dual
        return 0.5 * np.append(of_kernels, of_residual)


def fit_process(kernels: Floats, ratings: Floats, noise: Floats, groups: Floats) -> GaussianProcess:
    """Condition a Gaussian process on ratings (N,), kernels (K, N, N).

    ``noise`` is their sampling covariance, ``groups`` are one-hot, (N, G). Variances have wide
    log-normal priors centered on equal shares of the signal, and the likelihood is multiplied by
    their sum (Li and Lahiri, 2010).
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
