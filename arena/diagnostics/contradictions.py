"""Whether a judge contradicts itself: on both orders of a pair, and when asked again."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from arena.diagnostics.finding import Finding, Severity, counted, subject_of
from arena.diagnostics.leaning import leaning, shown_share, wilson_interval, with_share
from arena.diagnostics.verdicts import ITEM, groups_of, majorities, sums

NOTABLE_FLIPS = 0.1


def contradictions_table(table: pd.DataFrame) -> pd.DataFrame:
    """Compare the two orders of every item that one rater judged in both.

    An item is a question and an unordered pair of systems. Several judgments of an item in the
    same order count as one, their majority (see ``majorities``).

    Args:
        table: As ``verdicts`` returns it.

    Returns:
        Columns ``language, judge, items`` (judged in both orders), ``consistent, flipped`` (the
        other system wins in the other order), ``tie_vs_win``, ``flip_rate, low, high`` (flipped
        among items, a Wilson interval of 95%), ``flipped_to_a, flipped_to_b`` (the side that
        wins in both orders), ``repeated`` (items judged again in the same order) and
        ``repeated_differently`` (not always with the same verdict).
    """
    groups = groups_of(table)
    orders = majorities(table, [*ITEM, "first_on_a"])
    again = orders["judged"] > 1
    repeats = sums(
        orders, groups, {"repeated": again, "repeated_differently": again & ~orders["unanimous"]}
    )
    both = _both_orders(orders)
    forward, backward = both["outcome_forward"], both["outcome_backward"]
    is_flipped = forward * backward == -1
    marks = {
        "items": 1,
        "consistent": forward == backward,
        "flipped": is_flipped,
        "tie_vs_win": (forward != backward) & ~is_flipped,
        "flipped_to_a": is_flipped & (forward == 1),
        "flipped_to_b": is_flipped & (forward == -1),
    }
    counts = with_share(sums(both, groups, marks), "flipped", "items", "flip_rate")
    return counts.assign(
        repeated=repeats["repeated"], repeated_differently=repeats["repeated_differently"]
    )


def _both_orders(orders: pd.DataFrame) -> pd.DataFrame:
    """Join the verdict with the first system on side A to that with it on side B."""
    columns = [*ITEM, "outcome"]
    forward = orders.loc[orders["first_on_a"], columns]
    backward = orders.loc[~orders["first_on_a"], columns]
    return forward.merge(backward, on=ITEM, suffixes=("_forward", "_backward"))


def contradiction_findings(contradictions: pd.DataFrame) -> Iterator[Finding]:
    """Say how often each judge contradicts itself."""
    for row in contradictions.itertuples():
        subject = subject_of(row.language, row.judge)
        if row.items:
            severity: Severity = "warning" if row.flip_rate >= NOTABLE_FLIPS else "info"
            sentence = (
                f"of {counted(row.items, 'item')} judged in both orders {row.flipped:,} flip "
                f"({shown_share(row.flip_rate, row.low, row.high)}), {row.tie_vs_win:,} are a tie "
                f"in one order alone{_lean(row.flipped, row.flipped_to_a)}"
            )
            yield Finding(severity, "flips", subject, sentence)
        else:
            sentence = "no item is judged in both orders; how often verdicts flip is not known"
            yield Finding("info", "flips", subject, sentence)
        if row.repeated_differently:
            sentence = (
                f"{row.repeated_differently:,} of {counted(row.repeated, 'item')} judged again in "
                "the same order got another verdict"
            )
            yield Finding("warning", "repeats", subject, sentence)


def _lean(flipped: int, to_a: int) -> str:
    if not flipped:
        return ""
    low, high = wilson_interval([to_a], [flipped])
    lean = leaning(float(low[0]), float(high[0]))
    side = {"up": "side A", "down": "side B"}.get(lean, "no side beyond chance")
    return f"; flips favour {side} ({to_a:,} go to A, {flipped - to_a:,} to B)"
