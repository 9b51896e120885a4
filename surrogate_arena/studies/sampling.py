"""How well a part of the judgments ranks as all do (MIRAGE-Bench, section 6.3, figure 6)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from arena.data.errors import UsageError, argument
from arena.data.types import Floats, Indices
from arena.rating.battles import Battles, TieRule
from arena.rating.bradley_terry import fit_bradley_terry
from arena.rating.penalized_likelihood import DEFAULT_RIDGE
from arena.rating.tournaments import WEAKEST_RIDGE
from arena.statistics.agreement import kendall_taus
from arena.statistics.bootstrap import SAME_DECIMALS, generator, percentile_intervals
from surrogate_arena.studies.study_table import StudyTable

DEFAULT_SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
DESIGNS = ("questions", "pairs")
"""Ways to draw parts: all pairs of random questions, or random pairs on questions."""
FEWEST_SYSTEMS = 3
COLUMNS = ("language", "design", "share", "judgments", "tau", "low", "high")


def study_sampling(
    judgments: pd.DataFrame,
    shares: Sequence[float] = DEFAULT_SHARES,
    designs: Sequence[str] = DESIGNS,
    repeats: int = 100,
    ties: TieRule = "half",
    ridge: float = DEFAULT_RIDGE,
    seed: int = 0,
) -> StudyTable:
    """Rank from random parts of the judgments, language by language; larger parts hold smaller.

    The table has the mean number of judgments and the mean Kendall tau-b with the whole arena, and
    the interval that holds 95% of the repeats. Of an arena, see ``validate(arena, "sampling")``.

    Args:
        judgments: Judgments of one judge.
        shares: Shares of the whole arena, each above 0 and at most 1.
        designs: Of ``DESIGNS``.
        repeats: Subsets of each design and share.
        ties: ``half`` or ``drop``.
        ridge: Precision of the prior on coefficients; 0 for the weakest that parts have a ranking
            with.
        seed: Of all draws.

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
            for share in shares:
                key = {"language": language, "design": design, "share": share}
                weights = _weights(battles, orders, design, share)
                rows.append({**key, **_agreement(battles, weights, ridge or WEAKEST_RIDGE)})
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    signature = f"repeats:{repeats}|ties:{ties}|ridge:{ridge:g}|seed:{seed}"
    return StudyTable(table, signature)


def _weights(battles: Battles, orders: Indices, design: str, share: float) -> Floats:
    n_taken = max(1, round(share * orders.shape[1]))
    weights: Floats = (orders < n_taken).astype(np.float64)
    # Questions are drawn with all their items.
    return weights[:, battles.items.question] if design == "questions" else weights


def _agreement(battles: Battles, weights: Floats, ridge: float) -> dict[str, float]:
    taus, n_judgments = _taus(battles, weights, ridge)
    low, high = percentile_intervals(taus[:, None])
    return {"judgments": round(n_judgments), "tau": taus.mean(), "low": low[0], "high": high[0]}


def _orders(battles: Battles, language: str, design: str, repeats: int, seed: int) -> Indices:
    """Draw for each repeat an order of questions, or of pairs on questions, (repeats, units)."""
    n_units = battles.n_questions if design == "questions" else len(battles.items)
    permutations = []
    for repeat in range(repeats):
        random = generator(seed, "sampling", language, design, str(repeat))
        permutations.append(random.permutation(n_units))
    return np.array(permutations)


def connected_battles(judgments: pd.DataFrame, language: str, ties: TieRule = "half") -> Battles:
    """Count the battles of the largest group of systems that one judge's verdicts connect."""
    battles = Battles.from_judgments(judgments)
    connected = battles.counted(ties).largest_group()
    if len(connected.systems) < FEWEST_SYSTEMS:
        raise UsageError(
            f"{language}: judgments connect {len(connected.systems)} systems; "
            f"a ranking to agree with needs at least {FEWEST_SYSTEMS}"
        )
    return connected


def _taus(battles: Battles, weights: Floats, ridge: float) -> tuple[Floats, float]:
    """Return tau-b of parts with the whole arena, (repeats,), and the mean number of judgments."""
    items = battles.items
    points, counts = items.totals
    reference = fit_bradley_terry(points, counts, items.pairs, ridge).coefficients
    if not np.round(np.ptp(reference), SAME_DECIMALS):
        raise UsageError("the whole arena ranks no system above another: nothing to agree with")
    part_points, part_counts = items.weighted(weights)
    coefficients = fit_bradley_terry(part_points, part_counts, items.pairs, ridge).coefficients
    # A part that ranks no system above another has no tau: it agrees no more than chance.
    taus = np.nan_to_num(kendall_taus(coefficients, reference)[:, 0])
    return taus, float(part_counts.sum(axis=1).mean())
