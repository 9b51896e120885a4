"""Figures of a board: ratings, ranks, features and what they matter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from arena.data.errors import UsageError, checked_choice
from arena.data.wording import count_of
from arena.diagnostics.families import model_families
from features.engine.columns import feature_columns
from surrogate.board.board import Board
from surrogate.board.summary import LEVEL
from surrogate.publish.figures.cost_figures import draw_costs
from surrogate.publish.figures.figure import (
    MARKERS,
    MUTED,
    ROW_INCHES,
    Caption,
    Drawing,
    draw_matrix,
    drawable,
    label_inches,
    legend,
    new_figure,
    shown_names,
    style,
)
from surrogate.publish.formats import (
    BLUE,
    BOTH,
    MISSING,
    OKABE_ITO,
    SEQUENTIAL,
    SKY_BLUE,
    SURROGATE,
    VERDICTS,
    VERMILLION,
    decimal,
    percent,
    rank_interval,
    slugs,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS = ("heatmap", "lollipops", "importances", "ratings", "costs")
"""Kinds of figures of a board; ``ratings`` are of one language each."""
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
OTHER_FAMILY = "family not known"
BOX = 0.56


def board_drawings(
    board: Board, kinds: Sequence[str] = (), language: str | None = None
) -> Iterator[Drawing]:
    """List the figures of a board.

    Raises:
        UsageError: For an unknown kind or language.
    """
    for kind in kinds:
        checked_choice(kind, KINDS, "figure")
    if language is not None:
        checked_choice(language, board.languages, "language of this board")
    files = slugs(board.languages)
    draws: dict[str, Any] = {
        "heatmap": rank_heat_map,
        "lollipops": feature_lollipops,
        "importances": importance_boxes,
        "costs": draw_costs,
    }
    for kind in dict.fromkeys(kinds or KINDS):
        # Most arenas state no costs, which is no reason to complain unless they are asked for.
        if kind == "costs" and not kinds and board.costs.empty:
            continue
        if kind == "ratings":
            for code in [language] if language else board.languages:
                yield Drawing(f"ratings-{files[code]}", partial(draw_ratings, board, code))
        else:
            yield Drawing(kind, partial(draws[kind], board))


def _parts(board: Board) -> str:
    return count_of(len(board.languages), board.summary.part, board.summary.parts)


def draw_ratings(board: Board, language: str) -> Figure:
    """Draw the ratings of one language with their intervals, best rank of the board at the top.

    Each system has three: the board's, and those by surrogates that had not seen it and by
    verdicts alone. Bands hold systems of one tier, which the board's ratings cannot distinguish;
    on the right is the interval that holds all ranks at once.

    Raises:
        UsageError: If the board has no such language, or no rating in it.
    """
    checked_choice(language, board.languages, "language of this board")
    of_language = board.ratings["language"].eq(language) & board.ratings["rating"].notna()
    rows = board.ratings[of_language].sort_values(["rank", "system"], ignore_index=True)
    if rows.empty:
        raise UsageError(f"no system has a rating in {language!r}, so there are none to draw")
    first = board.summary.is_first
    width, places = label_inches(rows["system"]) + 6.1, np.arange(len(rows))
    with style():
        caption = _caption_of_ratings(board, rows, language)
        figure, (axes,) = new_figure(caption, width, len(rows) * 0.32 + 0.9)
        handles = _draw_intervals(axes, rows, board.summary.rated_by)
        axes.grid(axis="x")
        axes.margins(x=0.04)
        axes.axvline(0.5 if first else 0, color=MUTED, linewidth=0.8, zorder=1)
        axes.set_yticks(places, list(shown_names(rows["system"]).values()))
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlabel(
            "Share of the others' answers below a system's (no verdict, no logits)"
            if first
            else "Rating (logits, 0 is the mean)"
        )
        _draw_tiers(axes, rows[TIERS].astype(float))
        legend(figure, handles, 3)
    return figure


def _draw_intervals(axes: Axes, rows: pd.DataFrame, rated_by: str) -> dict[str, Any]:
    """Draw ratings with their intervals, a row per system; return the legend's handles."""
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
    """Say whose ratings these are, what they rest on, and what intervals mean."""
    summary, reproduces = board.summary, board.summary.signature
    judged = int(rows["arena_rating"].notna().sum())
    note = f"n = {count_of(len(rows), 'system')}, {judged or 'none'} judged"
    if summary.is_first:
        note += ". Intervals, bands (tiers) and ranks on the right are of resampled questions "
        note += "(90%; 95% for all ranks): none says how far verdicts will differ."
        return Caption(f"Ratings without verdicts: {summary.arena}, {language}", note, reproduces)
    found = summary.languages.get(language)
    if found is not None and found.judgments:
        questions = count_of(found.questions_judged, "question")
        note += f" in {count_of(found.judgments, 'judgment')} of {questions}"
    unseen = percent(LEVEL) if rows["surrogate_low"].notna().any() else "none"
    note += (
        f" by {summary.judge}. Intervals: 90% of ratings by {summary.rated_by}; 95% of those by "
        f"verdicts{' as published' if summary.is_published else ''}; {unseen} of those by "
        "surrogates that had not seen the system. Bands: tiers of systems that are not "
        "distinguishable; right: 95% for all ranks."
    )
    return Caption(f"Ratings with intervals: {summary.arena}, {language}", note, reproduces)


