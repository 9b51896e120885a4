"""Biases that a judge's verdicts show: to a side, to flips, to length."""

from __future__ import annotations

import numpy as np
import pandas as pd

from arena.data.remarks import Remark, Severity
from arena.data.schema import ANSWER_KEY, QUESTION_KEY, REPEAT
from arena.data.types import Floats
from arena.data.wording import count_of
from arena.quality.verdicts import (
    GROUP,
    ITEM,
    PAIR,
    CheckResult,
    majorities,
    share_of,
    shown_share,
    won_by_a,
)
from arena.statistics.codes import row_keys

NOTABLE = 0.05
"""A share this far from one half is worth a warning; smaller differences hardly matter."""
NOTABLE_FLIPS = 0.1
UNRELIABLE_FLIPS = 0.25
"""Share of flips of a judge whose single verdicts cannot be relied on."""


def leaning(observed: float, low: float, high: float) -> tuple[int, Severity]:
    """Return the side of one half on which an interval lies, and how serious that is.

    Returns:
        1, -1, or 0 if it includes one half; a warning if the share notably differs from it.
    """
    side = int(low > 0.5) - int(high < 0.5)
    is_notable = side != 0 and abs(observed - 0.5) >= NOTABLE
    return side, "warning" if is_notable else "info"


def position_check(part: pd.DataFrame) -> CheckResult:
    """Count how often side A wins decided battles.

    If most pairs that met repeatedly always stood in one order, and many more than random sides
    would leave, the share of side A mixes position with strength.

    Returns:
        ``decided, won_by_a, share_a, low_a, high_a, sides_fixed``.
    """
    outcome_of_a = won_by_a(part)
    n_decided = int((outcome_of_a != 0).sum())
    n_won = int((outcome_of_a == 1).sum())
    share, low, high = share_of(n_won, n_decided)
    n_fixed, n_repeated, is_fixed = _fixed_sides(part)
    row = {
        "decided": n_decided,
        "won_by_a": n_won,
        "share_a": share,
        "low_a": low,
        "high_a": high,
        "sides_fixed": is_fixed,
    }
    if not n_decided:
        return CheckResult(row, [Remark("", "position", "warning", "every judgment is a tie")])
    side, severity = leaning(share, low, high)
    favored = {
        0: "no side is favored beyond chance",
        1: "side A is favored",
        -1: "side B is favored",
    }
    sentence = (
        f"side A wins {n_won:,} of {count_of(n_decided, 'decided battle')} "
        f"({shown_share(share, low, high)}): {favored[side]}"
    )
    remarks = [Remark("", "position", severity, sentence)]
    if is_fixed:
        sentence = (
            f"{n_fixed:,} of {count_of(n_repeated, 'pair')} that met repeatedly always stood in "
            "the same order; the share of side A mixes position with strength"
        )
        remarks.append(Remark("", "fixed sides", "warning", sentence))
    return CheckResult(row, remarks)


def _fixed_sides(part: pd.DataFrame) -> tuple[int, int, bool]:
    """Count the pairs that always stood in one order, among those that met repeatedly.

    Returns:
        The number of pairs in one order, the number that met repeatedly, and whether the former
        are most of these and many more than random sides would leave.
    """
    meetings = part.groupby(PAIR, observed=True)["first_on_a"].agg(["size", "mean"])
    meetings = meetings[meetings["size"] > 1]
    # With random sides, n meetings are all in one order with probability 2 / 2^n.
    chance = np.exp2(1.0 - meetings["size"])
    deviation = np.sqrt((chance * (1 - chance)).sum())
    n_fixed = int(meetings["mean"].isin([0, 1]).sum())
    is_fixed = bool(n_fixed > max(len(meetings) / 2, chance.sum() + 3.0 * deviation))
    return n_fixed, len(meetings), is_fixed


def flip_check(part: pd.DataFrame) -> CheckResult:
    """Compare the two orders of every question and pair that one judge judged in both.

    Several judgments in the same order count as one, their majority.

    Returns:
        ``items`` judged in both orders, ``flipped`` (the other system wins in the other order),
        ``flip_rate, flip_low, flip_high``.
    """
    orders = majorities(part, [*ITEM, "first_on_a"])
    item, _ = row_keys(orders[ITEM])
    # Both orders of an item follow each other.
    has_both = item[1:] == item[:-1]
    outcome = orders["outcome"].to_numpy()
    n_items = int(has_both.sum())
    n_flipped = int((has_both & (outcome[1:] * outcome[:-1] == -1)).sum())
    share, low, high = share_of(n_flipped, n_items)
    row: dict[str, float] = {
        "items": n_items,
        "flipped": n_flipped,
        "flip_rate": share,
        "flip_low": low,
        "flip_high": high,
    }
    if not n_items:
        sentence = "no pair is judged in both orders: how often verdicts flip is not known"
        return CheckResult(row, [Remark("", "flips", "info", sentence)])
    sentence = (
        f"of {count_of(n_items, 'pair')} judged in both orders {n_flipped:,} flip "
        f"({shown_share(share, low, high)})"
    )
    if tells_too_little(low, high):
        sentence += ": too few to tell a good judge from an unreliable one"
        return CheckResult(row, [Remark("", "flips", "info", sentence)])
    severity: Severity = "warning" if share >= NOTABLE_FLIPS else "info"
    return CheckResult(row, [Remark("", "flips", severity, sentence)])


