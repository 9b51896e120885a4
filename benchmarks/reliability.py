"""How far an arena agrees with itself, and what intervals of surrogates hold of its ratings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from arena.data.seeds import generator
from arena.rating.battles import Battles
from arena.rating.bradley_terry import DEFAULT_RIDGE
from arena.rating.tournaments import fit_coefficients
from arena.statistics.bootstrap import percentile_interval
from arena.statistics.rank_agreement import kendall_tau
from surrogate.board.ratings.intervals import UnseenRatings, conformal_intervals
from surrogate.learning.cross_fitting import Outcome, folds_of
from surrogate.learning.languages import LanguageData
from surrogate.learning.training import finite_means

Floats = npt.NDArray[np.float64]

SPLITS = 200
NORMAL_90 = 1.645
"""Standard errors to each side that hold 90% of a normal distribution."""
SHARES = ("normal_coverage", "conformal_coverage", "conformal_width")


def split_half(languages: Sequence[LanguageData], seed: int) -> dict[str, float | str]:
    """Kendall tau of the ratings of two random halves of the questions, with 95% of the splits."""
    if any(item.judgments.empty for item in languages):
        return {"reason": "only ratings are published, there are no questions to halve"}
    means = finite_means(
        np.array([half_taus(item.tournaments.battles, seed) for item in languages])
    )
    low, high = percentile_interval(means)
    return {"tau": float(np.nanmean(means)), "tau_low": low, "tau_high": high}


def half_taus(battles: Battles, seed: int) -> Floats:
    random = generator(seed, "split half")
    size = len(battles.questions)
    first = np.array([random.permutation(size) < size // 2 for _ in range(SPLITS)], dtype=float)
    halves = [fit_coefficients(battles, part, DEFAULT_RIDGE)[0] for part in (first, 1 - first)]
    return np.array([kendall_tau(*pair) for pair in zip(*halves, strict=True)])


def coverage(outcomes: Sequence[Outcome], seed: int) -> dict[str, float | None]:
    """Share of the arena's ratings inside intervals of surrogates that did not see the systems.

    Of rating ± 1.645 standard errors, and of 90% conformal intervals, those of each fifth of the
    systems found with the others; with the latter's half-width, in standard deviations of ratings.
    """
    raw, conformal = list[npt.NDArray[np.bool_]](), list[Floats]()
    systems = sorted({name for item in outcomes for name in item.systems})
    for repeat in range(len(outcomes[0].predicted)):
        rated = [repeat_of(item, repeat) for item in outcomes]
        raw += [item.residuals <= NORMAL_90 for item in rated if item.standard_errors is not None]
        for fold in folds_of(systems, seed, "coverage", str(repeat)):
            held = [np.isin(item.systems, fold) for item in outcomes]
            pairs = list(zip(rated, held, strict=True))
            found = conformal_intervals(
                [replace(item, arena=np.where(own, np.nan, item.arena)) for item, own in pairs]
            )
            for item, own in pairs:
                width = found[item.language].half_width
                conformal.append(insides(item, np.nan if width is None else width)[own])
    shares = [float(np.concatenate(raw).mean()) if raw else np.nan]
    shares += finite_means(np.concatenate(conformal)).tolist()
    named = dict(zip(SHARES, shares, strict=True))
    return {name: value if np.isfinite(value) else None for name, value in named.items()}


def repeat_of(outcome: Outcome, repeat: int) -> UnseenRatings:
    errors = None if outcome.standard_errors is None else outcome.standard_errors[repeat]
    return UnseenRatings(outcome.language, outcome.truth[repeat], outcome.predicted[repeat], errors)


def insides(rated: UnseenRatings, half_width: float) -> Floats:
    """Whether the interval of each system holds its rating, and its half-width, shape (S, 2)."""
    unit = np.ones(len(rated.arena)) if rated.standard_errors is None else rated.standard_errors
    distance, width = np.abs(rated.arena - rated.unseen), half_width * unit
    both = np.column_stack([distance <= width, width / np.nanstd(rated.arena)])
    both[~np.isfinite(distance + width)] = np.nan
    return both