def _draw_tiers(axes: Axes, tiers: pd.DataFrame) -> None:
    """Draw bands of adjacent systems of one tier, and rank intervals on the right."""
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
    columns = {board.summary.rated_by.capitalize(): "rank", "Verdicts alone": "arena_rank"}
    shown = {}
    for title, column in columns.items():
        ranks = board.by_language(column)
        if ranks.notna().any(axis=None):
            shown[title] = ranks
    if not shown:
        raise UsageError("no system is ranked, so there is no heat map to draw")
    caption = Caption(
        f"Ranks by {board.summary.part}: {board.summary.arena}",
        f"n = {count_of(len(board.systems), 'system')}, "
        f"{_parts(board)}. Rank 1 is best; systems by the board's "
        f"mean rank; {MISSING} is unranked. Verdicts by {board.summary.judge}.",
        board.summary.signature,
    )
    n_columns = len(board.languages) + 1  # the last has the mean
    width = max(label_inches(board.systems) + len(shown) * (n_columns * 0.34 + 0.3), 5.5)
    height = len(board.systems) * ROW_INCHES + 0.7
    with style():
        figure, panels = new_figure(caption, width, height, len(shown), len(shown), sharey=True)
        for axes, (title, ranks) in zip(panels, shown.items(), strict=True):
            _draw_ranks(axes, ranks, upright=board.summary.part != "language")
            axes.set_xlabel(title)
        for axes in panels[1:]:
            axes.tick_params(labelleft=False)
    return figure


def _draw_ranks(axes: Axes, ranks: pd.DataFrame, *, upright: bool) -> None:
    """Draw ranks and their mean; the shade of a cell is its place between first and last.

    Args:
        axes: The panel.
        ranks: One row per system, one column per language.
        upright: Whether names of columns are turned upright.
    """
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
        scale=SEQUENTIAL,
        upright=upright,
    )
    # A gap before the mean.
    axes.axvline(len(ranks.columns) - 0.5, color="white", linewidth=3)


def feature_lollipops(board: Board) -> Figure:
    """Draw features' means a system, language by language (MIRAGE-Bench, figures 3 and 9).

    A feature that is the same for all systems is left out.

    Raises:
        UsageError: If no feature differs.
    """
    table = board.features
    table = table[table["system"].isin(board.overall["system"])]
    means = table.groupby(["language", "system"])[feature_columns(table)].mean()
    means = means.loc[:, means.nunique() > 1]
    if means.empty:
        raise UsageError("no feature differs between systems, so there are no lollipops to draw")
    languages, systems = (sorted(means.index.unique(name)) for name in ("language", "system"))
    caption = Caption(
        f"Features of the answers: {board.summary.arena}",
        f"A point is the mean over the answers of a system in a {board.summary.part}. "
        f"n = {count_of(len(systems), 'system')}, {_parts(board)}, "
        f"{count_of(len(table), 'answer')}. Model families are read off the names.",
        board.summary.signature,
    )
    n_panels = len(means.columns)
    n_columns = min(2, n_panels)
    height = 2.0 * ceil(n_panels / n_columns)
    width = n_columns * max(4.2, len(languages) * 0.36 + 0.7)
    with style():
        figure, grid = new_figure(caption, width, height, n_panels, n_columns)
        for axes, name in zip(grid, means.columns, strict=True):
            values = means[name].unstack("language").reindex(columns=languages)
            handles = _draw_lollipops(axes, values, families_of(systems))
            _label_lollipops(axes, str(name), languages, board.summary.part)
        legend(figure, handles, int(width / 1.5))
    return figure


