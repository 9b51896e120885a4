"""Features: their means by language and model family, and what they matter for the ratings.

MIRAGE-Bench, figures 3 and 9.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import ArenaError, UsageError
from arena.data.wording import count_of
from arena.diagnostics.families import model_families
from features.engine.columns import feature_columns
from features.measures.registry import parse_features
from surrogate.board.board import Board
from surrogate.publish.figures.figure import (
    MUTED,
    ROW_INCHES,
    Caption,
    drawable,
    judged_languages,
    label_inches,
    language_rows,
    legend,
    new_sheet,
    panels,
    read_study,
    shown_names,
    style,
)
from surrogate.publish.palette import BLUE, OKABE_ITO, SKY_BLUE, VERMILLION

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

Floats = npt.NDArray[np.float64]

OTHER = "family not known"
MARKERS = "oDs^vPX*"
PANEL_INCHES, LANGUAGE_INCHES, SMALLEST_WIDTH = 2.0, 0.36, 4.2
LEFT_INCHES, CHARACTER_INCHES = 0.7, 0.075
POINT_SIZE = 5.5
SHARES = ("importance", "tournament_low", "tournament_high")
QUARTILES = ("tournament_q1", "tournament_median", "tournament_q3")
BOX = 0.56
BOXES_INCHES, INTERVALS_INCHES = 5.0, 3.2
MEASURES = {
    "permutation": "Kendall tau lost by permutation",
    "shap": "Share of mean |SHAP value|",
    "share": "Share in the surrogate's decisions",
}
MAKE = "surrogate-arena validate ARENA --protocol importances --importances shap --json > FILE"


@dataclass(frozen=True)
class Family:
    """How a family of models is drawn.

    Attributes:
        name: Its name.
        color: Color of its points.
        marker: Their shape, so that families of one color stay apart.
    """

    name: str
    color: str
    marker: str


def feature_lollipops(board: Board) -> Figure:
    """Draw every feature's mean a system, language by language, colored by model family.

    Families are read off the systems' names; see ``arena.judging.model_families``.

    Args:
        board: A board.

    Raises:
        UsageError: If no feature has a value.
    """
    table = board.features
    table = table[table["system"].isin(board.overall["system"])]
    means = (
        table.groupby(["language", "system"])[feature_columns(table)]
        .mean()
        .dropna(axis=1, how="all")
    )
    if means.empty or not len(means.columns):
        raise UsageError("features.parquet holds no value, so there are no lollipops to draw")
    languages = sorted(means.index.unique("language"))
    systems = sorted(means.index.unique("system"))
    families = families_of(systems)
    caption = Caption(
        f"Features of the answers: {board.summary.arena}",
        "A point is the mean over the answers of a system in a language. "
        f"n = {count_of(len(systems), 'system')}, {count_of(len(languages), 'language')}, "
        f"{count_of(len(table), 'answer')}. Model families are read off the names.",
        board.summary.signature,
    )
    columns = min(2, len(means.columns))
    width = columns * max(SMALLEST_WIDTH, len(languages) * LANGUAGE_INCHES + 0.7)
    rows = -(-len(means.columns) // columns)
    with style():
        sheet = new_sheet(width, rows * PANEL_INCHES + 0.5, caption)
        axes = panels(sheet, len(means.columns), columns)
        for panel, name in zip(axes, means.columns, strict=True):
            _draw(panel, means[name], languages, families)
            panel.set_title(_title(str(name), width / columns), loc="left", fontsize=8)
        legend(sheet, {its.name: _point(its) for its in families.values()}, int(width / 1.5))
    return sheet.figure


def families_of(systems: Sequence[str]) -> dict[str, Family]:
    """Return how each system is drawn: by its family, or by both where its name tells of two."""
    named = {system: " + ".join(sorted(model_families(system))) or OTHER for system in systems}
    known = sorted(set(named.values()) - {OTHER})
    drawn = {OTHER: Family(OTHER, MUTED, MARKERS[0])}
    for index, name in enumerate(known):
        turn, color = divmod(index, len(OKABE_ITO))
        marker = MARKERS[(color + turn) % len(MARKERS)]
        drawn[name] = Family(name, OKABE_ITO[color], marker)
    order = [*known, OTHER]
    return {
        system: drawn[family]
        for system, family in sorted(named.items(), key=lambda item: order.index(item[1]))
    }


def _draw(
    axes: Axes, means: pd.Series, languages: Sequence[str], families: dict[str, Family]
) -> None:
    positions = {language: position for position, language in enumerate(languages)}
    by_language = means.groupby("language")
    at = [positions[language] for language in by_language.groups]
    axes.vlines(at, by_language.min(), by_language.max(), color="#BBBBBB", linewidth=1.5, zorder=1)
    for family in dict.fromkeys(families.values()):
        kin = [system for system, its in families.items() if its == family]
        of_kin = means[means.index.get_level_values("system").isin(kin)]
        axes.plot(
            [positions[language] for language in of_kin.index.get_level_values("language")],
            of_kin.to_numpy(float),
            linestyle="none",
            marker=family.marker,
            markersize=POINT_SIZE,
            color=family.color,
            markeredgecolor="white",
            markeredgewidth=0.5,
            alpha=0.9,
        )
    axes.set_xticks(range(len(languages)), [drawable(language) for language in languages])
    axes.set_xlim(-0.6, len(languages) - 0.4)
    axes.set_ylabel("mean")
    axes.margins(y=0.12)
    axes.grid(axis="y")


def _title(name: str, inches: float) -> str:
    """Return a feature's name, with what it measures below where that is known."""
    (shown,) = shown_names([name]).values()
    try:
        summary = parse_features(name)[0].summary
    except (ArenaError, ValueError, IndexError):
        return shown
    room = int((inches - LEFT_INCHES) / CHARACTER_INCHES)
    return "\n".join([shown, *textwrap.wrap(summary, room)])


