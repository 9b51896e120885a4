"""One rating from verdicts and surrogate: a prediction from answers, corrected by verdicts.

The model of small areas (Fay and Herriot, 1979); formulas: docs/reference/surrogate.md, section 4.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from arena.data.types import Flags, Floats
from arena.statistics.significance import finite_means
from surrogate.learning.observations import (
    JointPosterior,
    Observation,
    RatingLikelihoods,
    centering,
    joint_posterior,
    observation_keys,
)
from surrogate.learning.outcomes import Outcome
from surrogate.learning.surrogate import Surrogate
from surrogate.learning.system_vectors import same_system
from surrogate.learning.training_data import TrainingRatings

if TYPE_CHECKING:
    from surrogate.learning.other_judges import OtherJudges

APPROXIMATIONS = 3
"""Times that the likelihood is approximated, the last two about posterior ratings."""
NOTHING_EXPECTED = pd.DataFrame(columns=["language", "system", "rating", "standard_error"])


def posterior_ratings(
    surrogate: Surrogate | None,
    ratings: Mapping[str, TrainingRatings],
    expected: pd.DataFrame,
    X: pd.DataFrame | None = None,
    others: OtherJudges | None = None,
) -> JointPosterior:
    """Rate systems by their answers and their verdicts.

    With a surrogate's kernels, verdicts on similar systems and in other languages count, too.
    Systems with verdicts alone are rated by these.

    Args:
        surrogate: A fitted surrogate; None where there are no answers.
        ratings: Language to the training ratings of its systems.
        expected: ``language, system, rating``: predictions by a surrogate that has not seen it.
        X: Answers of further systems, rated wherever they answered.
        others: Ratings by other judges.
    """
    # A first approximation, around ratings of a spread of one logit.
    likelihoods = RatingLikelihoods.of(ratings, around=1.0)
    observed = likelihoods.observed()
    has_prediction = expected["rating"].notna() & expected["language"].isin(list(observed))
    predictions = expected[has_prediction].set_index(["language", "system"])["rating"]
    prior = _Prior.of(surrogate, predictions, X, others)
    borrowing = () if surrogate is None else surrogate.borrowing_
    # A system without a verdict in a language is rated there if any of these holds.
    is_rated_unjudged = prior.languages.isin(list(borrowing))
    is_rated_unjudged |= _is_never_judged(prior.systems, observed, X)
    is_rated_unjudged |= prior.keys.isin(predictions.index)
    if others is not None:
        is_rated_unjudged |= prior.keys.isin(others.ratings.index)
    posterior = _posterior_of(prior, is_rated_unjudged, observed, borrowing)
    for _ in range(APPROXIMATIONS - 1):
        observed = likelihoods.about(posterior.by_language()).observed()
        posterior = _posterior_of(
            prior, is_rated_unjudged, observed, borrowing, posterior.variances
        )
    return posterior


def _posterior_of(
    prior: _Prior,
    is_rated_unjudged: Flags,
    observed: Mapping[str, Observation],
    borrowing: Collection[str],
    variances: Floats | None = None,
) -> JointPosterior:
    by_verdicts = JointPosterior.by_verdicts(observed)
    observations = _observations_of(prior, is_rated_unjudged, observed)
    if not observations:
        return by_verdicts
    modeled = _centered(prior.given(observations, variances), observed, borrowing)
    return modeled.joined(by_verdicts.take(~by_verdicts.keys.isin(modeled.keys)))


class _Prior(NamedTuple):
    keys: pd.MultiIndex
    means: Floats
    kernels: Floats

    @property
    def languages(self) -> pd.Index:
        return self.keys.get_level_values(0)

    @property
    def systems(self) -> pd.Index:
        return self.keys.get_level_values(1)

    @classmethod
    def of(
        cls,
        surrogate: Surrogate | None,
        predictions: pd.Series,
        X: pd.DataFrame | None,
        others: OtherJudges | None,
    ) -> _Prior:
        similarities = None if surrogate is None else surrogate.covariances(X)
        if similarities is not None and predictions.index.isin(similarities.keys).all():
            keys = similarities.keys
            kernels = similarities.kernels
            means = np.zeros(len(keys)) if others is None else others.prior(keys)
        else:
            keys = predictions.index
            kernels = same_system(keys)
            means = predictions.to_numpy(np.float64)
        if others is not None and len(keys):
            kernels = np.concatenate([kernels, others.kernel(keys)[None]])
        return cls(keys, means, kernels)

    def given(
        self, observations: Mapping[str, Observation], variances: Floats | None
    ) -> JointPosterior:
        rows = self.keys.get_indexer(observation_keys(observations))
        kernels = self.kernels[:, rows[:, None], rows]
        return joint_posterior(observations, kernels, self.means[rows], variances)


def _is_never_judged(
    systems: pd.Index, observed: Mapping[str, Observation], X: pd.DataFrame | None
) -> Flags:
    never_judged = set() if X is None else set(X["system"].unique())
    for observation in observed.values():
        never_judged.difference_update(observation.systems)
    return np.asarray(systems.isin(never_judged))


def _observations_of(
    prior: _Prior, is_rated_unjudged: Flags, observed: Mapping[str, Observation]
) -> dict[str, Observation]:
    observations: dict[str, Observation] = {}
    for language in sorted(observed):
        is_here = prior.languages == language
        judged = observed[language].among(set(prior.systems[is_here]))
        observation = judged.with_unjudged(prior.systems[is_here & is_rated_unjudged])
        if observation.systems:
            observations[language] = observation
    return observations


def _centered(
    joint: JointPosterior, observed: Mapping[str, Observation], borrowing: Collection[str]
) -> JointPosterior:
    """Center the ratings of borrowing languages on the mean of all their systems."""
    transform = np.eye(len(joint.keys))
    shares = joint.shares.copy()
    systems = joint.keys.get_level_values("system")
    for language in observed.keys() & borrowing:
        rows = np.flatnonzero(joint.languages == language)
        transform[np.ix_(rows, rows)] = centering(len(rows))
        is_judged = systems[rows].isin(observed[language].systems)
        # A verdict moves the judged systems' mean by 1 / n_judged, which centering takes out.
        moved = shares[rows] - 1 / max(is_judged.sum(), 1)
        shares[rows] = np.where(is_judged, np.maximum(moved, 0.0), 0.0)
    # Covariances across languages change with the same centering.
    covariance = transform @ joint.covariance @ transform
    return replace(joint, ratings=transform @ joint.ratings, covariance=covariance, shares=shares)


def expected_ratings(outcome: Outcome) -> pd.DataFrame:
    """Average over splits the predictions of systems not trained on."""
    errors = outcome.standard_errors
    return pd.DataFrame(
        {
            "language": outcome.language,
            "system": outcome.systems,
            "rating": finite_means(outcome.predicted),
            "standard_error": np.nan if errors is None else finite_means(errors),
        }
    )
