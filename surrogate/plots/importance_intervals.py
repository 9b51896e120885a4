"""What ``validate --protocol importances`` found, with intervals over tournaments."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.errors import UsageError
from surrogate.palette import BLUE, VERMILLION
from surrogate.plots.board_parts import judged_languages
from surrogate.plots.figure import (
    MUTED,
    ROW_INCHES,
    Caption,
    label_inches,
    legend,
    new_sheet,
    panels,
    style,
)
from surrogate.plots.labels import longest_width, shown_names
from surrogate.plots.study_file import read_study
from surrogate.report.formats import count_of

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = npt.NDArray[np.float64]

MEASURES = {
    "permutation": "Kendall tau lost by permutation",
    "shap": "Share of mean |SHAP value|",
    "share": "Share in the surrogate's decisions",
}

_MAKE = "surrogate-arena validate ARENA --protocol importances --importances shap --json > FILE"
_PANEL_INCHES = 3.2


def read_importances(path: Path | str) -> tuple[pd.DataFrame, str]:
    """Read what ``surrogate-arena validate --protocol importances --json`` printed.

    Returns:
        The table, as ``surrogate.validation.importances`` gives it, and the signature.

    Raises:
        UsageError: If there is no such file.
        DataError: If it is no such file.
    """
    return read_study(path, "study of importances", _MAKE, _typed)


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
        raise UsageError(f"there are no importances{where} to draw; make them with  {_MAKE}")
    columns = [name for measure in measures for name in _columns(measure)]
    features = chosen.groupby("feature")[columns].mean()
    features = features[features[measures].notna().any(axis=1)]
    features = features.sort_values(measures[0], kind="stable", na_position="first")
    names = shown_names(map(str, features.index))
    width = label_inches(longest_width(names.values())) + _PANEL_INCHES * len(measures)
    with style():
        caption = _caption(chosen, features, signature, arena, language)
        sheet = new_sheet(max(width, 6.5), len(features) * ROW_INCHES + 1.1, caption)
        places = panels(sheet, len(measures), len(measures), sharey=True)
        for axes, measure in zip(places, measures, strict=True):
            handles = _draw(axes, features[_columns(measure)].to_numpy(float))
            axes.set_xlabel(MEASURES[measure])
        places[0].set_yticks(range(len(features)), list(names.values()))
        places[0].set_ylim(-0.7, len(features) - 0.3)
        legend(sheet, handles, 2)
    return sheet.figure


def _columns(measure: str) -> list[str]:
    return [measure, f"{measure}_low", f"{measure}_high"]


def _measured(table: pd.DataFrame) -> Sequence[str]:
    """Return the measures of a table, in the order of its columns.

    Raises:
        UsageError: If one lacks its interval, or there is none.
    """
    found = [str(name) for name in table.columns if name in MEASURES]
    absent = [name for measure in found for name in _columns(measure) if name not in table]
    if absent or not found:
        named = ", ".join(absent) or f"a column {' or '.join(MEASURES)}"
        raise UsageError(f"the table of importances lacks {named}; make it with  {_MAKE}")
    return found


def _caption(
    chosen: pd.DataFrame, features: pd.DataFrame, signature: str, arena: str, language: str | None
) -> Caption:
    languages = count_of(len(judged_languages(chosen)), "language")
    title = f"What the surrogate rests on: {arena}" if arena else "What the surrogate rests on"
    note = f"n = {count_of(len(features), 'feature')}, {languages}."
    left_out = chosen["feature"].nunique() - len(features)
    if left_out:
        note += f" Not drawn, as no surrogate could use it: {count_of(left_out, 'feature')}."
    if features.isna().any(axis=None):
        note += " Where there is no mark, the surrogate could not use the feature."
    return Caption(f"{title}, {language or 'all languages'}", note, signature)


def _draw(axes: Axes, values: Floats) -> dict[str, Artist]:
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