def _point(family: Family) -> Line2D:
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="none", marker=family.marker, color=family.color)


def importance_boxes(board: Board, language: str | None = None) -> Figure:
    """Draw how each feature's share in the surrogate spreads over tournaments.

    Boxes are the quartiles and the median, whiskers hold 95% of the tournaments. A board
    that holds nothing out gives the final shares alone.

    Args:
        board: A board.
        language: Language to take; None averages every mark over the languages, as the paper does.

    Raises:
        UsageError: If the board has no importances, or not in this language.
    """
    chosen = language_rows(board.importances, language)
    shares = chosen.groupby("feature")[[*SHARES, *QUARTILES]].mean()
    shares = shares[shares["importance"].notna()].sort_values(
        ["tournament_median", "tournament_low", "importance"], kind="stable", na_position="first"
    )
    if shares.empty:
        raise UsageError("no feature has an importance, as no surrogate was trained")
    languages = judged_languages(chosen)
    over = "" if len(languages) == 1 else f", mean over {count_of(len(languages), 'language')}"
    label = f"Share in the surrogate's decisions{over}"
    caption = _caption(board, chosen, shares, language)
    return _feature_rows(
        shares, caption, {label: partial(_draw_importance_boxes, shares)}, BOXES_INCHES, 4
    )


def _feature_rows(
    features: pd.DataFrame,
    caption: Caption,
    drawings: Mapping[str, Callable[[Axes], dict[str, Artist]]],
    inches: float,
    columns: int,
) -> Figure:
    """Draw a row a feature, which the table is indexed by, the last at the top.

    Args:
        features: The features, in order.
        caption: What stands around the panels.
        drawings: Label of each panel to what draws it and returns what the legend explains.
        inches: Width of a panel.
        columns: Entries of the legend side by side.
    """
    names = shown_names(map(str, features.index))
    width = label_inches(names.values()) + inches * len(drawings)
    with style():
        sheet = new_sheet(max(width, 6.5), len(features) * ROW_INCHES + 1.1, caption)
        grid = panels(sheet, len(drawings), len(drawings), sharey=True)
        for axes, (label, draw) in zip(grid, drawings.items(), strict=True):
            handles = draw(axes)
            axes.set_xlabel(label)
        grid[0].set_yticks(range(len(features)), list(names.values()))
        grid[0].set_ylim(-0.7, len(features) - 0.3)
        legend(sheet, handles, columns)
    return sheet.figure


def _left_out(chosen: pd.DataFrame, drawn: pd.DataFrame) -> str:
    """Say how many features have no row."""
    count = chosen["feature"].nunique() - len(drawn)
    shown = f" Not drawn, as no surrogate could use it: {count_of(count, 'feature')}."
    return shown if count else ""


def _caption(
    board: Board, chosen: pd.DataFrame, shares: pd.DataFrame, language: str | None
) -> Caption:
    languages = judged_languages(chosen)
    tournaments = [
        board.summary.languages[name].holdout_r2.tournaments
        for name in languages
        if name in board.summary.languages
    ]
    note = f"n = {count_of(len(shares), 'feature')}, {count_of(len(languages), 'language')}"
    if any(tournaments):
        spread = sorted({min(tournaments), max(tournaments)})
        note += f", {'–'.join(map(str, spread))} tournaments a language"
    note += f".{_left_out(chosen, shares)}"
    return Caption(
        f"What the surrogate looks at: {board.summary.arena}, {language or 'all languages'}",
        note,
        board.summary.signature,
    )


