"""Preferences of a judge besides quality: a side, or length; ratings at equal length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit

from arena.computing.codes import coded_judgments
from arena.data.arena import Arena
from arena.data.types import Floats
from arena.data.wording import Remark, count_of
from arena.quality.judge_report import Grade, JudgeTest
from arena.quality.judge_tests import same_verdict
from arena.rating.battles import Battles, TieRule
from arena.rating.biases import (
    LENGTH,
    SIDE,
    SIDES_NOT_TOLD,
    TRAIT,
    JudgeBias,
    with_lengths,
)
from arena.rating.judgments import shown_sides
from arena.rating.posterior import BattlePosterior, battle_posterior
from arena.rating.soft_verdicts import calibrated_judgments
from arena.statistics.significance import NORMAL_95, wilson_interval

DIFFERENCE = f"{TRAIT}{LENGTH}"
"""Column of the logarithm of the ratio of two lengths, A's to B's."""


def side_test(judgments: pd.DataFrame) -> JudgeTest | None:
    """Estimate side A's bias with the ratings: better systems may stand there."""
    # A share this far from one half is worth a warning; smaller differences hardly matter
    notable = 0.05
    shown = shown_sides(judgments)
    if shown.empty:
        return None
    every_bias = _biases(calibrated_judgments(shown, hard=True), SIDE)
    biases = [bias for bias in every_bias if bias.is_known]
    if not biases:
        constant = same_verdict(shown["winner"])
        if constant is None or constant[0] == "tie":
            return JudgeTest("side", "not known", SIDES_NOT_TOLD)
        winner, count = constant
        verdicts = count_of(len(shown), "verdict")
        sentence = f"{count:,} of {verdicts} are side {winner.upper()}, but {SIDES_NOT_TOLD}"
        return JudgeTest("side", "doubtful", sentence)
    low, share, high = _shares(biases)
    grade: Grade = "consistent"
    favored = "no side is favored beyond chance"
    if low > 0.5 or high < 0.5:
        favored = "side A is favored" if low > 0.5 else "side B is favored"
        if abs(share - 0.5) >= notable:
            grade = "doubtful"
    sentence = (
        f"of two equally rated answers the one on side A wins {share:.0%} "
        f"(95% interval {low:.0%} to {high:.0%}): {favored}"
    )
    return JudgeTest("side", grade, sentence, share, low, high)


def length_test(judgments: pd.DataFrame, answers: pd.DataFrame) -> JudgeTest | None:
    """Estimate a bias to longer answers: better systems may write more."""
    measured = with_lengths(judgments, answers)
    table = calibrated_judgments(measured[measured["winner"] != "tie"], hard=True)
    # A judge that looks at length alone may decide by a single word.
    is_longer = np.sign(table[DIFFERENCE])
    is_unlike = is_longer.notna() & (is_longer != 0)
    table = table.assign(**{DIFFERENCE: is_longer})[is_unlike]
    if table.empty:
        return None
    low, share, high = _shares(_biases(table, LENGTH))
    kind, shown = "longer", (share, low, high)
    if share < 0.5:
        kind, shown = "shorter", (1 - share, 1 - high, 1 - low)
    sentence = (
        f"of two equally rated answers the {kind} one wins {shown[0]:.0%} "
        f"(95% interval {shown[1]:.0%} to {shown[2]:.0%})"
    )
    grade: Grade = "consistent"
    lower_bound = shown[1]
    if lower_bound > 0.9 and _decides_slight_differences(measured, wants_longer=share > 0.5):
        grade = "unreliable"
        sentence += ", even where their lengths hardly differ"
    # By people who voted on real answers, the longer one wins 60% to 68%.
    elif lower_bound > 0.75:
        grade = "doubtful"
        sentence += f", whether for its length or because {kind} answers are better"
    return JudgeTest("length", grade, sentence, share, low, high)


def _biases(judgments: pd.DataFrame, trait: str) -> list[JudgeBias]:
    biases: list[JudgeBias] = []
    for _, rows in judgments.groupby("language"):
        posterior = battle_posterior(Battles.from_judgments(rows))
        biases += [bias for bias in posterior.biases if bias.trait == trait]
    return biases


