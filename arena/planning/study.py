"""How well part of the judgments ranks as the whole does (MIRAGE-Bench, section 6.3, figure 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import UsageError, checked_choice
from arena.data.seeds import generator
from arena.planning.subsets import DESIGNS
from arena.rating.battles import TIE_RULES, Battles, TieRule
from arena.rating.bradley_terry import DEFAULT_RIDGE, fit_bradley_terry
from arena.rating.tournaments import WEAKEST_RIDGE
from arena.statistics.bootstrap import percentile_intervals
from arena.statistics.rank_agreement import SAME_RATING_DECIMALS, kendall_taus

Floats = npt.NDArray[np.float64]

DEFAULT_SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
DEFAULT_DESIGNS = ("questions", "pairs")
DEFAULT_REPEATS = 100
FEWEST_SYSTEMS = 3
COLUMNS = ("language", "design", "share", "judgments", "tau", "low", "high")


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


@dataclass(frozen=True)
class SampledTaus:
    """One design in one language.

    Attributes:
        taus: Kendall tau-b with the whole arena, shape (repeats, shares).
        judgments: Number of judgments, shape (repeats, shares).
    """

    taus: Floats
    judgments: Floats


def study_sampling(
    judgments: pd.DataFrame,
    shares: Sequence[float] = DEFAULT_SHARES,
    designs: Sequence[str] = DEFAULT_DESIGNS,
    repeats: int = DEFAULT_REPEATS,
    ties: TieRule = "half",
    ridge: float = DEFAULT_RIDGE,
    seed: int = 0,
) -> SamplingStudy:
    """Rank from random or chosen parts of the judgments, language by language.

    Args:
        judgments: Columns ``query_id, language, system_a, system_b, winner``; of one judge.
        shares: Shares of the whole arena, each above 0 and at most 1.
        designs: Some of ``questions`` (all pairs of random questions), ``pairs`` (random items,
            an item being a pair on a question), ``completed`` (random items, the others predicted
            from them) and ``adaptive`` (items that ``arena.planning.AdaptivePairing`` would ask
            for, the others predicted). The last two are slower.
        repeats: Subsets of each design and share.
        ties: ``half`` or ``drop``; dropped ties are no items.
        ridge: Precision of the prior on coefficients, for the parts and the whole; 0 for the
            weakest that parts have a ranking with, as tournaments have.
        seed: Seed of everything random.

    Raises:
        UsageError: For a share, design or number out of range, or fewer than three systems that
            judgments connect.
    """
    _check_settings(shares, designs, repeats, ridge)
    checked_choice(ties, TIE_RULES, "tie rule")
    if judgments.empty:
        raise UsageError("there are no judgments to sample from")
    rows = []
    prior = ridge or WEAKEST_RIDGE
    for language, of_language in judgments.groupby("language", sort=True):
        battles = connected_battles(of_language, str(language), ties)
        for design in designs:
            sampled = sample_taus(battles, str(language), design, shares, repeats, prior, seed)
            rows += _rows(str(language), design, shares, sampled)
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return SamplingStudy(
        table, repeats, f"repeats:{repeats}|ties:{ties}|ridge:{ridge:g}|seed:{seed}"
    )


def sample_taus(
    battles: Battles,
    language: str,
    design: str,
    shares: Sequence[float],
    repeats: int,
    ridge: float = DEFAULT_RIDGE,
    seed: int = 0,
) -> SampledTaus:
    """Rank from parts of one language's battles; all repeats of a share are one fit.

    A system without a battle in a part has the coefficient of the prior, 0; a part that ranks no
    system above another has tau 0.

    Args:
        battles: The whole arena.
        language: Names the draws.
        design: Name of one of ``DESIGNS``.
        shares: Shares of the whole arena.
        repeats: Subsets of each share; the first ones are the same for any number of repeats.
        ridge: Precision of the prior, above 0.
        seed: Seed of the draws.
    """
    parts = [
        DESIGNS[design](
            battles, shares, generator(seed, "sampling", language, design, str(repeat)), ridge
        )
        for repeat in range(repeats)
    ]
    points = np.array([part.points for part in parts])
    counts = np.array([part.counts for part in parts])
    reference = _coefficients(battles, *battles.items.totals, ridge)
    if not np.round(np.ptp(reference), SAME_RATING_DECIMALS):
        raise UsageError("the whole arena ranks no system above another: nothing to agree with")
    taus = []
    for index in range(len(shares)):
        estimates = _coefficients(battles, points[:, index], counts[:, index], ridge)
        tau = kendall_taus(estimates, reference, SAME_RATING_DECIMALS)[:, 0]
        taus.append(np.nan_to_num(tau))
    return SampledTaus(np.array(taus).T, np.array([part.judged for part in parts]))


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


def _check_settings(
    shares: Sequence[float], designs: Sequence[str], repeats: int, ridge: float
) -> None:
    if not shares or not designs:
        raise UsageError("shares and designs must hold at least one each")
    for share in shares:
        if not 0 < share <= 1:
            raise UsageError(f"share {share:g} is out of range; use above 0 and at most 1")
    for design in designs:
        if design not in DESIGNS:
            raise UsageError(f"unknown design {design!r}; use some of {', '.join(DESIGNS)}")
    if repeats < 1:
        raise UsageError(f"repeats = {repeats} is out of range; use at least 1")
    if not 0 <= ridge < np.inf:
        raise UsageError(f"ridge = {ridge:g} is out of range; use 0 or more")


def _coefficients(battles: Battles, points: Floats, counts: Floats, ridge: float) -> Floats:
    pairs = battles.items.pairs
    fit = fit_bradley_terry(points, counts, pairs.first, pairs.second, pairs.n_systems, ridge)
    return fit.coefficients


def _rows(
    language: str, design: str, shares: Sequence[float], sampled: SampledTaus
) -> list[tuple[object, ...]]:
    low, high = percentile_intervals(sampled.taus)
    tau, judgments = sampled.taus.mean(axis=0), sampled.judgments.mean(axis=0)
    return [
        (language, design, share, round(judgments[at]), tau[at], low[at], high[at])
        for at, share in enumerate(shares)
    ]