def _draw_importance_boxes(shares: pd.DataFrame, axes: Axes) -> dict[str, Artist]:
    """Draw all rows, and return what the legend explains."""
    rows = np.arange(len(shares))
    handles: dict[str, Artist] = {}
    if shares["tournament_low"].notna().any():
        handles["95% of tournaments"] = axes.hlines(
            rows, shares["tournament_low"], shares["tournament_high"], color=BLUE, linewidth=1.2
        )
    if shares["tournament_q1"].notna().any():
        extent = shares["tournament_q3"] - shares["tournament_q1"]
        boxes = axes.barh(
            rows, extent, BOX, shares["tournament_q1"], color=SKY_BLUE, edgecolor=BLUE
        )
        handles["quartiles"] = boxes[0]
        half = BOX / 2
        handles["median"] = axes.vlines(
            shares["tournament_median"], rows - half, rows + half, color="black", linewidth=1.8
        )
    (handles["surrogate of the board (all tournaments)"],) = axes.plot(
        shares["importance"], rows, "D", color=VERMILLION, markersize=4.5, linestyle="none"
    )
    axes.grid(axis="x")
    axes.set_xlim(left=0)
    return handles


def read_importances(path: Path | str) -> tuple[pd.DataFrame, str]:
    """Read what ``surrogate-arena validate --protocol importances --json`` printed.

    Returns:
        The table, as ``surrogate.validation.importances`` gives it, and the signature.

    Raises:
        UsageError: If there is no such file.
        DataError: If it is no such file.
    """
    return read_study(path, "study of importances", MAKE, _typed)


def _typed(table: pd.DataFrame) -> pd.DataFrame:
    numbers = [name for measure in _measured(table) for name in _columns(measure)]
    return table.astype({"language": str, "feature": str, **dict.fromkeys(numbers, "float64")})


def importance_intervals(
    table: pd.DataFrame, signature: str, arena: str = "", language: str | None = None
) -> Figure:
    """Draw the importances of features and the intervals that hold 95% of the tournaments.

    Each measure that the table holds has a panel of its own; the features are in the order of the
    first, those that matter most at the top.

    Args:
        table: As ``surrogate.validation.importances`` gives it.
        signature: The study's.
        arena: Name of the arena, for the title.
        language: Language to take; None averages every mark over the languages, as the paper does.

    Raises:
        UsageError: If the table holds no importance, or not in this language.
    """
    chosen = table if language is None else table[table["language"] == language]
    measures = [name for name in _measured(chosen) if chosen[name].notna().any()]
    if not measures:
        where = "" if language is None else f" in {language!r}"
        raise UsageError(f"there are no importances{where} to draw; make them with  {MAKE}")
    columns = [name for measure in measures for name in _columns(measure)]
    features = chosen.groupby("feature")[columns].mean()
    features = features[features[measures].notna().any(axis=1)]
    features = features.sort_values(measures[0], kind="stable", na_position="first")
    values = {name: features[_columns(name)].to_numpy(float) for name in measures}
    return _feature_rows(
        features,
        _caption_importance_intervals(chosen, features, signature, arena, language),
        {MEASURES[name]: partial(_draw_importance_intervals, values[name]) for name in measures},
        INTERVALS_INCHES,
        2,
    )


def _columns(measure: str) -> list[str]:
    return [measure, f"{measure}_low", f"{measure}_high"]


def _measured(table: pd.DataFrame) -> Sequence[str]:
    """Return the measures of a table, in the order of its columns.

    Raises:
        UsageError: If one lacks its interval, or there is none.
    """
    measures = [str(name) for name in table.columns if name in MEASURES]
    absent = [name for measure in measures for name in _columns(measure) if name not in table]
    if absent or not measures:
        named = ", ".join(absent) or f"a column {' or '.join(MEASURES)}"
        raise UsageError(f"the table of importances lacks {named}; make it with  {MAKE}")
    return measures


def _caption_importance_intervals(
    chosen: pd.DataFrame, features: pd.DataFrame, signature: str, arena: str, language: str | None
) -> Caption:
    languages = count_of(len(judged_languages(chosen)), "language")
    title = f"What the surrogate rests on: {arena}" if arena else "What the surrogate rests on"
    note = f"n = {count_of(len(features), 'feature')}, {languages}.{_left_out(chosen, features)}"
    if features.isna().any(axis=None):
        note += " Where there is no mark, the surrogate could not use the feature."
    return Caption(f"{title}, {language or 'all languages'}", note, signature)


def _draw_importance_intervals(values: Floats, axes: Axes) -> dict[str, Artist]:
    """Draw one measure of all features, shape (F, 3), and return what the legend explains."""
    rows = np.arange(len(values))
    middle, low, high = values.T
    handles: dict[str, Artist] = {
        "95% of tournaments": axes.hlines(rows, low, high, color=BLUE, linewidth=1.6)
    }
    (handles["importance"],) = axes.plot(
        middle, rows, "D", color=VERMILLION, markersize=4.5, linestyle="none"
    )
    axes.axvline(0, color=MUTED, linewidth=0.8, zorder=1)
    axes.grid(axis="x")
    axes.locator_params(axis="x", nbins=6)
    return handles
