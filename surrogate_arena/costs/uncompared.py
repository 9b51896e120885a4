"""Of which systems a board does not compare the quality, and why."""

from __future__ import annotations

from collections.abc import Collection

from surrogate.board.board import Board


def uncompared_systems(board: Board, systems: Collection[str]) -> dict[str, str]:
    """Return why a board does not compare the quality of some systems, by system.

    Such are systems without an overall rank, and those whose rating rests on a surrogate alone: a
    bargain is claimed only of what has been judged.
    """
    general = uncompared_board(board)
    if general:
        return dict.fromkeys(systems, general)
    overall = board.overall
    ranked = set(overall.loc[overall["rank"].notna(), "system"])
    unjudged: dict[str, list[str]] = {}
    is_unjudged = board.ratings["arena_rating"].isna()
    for system, languages in board.ratings[is_unjudged].groupby("system")["language"]:
        unjudged[str(system)] = sorted(languages)
    reasons: dict[str, str] = {}
    for system in systems:
        if system in unjudged:
            languages = unjudged[system]
            place = "" if len(languages) == len(board.languages) else f" in {', '.join(languages)}"
            reasons[system] = f"nobody has judged it{place}"
        elif system not in ranked:
            reasons[system] = "it has no overall rank"
    return reasons


def uncompared_board(board: Board) -> str:
    """Return why a board compares the quality of no two systems; empty where it does."""
    macro = board.summary.macro
    if board.ratings["arena_rating"].isna().all():
        return "nobody has judged these answers"
    if macro.is_unreliable:
        return "the judge is unreliable"
    if board.summary.settings.ratings == "surrogate" and macro.standing != "shown":
        return "ratings rest on a surrogate that is not shown to rank systems better than chance"
    if macro.is_lost:
        return "ratings by verdicts alone agree better with the verdicts on other questions"
    return ""
