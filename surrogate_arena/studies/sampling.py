"""Ranking by a part of the judgments (MIRAGE-Bench, section 6.3, figure 6)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from arena.data.errors import UsageError, argument
from arena.data.types import Floats, Indices
from arena.rating.battles import Battles, TieRule
from arena.rating.bradley_terry import DEFAULT_RIDGE, NormalPrior, PenalizedLikelihood, solve
from arena.rating.tournaments import WEAKEST_RIDGE
from arena.statistics.agreement import resampled_taus
from arena.statistics.bootstrap import SAME_DECIMALS, generator, percentile_intervals
from surrogate_arena.studies.study_table import StudyTable

DEFAULT_SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
HALVES = "halves"
DESIGNS = ("questions", "pairs", HALVES)
"""Ways to draw parts: all pairs of random questions, or random pairs on questions, both compared
with all judgments, of which the part is one; and random questions of one half, compared with the
other half."""
FEWEST_SYSTEMS = 3
COLUMNS = ("language", "design", "share", "judgments", "tau", "tau_low", "tau_high")
TARGETS = (
    "Questions and pairs are compared with all judgments, their own included: at 100% tau is 1. "
    "Halves are compared with the other half of the questions, as new judgments would be."
)


def study_sampling(
    judgments: pd.DataFrame,
    shares: Sequence[float] = DEFAULT_SHARES,
    designs: Sequence[str] = DESIGNS,
    repeats: int = 100,
    ties: TieRule = "half",
    ridge: float = DEFAULT_RIDGE,
    seed: int = 0,
) -> StudyTable:
    """Rank from random parts of the judgments by language; larger parts hold smaller.

    The table has mean judgments and mean Kendall tau-b with the design's target (``DESIGNS``), with
    the interval that holds 95% of the repeats.

    Args:
        judgments: Judgments of one judge.
        shares: Shares of the arena, each above 0 and at most 1; of halves at most one half.
        designs: Some of ``DESIGNS``.
        repeats: Subsets of each design and share.
        ties: ``half`` or ``drop``.
        ridge: Precision of the prior; 0 for the weakest that ranks all parts.
        seed: Seed of all draws.

    Returns:
        A row per language, design and share.

    Raises:
        UsageError: For a share or number out of range, or fewer than three systems that judgments
            connect.
    """
    if not all(0 < share <= 1 for share in shares):
        raise UsageError(f"{argument('shares')} must be above 0 and at most 1")
    if repeats < 1:
        raise UsageError(f"{argument('repeats')} is {repeats}; use at least 1")
    if judgments.empty:
        raise UsageError("there are no judgments to sample from")
    rows: list[dict[str, object]] = []
    for language, part in judgments.groupby("language", sort=True):
        battles = connected_battles(part, str(language), ties)
        for design in designs:
            orders = _orders(battles, str(language), design, repeats, seed)
            n_units = orders.shape[1]
            # One row: all parts are compared with the same ratings.
            target = np.ones((1, n_units))
            if design == HALVES:
                target = (orders >= n_units // 2).astype(np.float64)
            for share in shares:
                n_taken = max(1, round(share * n_units))
                if design == HALVES and n_taken > n_units // 2:
                    continue
                part = (orders < n_taken).astype(np.float64)
                agreement = _agreement(
                    battles,
                    _item_weights(battles, part, design),
                    _item_weights(battles, target, design),
                    ridge or WEAKEST_RIDGE,
                )
                rows.append({"language": language, "design": design, "share": share, **agreement})
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    signature = f"repeats:{repeats}|ties:{ties}|ridge:{ridge:g}|seed:{seed}"
    return StudyTable(table, signature, "Judgments that a ranking needs", [TARGETS])


def _item_weights(battles: Battles, weights: Floats, design: str) -> Floats:
    # Questions are drawn with all their items.
    return weights if design == "pairs" else weights[:, battles.items.question]


def _agreement(battles: Battles, weights: Floats, target: Floats, ridge: float) -> dict[str, float]:
    taus, n_judgments = _taus(battles, weights, target, ridge)
    low, high = percentile_intervals(taus[:, None])
    return {
        "judgments": round(n_judgments),
        "tau": taus.mean(),
        "tau_low": low[0],
        "tau_high": high[0],
    }


def _orders(battles: Battles, language: str, design: str, repeats: int, seed: int) -> Indices:
    """Draw orders of questions, or of pairs on questions, (repeats, units)."""
    n_units = len(battles.items) if design == "pairs" else battles.n_questions
    permutations = []
    for repeat in range(repeats):
        random = generator(seed, "sampling", language, design, str(repeat))
        permutations.append(random.permutation(n_units))
    return np.array(permutations)


def connected_battles(judgments: pd.DataFrame, language: str, ties: TieRule = "half") -> Battles:
    """Return the battles of the largest connected group of systems."""
    battles = Battles.from_judgments(judgments)
    connected = battles.counted(ties).largest_group()
    if len(connected.systems) < FEWEST_SYSTEMS:
        raise UsageError(
            f"{language}: judgments connect {len(connected.systems)} systems; "
            f"a ranking to agree with needs at least {FEWEST_SYSTEMS}"
        )
    return connected


def _taus(battles: Battles, weights: Floats, target: Floats, ridge: float) -> tuple[Floats, float]:
    """Return tau-b of parts with their targets, (repeats,), and the mean number of judgments.

    ``weights`` and ``target`` count items of parts and targets, shape (repeats or 1, items).
    """
    part, n_judgments = _ratings(battles, weights, ridge)
    reference, _ = _ratings(battles, target, ridge)
    if not np.round(np.ptp(reference, axis=-1), SAME_DECIMALS).any():
        raise UsageError("the whole arena ranks no system above another: nothing to agree with")
    # A part that ranks no system above another has no tau: it agrees no more than chance.
    taus = np.nan_to_num(resampled_taus(part, reference, np.ones_like(part)))
    return taus, n_judgments


def _ratings(battles: Battles, weights: Floats, ridge: float) -> tuple[Floats, float]:
    items = battles.items
    points, counts = items.weighted(weights)
    prior = NormalPrior.ridge(items.pairs.n_systems, ridge)
    columns = np.ascontiguousarray(points.T), np.ascontiguousarray(counts.T)
    fit = solve(PenalizedLikelihood(items.pairs, *columns, prior)).checked()
    return fit.coefficients, float(counts.sum(axis=1).mean())
