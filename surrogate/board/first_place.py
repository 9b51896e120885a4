"""Sentences on a board's first place: who is first, how surely, and who judged."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from surrogate.board.board import Board
from surrogate.board.summary import PREFERENCES


def conclusion(board: Board) -> str:
    """Say who is first, and who judged: ``first_place_sentence`` and ``judge_sentence``."""
    return f"{first_place_sentence(board)} {judge_sentence(board)}"


def first_place_sentence(board: Board) -> str:
    """Say who is first, how surely, and which systems are not distinguishable from it.

    Over several languages, a system is not distinguishable from the first if it shares its tier in
    at least half of them; in one language, if the two share a tier.

    Returns:
        One sentence, such as ``A is first (71% likely the best); the first 3 are not
        distinguishable.``
    """
    ranked = board.overall[board.overall["rank"].notna()]
    systems = list(ranked["system"])
    if not systems:
        return "No system has a rank."
    leader = systems[0]
    if board.summary.is_first:
        return _first_without_verdicts(board, leader)
    if board.summary.macro.is_one_sided:
        return "These ranks say nothing about the systems."
    if board.summary.macro.is_unreliable:
        return "These ranks are no more reliable than their judge."
    tiers = board.ratings.pivot(index="language", columns="system", values="tier").astype(float)
    if tiers[systems].isna().all(axis=None):
        return f"{leader} has the highest rating; no difference was tested."
    is_worse = tiers[systems].gt(tiers[leader], axis=0)
    indistinguishable = [name for name in systems[1:] if is_worse[name].mean() <= 1 / 2]
    scope = ""
    n_languages = len(board.languages)
    if n_languages > 1:
        fewest = math.ceil(n_languages / 2) if indistinguishable else n_languages // 2 + 1
        scope = f"in at least {fewest} of {n_languages} {board.summary.parts} "
        if fewest == n_languages:
            every = "both" if n_languages == 2 else f"all {n_languages}"
            scope = f"in {every} {board.summary.parts} "
    probability = ranked["probability_best"].iloc[0]
    return f"{leading(systems, indistinguishable, scope, probability)}."


def leading(
    ranked: Sequence[str],
    indistinguishable: Sequence[str],
    scope: str = "",
    probability: float = math.nan,
) -> str:
    """Say who is first, how surely it is the best, and which systems may be as good.

    Args:
        ranked: Systems with a rank, best first.
        indistinguishable: Those of them that are not distinguishable from the first.
        scope: In how many languages, with a space behind it.
        probability: That the first is the best; NaN where it is not known.
    """
    most_named = 3
    likely_best = 0.9
    leader = ranked[0]
    n_others = len(ranked) - 1
    if not n_others:
        return f"{leader} is the only system with a rank"
    likely = "" if pd.isna(probability) else f" ({shown_probability(probability)} likely the best)"
    if not indistinguishable:
        return f"{leader} leads{likely}, {scope}distinguishable from all others"
    n_alike = len(indistinguishable)
    is_top = list(indistinguishable) == list(ranked[1 : n_alike + 1])
    named = f"{n_alike} systems" if n_alike > most_named else ", ".join(indistinguishable)
    # A leader may well be the best and yet not be told from the next when all pairs are tested.
    if probability >= likely_best:
        test = "a test of all pairs at once"
        if n_alike == n_others:
            return f"{leader} is first{likely}, but {scope}{test} tells no system apart from it"
        if is_top:
            apart = f"does not tell the first {n_alike + 1} apart"
            return f"{leader} is first{likely}, but {scope}{test} {apart}"
        return f"{leader} is first{likely}, but {scope}{test} does not tell {named} apart from it"
    if n_alike == n_others:
        return f"{leader} is first{likely}, but {scope}no system is distinguishable from it"
    if is_top:
        first = f"the first {n_alike + 1} are not distinguishable"
        return f"{leader} is first{likely}; {scope}{first}"
    verb = "is" if n_alike == 1 else "are"
    return f"{leader} is first{likely}; {scope}{named} {verb} not distinguishable from it"


def _first_without_verdicts(board: Board, leader: str) -> str:
    """Say what puts a system first where nobody has judged."""
    evidence = {name for language in board.summary.languages.values() for name in language.evidence}
    if PREFERENCES in evidence:
        return f"The answers of {leader} have most of what judges of other arenas liked."
    return f"The answers of {leader} agree most with those of the others."


def shown_probability(probability: float) -> str:
    """Show a probability in percent, never as 0% or 100%."""
    if probability > 0.99:
        return "over 99%"
    if probability < 0.01:
        return "under 1%"
    return f"{probability:.0%}"


def judge_sentence(board: Board) -> str:
    """Say who judged, and how good the judge is known to be."""
    summary = board.summary
    if summary.is_first:
        return "Nobody has judged these answers, and what ranks them does not measure quality."
    judge = summary.macro.judge
    if judge is None:
        return f"Ratings are those that {summary.judge} published."
    return f"{judge.sentence}." if summary.macro.is_unreliable else f"{judge.short}."
