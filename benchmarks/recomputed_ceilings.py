"""Part of ``recomputed.py``: the tau with the ratings behind the verdicts, by an own estimator.

Sampling errors are those of a bootstrap over questions, and the variance of the ratings behind is
the most probable one (Fay and Herriot, 1979). The printed ones are of a likelihood.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from recomputed_ratings import ARENAS, SMALL, Verdicts, by_language
from recomputed_verdicts import Figure, Stored, simulated
from scipy.linalg import null_space
from scipy.optimize import minimize_scalar

RESAMPLES, DRAWS = 200, 1000
CEILING = 7
"""Column of the table of unseen systems."""


def ceilings(arenas: Path, stored: Stored) -> Iterator[Figure]:
    """Compare the ceilings of the arenas in the table of unseen systems."""
    for key in SMALL:
        folder, judge, is_sided = ARENAS[key]
        languages = [verdicts for _, verdicts in by_language(arenas / folder, judge)]

        def mean_ceiling(
            rng: np.random.Generator,
            languages: list[Verdicts] = languages,
            is_sided: bool = is_sided,
        ) -> float:
            return float(np.mean([ceiling(verdicts, is_sided, rng) for verdicts in languages]))

        found, error = simulated(mean_ceiling)
        printed = stored["unseen"][key]["cells"][CEILING]
        yield Figure(f"{key}: ceiling", printed, float(found), error=float(error))


def ceiling(verdicts: Verdicts, is_sided: bool, rng: np.random.Generator) -> float:
    """Return the mean tau of a language's ratings with draws of those behind them."""
    size = len(verdicts.points)
    ratings = verdicts.ratings(np.arange(size), is_sided)
    resamples = rng.integers(size, size=(RESAMPLES, size))
    resampled = verdicts.resampled_ratings(resamples, is_sided)
    # Ratings are differences: without their mean, one dimension less.
    basis = null_space(np.ones((1, len(ratings))))
    observed = ratings @ basis
    noise = np.cov(resampled @ basis, rowvar=False)

    def loss(log_variance: float) -> float:
        covariance = noise + np.exp(log_variance) * np.eye(len(noise))
        fit = observed @ np.linalg.solve(covariance, observed)
        return float(fit + np.linalg.slogdet(covariance)[1])

    variance = np.exp(minimize_scalar(loss, bounds=(-10, 5), method="bounded").x)
    weight = variance * np.linalg.inv(noise + variance * np.eye(len(noise)))
    draws = rng.multivariate_normal(weight @ observed, weight @ noise, size=DRAWS) @ basis.T
    one, other = np.triu_indices(len(ratings), 1)
    orders = np.sign(ratings[one] - ratings[other])
    return float(np.mean(orders * np.sign(draws[:, one] - draws[:, other])))
