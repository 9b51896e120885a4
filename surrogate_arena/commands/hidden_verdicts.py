"""Boards from few verdicts, compared with the verdicts that they did not see."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.rows import are_in
from arena.data.schema import QUESTION_KEY
from arena.judging.choosing.drawn_questions import choose_questions
from arena.rating.ratings import rate
from arena.statistics.agreement import kendall_tau
from arena.statistics.bootstrap import by_content, generator
from surrogate.board.board import Board


@dataclass(frozen=True)
class HiddenVerdicts:
    """An arena that shows few of its verdicts, and the verdicts on its other questions.

    ``unjudged`` is the system without a judgment in ``shown``.
    """

    shown: Arena
    hidden: pd.DataFrame
    unjudged: str


@dataclass(frozen=True)
class HiddenComparison:
    """A board from few verdicts compared with verdicts that it did not see.

    ``places`` has the unjudged system, a row per language: its place on the board, the rank by
    hidden verdicts, and whether the board's interval contains that.
    """

    taus: pd.DataFrame
    places: pd.DataFrame


def hide_verdicts(arena: Arena, questions: int, seed: int = 0) -> HiddenVerdicts:
    """Show the verdicts on some questions of each language, and none on one system."""
    judged = choose_questions(arena.queries, questions=questions, seed=seed)
    is_drawn = are_in(arena.judgments, judged, QUESTION_KEY)
    hidden = arena.judgments[~is_drawn]
    if hidden.empty:
        raise UsageError(f"no question is judged besides {questions} of each language; draw fewer")
    candidates = [
        system
        for system in by_content(arena.info.systems, arena.answers)
        if system != arena.info.reference_system
    ]
    unjudged = str(generator(seed, "unjudged system").choice(candidates))
    has_unjudged = (arena.judgments[["system_a", "system_b"]] == unjudged).any(axis=1)
    shown = arena.judgments[is_drawn & ~has_unjudged]
    return HiddenVerdicts(
        shown=replace(arena, judgments=shown.reset_index(drop=True)),
        hidden=hidden.reset_index(drop=True),
        unjudged=unjudged,
    )


def compare_with_hidden(board: Board, hidden: HiddenVerdicts) -> HiddenComparison:
    """Compare a board of ``hidden.shown`` with the ratings by the hidden verdicts."""
    by_hidden = rated_systems(hidden.hidden)
    is_unjudged = by_hidden["system"] == hidden.unjudged
    taus = compare_with_truth(board.ratings, by_hidden[~is_unjudged])
    on_board = board.ratings[board.ratings["system"] == hidden.unjudged]
    places = on_board[["language", "place", "place_low", "place_high"]].merge(
        by_hidden.loc[is_unjudged, ["language", "rank"]].rename(columns={"rank": "hidden_rank"}),
        on="language",
    )
    # A missing place compares as missing, and counts as outside.
    is_inside = places["hidden_rank"].between(places["place_low"], places["place_high"])
    places["is_inside"] = is_inside.fillna(False).astype(bool)
    return HiddenComparison(taus, places)


def rated_systems(judgments: pd.DataFrame) -> pd.DataFrame:
    """Rate systems by verdicts alone: ``language, system, quality`` (logits) and ``rank``."""
    tables = []
    for language, rows in judgments.groupby("language"):
        rated = rate(rows, rounds=0).table[["system", "rating", "rank"]]
        rated = rated.rename(columns={"rating": "quality"})
        tables.append(rated.assign(language=language))
    return pd.concat(tables, ignore_index=True)


def compare_with_truth(board: pd.DataFrame, truth: pd.DataFrame) -> pd.DataFrame:
    """Return Kendall tau-b of a board's ratings with the true quality, by language."""
    columns = {
        "rating": "rating",
        "verdicts_alone": "arena_rating",
        "surrogate_alone": "surrogate_rating",
    }
    merged = board.merge(truth, on=["language", "system"], validate="one_to_one")
    taus: dict[str, dict[str, float]] = {}
    for language, rows in merged.groupby("language"):
        quality = rows["quality"].to_numpy(float)
        taus[str(language)] = {
            name: kendall_tau(rows[column].to_numpy(float), quality)
            for name, column in columns.items()
        }
    compared = pd.DataFrame(taus).T
    compared.loc["macro"] = compared.mean()
    return compared.rename_axis("language").reset_index()
