"""One rating from verdicts and surrogate: a prediction from answers, corrected by the verdicts.

The model of small areas (Fay and Herriot, 1979): a rating is the surrogate's prediction, plus the
system's strength across languages, plus a residual; it is observed with the sampling covariance of
its Bradley-Terry coefficient. A new system has infinite sampling variance.
Guide: docs/guides/surrogate.md, "The rating of judged systems".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd
import scipy

from arena.data.types import Floats
from arena.rating.posterior import RatingPosterior
from surrogate.learning.estimation.observations import (
    JointPosterior,
    Observation,
    centering,
    joint_posterior,
    observe,
    rating_keys,
)
from surrogate.learning.estimation.other_judges import OtherJudges
from surrogate.learning.outcomes import Outcome
from surrogate.learning.surrogate import Covariances, Surrogate
from surrogate.learning.training import TrainingRatings, finite_means

_NOTHING = JointPosterior({}, np.empty((0, 0)))
NOTHING_EXPECTED = pd.DataFrame(columns=["language", "system", "rating", "standard_error"])


def posterior_ratings(
    surrogate: Surrogate,
    ratings: Mapping[str, TrainingRatings],
    expected: pd.DataFrame,
    X: pd.DataFrame | None = None,
    others: OtherJudges | None = None,
) -> JointPosterior:
    """Rate systems by their answers and their verdicts.

    If the surrogate has kernels of systems' similarity, verdicts on similar systems and in other
    languages count, too. With any other surrogate, verdicts correct its predictions for systems
    that it has not seen.

    Args:
        surrogate: A fitted surrogate.
        ratings: Language to the training ratings of its systems.
        expected: Columns ``language, system, rating``: for every judged system, the prediction of
            a surrogate that has not seen it.
        X: Answers of further systems (those of trained ones do no harm). Systems without a verdict
            are rated wherever they answered.
        others: Ratings by other judges; systems that only these judged are rated, too.

    Returns:
        The posterior of each language, and the covariance across languages. Systems of which only
        verdicts are known are rated by these, independently of all others.
    """
    # Approximated around ratings of a spread of one logit: a system that won all of few battles has
    # almost no curvature at its own best fit (guide, "The rating of judged systems").
    observed = observe(ratings, around=1.0)
    rated = expected.dropna(subset="rating")
    rated = rated[rated["language"].isin(observed)]
    rated_keys = set(zip(rated["language"], rated["system"], strict=True))
    similarities = surrogate.covariances(X)
    if similarities is not None and rated_keys <= set(similarities.keys):
        further = set() if X is None else set(X["system"])
        for observation in observed.values():
            further.difference_update(observation.systems)
        modeled = _rated_by_similarity(
            observed, similarities, surrogate.borrowing_, further, others
        )
    else:
        modeled = _rated_by_predictions(observed, rated, others)
    posteriors = {
        language: _completed(modeled.get(language), observation)
        for language, observation in observed.items()
    }
    joint = JointPosterior.independent(posteriors)
    if modeled:
        indices = pd.MultiIndex.from_tuples(joint.names).get_indexer(modeled.names)
        joint.covariance[np.ix_(indices, indices)] = modeled.covariance
    return joint


def _completed(modeled: RatingPosterior | None, observed: Observation) -> RatingPosterior:
    """Append the systems that the model left out, rated by their verdicts alone."""
    if modeled is None:
        return observed.alone()
    unmodeled = observed.among(set(observed.systems) - set(modeled.systems)).alone()
    return RatingPosterior(
        systems=modeled.systems + unmodeled.systems,
        ratings=np.concatenate([modeled.ratings, unmodeled.ratings]),
        covariance=np.asarray(scipy.linalg.block_diag(modeled.covariance, unmodeled.covariance)),
        shares=np.concatenate([modeled.shares, unmodeled.shares]),
    )


def _rated_by_similarity(
    observed: Mapping[str, Observation],
    similarities: Covariances,
    borrowing: Collection[str],
    further: Collection[str],
    others: OtherJudges | None,
) -> JointPosterior:
    """Rate systems by a Gaussian process in which similar systems have similar ratings.

    Args:
        observed: Language to the observed ratings.
        similarities: Kernels among systems that answered.
        borrowing: Languages in which systems without a verdict are rated, too.
        further: Systems that are rated wherever they answered, with or without a verdict.
        others: Ratings by other judges; systems that these judged are rated, too.
    """
    answered: dict[str, list[str]] = {}
    for language, system in similarities.keys:
        answered.setdefault(language, []).append(system)
    judged_by_others = set() if others is None else set(others.ratings.index)
    observations: dict[str, Observation] = {}
    n_judged: dict[str, int] = {}
    for language in sorted(observed.keys() & answered.keys()):
        judged = observed[language].among(answered[language])
        unjudged = []
        for system in answered[language]:
            is_judged_by_others = (language, system) in judged_by_others
            if language in borrowing or system in further or is_judged_by_others:
                unjudged.append(system)
        observation = judged.with_unjudged(unjudged)
        if observation.systems:
            observations[language] = observation
            n_judged[language] = len(judged.systems)
    if not observations:
        return _NOTHING
    keys = rating_keys(observations)
    row_of = {key: row for row, key in enumerate(similarities.keys)}
    rows = np.array([row_of[key] for key in keys])
    kernels = similarities.kernels[:, rows[:, None], rows]
    expected = np.zeros(len(keys))
    if others is not None:
        kernels = np.concatenate([kernels, others.kernel(keys)[None]])
        expected = others.prior(keys)
    posterior = joint_posterior(observations, kernels, expected)
    centered: dict[str, RatingPosterior] = {}
    transforms: list[Floats] = []
    for language, ratings in posterior.items():
        if language in borrowing:
            centered[language] = _centered(ratings, n_judged[language])
            transforms.append(centering(len(ratings.systems)))
        else:
            centered[language] = ratings
            transforms.append(np.eye(len(ratings.systems)))
    # Covariances across languages change with the same centering.
    transform = np.asarray(scipy.linalg.block_diag(*transforms))
    return JointPosterior(centered, transform @ posterior.covariance @ transform)


def _centered(posterior: RatingPosterior, n_judged: int) -> RatingPosterior:
    """Center ratings on the mean of all systems, of which the first ``n_judged`` have verdicts.

    The process centers on the mean of the judged ones. Where that lies among all systems no verdict
    tells.
    """
    n_systems = len(posterior.systems)
    center = centering(n_systems)
    # A verdict moves the judged systems' mean by 1 / n_judged, which centering takes out again.
    is_judged = np.arange(n_systems) < n_judged
    shares = np.where(is_judged, posterior.shares - 1 / max(n_judged, 1), 0.0)
    return RatingPosterior(
        systems=posterior.systems,
        ratings=center @ posterior.ratings,
        covariance=center @ posterior.covariance @ center,
        shares=np.clip(shares, 0.0, 1.0),
    )


def _rated_by_predictions(
    observed: Mapping[str, Observation], rated: pd.DataFrame, others: OtherJudges | None
) -> JointPosterior:
    """Correct predicted ratings by the observed ones, in all languages together.

    This is Fay and Herriot's (1979) model with the prediction as the prior mean: a system's
    residual has a part that is the same in every language.

    Args:
        observed: Language to the observed ratings.
        rated: Columns ``language, system, rating``: predictions for unseen systems.
        others: Ratings by other judges.
    """
    predicted = {str(name): list(rows["system"]) for name, rows in rated.groupby("language")}
    observations = {}
    for language, observation in observed.items():
        systems = predicted.get(language)
        if systems:
            observations[language] = observation.among(systems).with_unjudged(systems)
    if not observations:
        return _NOTHING
    keys = rating_keys(observations)
    expected = rated.set_index(["language", "system"])["rating"].loc[keys]
    kernels = []
    # In one language the system's own part and its residual are the same thing.
    if len(observations) > 1:
        names = np.array([system for _, system in keys], dtype=object)
        kernels.append(np.equal.outer(names, names).astype(np.float64))
    if others is not None:
        kernels.append(others.kernel(keys))
    stacked = np.reshape(kernels, (len(kernels), len(keys), len(keys)))
    return joint_posterior(observations, stacked, expected.to_numpy(np.float64))


def expected_ratings(outcome: Outcome) -> pd.DataFrame:
    """Average over splits the predictions of surrogates that had not seen the system.

    Returns:
        Columns ``language, system, rating, standard_error``; NaN where there is no prediction.
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
