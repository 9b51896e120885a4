"""One rating from verdicts and surrogate: what answers let expect, corrected by the verdicts.

The estimator of small areas (Fay and Herriot, 1979): a rating is what the surrogate expects, plus
what a system is better in every language, plus a residual, observed with the sampling covariance
of its Bradley-Terry coefficient. A new system is one with infinite sampling variance.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from arena.rating.posterior import RatingPosterior
from surrogate.learning.outcomes import Outcome
from surrogate.learning.posterior.observations import Observation, Observations, completed, observe
from surrogate.learning.posterior.process import fit_process
from surrogate.learning.surrogate import Surrogate
from surrogate.learning.training import TrainingRatings, finite_means


def posterior_ratings(
    surrogate: Surrogate,
    ratings: Mapping[str, TrainingRatings],
    expected: pd.DataFrame,
    X: pd.DataFrame | None = None,
) -> dict[str, RatingPosterior]:
    """Rate systems by their answers and their verdicts.

    A surrogate that is a Gaussian process gives its own posterior, in which the verdicts on
    similar systems count too. Beside any other, and where systems were held out of its training,
    verdicts correct the ratings by surrogates that had not seen the system.

    Args:
        surrogate: A fitted one.
        ratings: Language to what is known of the systems' ratings.
        expected: Columns ``language, system, rating``: of every judged system, the rating by a
            surrogate that has not seen it.
        X: Answers of further systems that were not trained on. A surrogate that is a Gaussian
            process rates them wherever they answered.

    Returns:
        Language to the ratings of the judged systems, and of such further ones. Those that nothing
        is expected of, for want of answers or of a surrogate, have what their verdicts say.
    """
    observed = observe(ratings)
    found = _both(surrogate, observed, expected, X)
    return {
        language: completed(found[language], item) if language in found else item.alone()
        for language, item in observed.items()
    }


def expected_ratings(outcome: Outcome) -> pd.DataFrame:
    """Return what surrogates that had not seen a system expect of it: the mean over splits.

    Columns ``language, system, rating, standard_error``; NaN where not known.
    """
    errors, rating = outcome.standard_errors, finite_means(outcome.predicted)
    table = pd.DataFrame({"language": outcome.language, "system": outcome.systems})
    error = np.nan if errors is None else finite_means(errors)
    return table.assign(rating=rating, standard_error=error)


def _both(
    surrogate: Surrogate,
    observed: Mapping[str, Observation],
    expected: pd.DataFrame,
    X: pd.DataFrame | None,
) -> dict[str, RatingPosterior]:
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


def _corrected(
    observed: Mapping[str, Observation], expected: pd.DataFrame
) -> dict[str, RatingPosterior]:
    """Correct what is expected by what is observed, in all languages together."""
    names = _finite(expected)
    kept = {language: item.among(names.get(language, ())) for language, item in observed.items()}
    known = {language: item for language, item in kept.items() if item.systems}
    if not known:
        return {}
    rated = expected.set_index(["language", "system"])["rating"]
    keys = Observations(known).keys
    both = Observations(known, rated.loc[keys].to_numpy(np.float64))
    systems = np.array([system for _, system in both.keys], dtype=object)
    everywhere = np.equal.outer(systems, systems).astype(np.float64)[None]
    kernels = everywhere if len(both.by_language) > 1 else everywhere[:0]
    share = 1 / (len(kernels) + 1)
    return both.posteriors(fit_process(kernels, both, both.groups, share, adjusted=True))
