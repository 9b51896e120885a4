"""One rating from verdicts and surrogate: a prediction from answers, corrected by the verdicts.

The model of small areas (Fay and Herriot, 1979): a rating is the surrogate's prediction, plus the
system's strength across languages, plus a residual; it is observed with the sampling covariance of
its Bradley-Terry coefficient. A new system has infinite sampling variance.
Guide: docs/reference/surrogate.md, section 4.

Verdicts of another judge become probabilities of the reference's by a logistic regression on the
questions and pairs that both judged. The ratings from these probabilities are the prior mean; the
ratings by the other judges alone are a kernel, with a variance that the reference's verdicts set
(docs/reference/formulas.md, "Verdicts and surrogate").
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import scipy
from scipy.special import expit

from arena.data.schema import QUESTION_KEY
from arena.data.types import Flags, Floats, Indices
from arena.quality.agreement import QUESTION_PAIR
from arena.rating.battles import Battles
from arena.rating.likelihood import BattleLikelihood
from arena.rating.penalized_likelihood import DEFAULT_RIDGE, NormalPrior
from surrogate.learning.kernels import same_system
from surrogate.learning.observations import (
    JointPosterior,
    Observation,
    RatingLikelihoods,
    centering,
    joint_posterior,
    rating_keys,
)
from surrogate.learning.outcomes import Outcome
from surrogate.learning.surrogate import Surrogate
from surrogate.learning.training import TrainingRatings, finite_means


@dataclass(frozen=True)
class OtherJudges:
    """Ratings by J other judges, and how far they predict the reference's.

    Attributes:
        slopes: Judge to the logit that a verdict of it adds to the reference's; 0 if the two are
            not shown to be related.
        ratings: By language and system, one column per judge: rating by its verdicts alone
            (logits, centered on 0).
        expected: By language and system: the reference's rating as all of them predict it.
    """

    slopes: Mapping[str, float]
    ratings: pd.DataFrame
    expected: pd.Series

    def kernel(self, keys: pd.MultiIndex) -> Floats:
        """Covariance of ratings that are linear in these judges', shape (N, N).

        Its mean diagonal is 1, like that of the other kernels.

        Args:
            keys: Language and system of the N ratings.
        """
        ratings = self.ratings.reindex(keys).fillna(0.0).to_numpy()
        products = ratings @ ratings.T
        # Ratings that are all 0 have no scale; the smallest number keeps the kernel at 0.
        scale = max(float(np.diag(products).mean()), np.finfo(float).tiny)
        return np.asarray(products / scale)

    def prior(self, keys: pd.MultiIndex) -> Floats:
        """Expected ratings, shape (N,); 0 for systems that these judges did not judge."""
        return np.asarray(self.expected.reindex(keys).fillna(0.0), dtype=np.float64)


def learn_from_other_judges(reference: pd.DataFrame, others: pd.DataFrame) -> OtherJudges | None:
    """Learn how other judges' verdicts predict the reference's ratings; None without verdicts.

    Args:
        reference: Judgments that the ratings are wanted of, all counted as one judge's.
        others: Judgments of other judges.
    """
    if others.empty:
        return None
    targets = pd.concat([language.shares for language in _judged_languages(reference)])
    slopes: dict[str, float] = {}
    ratings: dict[str, pd.Series] = {}
    expected: dict[str, pd.Series] = {}
    for judge, judgments in others.groupby("judge"):
        languages = _judged_languages(judgments)
        slope = _slope(pd.concat([language.shares for language in languages]), targets)
        language_ratings = []
        language_expected = []
        for language in languages:
            shares = language.shares["share"].to_numpy()
            language_ratings.append(language.ratings(shares))
            language_expected.append(language.ratings(expit(slope * (2 * shares - 1))))
        slopes[str(judge)] = slope
        ratings[str(judge)] = pd.concat(language_ratings)
        expected[str(judge)] = pd.concat(language_expected)
    # Judges count by how closely the reference follows them.
    weights = np.abs(pd.Series(slopes))
    weights = weights / max(weights.sum(), 1e-9)
    weighted = pd.DataFrame(expected).fillna(0.0) * weights
    return OtherJudges(slopes, pd.DataFrame(ratings), weighted.sum(axis=1))


@dataclass(frozen=True)
class _JudgedLanguage:
    """One judge's verdicts in one language.

    Attributes:
        language: Language code.
        battles: The verdicts.
        shares: ``QUESTION_PAIR`` and ``share`` of the points that the pair's first system won; one
            row per question and pair.
    """

    language: str
    battles: Battles
    shares: pd.DataFrame

    @classmethod
    def of(cls, language: str, judgments: pd.DataFrame) -> _JudgedLanguage:
        battles = Battles.from_judgments(judgments)
        items = battles.items
        systems = np.array(battles.systems, dtype=object)
        shares = pd.DataFrame(
            {
                "language": language,
                "query_id": np.array(battles.questions, dtype=object)[items.question],
                "first": systems[items.pairs.first[items.pair]],
                "second": systems[items.pairs.second[items.pair]],
                "share": items.points / items.counts,
            }
        )
        return cls(language, battles, shares)

    def ratings(self, shares: Floats) -> pd.Series:
        """Rate the systems with other shares of the points, with the usual weak prior."""
        items = self.battles.items
        replaced = replace(items, points=items.counts * shares)
        keys = pd.MultiIndex.from_product([[self.language], self.battles.systems])
        mode = BattleLikelihood(replaced).mode(NormalPrior.ridge(len(keys), DEFAULT_RIDGE))
        return pd.Series(mode - mode.mean(), keys)


def _judged_languages(judgments: pd.DataFrame) -> list[_JudgedLanguage]:
    groups = judgments.groupby("language")
    return [_JudgedLanguage.of(str(language), rows) for language, rows in groups]


def _slope(shares: pd.DataFrame, targets: pd.DataFrame) -> float:
    """Regress the reference's shares on another judge's; 0 where they are not shown to be related.

    Logistic regression without intercept, on shares scaled to -1 to 1. The likelihood counts to
    the power of one over its design effect, since verdicts on one question depend on each other
    (Kish, 1965). The prior is N(1, 1): of 50 pairs of judges of two public arenas all slopes were
    between .5 and 2.1, while those of a third arena's judges had nothing in common.
    """
    # Shared questions below which the variance between questions is not known
    fewest_questions = 2
    # Slope that is expected of two judges of an arena, with a standard deviation of 1
    prior_slope = 1.0
    shared = shares.merge(targets, on=QUESTION_PAIR, suffixes=("", "_target"))
    question = shared.groupby(QUESTION_KEY).ngroup().to_numpy()
    if len(np.unique(question)) < fewest_questions:
        return 0.0
    verdicts = 2 * shared["share"].to_numpy() - 1
    target = shared["share_target"].to_numpy()
    independent = _mode(verdicts, target, effect=1.0, prior_mean=0.0)
    effect = _design_effect(verdicts, target, question, independent)
    slope = _mode(verdicts, target, effect, prior_slope)
    variance = 1 / (1 + _information(verdicts, slope) / effect)
    # Within 1.4 standard errors of 0, which a slope of pure chance exceeds in 16% of cases.
    return slope if slope**2 > 2 * variance else 0.0


def _mode(verdicts: Floats, target: Floats, effect: float, prior_mean: float) -> float:
    """Return the most probable slope under the prior N(``prior_mean``, 1)."""

    def gradient(slope: float) -> float:
        residuals = target - expit(slope * verdicts)
        return float(verdicts @ residuals) / effect - (slope - prior_mean)

    # No residual is above 1, so the root is no further from the prior mean than this.
    bound = float(np.abs(verdicts).sum()) / effect + 1.0
    return float(scipy.optimize.brentq(gradient, prior_mean - bound, prior_mean + bound))


def _information(verdicts: Floats, slope: float) -> float:
    probabilities = expit(slope * verdicts)
    return float((verdicts**2 * probabilities * (1 - probabilities)).sum())


def _design_effect(verdicts: Floats, target: Floats, question: Indices, slope: float) -> float:
    """Variance of the score over questions, relative to that of single verdicts; at least 1."""
    scores = np.bincount(question, verdicts * (target - expit(slope * verdicts)))
    n_questions = len(scores)
    variance = float(scores @ scores) * n_questions / (n_questions - 1)
    return max(variance / max(_information(verdicts, slope), 1e-9), 1.0)


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

    If the surrogate has kernels of systems' similarity, verdicts on similar systems and in other
    languages count, too. With any other surrogate, verdicts correct its predictions for systems
    that it has not seen.

    Args:
        surrogate: A fitted surrogate; None where there are no answers.
        ratings: Language to the training ratings of its systems.
        expected: Columns ``language, system, rating``: for every judged system, the prediction of
            a surrogate that has not seen it.
        X: Answers of further systems (those of trained ones do no harm). Systems without a verdict
            are rated wherever they answered.
        others: Ratings by other judges; systems that only these judged are rated, too.

    Returns:
        The posterior of all languages. Systems of which only verdicts are known are rated by these,
        independently of all others.
    """
    # A first approximation, around ratings of a spread of one logit.
    likelihoods = RatingLikelihoods.of(ratings, around=1.0)
    observed = likelihoods.observed()
    has_prediction = expected["rating"].notna() & expected["language"].isin(list(observed))
    predictions = expected[has_prediction].set_index(["language", "system"])["rating"]
    prior = _Prior.of(surrogate, predictions, X, others)
    borrowing = () if surrogate is None else surrogate.borrowing_
    # A system without a verdict in a language is rated there if any of these holds.
    is_in_borrowing_language = prior.languages.isin(list(borrowing))
    is_never_judged = _is_never_judged(prior.systems, observed, X)
    is_predicted = prior.keys.isin(predictions.index)
    is_rated_unjudged = is_in_borrowing_language | is_never_judged | is_predicted
    if others is not None:
        is_judged_by_others = prior.keys.isin(others.ratings.index)
        is_rated_unjudged |= is_judged_by_others
    posterior = _posterior_of(prior, is_rated_unjudged, observed, borrowing)
    for _ in range(APPROXIMATIONS - 1):
        observed = likelihoods.about(posterior.by_language()).observed()
        posterior = _posterior_of(prior, is_rated_unjudged, observed, borrowing)
    return posterior


