"""Columns of marks in plain tables: known metrics, and those that the user names."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache

from arena.data.errors import UsageError
from arena.data.wording import first_of
from surrogate_arena.importers.contract import (
    FILE,
    MOST_NAMED,
    Frames,
    bare_column,
    cells_of,
    columns_in,
)
from surrogate_arena.importers.tables import SHEET
from surrogate_arena.importers.values import contract, mark_of


def score_columns(frames: Frames, taken: Collection[str], named: Sequence[str]) -> list[str]:
    """Return the columns of marks: each is a judge."""
    columns = columns_in(frames)
    for name in named:
        if name not in columns:
            of_user = [column for column in columns if column not in (FILE, SHEET)]
            listed = first_of(of_user, MOST_NAMED)
            raise UsageError(f"no column {name!r} of scores; the columns are {listed}")
        if not _n_marks(cells_of(frames, name)):
            others = [column for column in columns if _n_marks(cells_of(frames, column))]
            raise UsageError(
                f"{name!r} holds no scores, which are numbers, true or false, up or down, labels "
                f"such as '4 - good', or stars; columns of numbers: {first_of(others) or 'none'}"
            )
    scores = dict.fromkeys(named)
    for column in columns:
        if not _is_known(column) or column in taken:
            continue
        cells = cells_of(frames, column)
        # A few strays are no reason to pass over a metric: they are counted
        if cells and _n_marks(cells) * 10 >= len(cells) * 9:
            scores[column] = None
    return list(scores)


def _n_marks(cells: Sequence[object]) -> int:
    return sum(mark_of(cell) is not None for cell in cells)


def judges_of_scores(columns: Sequence[str], judge: str | None) -> dict[str, str]:
    """Return the judge of each column of scores: its name, or ``judge`` for a single column."""
    if judge is None:
        return {column: column for column in columns}
    if len(columns) != 1:
        raise UsageError(
            f"{judge!r} can judge by one column of scores, and the table has "
            f"{first_of(columns, MOST_NAMED) or 'none'}: name that column by --column "
            "verdict=NAME instead of --scores"
        )
    return {columns[0]: judge}


def stated_directions(texts: Sequence[str]) -> dict[str, bool]:
    """Return whether the lowest mark wins by score, from texts ``NAME`` and ``NAME=no``."""
    return {text.removesuffix("=no"): not text.endswith("=no") for text in texts}


def lowest_wins(column: str) -> bool:
    """Return whether lower marks are better, by a column's name or a judge's."""
    scores = contract()["scores"]
    return _metric(column) in (*scores["lower_is_better"], *scores["ranks"])


def _is_known(column: str) -> bool:
    scores = contract()["scores"]
    return _metric(column) in map(bare_column, (*scores["known"], *scores["lower_is_better"]))


@cache
def _metric(column: str) -> str:
    """Return a metric's bare name: ``groundedness`` for ``outputs.gpt_groundedness_score``."""
    parts = [part for part in re.split(r"[./:]", column) if not re.fullmatch(r"v\d+|score", part)]
    # Ragas appends the mode, as in noise_sensitivity(mode=relevant)
    name = bare_column(parts[-1].partition("(")[0]) if parts else ""
    return name.removeprefix("gpt_").removesuffix("_score")
