"""Whether answers taken from better systems are rated as verdicts on these answers rate them.

    python benchmarks/tables.py mixtures

A system takes the answers to some questions from others. The verdicts on these answers are the
mixture's, so its true rating is known; a board without the system predicts it. Rises are above the
system's own answers, in standard deviations of the board's ratings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from gaming import (
    TOURNAMENTS,
    fewer_questions,
    of_systems,
    ordered_systems,
    renamed,
    verdicts_on,
)

from arena import Arena, rate, read_arena
from surrogate import build_board, rank_systems

OWN = "own answers"
MIXTURES: dict[str, Callable[[int], int]] = {
    OWN: lambda _: 0,
    "25% of the best's": lambda place: int(place % 4 == 0),
    "45% of the best's": lambda place: int(9 * place % 20 < 9),
    "70% of the best's": lambda place: int(place % 10 < 7),
    "45% of the second's": lambda place: 2 * int(9 * place % 20 < 9),
    "the best's and the second's in turn": lambda place: 1 + place % 2,
    "the best three's in turn": lambda place: 1 + place % 3,
}
"""To the place of a question, whose answer is taken: 0 own, 1 the best other's, 2 the second's."""
SYSTEMS = 3
QUESTIONS = 80


def mixtures(folder: Path, judge: str) -> list[Any]:
    """Return the mean rise that is predicted, by verdicts, and the difference over systems."""
    arena = fewer_questions(read_arena(folder).judged_by(judge), QUESTIONS)
    order = ordered_systems(arena)
    indices = np.linspace(len(order) / 3, len(order) - 1, SYSTEMS).round().astype(int)
    rises = pd.concat([mixed(arena, order[index], order) for index in np.unique(indices)])
    by_system = rises[rises["mixture"] != OWN].groupby("system")
    means = by_system[["predicted", "by verdicts"]].mean()
    differences = means["predicted"] - means["by verdicts"]
    error = differences.std() / len(differences) ** 0.5
    return [*means.mean(), [float(differences.mean()), float(error)]]


def mixed(arena: Arena, system: str, order: Sequence[str]) -> pd.DataFrame:
    """Return how far each mixture rises above a system's own answers, predicted and in truth."""
    others = of_systems(arena, set(arena.info.systems) - {system})
    board = build_board(others, tournaments=TOURNAMENTS)
    sources = [system, *(name for name in order if name != system)]
    answers = []
    verdicts = []
    for mixture, source_of in MIXTURES.items():
        taken = taken_from(arena, system, [sources[index] for index in range(4)], source_of)
        answers.append(arena.answers.merge(taken).assign(system=mixture))
        for source, questions in taken.groupby("system"):
            on_source = verdicts_on(arena, str(source)).merge(questions[["language", "query_id"]])
            is_own = (on_source["system_a"] == system) | (on_source["system_b"] == system)
            kept = on_source if source == system else on_source[~is_own]
            verdicts.append(renamed(kept, str(source), mixture).assign(mixture=mixture))
    ranked = rank_systems(board, pd.concat(answers), others).new
    mixed_verdicts = pd.concat(verdicts)
    tables = []
    for language, on_board in board.ratings.groupby("language"):
        rows = ranked[ranked["language"] == language].set_index("system")
        predicted = rows["rating"].fillna(rows["surrogate_rating"]) / on_board["rating"].std()
        truths = {}
        for mixture in MIXTURES:
            # One by one, so that a mixture does not change the truth of another.
            is_counted = mixed_verdicts["mixture"].isin([OWN, mixture])
            counted = pd.concat([others.judgments, mixed_verdicts[is_counted]])
            rated = rate(counted[counted["language"] == language]).table.set_index("system")
            spread = rated["rating"].drop(index=[OWN, mixture]).std()
            truths[mixture] = (rated["rating"][mixture] - rated["rating"][OWN]) / spread
        table = pd.DataFrame({"predicted": predicted - predicted[OWN], "by verdicts": truths})
        tables.append(table.rename_axis("mixture").reset_index())
    return pd.concat(tables).assign(system=system)


def taken_from(
    arena: Arena, system: str, sources: Sequence[str], source_of: Callable[[int], int]
) -> pd.DataFrame:
    """Return ``language, query_id, system``: whose answer a mixture takes to each question."""
    own = arena.answers.loc[arena.answers["system"] == system, ["language", "query_id"]]
    places = own.groupby("language").cumcount()
    return own.assign(system=[sources[source_of(place)] for place in places])