def _posterior_of(
    prior: _Prior,
    is_rated_unjudged: Flags,
    observed: Mapping[str, Observation],
    borrowing: Collection[str],
) -> JointPosterior:
    """Condition the prior on observed ratings; systems without a prior keep these."""
    by_verdicts = JointPosterior.by_verdicts(observed)
    observations = _observations_of(prior, is_rated_unjudged, observed)
    if not observations:
        return by_verdicts
    modeled = _centered(prior.given(observations), observed, borrowing)
    return modeled.joined(by_verdicts.take(~by_verdicts.keys.isin(modeled.keys)))


@dataclass(frozen=True)
class _Prior:
    """The prior of N ratings, without the verdicts on these systems.

    Attributes:
        keys: Language and system of each.
        means: Expected ratings, shape (N,).
        kernels: How they vary together, in K ways, shape (K, N, N).
    """

    keys: pd.MultiIndex
    means: Floats
    kernels: Floats

    @property
    def languages(self) -> pd.Index:
        """Language of each rating, shape (N,)."""
        return self.keys.get_level_values(0)

    @property
    def systems(self) -> pd.Index:
        """System of each rating, shape (N,)."""
        return self.keys.get_level_values(1)

    @classmethod
    def of(
        cls,
        surrogate: Surrogate | None,
        predictions: pd.Series,
        X: pd.DataFrame | None,
        others: OtherJudges | None,
    ) -> _Prior:
        """Take the surrogate's kernels or, if it has none, its predictions.

        Args:
            surrogate: A fitted surrogate, or None.
            predictions: By language and system: rating that is expected without its verdicts.
            X: Answers of further systems.
            others: Ratings by other judges, which are one more kernel, and the expected ratings
                where there are no predictions.
        """
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

    def given(self, observations: Mapping[str, Observation]) -> JointPosterior:
        rows = self.keys.get_indexer(rating_keys(observations))
        kernels = self.kernels[:, rows[:, None], rows]
        return joint_posterior(observations, kernels, self.means[rows])


def _is_never_judged(
    systems: pd.Index, observed: Mapping[str, Observation], X: pd.DataFrame | None
) -> Flags:
    """Whether systems have answers here, but no verdict in any language.

    Returns:
        Shape (N,).
    """
    never_judged = set() if X is None else set(X["system"])
    for observation in observed.values():
        never_judged.difference_update(observation.systems)
    return np.asarray(systems.isin(never_judged))


def _observations_of(
    prior: _Prior, is_rated_unjudged: Flags, observed: Mapping[str, Observation]
) -> dict[str, Observation]:
    """Take the observed ratings of systems that have a prior, and append unjudged ones."""
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
    """Center the ratings of borrowing languages on the mean of all their systems.

    The process centers on the mean of the judged ones. Where that lies among all systems no verdict
    tells.
    """
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
