"""Ratings at equal length: what a judge's verdicts say where no answer is longer than another.

Length is partly quality, and people prefer longer answers, too: these ratings are shown next to the
board's and do not replace them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.remarks import Remark
from arena.data.types import Floats
from arena.rating.battles import Battles, TieRule
from arena.rating.biases import TRAIT
from arena.rating.posterior import RatingPosterior, battle_posterior
from arena.rating.traits import LENGTH, with_traits

EQUAL_LENGTH = "at_equal_length"
"""Column of a board's table of ratings by verdicts."""
_COLUMN = f"{TRAIT}{LENGTH}"
MOST_LISTED = 3
"""Systems of a language that the sentence names: those that move most."""


@dataclass(frozen=True)
class EqualLength:
    """Ratings by verdicts as if all answers were equally long.

    Attributes:
        moves: By language and system, how far the rating by verdicts moves.
        remarks: Where the judge's preference for length is beyond its error and moves a system by
            more than the rating's standard error, a sentence that says so.
    """

    moves: pd.Series
    remarks: tuple[Remark, ...]


def equal_length_ratings(judged: Arena, ties: TieRule) -> EqualLength:
    """Rate by verdicts as if all answers were equally long.

    Args:
        judged: An arena with the verdicts of one judge.
        ties: ``half`` or ``drop``.
    """
    judgments = judged.judgments
    if len(judgments):
        judgments = with_traits(judgments, judged.answers, (LENGTH,))
        # A judged answer that is absent has no length.
        judgments = judgments[judgments[_COLUMN].notna()]
    moves: dict[tuple[str, str], float] = {}
    moved_systems: dict[str, str] = {}
    for language, rows in judgments.groupby("language"):
        raw = _posterior(rows.drop(columns=_COLUMN), ties)
        equal = _posterior(rows, ties)
        if raw is None or equal is None:
            continue
        differences = equal.ratings - raw.ratings
        for system, difference in zip(raw.systems, differences, strict=True):
            moves[str(language), system] = float(difference)
        moved = _moved_systems(raw, differences) if _prefers_length(equal) else ""
        if moved:
            moved_systems[str(language)] = moved
    index = pd.MultiIndex.from_tuples(list(moves), names=["language", "system"])
    series = pd.Series(list(moves.values()), index, dtype=float, name=EQUAL_LENGTH)
    remarks = _remarks(moved_systems, judgments["language"].nunique())
    return EqualLength(series, remarks)


def _remarks(moved_systems: Mapping[str, str], n_languages: int) -> tuple[Remark, ...]:
    """Say by language which systems move; nothing where none does."""
    if not moved_systems:
        return ()
    listed = [f"{language}: {moved}" for language, moved in moved_systems.items()]
    if n_languages == 1:
        listed = list(moved_systems.values())
    start = "At equal length, ratings by verdicts differ by more than their error"
    sentence = f"{start}: {'; '.join(listed)} ({EQUAL_LENGTH} in arena.csv)."
    return (Remark("length", "info", sentence),)


def _posterior(judgments: pd.DataFrame, ties: TieRule) -> RatingPosterior | None:
    """Rate the largest group of systems; None without a verdict that counts."""
    if ties == "drop":
        judgments = judgments[judgments["winner"] != "tie"]
    if judgments.empty:
        return None
    return battle_posterior(Battles.from_judgments(judgments).largest_group())


def _prefers_length(posterior: RatingPosterior) -> bool:
    """Return whether a judge surely likes longer, or shorter, answers."""
    for bias in posterior.biases:
        low, high = bias.bounds
        if bias.trait == LENGTH and (low > 0 or high < 0):
            return True
    return False


def _moved_systems(raw: RatingPosterior, differences: Floats) -> str:
    """Name the systems that move by more than their standard error; empty if none does."""
    is_moved = np.abs(differences) > raw.standard_errors
    moved = [index for index in np.argsort(-np.abs(differences), kind="stable") if is_moved[index]]
    named = []
    for index in moved[:MOST_LISTED]:
        direction = "higher" if differences[index] > 0 else "lower"
        named.append(f"{raw.systems[index]} {abs(differences[index]):.2f} {direction}")
    if len(moved) > MOST_LISTED:
        named.append(f"and {len(moved) - MOST_LISTED} more")
    return ", ".join(named)