def tells_too_little(low: float, high: float) -> bool:
    """Return whether an interval of flips holds those of good judges and of unreliable ones."""
    return low < NOTABLE_FLIPS and high > UNRELIABLE_FLIPS


def repeat_check(judgments: pd.DataFrame) -> CheckResult:
    """Compare the votes of one judge that was asked twice about the same question and sides.

    Args:
        judgments: Of one judge; repeated votes have a number in the column ``repeat``.

    Returns:
        ``repeated``, ``changed`` (the votes differ), ``change_rate, change_low, change_high``.
    """
    repeated = judgments.iloc[:0]
    if REPEAT in judgments:
        repeated = judgments[judgments[REPEAT].notna()]
    n_asked, n_changed = 0, 0
    if len(repeated):
        key = [*GROUP, "query_id", "system_a", "system_b"]
        first = judgments.drop(repeated.index).drop_duplicates(key)
        votes = repeated.merge(first[[*key, "winner"]], on=key, suffixes=("", "_first"))
        n_asked = len(votes)
        n_changed = int((votes["winner"] != votes["winner_first"]).sum())
    share, low, high = share_of(n_changed, n_asked)
    row: dict[str, float] = {
        "repeated": n_asked,
        "changed": n_changed,
        "change_rate": share,
        "change_low": low,
        "change_high": high,
    }
    if not n_asked:
        return CheckResult(row, [])
    sentence = (
        f"of {count_of(n_asked, 'pair')} asked twice in the same order {n_changed:,} got "
        f"another verdict ({shown_share(share, low, high)})"
    )
    severity: Severity = "warning" if low >= NOTABLE_FLIPS else "info"
    return CheckResult(row, [Remark("", "repeats", severity, sentence)])


def length_differences(table: pd.DataFrame, lengths: pd.Series) -> Floats:
    """Return by how much the first system's answer is longer, shape (N,); NaN if one is absent.

    Args:
        table: N verdicts, as ``oriented_verdicts`` returns them.
        lengths: See ``arena.rating.traits.answer_traits``.
    """

    def lengths_of(side: str) -> Floats:
        keys = pd.MultiIndex.from_frame(table[[*QUESTION_KEY, side]], names=ANSWER_KEY)
        return np.asarray(lengths.reindex(keys))

    return lengths_of("first") - lengths_of("second")


def length_check(part: pd.DataFrame, lengths: pd.Series) -> CheckResult:
    """Count how often the longer answer wins, among decided battles of answers of unequal length.

    Returns:
        ``unlike, longer_won, share_longer, low_longer, high_longer``, and ``length_missing``:
        decided battles left out because an answer is absent.
    """
    decided = part[part["outcome"] != 0]
    differences = length_differences(decided, lengths)
    n_unlike = int((np.abs(differences) > 0).sum())
    n_missing = int(np.isnan(differences).sum())
    n_won = int((differences * decided["outcome"].to_numpy() > 0).sum())
    share, low, high = share_of(n_won, n_unlike)
    row: dict[str, float] = {
        "unlike": n_unlike,
        "longer_won": n_won,
        "length_missing": n_missing,
        "share_longer": share,
        "low_longer": low,
        "high_longer": high,
    }
    remarks: list[Remark] = []
    if n_missing:
        sentence = (
            f"{count_of(n_missing, 'decided battle')} left out of the comparison of lengths: "
            "an answer is absent"
        )
        remarks.append(Remark("", "length", "info", sentence))
    if n_unlike:
        # Length and quality go together, so nothing is concluded about the reason.
        reasons = {
            0: "length makes no difference beyond chance",
            1: "longer answers win more, whether for their length or because better systems write "
            "more",
            -1: "shorter answers win more, whether for their length or because better systems "
            "write less",
        }
        side, severity = leaning(share, low, high)
        sentence = (
            f"the longer answer wins {n_won:,} of {count_of(n_unlike, 'decided battle')} "
            f"({shown_share(share, low, high)}): {reasons[side]}"
        )
        remarks.append(Remark("", "length", severity, sentence))
    return CheckResult(row, remarks)
