"""Mean features of systems by language and model family (MIRAGE-Bench, figures 3 and 9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from arena.errors import ArenaError, UsageError
from arena.judging.model_families import model_families
from features import feature_columns, parse_features
from surrogate.palette import OKABE_ITO
from surrogate.plots.board_parts import needed
from surrogate.plots.figure import (
    MUTED,
    Caption,
    legend,
    new_sheet,
    panels,
    style,
)
from surrogate.plots.labels import drawable, shortened, wrapped
from surrogate.report.board_tables import BoardTables
from surrogate.report.formats import count_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

OTHER = "family not known"
MARKERS = "oDs^vPX*"

_PANEL_INCHES = 2.0
_LANGUAGE_INCHES = 0.36
_LEAST_WIDTH = 4.2
_LEFT_INCHES = 0.7
_CHARACTER_INCHES = 0.066
_LONGEST_NAME = 44
_POINT_SIZE = 5.5


@dataclass(frozen=True)
class Family:
    """How a family of models is drawn.

    Attributes:
        name: Its name.
        colour: Colour of its points.
        marker: Their shape, so that families of one colour stay apart.
    """

    name: str
    colour: str
    marker: str


def feature_lollipops(tables: BoardTables) -> Figure:
    """Draw every feature's mean a system, language by language, coloured by model family.

    Families are read off the systems' names; see ``arena.judging.model_families``.

    Args:
        tables: A board.

    Raises:
        UsageError: If the board has no feature table, or one without numbers.
    """
    table = needed(tables.features, "features.parquet", "the lollipops of features")
    numeric = set(table.select_dtypes("number"))
    names = [name for name in feature_columns(table) if name in numeric]
    means = table.groupby(["language", "system"])[names].mean().dropna(axis=1, how="all")
    if means.empty or not len(means.columns):
        raise UsageError("features.parquet holds no value, so there are no lollipops to draw")
    languages = sorted(means.index.unique("language"))
    systems = sorted(means.index.unique("system"))
    families = families_of(systems)
    caption = Caption(
        f"Features of the answers: {tables.summary.arena}",
        "A point is the mean over the answers of a system in a language. "
        f"n = {count_of(len(systems), 'system')}, {count_of(len(languages), 'language')}, "
        f"{count_of(len(table), 'answer')}. Model families are read off the names.",
        tables.summary.signature,
    )
    columns = min(2, len(means.columns))
    width = columns * max(_LEAST_WIDTH, len(languages) * _LANGUAGE_INCHES + 0.7)
    rows = -(-len(means.columns) // columns)
    with style():
        sheet = new_sheet(width, rows * _PANEL_INCHES + 0.5, caption)
        axes = panels(sheet, len(means.columns), columns)
        for place, name in zip(axes, means.columns, strict=True):
            _draw(place, means[name], languages, families)
            place.set_title(_title(str(name), width / columns), loc="left", fontsize=8)
        legend(sheet, {its.name: _point(its) for its in families.values()}, int(width / 1.5))
    return sheet.figure


def families_of(systems: Sequence[str]) -> dict[str, Family]:
    """Return how each system is drawn: by its family, or by both where its name tells of two."""
    named = {system: " + ".join(sorted(model_families(system))) or OTHER for system in systems}
    known = sorted(set(named.values()) - {OTHER})
    drawn = {OTHER: Family(OTHER, MUTED, MARKERS[0])}
    for place, name in enumerate(known):
        turn, colour = divmod(place, len(OKABE_ITO))
        marker = MARKERS[(colour + turn) % len(MARKERS)]
        drawn[name] = Family(name, OKABE_ITO[colour], marker)
    order = [*known, OTHER]
    return {
        system: drawn[family]
        for system, family in sorted(named.items(), key=lambda item: order.index(item[1]))
    }


def _draw(
    axes: Axes, means: pd.Series, languages: Sequence[str], families: dict[str, Family]
) -> None:
    places = {language: place for place, language in enumerate(languages)}
    by_language = means.groupby("language")
    at = [places[language] for language in by_language.groups]
    axes.vlines(at, by_language.min(), by_language.max(), color="#BBBBBB", linewidth=1.5, zorder=1)
    for family in dict.fromkeys(families.values()):
        kin = [system for system, its in families.items() if its == family]
        of_kin = means[means.index.get_level_values("system").isin(kin)]
        axes.plot(
            [places[language] for language in of_kin.index.get_level_values("language")],
            of_kin.to_numpy(float),
            linestyle="none",
            marker=family.marker,
            markersize=_POINT_SIZE,
            color=family.colour,
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
    shown = shortened(drawable(name), _LONGEST_NAME)
    try:
        summary = parse_features(name)[0].summary
    except (ArenaError, ValueError, IndexError):
        return shown
    return "\n".join([shown, *wrapped(summary, (inches - _LEFT_INCHES) / _CHARACTER_INCHES)])


def _point(family: Family) -> Line2D:
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="none", marker=family.marker, color=family.colour)