def _label_lollipops(axes: Axes, title: str, languages: Sequence[str], part: str) -> None:
    labels = [drawable(language) for language in languages]
    axes.set_xticks(range(len(languages)), labels, rotation=0 if part == "language" else 90)
    axes.set_xlim(-0.6, len(languages) - 0.4)
    axes.set_ylabel("mean")
    axes.margins(y=0.12)
    axes.grid(axis="y")
    axes.set_title(drawable(title), loc="left")


def _draw_lollipops(
    axes: Axes, values: pd.DataFrame, families: Mapping[str, str]
) -> dict[str, Artist]:
    """Draw a feature's mean by system and language, colored by model family.

    Args:
        axes: The panel.
        values: One row per system, one column per language.
        families: System to its family.

    Returns:
        Family to what stands for it in the legend.
    """
    x = np.arange(len(values.columns))
    axes.vlines(x, values.min(), values.max(), color="#BBBBBB", zorder=1)
    handles: dict[str, Artist] = {}
    for number, family in enumerate(dict.fromkeys(families.values())):
        n_reuses, color = divmod(number, len(OKABE_ITO))
        rows = values.loc[[system for system in values.index if families[system] == family]]
        (handles[family],) = axes.plot(
            np.tile(x, len(rows)),
            rows.to_numpy(float).ravel(),
            MARKERS[(color + n_reuses) % len(MARKERS)],
            color=MUTED if family == OTHER_FAMILY else OKABE_ITO[color],
            markersize=5.5,
            markeredgecolor="white",
            markeredgewidth=0.5,
        )
    return handles


def families_of(systems: Sequence[str]) -> dict[str, str]:
    """Return the model family of each system, or both where its name tells of two; known first."""
    named = {system: " + ".join(sorted(model_families(system))) for system in systems}
    order = sorted(named.items(), key=lambda item: (not item[1], item[1]))
    return {system: family or OTHER_FAMILY for system, family in order}


def importance_boxes(board: Board) -> Figure:
    """Draw how each feature's share in the surrogate spreads over tournaments (figure 5).

    Boxes are the quartiles and the median, whiskers hold 95% of the tournaments. A board
    that holds nothing out gives the final shares alone.

    Raises:
        UsageError: If the board has no importances.
    """
    shares = board.importances.groupby("feature").mean(numeric_only=True)
    shares = shares[shares["importance"].notna()].sort_values(
        ["tournament_median", "tournament_low", "importance"], kind="stable", na_position="first"
    )
    if shares.empty:
        raise UsageError("no feature has an importance, as no surrogate was trained")
    caption = Caption(
        f"Features that the surrogate uses: {board.summary.arena}",
        f"n = {count_of(len(shares), 'feature')}, {_parts(board)}.",
        board.summary.signature,
    )
    rows = np.arange(len(shares))
    width = max(label_inches(shares.index) + 5.0, 6.5)
    with style():
        figure, (axes,) = new_figure(caption, width, len(shares) * ROW_INCHES + 0.9)
        handles = _draw_boxes(axes, shares)
        (handles["surrogate of the board (all tournaments)"],) = axes.plot(
            shares["importance"], rows, "D", color=VERMILLION, markersize=4.5
        )
        axes.grid(axis="x")
        axes.set_xlim(left=0)
        over = "" if len(board.languages) == 1 else f", mean over {_parts(board)}"
        axes.set_xlabel(f"Share in the surrogate's decisions{over}")
        axes.set_yticks(rows, list(shown_names(shares.index).values()))
        axes.set_ylim(-0.7, len(shares) - 0.3)
        legend(figure, handles, 4)
    return figure


def _draw_boxes(axes: Axes, shares: pd.DataFrame) -> dict[str, Any]:
    """Draw boxes and whiskers of shares over tournaments, a row per feature, if they are known.

    Returns:
        The legend's handles.
    """
    rows = np.arange(len(shares))
    handles: dict[str, Any] = {}
    if shares["tournament_low"].notna().any():
        handles["95% of tournaments"] = axes.hlines(
            rows, shares["tournament_low"], shares["tournament_high"], color=BLUE, linewidth=1.2
        )
    if shares["tournament_q1"].notna().any():
        extent = shares["tournament_q3"] - shares["tournament_q1"]
        (handles["quartiles"], *_) = axes.barh(
            rows, extent, BOX, left=shares["tournament_q1"], color=SKY_BLUE, edgecolor=BLUE
        )
        handles["median"] = axes.vlines(
            shares["tournament_median"],
            rows - BOX / 2,
            rows + BOX / 2,
            color="black",
            linewidth=1.8,
        )
    return handles
