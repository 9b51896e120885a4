"""What ``index.html`` shows: the board over all languages, and each language's for its filter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from surrogate.board.tables import BoardTables
from surrogate.publish.formats import Scale, Span, finite, language_name, span
from surrogate.publish.palette import SEQUENTIAL

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
        top_tiers: Languages in which it is in the best tier; None where tiers are not known.
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
    top_tiers: int | None
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
        has_tiers: Whether tiers are known.
        data: Each language's board, for the filter; see ``language_data``.
    """

    rows: list[OverallRow]
    unranked: list[UnrankedSystem]
    ranked_languages: Mapping[str, str]
    has_tiers: bool
    data: Mapping[str, Any]


def overview(tables: BoardTables, slugs: Mapping[str, str]) -> Overview:
    """Prepare the overview.

    Args:
        tables: The board.
        slugs: System to slug.
    """
    ranked = tables.overall[tables.overall["rank"].notna()]
    return Overview(
        rows=_overall_rows(tables, ranked),
        unranked=_unranked(tables, set(ranked["system"])),
        ranked_languages={code: language_name(code) for code in tables.languages},
        has_tiers=tables.tiers is not None,
        data=language_data(tables, slugs),
    )


def _overall_rows(tables: BoardTables, ranked: pd.DataFrame) -> list[OverallRow]:
    ranks = tables.board.groupby("system")["rank"].agg(["min", "max"])
    scale = Scale(1.0, float(max(tables.board["rank"].max(), 2.0)))
    top_tiers = _top_tiers(tables)
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
                top_tiers=None if top_tiers is None else top_tiers.get(row.system, 0),
                coverage=finite(row.coverage),
                arena_rank=finite(row.arena_rank),
            )
        )
    return rows


def _top_tiers(tables: BoardTables) -> dict[str, int] | None:
    if tables.tiers is None:
        return None
    best = tables.tiers[tables.tiers["tier"] == 1]
    return {str(system): int(count) for system, count in best["system"].value_counts().items()}


def _unranked(tables: BoardTables, ranked: set[str]) -> list[UnrankedSystem]:
    systems = [system for system in tables.systems if system not in ranked]
    overall = tables.overall.set_index("system")
    by_system = dict(iter(tables.board.groupby("system")))
    return [
        UnrankedSystem(
            system=system,
            languages=int(rows["rank"].notna().sum()),
            coverage=finite(overall["coverage"].get(system)),
            reasons=_reasons(tables, system, rows),
        )
        for system in systems
        for rows in [by_system.get(system, tables.board.iloc[:0])]
    ]


def _reasons(tables: BoardTables, system: str, rows: pd.DataFrame) -> dict[str, list[str]]:
    ranks = rows.set_index("language")
    found: dict[str, list[str]] = {}
    for language in tables.languages:
        if language in ranks.index and pd.notna(ranks.at[language, "rank"]):
            continue
        noted = str(ranks.at[language, "note"]) if language in ranks.index else ""
        found.setdefault(noted or unranked_reason(tables, system, language), []).append(
            language_name(language)
        )
    return found


def unranked_reason(tables: BoardTables, system: str, language: str) -> str:
    """Return why a language does not rank a system, from the board's own notes."""
    summary = tables.summary.languages.get(language)
    if summary is None:
        return "the board gives no reason"
    stated = summary.skipped.systems_unranked.get(system)
    return stated or "; ".join(summary.notes) or "the board gives no reason"


def language_data(tables: BoardTables, slugs: Mapping[str, str]) -> dict[str, Any]:
    """Return every language's board as compact JSON for the page's filter.

    Returns:
        ``systems``: name and slug; ``splits``: kinds of systems; ``languages``: code to name,
        notes, and rows of place in ``systems``, rank, tier, rating, low, high, rank_low,
        rank_high, coverage, arena rank, arena rating, arena_low, arena_high, place in ``splits``,
        note. Missing numbers are null.
    """
    order = {system: place for place, system in enumerate(tables.systems)}
    board = tables.board.assign(
        place=tables.board["system"].map(order),
        kind=tables.board["split"].map({name: place for place, name in enumerate(SPLITS)}),
    )
    board = _with_tiers(board, tables.tiers)
    return {
        "systems": [[system, slugs[system]] for system in order],
        "splits": SPLITS,
        "languages": {
            str(language): {
                "name": language_name(str(language)),
                "rows": _compact_rows(rows),
            }
            for language, rows in board.groupby("language")
        },
    }


def _with_tiers(board: pd.DataFrame, tiers: pd.DataFrame | None) -> pd.DataFrame:
    columns = ["tier", "rank_low", "rank_high"]
    if tiers is None:
        return board.assign(**dict.fromkeys(columns, float("nan")))
    unique = tiers.drop_duplicates(["language", "system"])
    return board.merge(unique, on=["language", "system"], how="left")


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
        levels: Steps of the color scale.
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
