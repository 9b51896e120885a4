"""Figures of a board: the list of all, and those of its ratings and ranks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from arena.data.errors import UsageError, checked_choice
from arena.data.wording import count_of
from surrogate.board.board import Board
from surrogate.board.summary import LEVEL
from surrogate_arena.cli.shown_numbers import MISSING, decimal, percent, rank_interval
from surrogate_arena.pages.figures.figure import (
    MUTED,
    ROW_INCHES,
    Caption,
    Drawing,
    captioned_figure,
    draw_matrix,
    label_inches,
    legend,
    shown_names,
    style,
)
from surrogate_arena.pages.formats import (
    BOTH,
    SURROGATE,
    VERDICTS,
    slugs,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOOKS = (
    ("", "", BOTH, "D", -0.25),
    ("surrogate_", "surrogate alone", SURROGATE, "o", 0.03),
    ("arena_", "verdicts alone", VERDICTS, "s", 0.28),
)
"""Of the three ratings of a system: prefix of the columns, what they are by (of the board's own the
board says it), color, marker and place in the row."""
TIERS = ["tier", "rank_low", "rank_high"]
TIER_AT, RANKS_AT = 1.05, 1.15
RIGHT: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8}
"""Of the columns on the right of ratings."""


def board_drawings(board: Board, language: str | None = None) -> Iterator[Drawing]:
    """List the figures of a board: ranks of all languages, and ratings."""
    if language is not None:
        checked_choice(language, board.languages, "language of this board")
    yield Drawing("heatmap", partial(rank_heat_map, board))
    for code, file in slugs(board.languages).items():
        if language in (None, code):
            yield Drawing(f"ratings-{file}", partial(draw_ratings, board, code))


def draw_ratings(board: Board, language: str) -> Figure:
    """Draw the ratings of one language with their intervals, best rank of the board at the top.

    Bands hold systems of one tier; the interval on the right holds all ranks at once.

    Raises:
        UsageError: If the board has no such language, or no rating in it.
    """
    checked_choice(language, board.languages, "language of this board")
    of_language = board.ratings["language"].eq(language) & board.ratings["rating"].notna()
    rows = board.ratings[of_language].sort_values(["rank", "system"], ignore_index=True)
    if rows.empty:
        raise UsageError(f"no system has a rating in {language!r}, so there are none to draw")
    words = board.summary.words
    width, places = label_inches(rows["system"]) + 6.1, np.arange(len(rows))
    with style():
        caption = _caption_of_ratings(board, rows, language)
        figure, (axes,) = captioned_figure(caption, width, len(rows) * 0.32 + 0.9)
        handles = _draw_intervals(axes, rows, words.rated_by)
        axes.grid(axis="x")
        axes.margins(x=0.04)
        axes.axvline(words.center, color=MUTED, linewidth=0.8, zorder=1)
        axes.set_yticks(places, list(shown_names(rows["system"]).values()))
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlabel(words.axis)
        _draw_tiers(axes, rows[TIERS].astype(float))
        legend(figure, handles)
    return figure


def _draw_intervals(axes: Axes, rows: pd.DataFrame, rated_by: str) -> dict[str, Any]:
    places = np.arange(len(rows))
    handles = {}
    for prefix, name, color, marker, shift in LOOKS:
        ratings = rows[f"{prefix}rating"].to_numpy(float)
        if np.isnan(ratings).all():
            continue
        low = rows[f"{prefix}low"].to_numpy(float)
        high = rows[f"{prefix}high"].to_numpy(float)
        # An interval without an upper bound is drawn to the rating alone.
        right = np.where(np.isinf(high), ratings, high)
        axes.hlines(places + shift, low, right, color=color, linewidth=1.4, zorder=2)
        (handles[name or rated_by],) = axes.plot(
            ratings, places + shift, marker, color=color, markersize=4, linestyle="none"
        )
    return handles


def _caption_of_ratings(board: Board, rows: pd.DataFrame, language: str) -> Caption:
    summary, reproduces = board.summary, board.summary.signature
    judged = int(rows["arena_rating"].notna().sum())
    note = f"n = {count_of(len(rows), 'system')}, {judged or 'none'} judged"
    found = summary.languages.get(language)
    if found is not None and found.judgments:
        questions = count_of(found.questions_judged, "question")
        note += f" in {count_of(found.judgments, 'judgment')} of {questions}"
    unseen = percent(LEVEL) if rows["surrogate_low"].notna().any() else "none"
    note += summary.words.intervals.format(
        judge=summary.judge,
        rated_by=summary.words.rated_by,
        published=" as published" if summary.is_published else "",
        unseen=unseen,
    )
    return Caption(f"{summary.words.figure}: {summary.arena}, {language}", note, reproduces)


def _draw_tiers(axes: Axes, tiers: pd.DataFrame) -> None:
    if tiers["tier"].isna().all():
        return
    along = axes.get_yaxis_transform()
    for tier, places in groupby(range(len(tiers)), key=lambda row: tiers["tier"].iloc[row]):
        rows = list(places)
        if pd.isna(tier):
            continue
        if int(tier) % 2:
            axes.axhspan(rows[0] - 0.5, rows[-1] + 0.5, color="#EFEFEF", zorder=0)
        axes.text(TIER_AT, rows[0], f"{int(tier)}", transform=along, **RIGHT)
    for place, heading in ((TIER_AT, "tier"), (RANKS_AT, "rank\ninterval")):
        axes.text(place, -0.75, heading, transform=along, color=MUTED, **RIGHT | {"va": "bottom"})
    for row, (low, high) in enumerate(zip(tiers["rank_low"], tiers["rank_high"], strict=True)):
        axes.text(RANKS_AT, row, rank_interval(low, high), transform=along, **RIGHT)


def rank_heat_map(board: Board) -> Figure:
    """Draw the ranks of a board, and by verdicts alone (MIRAGE-Bench, figure 4).

    Raises:
        UsageError: If no system is ranked.
    """
    columns = {board.summary.words.rated_by.capitalize(): "rank", "Verdicts alone": "arena_rank"}
    shown = {}
    for title, column in columns.items():
        ranks = board.by_language(column)
        if ranks.notna().any(axis=None):
            shown[title] = ranks
    if not shown:
        raise UsageError("no system is ranked, so there is no heat map to draw")
    n_parts = count_of(len(board.languages), board.summary.part, board.summary.parts)
    caption = Caption(
        f"Ranks by {board.summary.part}: {board.summary.arena}",
        f"n = {count_of(len(board.systems), 'system')}, {n_parts}. Rank 1 is best; systems in the "
        f"board's order; {MISSING} is unranked. Verdicts by {board.summary.judge}.",
        board.summary.signature,
    )
    n_columns = len(board.languages) + 1  # the last has the mean
    width = max(label_inches(board.systems) + len(shown) * (n_columns * 0.34 + 0.3), 5.5)
    height = len(board.systems) * ROW_INCHES + 0.7
    with style():
        figure, panels = captioned_figure(caption, width, height, len(shown), sharey=True)
        for axes, (title, ranks) in zip(panels, shown.items(), strict=True):
            _draw_ranks(axes, ranks, upright=board.summary.part != "language")
            axes.set_xlabel(title)
        for axes in panels[1:]:
            axes.tick_params(labelleft=False)
    return figure


def _draw_ranks(axes: Axes, ranks: pd.DataFrame, *, upright: bool) -> None:
    means = ranks.mean(axis=1, skipna=False)
    last_ranks = ranks.max()
    shades = (ranks - 1) / (last_ranks - 1).clip(lower=1)
    shades["mean"] = (means - 1) / max(last_ranks.mean() - 1, 1)
    texts = ranks.map(lambda rank: decimal(rank, 0))
    texts["mean"] = means.map(lambda mean: decimal(mean, 1))
    draw_matrix(
        axes,
        shades.clip(0, 1).to_numpy(float),
        texts.to_numpy().tolist(),
        rows=ranks.index,
        columns=[*ranks.columns, "mean"],
        upright=upright,
    )
    # A gap before the mean.
    axes.axvline(len(ranks.columns) - 0.5, color="white", linewidth=3)
