"""One verdict from the two orders of a pair, without the judge's preference for a side."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.judging.judged import JUDGMENT_COLUMNS, PROBABILITY_COLUMNS

Floats = npt.NDArray[np.float64]
Names = npt.NDArray[np.object_]

FLIPPED = "flipped"
"""Flag of a pair whose two verdicts name different systems."""

_PAIR = ["language", "query_id", "first", "second", "judge"]


def merged_orders(judgments: pd.DataFrame) -> pd.DataFrame:
    """Make one verdict of each pair that a judge has judged in both orders.

    Where both verdicts have probabilities, these are averaged over the orders, and the likeliest
    verdict wins: what a judge gives to a side, whatever stands there, cancels out, and even a
    judge that always names side A tells systems apart. Elsewhere a system wins if both verdicts
    name it, and anything else is a tie.

    Args:
        judgments: As ``judge_arena`` returns them; of several verdicts of a judge on the same
            pair in the same order the last one counts.

    Returns:
        Judgments with the judge ``NAME (both orders)``, side A the first system by name; pairs
        judged in one order are left out.
    """
    forward = judgments[judgments["system_a"] < judgments["system_b"]]
    backward = judgments[judgments["system_a"] > judgments["system_b"]]
    both = _keyed(forward, "system_a", "system_b").merge(
        _keyed(backward, "system_b", "system_a"), on=_PAIR, suffixes=("", "_back")
    )
    one = both["probability_a"] + both["probability_b_back"]
    other = both["probability_b"] + both["probability_a_back"]
    chances = np.stack([one / 2, other / 2, 1 - (one + other) / 2], axis=1)
    winners, flips = _by_agreement(both)
    known = np.isfinite(chances).all(axis=1)
    likeliest, best = _likeliest(chances[known])
    winners[known] = likeliest
    probability = np.full(len(both), np.nan)
    probability[known] = best
    table = both.assign(
        system_a=both["first"],
        system_b=both["second"],
        winner=winners,
        judge=both["judge"] + " (both orders)",
        probability=probability,
        probability_a=chances[:, 0],
        probability_b=chances[:, 1],
        flags=np.where(flips, FLIPPED, ""),
    )[JUDGMENT_COLUMNS]
    return table.round(dict.fromkeys(PROBABILITY_COLUMNS, 6)).astype(
        {"winner": "str", "judge": "str", "flags": "str"}
    )


def _keyed(table: pd.DataFrame, first: str, second: str) -> pd.DataFrame:
    keyed = table.assign(first=table[first], second=table[second])
    return keyed.drop_duplicates(_PAIR, keep="last")


def _by_agreement(both: pd.DataFrame) -> tuple[Names, npt.NDArray[np.bool_]]:
    """Return the verdicts that both orders share, ties elsewhere; and which pairs flip."""
    turned = both["winner_back"].map({"a": "b", "b": "a", "tie": "tie"}).to_numpy(dtype=object)
    winner = both["winner"].to_numpy(dtype=object)
    flips = (winner != turned) & (winner != "tie") & (turned != "tie")
    return np.where(winner == turned, winner, "tie"), flips


def _likeliest(chances: Floats) -> tuple[Names, Floats]:
    """Return the likeliest of each row's verdicts and its probability; a draw is a tie."""
    best = chances.max(axis=1, initial=0.0)
    is_draw = np.isclose(chances, best[:, None], rtol=0, atol=1e-9).sum(axis=1) > 1
    place = np.where(is_draw, 2, chances.argmax(axis=1))
    names = np.array(["a", "b", "tie"], dtype=object)
    return names[place], chances[np.arange(len(place)), place]
