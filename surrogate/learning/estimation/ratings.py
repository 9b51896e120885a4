"""One rating from verdicts and surrogate: a prediction from answers, corrected by the verdicts.

The model of small areas (Fay and Herriot, 1979): a rating is the surrogate's prediction, plus the
system's strength across languages, plus a residual; it is observed with the sampling covariance of
its Bradley-Terry coefficient. A new system has infinite sampling variance.
Guide: docs/guides/surrogate.md, "The rating of judged systems".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

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
from surrogate.learning.surrogate import Surrogate
from surrogate.learning.training import TrainingRatings, finite_means

Key = tuple[str, str]
"""Language and system."""
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
    is_predicted = expected["rating"].notna() & expected["language"].isin(list(observed))
    predictions = expected[is_predicted].set_index(["language", "system"])["rating"]
    prior = _Prior.of(surrogate, predictions, X, others)
    unjudged = _rated_unjudged(prior.keys, observed, surrogate.borrowing_, X)
    unjudged.update(predictions.index)
    if others is not None:
        unjudged.update(others.ratings.index)
    observations = _observations_of(prior.keys, observed, unjudged)
    posteriors = {language: observation.alone() for language, observation in observed.items()}
    if not observations:
        return JointPosterior.independent(posteriors)
    modeled = _centered(prior.given(observations), observed, surrogate.borrowing_)
    for language, posterior in modeled.items():
        posteriors[language] = _completed(posterior, observed[language])
    joint = JointPosterior.independent(posteriors)
    indices = pd.MultiIndex.from_tuples(joint.names).get_indexer(modeled.names)
    joint.covariance[np.ix_(indices, indices)] = modeled.covariance
    return joint


@dataclass(frozen=True)
class _Prior:
    """The prior of N ratings, without the verdicts on these systems.

    Attributes:
        keys: Language and system of each.
        means: Expected ratings, shape (N,).
        kernels: How they vary together, in K ways, shape (K, N, N).
    """

    keys: tuple[Key, ...]
    means: Floats
    kernels: Floats

    @classmethod
    def of(
        cls,
        surrogate: Surrogate,
        predictions: pd.Series,
        X: pd.DataFrame | None,
        others: OtherJudges | None,
    ) -> _Prior:
        """Take the surrogate's kernels or, if it has none, its predictions.

        Args:
            surrogate: A fitted surrogate.
            predictions: By language and system: rating that is expected without its verdicts.
            X: Answers of further systems.
            others: Ratings by other judges, which are one more kernel, and the expected ratings
                where there are no predictions.
        """
        similarities = surrogate.covariances(X)
        if similarities is not None and set(predictions.index) <= set(similarities.keys):
            keys = similarities.keys
            kernels = similarities.kernels
            means = np.zeros(len(keys)) if others is None else others.prior(keys)
        else:
            keys = tuple(predictions.index)
            kernels = _same_system(keys)
            means = predictions.to_numpy(np.float64)
        if others is not None and keys:
            kernels = np.concatenate([kernels, others.kernel(keys)[None]])
        return cls(keys, means, kernels)

    def given(self, observations: Mapping[str, Observation]) -> JointPosterior:
        """Condition on the observed ratings of some of the systems."""
        row_of = {key: row for row, key in enumerate(self.keys)}
        rows = np.array([row_of[key] for key in rating_keys(observations)])
        kernels = self.kernels[:, rows[:, None], rows]
        return joint_posterior(observations, kernels, self.means[rows])


def _same_system(keys: Sequence[Key]) -> Floats:
    """Return the kernel of what is the same of a system in every language, shape (1, N, N).

    None in a single language, shape (0, N, N): there it is the same thing as the residual.
    """
    n_languages = len({language for language, _ in keys})
    if n_languages < 2:
        return np.empty((0, len(keys), len(keys)))
    names = np.array([system for _, system in keys], dtype=object)
    return np.asarray(np.equal.outer(names, names)[None], dtype=np.float64)


def _rated_unjudged(
    keys: Iterable[Key],
    observed: Mapping[str, Observation],
    borrowing: Collection[str],
    X: pd.DataFrame | None,
) -> set[Key]:
    """Choose whom to rate without a verdict: all in borrowing languages, and further systems.

    Args:
        keys: Language and system of those with a prior.
        observed: Language to the observed ratings.
        borrowing: Languages where verdicts in other languages count.
        X: Answers of further systems, which no language has judged, and of judged ones.
    """
    further = set() if X is None else set(X["system"])
    for observation in observed.values():
        further.difference_update(observation.systems)
    return {key for key in keys if key[0] in borrowing or key[1] in further}


def _observations_of(
    keys: Sequence[Key], observed: Mapping[str, Observation], unjudged: Collection[Key]
) -> dict[str, Observation]:
    """Take the observed ratings of these systems, and append those of the unjudged ones to rate."""
    observations: dict[str, Observation] = {}
    for language in sorted(observed):
        systems = [system for name, system in keys if name == language]
        added = [system for system in systems if (language, system) in unjudged]
        observation = observed[language].among(systems).with_unjudged(added)
        if observation.systems:
            observations[language] = observation
    return observations


def _centered(
    joint: JointPosterior, observed: Mapping[str, Observation], borrowing: Collection[str]
) -> JointPosterior:
    """Center the ratings of borrowing languages on the mean of all their systems.

    The process centers on the mean of the judged ones. Where that lies among all systems no verdict
    tells.
    """
    posteriors: dict[str, RatingPosterior] = {}
    transforms: list[Floats] = []
    for language, posterior in joint.items():
        n_systems = len(posterior.systems)
        center = centering(n_systems) if language in borrowing else np.eye(n_systems)
        transforms.append(center)
        shares = posterior.shares
        if language in borrowing:
            is_judged = np.isin(posterior.systems, observed[language].systems)
            # A verdict moves the judged systems' mean by 1 / n_judged, which centering takes out.
            shares = np.where(is_judged, shares - 1 / max(is_judged.sum(), 1), 0.0)
        posteriors[language] = RatingPosterior(
            systems=posterior.systems,
            ratings=center @ posterior.ratings,
            covariance=center @ posterior.covariance @ center,
            shares=np.clip(shares, 0.0, 1.0),
        )
    # Covariances across languages change with the same centering.
    transform = np.asarray(scipy.linalg.block_diag(*transforms))
    return JointPosterior(posteriors, transform @ joint.covariance @ transform)


def _completed(modeled: RatingPosterior, observed: Observation) -> RatingPosterior:
    """Append the systems that the model left out, rated by their verdicts alone."""
    unmodeled = observed.among(set(observed.systems) - set(modeled.systems)).alone()
    return RatingPosterior(
        systems=modeled.systems + unmodeled.systems,
        ratings=np.concatenate([modeled.ratings, unmodeled.ratings]),
        covariance=np.asarray(scipy.linalg.block_diag(modeled.covariance, unmodeled.covariance)),
        shares=np.concatenate([modeled.shares, unmodeled.shares]),
    )


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
