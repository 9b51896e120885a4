"""How well part of the judgments ranks as the whole does (MIRAGE-Bench, section 6.3, figure 6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import UsageError, checked_choice
from arena.data.seeds import SAME_DECIMALS, generator
from arena.rating.battles import TIE_RULES, Battles, TieRule
from arena.rating.bradley_terry import DEFAULT_RIDGE, fit_bradley_terry
from arena.rating.tournaments import WEAKEST_RIDGE
from arena.statistics.bootstrap import percentile_intervals
from arena.statistics.rank_agreement import kendall_taus

Floats = npt.NDArray[np.float64]
Draw = Callable[[Battles, Sequence[float], np.random.Generator], Floats]

DEFAULT_SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
FEWEST_SYSTEMS = 3
COLUMNS = ("language", "design", "share", "judgments", "tau", "low", "high")


def _questions(battles: Battles, shares: Sequence[float], random: np.random.Generator) -> Floats:
    """Take all pairs of random questions: weights of the items, shape (shares, N)."""
    return _taken(battles.n_questions, shares, random)[:, battles.items.question]


def _pairs(battles: Battles, shares: Sequence[float], random: np.random.Generator) -> Floats:
    """Take random items, an item being a pair on a question, shape (shares, N)."""
    return _taken(len(battles.items), shares, random)


def _taken(total: int, shares: Sequence[float], random: np.random.Generator) -> Floats:
    order = random.permutation(total)
    return np.array([order < max(1, round(share * total)) for share in shares], dtype=np.float64)


DESIGNS: MappingProxyType[str, Draw] = MappingProxyType({"questions": _questions, "pairs": _pairs})
"""Ways to draw parts of an arena, by name; a larger part holds the smaller."""


@dataclass(frozen=True)
class SamplingStudy:
    """Agreement of rankings from fewer judgments with the ranking of the whole arena.

    Attributes:
        table: Columns ``language, design, share, judgments, tau, low, high``: the mean number of
            judgments, the mean Kendall tau-b over repeats and the interval that holds 95% of the
            repeats.
        repeats: Random subsets of each design and share.
        signature: The settings that reproduce it.
    """

    table: pd.DataFrame
    repeats: int
    signature: str


def study_sampling(
    judgments: pd.DataFrame,
    shares: Sequence[float] = DEFAULT_SHARES,
    designs: Sequence[str] = tuple(DESIGNS),
    repeats: int = 100,
    ties: TieRule = "half",
    ridge: float = DEFAULT_RIDGE,
    seed: int = 0,
) -> SamplingStudy:
    """Rank from random parts of the judgments, language by language.

    A system without a battle in a part has the coefficient of the prior, 0; a part that ranks no
    system above another has tau 0.

    Args:
        judgments: Columns ``query_id, language, system_a, system_b, winner``; of one judge.
        shares: Shares of the whole arena, each above 0 and at most 1.
        designs: ``questions`` (all pairs of random questions) or ``pairs`` (random pairs on
            questions), or both.
        repeats: Subsets of each design and share.
        ties: ``half`` or ``drop``; dropped ties are no items.
        ridge: Precision of the prior on coefficients, for the parts and the whole; 0 for the
            weakest that parts have a ranking with, as tournaments have.
        seed: Seed of everything random.

    Raises:
        UsageError: For a share, design or number out of range, or fewer than three systems that
            judgments connect.
    """
    if not shares or not designs or not all(0 < share <= 1 for share in shares):
        raise UsageError("`shares` must be above 0 and at most 1, and designs one at least")
    for design in designs:
        checked_choice(design, DESIGNS, "design")
    if repeats < 1:
        raise UsageError(f"`repeats` is {repeats}; use at least 1")
    if not 0 <= ridge < np.inf:
        raise UsageError(f"`ridge` is {ridge:g}; use 0 or more")
    checked_choice(ties, TIE_RULES, "tie rule")
    if judgments.empty:
        raise UsageError("there are no judgments to sample from")
    rows: list[tuple[object, ...]] = []
    for language, part in judgments.groupby("language", sort=True):
        battles = connected_battles(part, str(language), ties)
        for design in designs:
            draws = [
                generator(seed, "sampling", str(language), design, str(n)) for n in range(repeats)
            ]
            weights = np.array([DESIGNS[design](battles, shares, random) for random in draws])
            taus, counts = sampled_taus(battles, weights, ridge or WEAKEST_RIDGE)
            low, high = percentile_intervals(taus)
            tau, judged = taus.mean(axis=0), counts.mean(axis=0)
            rows += [
                (language, design, share, round(judged[at]), tau[at], low[at], high[at])
                for at, share in enumerate(shares)
            ]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    signature = f"repeats:{repeats}|ties:{ties}|ridge:{ridge:g}|seed:{seed}"
    return SamplingStudy(table, repeats, signature)


def sampled_taus(battles: Battles, weights: Floats, ridge: float) -> tuple[Floats, Floats]:
    """Rank by parts of one language's battles; all repeats of a share are one fit.

    Args:
        battles: The whole arena.
        weights: Of each item in each part, shape (repeats, shares, N).
        ridge: Precision of the prior, above 0.

    Returns:
        Kendall tau-b with the whole arena, and the number of judgments, each of shape
        (repeats, shares).
    """
    reference = _coefficients(battles, *battles.items.totals, ridge)
    if not np.round(np.ptp(reference), SAME_DECIMALS):
        raise UsageError("the whole arena ranks no system above another: nothing to agree with")
    taus, judged = [], []
    for place in range(weights.shape[1]):
        points, counts = battles.items.weighted(weights[:, place])
        estimates = _coefficients(battles, points, counts, ridge)
        taus.append(np.nan_to_num(kendall_taus(estimates, reference)[:, 0]))
        judged.append(counts.sum(axis=1))
    return np.array(taus).T, np.array(judged).T


def connected_battles(judgments: pd.DataFrame, language: str, ties: TieRule = "half") -> Battles:
    """Count the battles of the largest group of systems that judgments connect.

    Args:
        judgments: Of one language and one judge.
        language: Named in the message of the error.
        ties: ``half`` or ``drop``.

    Raises:
        UsageError: If the group has fewer than three systems.
    """
    battles = Battles.from_judgments(judgments)
    connected = (battles.decided() if ties == "drop" else battles).largest_group()
    if len(connected.systems) < FEWEST_SYSTEMS:
        raise UsageError(
            f"{language}: judgments connect {len(connected.systems)} systems; "
            f"a ranking to agree with needs at least {FEWEST_SYSTEMS}"
        )
    return connected


def _coefficients(battles: Battles, points: Floats, counts: Floats, ridge: float) -> Floats:
    return fit_bradley_terry(points, counts, battles.items.pairs, ridge).coefficients
