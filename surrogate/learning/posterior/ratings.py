"""One rating from verdicts and surrogate: what answers let expect, corrected by the verdicts.

The estimator of small areas (Fay and Herriot, 1979): a rating is what the surrogate expects, plus
what a system is better in every language, plus a residual, observed with the sampling covariance
of its Bradley-Terry coefficient. A new system is one with infinite sampling variance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from surrogate.learning.cross_fitting import Outcome
from surrogate.learning.posterior.observations import Observation, Observations, Posterior, observe
from surrogate.learning.posterior.process import fit_process
from surrogate.learning.surrogate import Surrogate
from surrogate.learning.training import TrainingRatings, finite_means

Floats = npt.NDArray[np.float64]

MOST_STEPS = 20
CONVERGED = 1e-4
"""Largest step, in logits."""


def posterior_ratings(
    surrogate: Surrogate,
    ratings: Mapping[str, TrainingRatings],
    expected: pd.DataFrame,
    X: pd.DataFrame | None = None,
) -> dict[str, Posterior]:
    """Rate systems by their answers and their verdicts.

    A surrogate that is a Gaussian process gives its own posterior, in which the verdicts on
    similar systems count too. Beside any other, and where systems were held out of its training,
    verdicts correct the ratings by surrogates that had not seen the system. The likelihood of the
    battles is approximated around the ratings themselves (Newton's steps to the posterior's
    mode): where a system has won all, around its own fit it would say next to nothing.

    Args:
        surrogate: A fitted surrogate.
        ratings: Language to what is known of the systems' ratings.
        expected: Columns ``language, system, rating``: of every judged system, the rating by a
            surrogate that has not seen it.
        X: Answers of further systems that are among the rated ones, but not trained on.

    Returns:
        Language to the ratings of the judged systems. Those that nothing is expected of, for want
        of answers or of a surrogate, have what their verdicts say.
    """
    observed = observe(ratings)
    found = _completed(_both(surrogate, observed, expected, X), observed)
    for _ in range(MOST_STEPS):
        before = {name: _in_order(found[name], item) for name, item in observed.items()}
        around = {name: item.around(before[name]) for name, item in observed.items()}
        found = _completed(_both(surrogate, around, expected, X), observed)
        steps = [_in_order(found[name], item) - before[name] for name, item in observed.items()]
        if all(np.abs(step).max(initial=0.0) < CONVERGED for step in steps):
            break
    return found


def _completed(
    found: Mapping[str, Posterior], observed: Mapping[str, Observation]
) -> dict[str, Posterior]:
    return {
        language: found[language].completed(item) if language in found else item.alone()
        for language, item in observed.items()
    }


def _in_order(found: Posterior, observed: Observation) -> Floats:
    """Ratings in the order of the observation."""
    place = {name: index for index, name in enumerate(found.systems)}
    return found.ratings[[place[name] for name in observed.systems]]


def expected_ratings(outcome: Outcome) -> pd.DataFrame:
    """Return what surrogates that had not seen a system expect of it: the mean over splits.

    Returns:
        Columns ``language, system, rating, standard_error``; NaN where not known.
    """
    errors = outcome.standard_errors
    return pd.DataFrame(
        {
            "language": outcome.language,
            "system": outcome.systems,
            "rating": finite_means(outcome.predicted),
            "standard_error": np.nan if errors is None else finite_means(errors),
        }
    )


def _both(
    surrogate: Surrogate,
    observed: Mapping[str, Observation],
    expected: pd.DataFrame,
    X: pd.DataFrame | None,
) -> dict[str, Posterior]:
    own = surrogate.posterior(observed, X)
    wanted = _finite(expected)
    if own is not None and all(
        set(observed[language].systems) & names <= set(own[language].systems)
        for language, names in wanted.items()
        if language in observed and language in own
    ):
        return own
    return _corrected(observed, expected)


def _finite(expected: pd.DataFrame) -> dict[str, set[str]]:
    rated = expected.dropna(subset="rating")
    return {str(language): set(rows["system"]) for language, rows in rated.groupby("language")}


def _corrected(observed: Mapping[str, Observation], expected: pd.DataFrame) -> dict[str, Posterior]:
    """Correct what is expected by what is observed, in all languages together."""
    names = _finite(expected)
    kept = {language: item.among(names.get(language, ())) for language, item in observed.items()}
    both = Observations({language: item for language, item in kept.items() if item.systems})
    if not both.keys:
        return {}
    rated = expected.set_index(["language", "system"])["rating"]
    prior = rated.loc[both.keys].to_numpy(np.float64)
    systems = np.array([system for _, system in both.keys], dtype=object)
    everywhere = np.equal.outer(systems, systems).astype(np.float64)[None]
    kernels = everywhere if len(both.by_language) > 1 else everywhere[:0]
    share = 1 / (len(kernels) + 1)
    process = fit_process(kernels, both.ratings - prior, both.noise, both.groups, share)
    moved = both.posteriors(process)
    return {
        language: replace(
            item, ratings=item.ratings + rated[language].loc[list(item.systems)].to_numpy()
        )
        for language, item in moved.items()
    }
