"""What ``index.html`` shows: the board over all languages, and each language's for its filter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from surrogate.board.board import Board
from surrogate.publish.formats import LinearScale, Span, finite, language_name, span
from surrogate.publish.palette import SEQUENTIAL
from surrogate.publish.view import RankMatrix, rank_matrix, ratings_with_tiers, unranked_reason

SPLITS = ("train", "holdout", "unjudged")
STORED_DECIMALS = 3


@dataclass(frozen=True)
class OverallRow:
    """A ranked system over all languages.

    Attributes:
        system: Its name.
        rank: Place by mean rank.
        is_tied: Whether another system has the same place.
        mean_rank: Mean rank over languages.
        best: Best rank in any language.
        worst: Worst rank in any language.
        spread: The three on a line from first to last place.
        mean_rating: Mean synthetic rating.
        top_tiers: Languages in which it is in the best tier.
        coverage: Share of questions answered.
        arena_rank: Place by mean rank in the arena; None where it is not rated.
    """

    system: str
    rank: int
    is_tied: bool
    mean_rank: float
    best: float | None
    worst: float | None
    spread: Span
    mean_rating: float | None
    top_tiers: int
    coverage: float | None
    arena_rank: float | None


@dataclass(frozen=True)
class UnrankedSystem:
    """A system without a place over all languages.

    Attributes:
        system: Its name.
        languages: Languages that rank it.
        coverage: Share of questions answered.
        reasons: Why, to the languages it is so in.
    """

    system: str
    languages: int
    coverage: float | None
    reasons: Mapping[str, list[str]]


@dataclass(frozen=True)
class Overview:
    """What the page shows.

    Attributes:
        rows: Ranked systems, best first.
        unranked: The others.
        ranked_languages: Languages with a board, code to name.
        data: Each language's board, for the filter; see ``filter_data``.
    """

    rows: list[OverallRow]
    unranked: list[UnrankedSystem]
    ranked_languages: Mapping[str, str]
    data: Mapping[str, Any]


def overview(board: Board, slugs: Mapping[str, str]) -> Overview:
    """Prepare the overview.

    Args:
        board: The board.
        slugs: System to slug.
    """
    ranked = board.overall[board.overall["rank"].notna()]
    return Overview(
        rows=_overall_rows(board, ranked),
        unranked=_unranked(board, set(ranked["system"])),
        ranked_languages={code: language_name(code) for code in board.languages},
        data=filter_data(board, slugs),
    )


def _overall_rows(board: Board, ranked: pd.DataFrame) -> list[OverallRow]:
    ranks = board.ratings.groupby("system")["rank"].agg(["min", "max"])
    scale = LinearScale(1.0, float(max(board.ratings["rank"].max(), 2.0)))
    top_tiers = _top_tiers(board)
    shared = ranked["rank"].duplicated(keep=False)
    rows = []
    for row, is_tied in zip(ranked.itertuples(index=False), shared, strict=True):
        best, worst = (
            ranks.loc[row.system] if row.system in ranks.index else (float("nan"), float("nan"))
        )
        rows.append(
            OverallRow(
                system=row.system,
                rank=int(row.rank),
                is_tied=bool(is_tied),
                mean_rank=float(row.mean_rank),
                best=finite(best),
                worst=finite(worst),
                spread=span(scale, row.mean_rank, best, worst),
                mean_rating=finite(row.mean_rating),
                top_tiers=top_tiers.get(row.system, 0),
                coverage=finite(row.coverage),
                arena_rank=finite(row.arena_rank),
            )
        )
    return rows


def _top_tiers(board: Board) -> dict[str, int]:
    best = board.tiers[board.tiers["tier"] == 1]
    return {str(system): int(count) for system, count in best["system"].value_counts().items()}


def _unranked(board: Board, ranked: set[str]) -> list[UnrankedSystem]:
    systems = [system for system in board.systems if system not in ranked]
    overall = board.overall.set_index("system")
    by_system = dict(iter(board.ratings.groupby("system")))
    return [
        UnrankedSystem(
            system=system,
            languages=int(rows["rank"].notna().sum()),
            coverage=finite(overall["coverage"].get(system)),
            reasons=_reasons(board, system, rows),
        )
        for system in systems
        for rows in [by_system.get(system, board.ratings.iloc[:0])]
    ]


def _reasons(board: Board, system: str, rows: pd.DataFrame) -> dict[str, list[str]]:
    ranks = rows.set_index("language")
    found: dict[str, list[str]] = {}
    for language in board.languages:
        if language in ranks.index and pd.notna(ranks.at[language, "rank"]):
            continue
        noted = str(ranks.at[language, "note"]) if language in ranks.index else ""
        found.setdefault(noted or unranked_reason(board, system, language), []).append(
            language_name(language)
        )
    return found


def filter_data(board: Board, slugs: Mapping[str, str]) -> dict[str, Any]:
    """Return every language's board as compact JSON for the page's filter.

    Returns:
        ``systems``: name and slug; ``splits``: kinds of systems; ``languages``: code to name,
        notes, and rows of place in ``systems``, rank, tier, rating, low, high, rank_low,
        rank_high, coverage, arena rank, arena rating, arena_low, arena_high, place in ``splits``,
        note. Missing numbers are null.
    """
    order = {system: place for place, system in enumerate(board.systems)}
    ratings = ratings_with_tiers(board)
    ratings = ratings.assign(
        place=ratings["system"].map(order),
        kind=ratings["split"].map({name: place for place, name in enumerate(SPLITS)}),
    )
    return {
        "systems": [[system, slugs[system]] for system in order],
        "splits": SPLITS,
        "languages": {
            str(language): {
                "name": language_name(str(language)),
                "rows": _compact_rows(rows),
            }
            for language, rows in ratings.groupby("language")
        },
    }


_COMPACT = (
    *("place", "rank", "tier", "rating", "low", "high", "rank_low", "rank_high", "coverage"),
    *("arena_rank", "arena_rating", "arena_low", "arena_high", "kind"),
)


def _compact_rows(rows: pd.DataFrame) -> list[list[Any]]:
    numbers = rows[list(_COMPACT)].astype(float).round(STORED_DECIMALS).to_numpy().tolist()
    return [
        [*map(_compact, values), note] for values, note in zip(numbers, rows["note"], strict=True)
    ]


def _compact(value: float) -> float | int | None:
    number = finite(value)
    if number is None:
        return None
    return int(number) if number.is_integer() else number


@dataclass(frozen=True)
class Cell:
    """A rank.

    Attributes:
        rank: The rank; None where the system is unranked.
        level: Step of the color scale, 0 for the best.
    """

    rank: int | None
    level: int | None


@dataclass(frozen=True)
class HeatmapRow:
    """A system's ranks.

    Attributes:
        system: Its name.
        mean_rank: Mean over all languages; None where one does not rank it.
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
        levels: Steps of the color scale.
        tables: Heat maps: of the surrogate, and of the arena where it rates anything.
    """

    languages: Mapping[str, str]
    levels: range
    tables: list[RankTable]


def heatmap(board: Board) -> Heatmap:
    """Prepare the heat maps."""
    synthetic = RankTable(
        "synthetic",
        "Ranks by the surrogate",
        "Every question of the language; the surrogate judges by features alone.",
        _rows(rank_matrix(board)),
    )
    judged = rank_matrix(board, "arena_rank")
    arena = RankTable(
        "arena",
        "Ranks by the arena",
        f"The questions judged by {board.summary.judge}; judged systems only.",
        _rows(judged),
    )
    return Heatmap(
        languages={code: language_name(code) for code in board.languages},
        levels=range(len(SEQUENTIAL)),
        tables=[synthetic] if judged.is_empty else [synthetic, arena],
    )


def _rows(matrix: RankMatrix) -> list[HeatmapRow]:
    steps = len(SEQUENTIAL)
    levels = (matrix.shades * steps).clip(upper=steps - 1)
    return [
        HeatmapRow(
            str(system),
            finite(matrix.means[system]),
            [
                Cell(None, None) if pd.isna(rank) else Cell(int(rank), int(level))
                for rank, level in zip(ranks, shades, strict=True)
            ],
        )
        for system, ranks, shades in zip(
            matrix.ranks.index, matrix.ranks.to_numpy(), levels.to_numpy(), strict=True
        )
    ]
