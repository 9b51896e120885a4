"""Biases of a judge: side, side preference, length."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.schema import ANSWER_KEY, QUESTION_KEY
from arena.data.wording import count_of
from arena.diagnostics.finding import Finding, Severity, subject_of
from arena.diagnostics.verdicts import GROUP, ITEM, groups_of, majorities, share, sums, won_by_a
from arena.statistics.significance import (
    NORMAL_QUANTILE,
    clustered_slope,
    wilson_interval,
)
from arena.text.answers import parse_answer

Floats = npt.NDArray[np.float64]
Preference = Literal["up", "down", "none", "unknown"]

NOTABLE = 0.05
"""A share this far from one half is worth a warning, however sure a smaller one is."""


def with_share(
    table: pd.DataFrame, successes: str, trials: str, name: str = "share"
) -> pd.DataFrame:
    """Add the share of successes among trials and its bounds, ``low`` and ``high``."""
    low, high = wilson_interval(table[successes], table[trials])
    added = {name: share(table[successes], table[trials]), "low": low, "high": high}
    return table.assign(**added)


def side_preference(low: float, high: float) -> Preference:
    """Say to which side of one half an interval lies; ``unknown`` without an interval."""
    if np.isnan(low) or np.isnan(high):
        return "unknown"
    if low > 0.5:
        return "up"
    return "down" if high < 0.5 else "none"


def preference_severity(observed: float, low: float, high: float) -> Severity:
    """Grade a share: a warning where it surely and notably differs from one half."""
    is_sure = side_preference(low, high) in ("up", "down")
    return "warning" if is_sure and abs(observed - 0.5) >= NOTABLE else "info"


def shown_share(observed: float, low: float, high: float) -> str:
    """Show a share with its interval, in percent."""
    return f"{observed:.1%}, 95% interval {low:.1%} to {high:.1%}"


NOTABLE_FLIPS = 0.1


def order_consistency_table(table: pd.DataFrame) -> pd.DataFrame:
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


def order_consistency_findings(order_consistency: pd.DataFrame) -> Iterator[Finding]:
    """Say how often each judge contradicts itself."""
    for row in order_consistency.itertuples():
        subject = subject_of(row.language, row.judge)
        if row.items:
            severity: Severity = "warning" if row.flip_rate >= NOTABLE_FLIPS else "info"
            sentence = (
                f"of {count_of(row.items, 'item')} judged in both orders {row.flipped:,} flip "
                f"({shown_share(row.flip_rate, row.low, row.high)}), {row.tie_vs_win:,} are a tie "
                f"in one order alone{_lean(row.flipped, row.flipped_to_a)}"
            )
            yield Finding(severity, "flips", subject, sentence)
        else:
            sentence = "no item is judged in both orders; how often verdicts flip is not known"
            yield Finding("info", "flips", subject, sentence)
        if row.repeated_differently:
            sentence = (
                f"{row.repeated_differently:,} of {count_of(row.repeated, 'item')} judged again in "
                "the same order got another verdict"
            )
            yield Finding("warning", "repeats", subject, sentence)


def _lean(flipped: int, to_a: int) -> str:
    if not flipped:
        return ""
    low, high = wilson_interval([to_a], [flipped])
    lean = side_preference(float(low[0]), float(high[0]))
    side = {"up": "side A", "down": "side B"}.get(lean, "no side beyond chance")
    return f"; flips favor {side} ({to_a:,} go to A, {flipped - to_a:,} to B)"


MOSTLY = 0.5
SURELY = 3.0
"""Standard deviations beyond what random sides would give."""

VERDICTS: MappingProxyType[Preference, str] = MappingProxyType(
    {
        "up": "side A is favored",
        "down": "side B is favored",
        "none": "no side is favored beyond chance",
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
    verdict = [VERDICTS[side_preference(row.low, row.high)] for row in shares.itertuples()]
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
    """Say of every judge whether it favors a side."""
    for row in position.itertuples():
        subject = subject_of(row.language, row.judge)
        if not row.decided:
            yield Finding("warning", "position", subject, "every judgment is a tie")
            continue
        severity = preference_severity(row.share, row.low, row.high)
        sentence = (
            f"side A wins {row.won_by_a:,} of {count_of(row.decided, 'decided battle')} "
            f"({shown_share(row.share, row.low, row.high)}): {row.verdict}"
        )
        yield Finding(severity, "position", subject, sentence)
        if row.sides_fixed:
            sentence = (
                f"{row.fixed_pairs:,} of {count_of(row.repeated_pairs, 'pair')} that met "
                "repeatedly always stood in the same order; the share of side A mixes position "
                "with strength"
            )
            yield Finding("warning", "fixed sides", subject, sentence)


UNCLEAR = "what length does is unclear, for share and slope do not surely lean the same way"

LENGTH_VERDICTS: MappingProxyType[Preference, str] = MappingProxyType(
    {
        "up": "longer answers win more, whether for their length or because better systems "
        "write more",
        "down": "shorter answers win more, whether for their length or because better systems "
        "write less",
        "none": "length makes no difference beyond chance",
        "unknown": "nothing to compare",
    }
)


def length_table(table: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """Count how often the longer answer wins, and how fast the odds grow with its length.

    Length is that of the answer proper (see ``parse_answer``), in characters. The slope is that
    of a logistic regression, without intercept, of the first system's win on
    ``log((1 + length) / (1 + other length))``, divided by its root mean square over the battles
    of the judge; without intercept, which system is the first does not matter.

    Args:
        table: As ``verdicts`` returns it.
        answers: Columns ``query_id, language, system, answer``.

    Returns:
        Columns ``language, judge, decided`` (battles one system wins, answers of unlike length),
        ``longer_won, share, low, high`` (a Wilson interval of 95%), ``slope`` (logits a
        standard unit), ``slope_error`` (standard error clustered by question), ``same_length``
        and ``missing`` (decided battles left out: one answer or both are absent). NaN where a
        slope is not defined, or infinite for want of exceptions. The Wilson interval takes
        battles as independent, which those of one question are not; the slope's error does not.
    """
    groups = groups_of(table)
    decided = table[table["outcome"] != 0]
    lengths = _lengths(answers)
    ratio = np.log1p(_of(decided, "first", lengths)) - np.log1p(_of(decided, "second", lengths))
    outcome = decided["outcome"].to_numpy()
    missing = np.isnan(ratio)
    marks = {
        "decided": ~missing & (ratio != 0),
        "longer_won": ratio * outcome > 0,
        "same_length": ratio == 0,
        "missing": missing,
    }
    counts = with_share(sums(decided, groups, marks), "longer_won", "decided")
    slopes = _slopes(decided[~missing].assign(ratio=ratio[~missing]), groups)
    table = counts.merge(slopes, on=GROUP)
    last = ["same_length", "missing"]
    return table[[*(name for name in table.columns if name not in last), *last]]


def _lengths(answers: pd.DataFrame) -> pd.Series:
    sizes = [float(len(parse_answer(answer).text)) for answer in answers["answer"]]
    return pd.Series(sizes, index=pd.MultiIndex.from_frame(answers[ANSWER_KEY]), dtype=float)


def _of(table: pd.DataFrame, side: str, lengths: pd.Series) -> Floats:
    keys = pd.MultiIndex.from_frame(table[[*QUESTION_KEY, side]], names=ANSWER_KEY)
    return np.asarray(lengths.reindex(keys), dtype=np.float64)


def _slopes(decided: pd.DataFrame, groups: pd.DataFrame) -> pd.DataFrame:
    found = {}
    ordered = decided.sort_values([*GROUP, "query_id", "first", "second", "outcome", "ratio"])
    for key, part in ordered.groupby(GROUP):
        signed = part["ratio"].to_numpy() * part["outcome"].to_numpy()
        found[key] = clustered_slope(signed, part["query_id"].to_numpy())
    none = (float("nan"), float("nan"))
    rows = [found.get(key, none) for key in groups[GROUP].itertuples(index=False, name=None)]
    return groups.assign(slope=[row[0] for row in rows], slope_error=[row[1] for row in rows])


def length_findings(lengths: pd.DataFrame) -> Iterator[Finding]:
    """Say of every judge whether longer answers win more."""
    for row in lengths.itertuples():
        subject = subject_of(row.language, row.judge)
        if row.missing:
            sentence = (
                f"{count_of(row.missing, 'decided battle')} left out of the comparison of lengths: "
                "an answer is absent"
            )
            yield Finding("info", "length", subject, sentence)
        if not row.decided:
            continue
        severity, verdict = _verdict(row.share, row.low, row.high, row.slope, row.slope_error)
        sentence = (
            f"the longer answer wins {row.longer_won:,} of "
            f"{count_of(row.decided, 'decided battle')} "
            f"({shown_share(row.share, row.low, row.high)}{_slope(row.slope, row.slope_error)}): "
            f"{verdict}"
        )
        yield Finding(severity, "length", subject, sentence)


def _verdict(
    observed: float, low: float, high: float, slope: float, error: float
) -> tuple[Severity, str]:
    """Grade a share; where the slope has an error, both must surely lean the same way."""
    lean = side_preference(low, high)
    bound = NORMAL_QUANTILE * error
    of_slope = int(slope > bound) - int(slope < -bound)
    if not np.isnan(error) and of_slope != {"up": 1, "down": -1}.get(lean, 0):
        return "info", UNCLEAR
    return preference_severity(observed, low, high), LENGTH_VERDICTS[lean]


def _slope(slope: float, error: float) -> str:
    if np.isnan(slope):
        return ""
    return f"; slope {slope:.2f}" + ("" if np.isnan(error) else f", standard error {error:.2f}")
