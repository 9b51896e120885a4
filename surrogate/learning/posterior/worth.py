"""What a rating without verdicts is worth: how many verdicts an arena would need for its error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from surrogate.learning.outcomes import Outcome
from surrogate.learning.posterior.observations import Observation, observe
from surrogate.learning.training import TrainingRatings

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Worth:
    """How large errors of ratings are, with one verdict of a system and without any.

    Attributes:
        verdict_variance: Variance of a rating by one verdict, were it inversely proportional to
            the number of verdicts on the system (squared logits).
        error_variance: Mean squared error of ratings by surrogates that had not seen the system,
            less the noise of what they are compared with; in squared standard errors of theirs
            where these are known, else in squared logits.
    """

    verdict_variance: float
    error_variance: float


def worth_of(unseen: Sequence[Outcome], ratings: Mapping[str, TrainingRatings]) -> Worth | None:
    """Compare errors of surrogates with those of verdicts, over all judged languages.

    Args:
        unseen: Ratings by surrogates that had not seen the system, one a language.
        ratings: Language to what is known of the systems' ratings.

    Returns:
        None where no battles are known, or the surrogate's errors are no larger than their noise.
    """
    observed = observe(ratings)
    variances, errors, noises = [], [], []
    for outcome in unseen:
        item = observed[outcome.language]
        if item.verdicts is None:
            continue
        noise = item.sampling_variances
        variances.append(float(np.mean(noise * _verdicts(item))))
        error, own_noise = _errors(outcome, item)
        errors.append(error)
        noises.append(own_noise)
    known = [pair for pair in zip(errors, noises, strict=True) if np.isfinite(pair).all()]
    if not known:
        return None
    error = float(np.mean([one - other for one, other in known]))
    return Worth(float(np.mean(variances)), error) if error > 0 else None


def _verdicts(item: Observation) -> Floats:
    """Number of verdicts on each system, shape (S,)."""
    met = np.zeros(len(item.systems))
    if item.verdicts is not None:
        battles = item.verdicts.likelihood.items
        pairs, (_, times) = battles.pairs, battles.totals
        np.add.at(met, pairs.first, times)
        np.add.at(met, pairs.second, times)
    return met


def _errors(outcome: Outcome, item: Observation) -> tuple[float, float]:
    """Mean squared distance from the arena's ratings, and what their noise has in it."""
    places = [outcome.systems.index(name) for name in item.systems]
    away = np.ma.masked_invalid(outcome.predicted[:, places] - item.ratings)
    if not away.count():
        return float("nan"), float("nan")
    away = away - away.mean(axis=1, keepdims=True)
    unit = np.ones(away.shape)
    if outcome.standard_errors is not None:
        unit = np.nan_to_num(outcome.standard_errors[:, places], nan=1.0)
    noise = np.ma.array(item.sampling_variances / unit**2, mask=np.ma.getmaskarray(away))
    return float(((away / unit) ** 2).mean()), float(noise.mean())
