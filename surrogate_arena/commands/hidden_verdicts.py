"""A board from few of an arena's verdicts, beside those that it did not see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import pandas as pd

from arena.data.arena import Arena
from arena.data.rows import are_in
from arena.data.schema import QUESTION_KEY
from arena.data.wording import count_of
from arena.judging.choosing.drawn_questions import choose_questions
from arena.rating.ratings import rate
from arena.statistics.agreement import kendall_tau
from arena.statistics.bootstrap import by_content, generator
from surrogate.board.board import Board


class HiddenVerdicts(NamedTuple):
    """An arena of one language that shows few of its verdicts, and those on its other questions.

    ``unjudged`` is the system without a judgment in ``shown``.
    """

    shown: Arena
    hidden: pd.DataFrame
    unjudged: str


def hide_verdicts(arena: Arena, questions: int) -> HiddenVerdicts:
    """Show the verdicts on some questions, and none on one system."""
    judged = choose_questions(arena.queries, questions=questions)
    is_drawn = are_in(arena.judgments, judged, QUESTION_KEY)
    systems = by_content(arena.info.systems, arena.answers)
    unjudged = str(generator(0, "unjudged system").choice(systems))
    has_unjudged = (arena.judgments[["system_a", "system_b"]] == unjudged).any(axis=1)
    shown = arena.judgments[is_drawn & ~has_unjudged]
    return HiddenVerdicts(
        shown=replace(arena, judgments=shown.reset_index(drop=True)),
        hidden=arena.judgments[~is_drawn].reset_index(drop=True),
        unjudged=unjudged,
    )


def comparison_sentences(board: Board, verdicts: HiddenVerdicts) -> Iterator[str]:
    """Compare a board of the verdicts shown with the ratings by the hidden ones."""
    truth = rate(verdicts.hidden, rounds=0).table.set_index("system")
    on_board = board.ratings.set_index("system")
    judged = on_board.drop(verdicts.unjudged)
    quality = truth.loc[judged.index, "rating"].to_numpy(float)
    taus = {
        name: kendall_tau(judged[name].to_numpy(float), quality)
        for name in ("rating", "arena_rating")
    }
    yield (
        f"With {count_of(len(verdicts.shown.judgments), 'verdict')} the ratings have a Kendall tau "
        f"of {taus['rating']:.2f} with the {len(verdicts.hidden):,} verdicts that were kept back; "
        f"without the surrogate, {taus['arena_rating']:.2f}."
    )
    place = on_board.loc[verdicts.unjudged, "place"]
    here = "no place here" if pd.isna(place) else f"about place {place} here"
    rank = truth.loc[verdicts.unjudged, "rank"]
    yield (
        f"{verdicts.unjudged}, which nobody judged: {here}, rank {rank} by the verdicts that were "
        "kept back."
    )
