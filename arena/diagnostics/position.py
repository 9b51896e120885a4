"""Whether a judge favours a side: how often side A wins."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

import numpy as np
import pandas as pd

from arena.diagnostics.finding import Finding, counted, subject_of
from arena.diagnostics.leaning import (
    Leaning,
    leaning,
    leaning_severity,
    shown_share,
    with_share,
)
from arena.diagnostics.verdicts import GROUP, groups_of, sums, won_by_a

MOSTLY = 0.5
SURELY = 3.0
"""Standard deviations beyond what random sides would give."""

VERDICTS: MappingProxyType[Leaning, str] = MappingProxyType(
    {
        "up": "side A is favoured",
        "down": "side B is favoured",
        "none": "no side is favoured beyond chance",
        "unknown": "nothing is decided",
    }
)


def position_table(table: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Count how often side A wins decided battles.

    Where sides were not drawn at random, the share holds the systems' strength along with the
    judge's preference; ``fixed_pairs`` tells: it counts the pairs that met at least twice and
    always in the same order, and ``sides_fixed`` says whether they are most pairs, and surely
    more than random sides would leave.

    Args:
        table: As ``verdicts`` returns it.
        pairs: As ``pairs_table`` returns it.

    Returns:
        Columns ``language, judge, decided, won_by_a, share, low, high`` (a Wilson interval of
        95%), ``verdict, repeated_pairs, fixed_pairs, sides_fixed``.
    """
    groups = groups_of(table)
    side = won_by_a(table)
    counts = sums(table, groups, {"decided": side != 0, "won_by_a": side == 1})
    shares = with_share(counts, "won_by_a", "decided")
    verdict = [VERDICTS[leaning(row.low, row.high)] for row in shares.itertuples()]
    fixed = _fixed_sides(pairs)
    return shares.assign(verdict=verdict).merge(fixed, on=GROUP)


def _fixed_sides(pairs: pd.DataFrame) -> pd.DataFrame:
    """Hold the pairs that always stood in one order against those chance would leave so."""
    repeated = pairs["battles"] > 1
    in_one_order = (pairs["first_on_a"] == 0) | (pairs["first_on_a"] == pairs["battles"])
    by_chance = np.exp2(1.0 - pairs["battles"]).where(repeated, 0.0)
    marks = pairs[GROUP].assign(
        repeated_pairs=repeated.astype(int),
        fixed_pairs=(repeated & in_one_order).astype(int),
        expected=by_chance,
        variance=by_chance * (1 - by_chance),
    )
    totals = marks.groupby(GROUP).sum().reset_index()
    beyond_chance = totals["expected"] + SURELY * np.sqrt(totals["variance"])
    most = MOSTLY * totals["repeated_pairs"]
    is_fixed = (totals["fixed_pairs"] > most) & (totals["fixed_pairs"] > beyond_chance)
    return totals[[*GROUP, "repeated_pairs", "fixed_pairs"]].assign(sides_fixed=is_fixed)


def position_findings(position: pd.DataFrame) -> Iterator[Finding]:
    """Say of every judge whether it favours a side."""
    for row in position.itertuples():
        subject = subject_of(row.language, row.judge)
        if not row.decided:
            yield Finding("warning", "position", subject, "every judgment is a tie")
            continue
        severity = leaning_severity(row.share, row.low, row.high)
        sentence = (
            f"side A wins {row.won_by_a:,} of {counted(row.decided, 'decided battle')} "
            f"({shown_share(row.share, row.low, row.high)}): {row.verdict}"
        )
        yield Finding(severity, "position", subject, sentence)
        if row.sides_fixed:
            sentence = (
                f"{row.fixed_pairs:,} of {row.repeated_pairs:,} pairs that met repeatedly always "
                "stood in the same order; the share of side A mixes position with strength"
            )
            yield Finding("warning", "fixed sides", subject, sentence)
