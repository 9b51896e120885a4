"""One rating from verdicts and surrogate: what answers let expect, corrected by the verdicts.

The estimator of small areas (Fay and Herriot, 1979): a rating is what the surrogate expects, plus
what a system is better in every language, plus a residual, observed with the sampling covariance
of its Bradley-Terry coefficient. A new system is one with infinite sampling variance.
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
    Observations,
    OtherJudges,
    observe,
)
from surrogate.learning.outcomes import Outcome
from surrogate.learning.surrogate import Covariances, Surrogate
from surrogate.learning.training import TrainingRatings, finite_means

LOGIT = 1.0
"""Precision of the prior around whose ratings verdicts are approximated: a spread of one logit."""
NOTHING_KNOWN = JointPosterior({}, np.empty((0, 0)))
NOTHING_EXPECTED = pd.DataFrame(columns=["language", "system", "rating", "standard_error"])


def posterior_ratings(
    surrogate: Surrogate,
    ratings: Mapping[str, TrainingRatings],
    expected: pd.DataFrame,
    X: pd.DataFrame | None = None,
    others: OtherJudges | None = None,
) -> JointPosterior:
    """Rate systems by their answers and their verdicts.

    Where a surrogate says how alike systems are, verdicts on similar systems count too, and those
    in one language in all. Beside any other, verdicts correct the ratings by surrogates that had
    not seen the system.

    Args:
        surrogate: A fitted one.
        ratings: Language to what is known of the systems' ratings.
        expected: Columns ``language, system, rating``: of every judged system, the rating by a
            surrogate that has not seen it.
        X: Answers of further systems that were not trained on, and may be of those that were. Who
            has no verdict is rated wherever it answered.
        others: What other judges tell; systems that these alone judged are rated, too.

    Returns:
        By language the ratings of the judged systems, and of such further ones; and how ratings
        vary together across languages. Those that nothing is known of but verdicts have what these
        say, independent of all others.
    """
    observed = observe(ratings, LOGIT)
    alike = surrogate.covariances(X)
    wanted = expected.dropna(subset="rating")
    wanted = wanted[wanted["language"].isin(observed)][["language", "system"]]
    if alike is None or not set(wanted.itertuples(index=False, name=None)) <= set(alike.keys):
        found = _corrected(observed, expected, others)
    else:
        new = set() if X is None else set(X["system"])
        new -= {name for item in observed.values() for name in item.systems}
        found = _beside_each_other(observed, alike, surrogate.borrowing_, new, others)
    completed = {name: _completed(found.get(name), item) for name, item in observed.items()}
    joint = JointPosterior.independent(completed)
    if not len(found):
        return joint
    known = found.covariance_table()
    places = pd.MultiIndex.from_tuples(joint.names).get_indexer(known.index)
    joint.covariance[np.ix_(places, places)] = known.to_numpy()
    return joint


def _completed(known: RatingPosterior | None, observed: Observation) -> RatingPosterior:
    """Put systems behind others of which only the verdicts are known."""
    if known is None:
        return observed.alone()
    missing = observed.among(set(observed.systems) - set(known.systems)).alone()
    return RatingPosterior(
        known.systems + missing.systems,
        np.concatenate([known.ratings, missing.ratings]),
        np.asarray(scipy.linalg.block_diag(known.covariance, missing.covariance)),
        np.concatenate([known.shares, missing.shares]),
    )


def _beside_each_other(
    observed: Mapping[str, Observation],
    alike: Covariances,
    borrowing: Collection[str],
    new: Collection[str],
    beside: OtherJudges | None,
) -> JointPosterior:
    """Rate systems in a process whose kernels say how alike they are; some without a verdict."""
    names: dict[str, list[str]] = {}
    for language, system in alike.keys:
        names.setdefault(language, []).append(system)
    known, judged = {}, {}
    elsewhere = set() if beside is None else set(beside.ratings.index)
    for language in sorted(observed.keys() & names.keys()):
        own = observed[language].among(names[language])
        judged[language] = len(own.systems)
        others = [
            name
            for name in names[language]
            if language in borrowing or name in new or (language, name) in elsewhere
        ]
        if (item := own.with_unjudged(others)).systems:
            known[language] = item
    if not known:
        return NOTHING_KNOWN
    seen = Observations(known)
    place = {key: index for index, key in enumerate(alike.keys)}
    rows = np.array([place[key] for key in seen.keys])
    kernels, expected = alike.kernels[:, rows[:, None], rows], np.zeros(len(rows))
    if beside is not None:
        kernels = np.concatenate([kernels, beside.kernel(seen.keys)[None]])
        expected = beside.prior(seen.keys)
    found = seen.posteriors(kernels, expected)
    centered = {
        name: _about_all(item, judged[name]) if name in borrowing else item
        for name, item in found.items()
    }
    middles = [
        _middle(len(item.systems)) if name in borrowing else np.eye(len(item.systems))
        for name, item in found.items()
    ]
    turn = np.asarray(scipy.linalg.block_diag(*middles))
    return JointPosterior(centered, turn @ found.covariance @ turn)


def _middle(systems: int) -> Floats:
    """What takes the mean from ratings, shape (S, S)."""
    return np.eye(systems) - 1 / systems


def _about_all(found: RatingPosterior, judged: int) -> RatingPosterior:
    """Rate about the mean of all systems, of which the first have verdicts.

    These were rated about their own mean: where it lies is not known, and nobody's verdicts tell.
    """
    size = len(found.systems)
    middle = _middle(size)
    own = np.where(np.arange(size) < judged, found.shares - 1 / max(judged, 1), 0.0)
    return RatingPosterior(
        found.systems,
        middle @ found.ratings,
        middle @ found.covariance @ middle,
        np.clip(own, 0.0, 1.0),
    )


def expected_ratings(outcome: Outcome) -> pd.DataFrame:
    """Return what surrogates that had not seen a system expect of it: the mean over splits.

    Columns ``language, system, rating, standard_error``; NaN where not known.
    """
    errors, rating = outcome.standard_errors, finite_means(outcome.predicted)
    table = pd.DataFrame({"language": outcome.language, "system": outcome.systems})
    error = np.nan if errors is None else finite_means(errors)
    return table.assign(rating=rating, standard_error=error)


def _corrected(
    observed: Mapping[str, Observation], expected: pd.DataFrame, beside: OtherJudges | None
) -> JointPosterior:
    """Correct what is expected by what is observed, in all languages together."""
    rated = expected.dropna(subset="rating")
    names = {str(name): list(rows["system"]) for name, rows in rated.groupby("language")}
    known = {
        name: item.among(own).with_unjudged(own)
        for name, item in observed.items()
        if (own := names.get(name))
    }
    if not known:
        return NOTHING_KNOWN
    seen = Observations(known)
    means = rated.set_index(["language", "system"])["rating"].loc[seen.keys]
    systems = np.array([system for _, system in seen.keys], dtype=object)
    everywhere = np.equal.outer(systems, systems).astype(np.float64)[None]
    kernels = everywhere[: int(len(known) > 1)]
    if beside is not None:
        kernels = np.concatenate([kernels, beside.kernel(seen.keys)[None]])
    return seen.posteriors(kernels, means.to_numpy(np.float64))
