"""Sentences on a board's first place: who is first, how surely, and who judged."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from arena.data.published import PUBLISHED
from surrogate.board.board import Board
from surrogate.board.summary import PREFERENCES

MOST_NAMED = 3
"""Systems that a sentence names; of more it has the number."""


def conclusion(board: Board) -> str:
    """Say who is first, who judged, and how good the judge is known to be."""
    return f"{first_place_sentence(board)} {_judge_sentence(board)}"


def first_place_sentence(board: Board) -> str:
    """Say who is first, how surely, and which systems may be as good.

    A system may be as good as the first in a language where it shares its tier; over several
    languages, if that holds in at least half of them.

    Returns:
        One sentence, such as ``A is first (71% likely the best), but by a test of all pairs
        the next 2 systems may be as good.``
    """
    ranked = board.overall[board.overall["rank"].notna()]
    if ranked.empty:
        return "No system has a rank."
    systems = list(ranked["system"])
    n_first = int((ranked["rank"] == ranked["rank"].min()).sum())
    leaders = systems[:n_first]
    if board.summary.is_first:
        return _first_without_verdicts(board, leaders[0])
    if board.summary.macro.is_unreliable:
        # Many such verdicts may average out, so that ranks can be better than a single one.
        return "These ranks rest on verdicts that cannot be relied on one by one."
    tiers = board.ratings.pivot(index="language", columns="system", values="tier").astype(float)
    if tiers[systems].isna().all(axis=None):
        verb = "has" if n_first == 1 else "have"
        return f"{_listed(leaders)} {verb} the highest rating; no difference was tested."
    is_worse = tiers[systems].gt(tiers[leaders].max(axis=1), axis=0)
    alike = [name for name in systems[n_first:] if is_worse[name].mean() <= 1 / 2]
    probabilities = ranked["probability_best"].iloc[:n_first].tolist()
    scope = _scope(board, has_alike=bool(alike))
    is_part = len(ranked) < len(board.overall)
    is_unjudged = n_first == 1 and _is_unjudged(board, leaders[0])
    sentence = leading(
        systems, alike, n_first, probabilities, scope, is_part=is_part, is_unjudged=is_unjudged
    )
    return f"{sentence}."


def _is_unjudged(board: Board, system: str) -> bool:
    splits = board.ratings.loc[board.ratings["system"] == system, "split"]
    return bool((splits == "unjudged").all())


def _scope(board: Board, *, has_alike: bool) -> str:
    """Say in how many languages a statement holds of each system; empty for one language."""
    n_languages = len(board.languages)
    if n_languages == 1:
        return ""
    fewest = math.ceil(n_languages / 2) if has_alike else n_languages // 2 + 1
    if fewest < n_languages:
        return f" in at least {fewest} of {n_languages} {board.summary.parts}"
    every = "both" if n_languages == 2 else f"all {n_languages}"
    return f" in {every} {board.summary.parts}"


def leading(
    ranked: Sequence[str],
    alike: Sequence[str],
    n_first: int = 1,
    probabilities: Sequence[float] = (),
    scope: str = "",
    test: str = "a test of all pairs",
    *,
    is_part: bool = False,
    is_unjudged: bool = False,
) -> str:
    """Say who is first, how surely, and which systems may be as good.

    The test is named, because intervals that do not overlap and a probability of being the best
    are of single systems, and may be sure where a test of all pairs is not.

    Args:
        ranked: Systems with a rank, best first.
        alike: Those behind first place that the test does not tell apart from it.
        n_first: Systems that tie for first place.
        probabilities: That each of these is the best; none, or NaN, where it is not known.
        scope: In how many languages the test holds, with a space in front.
        test: What tells systems apart.
        is_part: Whether there are further systems, without a rank, which may be better.
        is_unjudged: Whether a system that is first alone is rated by its answers alone.

    Returns:
        A sentence without its full stop.
    """
    first = _listed(ranked[:n_first])
    if is_unjudged:
        first += ", rated by its answers alone,"
    if len(ranked) == 1:
        return f"{first} is the only system with a rank"
    among = f" among the {len(ranked)} systems with a rank" if is_part else ""
    likely = ""
    if 0 < len(probabilities) <= MOST_NAMED and not pd.isna(probabilities).any():
        best = "the best of these" if is_part else "the best"
        likely = f" ({_listed(list(map(shown_probability, probabilities)))} likely {best})"
    n_others = len(ranked) - n_first
    if n_first > 1:
        standing = f"{first} tie for first place{among}{likely}"
    else:
        standing = f"{first} {'is first' if alike else 'leads'}{among}{likely}"
    if not n_others:
        return standing
    every_other = "every other of these" if is_part else "every other system"
    if n_others == 1:
        every_other = str(ranked[-1])
    if not alike:
        return f"{standing}: by {test} {every_other} is worse{scope}"
    n_alike = len(alike)
    if n_alike == n_others:
        others = every_other
    elif list(alike) == list(ranked[n_first : n_first + n_alike]):
        others = "the next system" if n_alike == 1 else f"the next {n_alike} systems"
    else:
        others = _listed(alike)
    return f"{standing}, but by {test} {others} may be as good{scope}"


def _listed(names: Sequence[str]) -> str:
    """Name a few, such as ``A, B and C``; count more."""
    if len(names) > MOST_NAMED:
        return f"{len(names)} systems"
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _first_without_verdicts(board: Board, leader: str) -> str:
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


def _judge_sentence(board: Board) -> str:
    summary = board.summary
    if summary.is_first:
        return "Nobody has judged these answers, and what ranks them does not measure quality."
    judge = summary.macro.judge
    if judge is None:
        return f"{published_sentence(summary.judge)}."
    return f"{judge.sentence}."


def published_sentence(judge: str) -> str:
    """Say whose ratings were published, without the full stop.

    The board's ratings are not these: it weighs each by its error against the surrogate's.
    """
    whose = "published ones" if judge == PUBLISHED else f"those that {judge} published"
    return f"Ratings rest on {whose}"
