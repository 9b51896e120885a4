"""What a judge's own verdicts show of it: sides, flips and length."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from arena.data.schema import ANSWER_KEY, QUESTION_KEY
from arena.data.wording import count_of
from arena.diagnostics.verdicts import (
    ITEM,
    PAIR,
    Severity,
    majorities,
    share_of,
    shown_share,
    won_by_a,
)
from arena.text.answers import parse_answer

NOTABLE = 0.05
"""A share this far from one half is worth a warning, however sure a smaller one is."""
NOTABLE_FLIPS = 0.1
SURELY = 3.0
"""Standard deviations beyond what random sides would give."""

LEANS = (
    "length makes no difference beyond chance",
    "longer answers win more, whether for their length or because better systems write more",
    "shorter answers win more, whether for their length or because better systems write less",
)
"""What is said of length, by ``leaning``: 0, 1, -1."""

Looked = tuple[dict[str, Any], list[tuple[Severity, str, str]]]
"""Numbers of one language and judge, and what is said of them: severity, check, sentence."""


def leaning(observed: float, low: float, high: float) -> tuple[int, Severity]:
    """Say to which side of one half an interval surely lies, and how grave that is.

    Returns:
        1, -1, or 0 where it holds one half; a warning where the share notably differs from it.
    """
    side = int(low > 0.5) - int(high < 0.5)
    return side, "warning" if side and abs(observed - 0.5) >= NOTABLE else "info"


def position(part: pd.DataFrame) -> Looked:
    """Count how often side A wins decided battles.

    Where most pairs that met repeatedly always stood in one order, and surely more than random
    sides would leave, the share of side A mixes position with strength.

    Returns:
        ``decided, won_by_a, share_a, low_a, high_a, sides_fixed``.
    """
    side = won_by_a(part)
    decided, won = int((side != 0).sum()), int((side == 1).sum())
    share = share_of(won, decided)
    met = part.groupby(PAIR)["first_on_a"].agg(["size", "mean"])
    met = met[met["size"] > 1]
    chance = np.exp2(1.0 - met["size"])
    fixed = int(met["mean"].isin([0, 1]).sum())
    beyond = chance.sum() + SURELY * np.sqrt((chance * (1 - chance)).sum())
    is_fixed = bool(fixed > max(len(met) / 2, beyond))
    numbers = dict(zip(("share_a", "low_a", "high_a"), share, strict=True))
    row = {"decided": decided, "won_by_a": won, **numbers, "sides_fixed": is_fixed}
    if not decided:
        return row, [("warning", "position", "every judgment is a tie")]
    lean, severity = leaning(*share)
    favored = ("no side is favored beyond chance", "side A is favored", "side B is favored")[lean]
    sentence = f"side A wins {won:,} of {count_of(decided, 'decided battle')} "
    said = [(severity, "position", f"{sentence}({shown_share(*share)}): {favored}")]
    if is_fixed:
        sentence = (
            f"{fixed:,} of {count_of(len(met), 'pair')} that met repeatedly always stood in the "
            "same order; the share of side A mixes position with strength"
        )
        said.append(("warning", "fixed sides", sentence))
    return row, said


def flips(part: pd.DataFrame) -> Looked:
    """Compare the two orders of every question and pair that one judge judged in both.

    Several judgments in the same order count as one, their majority.

    Returns:
        ``items`` judged in both orders, ``flipped`` (the other system wins in the other order),
        ``flip_rate, flip_low, flip_high``.
    """
    orders = majorities(part, [*ITEM, "first_on_a"])
    both = orders.pivot(index=ITEM, columns="first_on_a", values="outcome")
    both = both.reindex(columns=[True, False]).dropna()
    items, flipped = len(both), int((both[True] * both[False] == -1).sum())
    share = share_of(flipped, items)
    row: dict[str, float] = {"items": items, "flipped": flipped}
    row |= dict(zip(("flip_rate", "flip_low", "flip_high"), share, strict=True))
    if not items:
        sentence = (
            "no pair is judged in both orders (judge --both-orders): how often verdicts flip is "
            "not known"
        )
        return row, [("info", "flips", sentence)]
    sentence = f"of {count_of(items, 'pair')} judged in both orders {flipped:,} flip "
    severity: Severity = "warning" if share[0] >= NOTABLE_FLIPS else "info"
    return row, [(severity, "flips", f"{sentence}({shown_share(*share)})")]


def answer_lengths(answers: pd.DataFrame) -> pd.Series:
    """Return the characters of each answer proper, without its reason, by ``ANSWER_KEY``."""
    sizes = [float(len(parse_answer(answer).text)) for answer in answers["answer"]]
    return pd.Series(sizes, index=pd.MultiIndex.from_frame(answers[ANSWER_KEY]), dtype=float)


def length(part: pd.DataFrame, lengths: pd.Series) -> Looked:
    """Count how often the longer answer wins, of decided battles between unlike lengths.

    Returns:
        ``unlike, longer_won, share_longer, low_longer, high_longer``, and ``length_missing``:
        decided battles left out, for one answer or both are absent.
    """
    decided = part[part["outcome"] != 0]
    first, second = (
        lengths.reindex(pd.MultiIndex.from_frame(decided[[*QUESTION_KEY, side]])).to_numpy()
        for side in PAIR
    )
    longer = first - second
    unlike, missing = int((np.abs(longer) > 0).sum()), int(np.isnan(longer).sum())
    won = int((longer * decided["outcome"].to_numpy() > 0).sum())
    share = share_of(won, unlike)
    row: dict[str, float] = {"unlike": unlike, "longer_won": won, "length_missing": missing}
    row |= dict(zip(("share_longer", "low_longer", "high_longer"), share, strict=True))
    said: list[tuple[Severity, str, str]] = []
    if missing:
        left_out = f"{count_of(missing, 'decided battle')} left out of the comparison of lengths"
        said.append(("info", "length", f"{left_out}: an answer is absent"))
    if unlike:
        lean, severity = leaning(*share)
        sentence = f"the longer answer wins {won:,} of {count_of(unlike, 'decided battle')} "
        said.append((severity, "length", f"{sentence}({shown_share(*share)}): {LEANS[lean]}"))
    return row, said
