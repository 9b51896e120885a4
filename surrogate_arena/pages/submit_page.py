"""The data of the page on how to submit a system to a board."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.data.systems import HELD, LISTED, WITHDRAWN
from surrogate.board.board import Board
from surrogate.board.rank_reasons import FEWEST_JUDGED_QUESTIONS, needed_answers
from surrogate_arena.pages.board_page import unlisted_remarks

JUDGED = "judged"
MEANINGS = {
    HELD: "It was received, and nobody has accepted it yet. No page names it.",
    LISTED: "It is on the board. Its place is a prediction from its answers, if these are enough.",
    JUDGED: f"It has a rank by verdicts on {FEWEST_JUDGED_QUESTIONS} questions or more.",
    WITHDRAWN: "It was taken off. No page names it any more.",
}


def submit_page(board: Board, languages: Sequence[str], questions_file: str) -> dict[str, Any]:
    """Prepare the page, with languages in the order given.

    ``questions_file`` has the questions, if they are published.
    """
    summary = board.summary
    questions = []
    for language in languages:
        count = summary.languages[language].questions
        row = {"language": language, "questions": count, "needed": needed_answers(count)}
        questions.append(row)
    states = {remark.subject: remark.statistic or 0 for remark in unlisted_remarks(board)}
    states[JUDGED] = _count_judged(board)
    states[LISTED] = len(board.systems) - states[JUDGED]
    return {
        "questions": questions,
        "file": questions_file,
        "meanings": MEANINGS,
        "states": {state: states.get(state, 0) for state in MEANINGS},
    }


def _count_judged(board: Board) -> int:
    # A board without verdicts, or with `unjudged = "ranked"`, ranks systems that nobody judged.
    judged = board.ratings.loc[board.ratings["split"] != "unjudged", "system"]
    ranked = board.overall.loc[board.overall["rank"].notna(), "system"]
    return int(ranked.isin(judged).sum())
