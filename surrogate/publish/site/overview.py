"""What ``index.html`` shows: the board over all languages, and each language's for its filter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from arena.data.rows import plain_records, plain_table
from surrogate.board.board import Board
from surrogate.publish import formats
from surrogate.publish.formats import LinearScale, finite, language_name, span
from surrogate.publish.palette import SEQUENTIAL
from surrogate.publish.view import (
    SPLIT_NAMES,
    RankMatrix,
    compact_numbers,
    rank_matrix,
    unranked_reason,
)

NUMBERS = (
    *("index", "rank", "rank_low", "rank_high", "tier", "rating", "low", "high", "verdict_share"),
    *("surrogate_rating", "surrogate_low", "surrogate_high"),
    *("arena_rating", "arena_low", "arena_high", "coverage", "kind"),
)
ROW_COLUMNS = (*NUMBERS, "note")


def overview(board: Board, slugs: Mapping[str, str]) -> dict[str, Any]:
    """Prepare the overview, as its template takes it.

    Args:
        board: The board.
        slugs: System to slug.

    Returns:
        ``rows``: ranked systems, best first: their rows of ``Board.overall``, whether another has
        the same rank (``is_tied``), their ``best`` and ``worst`` rank in a language, the
        ``spread`` of ranks on a line, and the languages in which they are in the best tier
        (``top_tiers``); ``unranked``: the others with ``reasons``, each to the languages it is so
        in; ``ranked_languages``: code to name; ``data``: see ``filter_data``.
    """
    ranked = board.overall[board.overall["rank"].notna()]
    return {
        "rows": _overall_rows(board, ranked),
        "unranked": _unranked(board, set(ranked["system"])),
        "ranked_languages": {code: language_name(code) for code in board.languages},
        "data": filter_data(board, slugs),
    }


def _overall_rows(board: Board, ranked: pd.DataFrame) -> list[dict[str, Any]]:
    ranks = board.ratings.groupby("system")["rank"]
    best_tier = board.ratings.loc[board.ratings["tier"] == 1, "system"].value_counts()
    last = max([2.0, *board.ratings["rank"].dropna()])
    scale = LinearScale(1.0, float(last))
    system = ranked["system"]
    table = ranked.assign(
        is_tied=ranked["rank"].duplicated(keep=False),
        best=system.map(ranks.min()),
        worst=system.map(ranks.max()),
        top_tiers=system.map(best_tier).fillna(0).astype(int),
    )
    return [
        row | {"spread": span(scale, row["mean_rank"], row["best"], row["worst"])}
        for row in plain_records(table)
    ]


def _unranked(board: Board, ranked: set[str]) -> list[dict[str, Any]]:
    systems = [system for system in board.systems if system not in ranked]
    overall = board.overall.set_index("system")
    by_system = dict(iter(board.ratings.groupby("system")))
    return [
        {
            "system": system,
            "languages": int(rows["rank"].notna().sum()),
            "coverage": overall["coverage"].get(system),
            "reasons": _reasons(board, system, rows),
        }
        for system in systems
        for rows in [by_system.get(system, board.ratings.iloc[:0])]
    ]


def _reasons(board: Board, system: str, rows: pd.DataFrame) -> dict[str, list[str]]:
    ranks = rows.set_index("language")
    reasons: dict[str, list[str]] = {}
    for language in board.languages:
        if language in ranks.index and pd.notna(ranks.at[language, "rank"]):
            continue
        noted = str(ranks.at[language, "note"]) if language in ranks.index else ""
        reasons.setdefault(noted or unranked_reason(board, system, language), []).append(
            language_name(language)
        )
    return reasons


def filter_data(board: Board, slugs: Mapping[str, str]) -> dict[str, Any]:
    """Return every language's board as compact JSON for the page's filter.

    Returns:
        ``scale``: what ratings are in; ``first``: whether nobody has judged; ``systems``: name and
        slug; ``splits``: kinds of systems, in words; ``columns``: what stands in a row
        (``ROW_COLUMNS``; ``index`` is a place in ``systems``, ``kind`` one in ``splits``);
        ``languages``: code to name, the slug of its page of ``pairs``, rows, and what the
        language's scores mean (``told``: sentences and whether they warn, warnings first; none
        where it is the only one). Missing numbers, and infinite
        ones, are null.
    """
    pairs = formats.slugs(board.languages)
    order = {system: index for index, system in enumerate(board.systems)}
    ratings = board.ratings
    ratings = ratings.assign(
        index=ratings["system"].map(order),
        kind=ratings["split"].map({name: index for index, name in enumerate(SPLIT_NAMES)}),
    )
    return {
        "scale": board.summary.scale,
        "first": board.summary.is_first,
        "systems": [[system, slugs[system]] for system in order],
        "splits": list(SPLIT_NAMES.values()),
        "columns": ROW_COLUMNS,
        "languages": {
            str(language): {
                "name": language_name(str(language)),
                "pairs": pairs[str(language)],
                "told": _told(board, str(language)),
                "rows": _compact_rows(rows),
            }
            for language, rows in ratings.groupby("language")
        },
    }


def _told(board: Board, language: str) -> list[tuple[str, bool]]:
    if len(board.summary.languages) == 1:
        return []
    found = board.summary.languages[language].conclusions
    return sorted(
        ((item.sentence, item.is_warning) for item in found), key=lambda item: not item[1]
    )


def _compact_rows(rows: pd.DataFrame) -> list[list[Any]]:
    numbers = compact_numbers(rows[list(NUMBERS)])
    return [[*values, note] for values, note in zip(numbers, rows["note"], strict=True)]


def heatmap(board: Board) -> dict[str, Any]:
    """Prepare the heat maps: of the board, and by verdicts alone where they rate anything.

    Returns:
        ``languages``: code to name; ``levels``: steps of the color scale; ``tables``: ``name``,
        ``title``, ``source``, and a row a system with its ``mean_rank`` and in ``cells`` its rank
        in each language with the step of the color scale, 0 for the best.
    """
    shown = {
        "board": ("Ranks of the board", f"By {board.summary.rated_by}.", "rank"),
        "verdicts": (
            "Ranks by verdicts alone",
            f"Judged systems only, by {board.summary.judge}.",
            "arena_rank",
        ),
    }
    tables = [
        {"name": name, "title": title, "source": source, "rows": _rows(matrix)}
        for name, (title, source, column) in shown.items()
        for matrix in [rank_matrix(board, column)]
        if name == "board" or not matrix.is_empty
    ]
    return {
        "languages": {code: language_name(code) for code in board.languages},
        "levels": range(len(SEQUENTIAL)),
        "tables": tables,
    }


def _rows(matrix: RankMatrix) -> list[dict[str, Any]]:
    steps = len(SEQUENTIAL)
    ranks = plain_table(matrix.ranks.astype("Int64"))
    levels = plain_table((matrix.shades * steps).clip(upper=steps - 1).astype("float64") // 1)
    return [
        {
            "system": system,
            "mean_rank": finite(matrix.means[system]),
            "cells": list(zip(ranks.loc[system], levels.loc[system], strict=True)),
        }
        for system in matrix.ranks.index
    ]