def _shares(biases: Sequence[JudgeBias]) -> tuple[float, float, float]:
    """Return the share won of equal battles with its 95% bounds: low, share, high."""
    precisions = np.array([bias.standard_error**-2 for bias in biases])
    mean = float(np.average([bias.coefficient for bias in biases], weights=precisions))
    half_width = NORMAL_95 / np.sqrt(precisions.sum())
    low, share, high = expit([mean - half_width, mean, mean + half_width])
    return float(low), float(share), float(high)


def _decides_slight_differences(measured: pd.DataFrame, *, wants_longer: bool) -> bool:
    # Logarithm of the ratio of two lengths below which the longer answer hardly says more.
    slight_difference = 0.1
    # Of 24 judges in eight arenas of real answers the longer one wins 45% to 58% of these; a judge
    # of length wins all.
    nearly_always = 0.75
    differences = measured[DIFFERENCE].to_numpy()
    # NaN, where an answer is absent, is no slight difference.
    is_slight = (differences != 0) & (np.abs(differences) < slight_difference)
    is_wanted_a = (differences > 0) == wants_longer
    wanted = np.where(is_wanted_a, "a", "b")
    n_won = int((is_slight & (measured["winner"].to_numpy() == wanted)).sum())
    (low,), _ = wilson_interval([n_won], [int(is_slight.sum())])
    return bool(low > nearly_always)


EQUAL_LENGTH = "at_equal_length"
"""Column of a board's table of ratings by verdicts."""


class EqualLength(NamedTuple):
    """Ratings by verdicts as if all answers were equally long."""

    moves: pd.Series
    remarks: tuple[Remark, ...]


def equal_length_ratings(judged: Arena, ties: TieRule) -> EqualLength:
    """Rate by verdicts as if all answers were equally long."""
    judgments = coded_judgments(judged.judgments)
    if len(judgments):
        judgments = with_lengths(judgments, judged.answers)
        # A judged answer that is absent has no length.
        judgments = judgments[judgments[DIFFERENCE].notna()]
    n_languages = judgments["language"].nunique()
    if ties == "drop":
        judgments = judgments[judgments["winner"] != "tie"]
    moves: dict[tuple[str, str], float] = {}
    moved_systems: dict[str, str] = {}
    for language, rows in judgments.groupby("language"):
        battles = Battles.from_judgments(rows).largest_group()
        raw = battle_posterior(replace(battles, traits=(), differences=None))
        equal = battle_posterior(battles)
        differences = equal.ratings - raw.ratings
        for system, difference in zip(raw.systems, differences, strict=True):
            moves[str(language), system] = float(difference)
        moved = _moved_systems(raw, differences) if _prefers_length(equal) else ""
        if moved:
            moved_systems[str(language)] = moved
    index = pd.MultiIndex.from_tuples(list(moves), names=["language", "system"])
    series = pd.Series(list(moves.values()), index, dtype=float, name=EQUAL_LENGTH)
    return EqualLength(series, _remarks(moved_systems, n_languages))


def _remarks(moved_systems: Mapping[str, str], n_languages: int) -> tuple[Remark, ...]:
    if not moved_systems:
        return ()
    where = f" in {len(moved_systems)} of {n_languages} languages"
    if n_languages == 1:
        where = f": {''.join(moved_systems.values())}"
    start = "At equal length, ratings by verdicts differ by more than their error"
    sentence = f"{start}{where} ({EQUAL_LENGTH} in verdict_ratings.csv)."
    return (Remark("length", "info", sentence),)


def _prefers_length(posterior: BattlePosterior) -> bool:
    for bias in posterior.biases:
        low, high = bias.bounds
        if bias.trait == LENGTH and (low > 0 or high < 0):
            return True
    return False


def _moved_systems(raw: BattlePosterior, differences: Floats) -> str:
    # Systems of a language that the sentence names: those that move most
    most_listed = 3
    is_moved = np.abs(differences) > raw.standard_errors
    moved = [index for index in np.argsort(-np.abs(differences), kind="stable") if is_moved[index]]
    named = []
    for index in moved[:most_listed]:
        direction = "higher" if differences[index] > 0 else "lower"
        named.append(f"{raw.systems[index]} {abs(differences[index]):.2f} {direction}")
    if len(moved) > most_listed:
        named.append(f"and {len(moved) - most_listed} more")
    return ", ".join(named)
