"""What ``heatmap.html`` shows: ranks of systems by languages (MIRAGE-Bench, figure 4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from surrogate.palette import SEQUENTIAL
from surrogate.report.board_tables import BoardTables
from surrogate.report.formats import finite
from surrogate.report.languages import language_name


@dataclass(frozen=True)
class Cell:
    """A rank.

    Attributes:
        rank: The rank; None where the system is unranked.
        level: Step of the colour scale, 0 for the best.
    """

    rank: int | None
    level: int | None


@dataclass(frozen=True)
class HeatmapRow:
    """A system's ranks.

    Attributes:
        system: Its name.
        mean_rank: Mean over the languages that rank it; None where none does.
        cells: One a language.
    """

    system: str
    mean_rank: float | None
    cells: list[Cell]


@dataclass(frozen=True)
class RankTable:
    """A heat map.

    Attributes:
        name: What ranks, such as ``synthetic``.
        title: Its heading.
        source: Where the ranks are from, as a sentence.
        rows: Systems in order of the board.
    """

    name: str
    title: str
    source: str
    rows: list[HeatmapRow]


@dataclass(frozen=True)
class Heatmap:
    """The page.

    Attributes:
        languages: Code to name.
        levels: Steps of the colour scale.
        tables: Heat maps: of the surrogate, and of the arena where it rates anything.
    """

    languages: Mapping[str, str]
    levels: range
    tables: list[RankTable]


def heatmap(tables: BoardTables) -> Heatmap:
    """Prepare the heat maps."""
    synthetic = RankTable(
        "synthetic",
        "Ranks by the surrogate",
        "Every question of the language; the surrogate judges by features alone.",
        _rows(tables, "rank"),
    )
    arena = RankTable(
        "arena",
        "Ranks by the arena",
        f"The questions judged by {tables.summary.judge}; judged systems only.",
        _rows(tables, "arena_rank"),
    )
    judged = tables.board["arena_rank"].notna().any()
    return Heatmap(
        languages={code: language_name(code) for code in tables.languages},
        levels=range(len(SEQUENTIAL)),
        tables=[synthetic, arena] if judged else [synthetic],
    )


def _rows(tables: BoardTables, column: str) -> list[HeatmapRow]:
    unique = tables.board.drop_duplicates(["system", "language"])
    ranks = unique.pivot(index="system", columns="language", values=column)
    ranks = ranks.reindex(index=list(tables.systems), columns=list(tables.languages))
    worst = ranks.max()
    means = ranks.mean(axis=1)
    return [
        HeatmapRow(
            str(system),
            finite(means[system]),
            [_cell(rank, last) for rank, last in zip(values, worst, strict=True)],
        )
        for system, values in zip(ranks.index, ranks.to_numpy(), strict=True)
    ]


def _cell(rank: float, worst: float) -> Cell:
    if pd.isna(rank):
        return Cell(None, None)
    steps = len(SEQUENTIAL)
    share = (rank - 1) / (worst - 1) if worst > 1 else 0.0
    return Cell(int(rank), min(int(share * steps), steps - 1))
