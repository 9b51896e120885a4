"""How well fewer judgments rank, as curves (MIRAGE-Bench, figure 6)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from arena.data.errors import UsageError
from arena.planning.study import COLUMNS
from surrogate.publish.figures.figure import (
    Caption,
    drawable,
    legend,
    new_sheet,
    panels,
    read_study,
    style,
)
from surrogate.publish.figures.importances import MARKERS
from surrogate.publish.formats import count_of, whole
from surrogate.publish.palette import OKABE_ITO

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DESIGNS = {
    "questions": "Fewer questions, all their pairs",
    "pairs": "Random pairs of each question",
    "completed": "Random pairs, the others predicted",
    "adaptive": "Pairs chosen one after the other",
}

_MAKE = "surrogate-arena sampling ARENA --json > FILE"
_MOST_BANDS = 3
_PANEL_INCHES = 4.2
_STYLES = ("-", "--", ":")


def read_sampling(path: Path | str) -> tuple[pd.DataFrame, str]:
    """Read what ``surrogate-arena sampling --json`` printed.

    Returns:
        The table, with columns ``arena.sampling.study.COLUMNS``, and the signature.

    Raises:
        UsageError: If there is no such file.
        DataError: If it is no such file.
    """
    return read_study(path, "sampling study", _MAKE, _typed)


def _typed(table: pd.DataFrame) -> pd.DataFrame:
    numbers = dict.fromkeys(COLUMNS[2:], "float64")
    table = table.reindex(columns=list(COLUMNS))
    return table.astype({"language": str, "design": str, **numbers})


def sampling_curves(table: pd.DataFrame, signature: str, arena: str = "") -> Figure:
    """Draw Kendall tau with the whole arena against the share of judgments.

    Args:
        table: As ``arena.sampling.study_sampling`` gives it: ``language, design, share,
            judgments, tau, low, high``.
        signature: The study's.
        arena: Name of the arena, for the title.

    Raises:
        UsageError: If the table lacks a column, or rows with a tau.
    """
    absent = [name for name in COLUMNS if name not in table]
    if absent:
        raise UsageError(f"the sampling table lacks {', '.join(absent)}; make it with  {_MAKE}")
    known = table[table["tau"].notna()]
    if known.empty:
        raise UsageError(f"the sampling table holds no tau; make it with  {_MAKE}")
    designs = list(dict.fromkeys(known["design"]))
    languages = list(dict.fromkeys(known["language"]))
    width = max(len(designs) * _PANEL_INCHES, 5.5)
    with style():
        sheet = new_sheet(width, 4.0, _caption(known, signature, arena))
        handles: dict[str, Artist] = {}
        places = panels(sheet, len(designs), len(designs), sharey=True)
        for axes, design in zip(places, designs, strict=True):
            handles |= _draw(axes, known[known["design"] == design], languages)
            axes.set_title(DESIGNS.get(design, drawable(design)), loc="left")
            axes.set_xlabel("Share of the arena's judgments (%)")
            axes.set_xlim(0, 103)
            axes.grid()
        places[0].set_ylabel("Kendall tau with the whole arena")
        legend(sheet, handles, int(width / 0.9))
    return sheet.figure


def _caption(known: pd.DataFrame, signature: str, arena: str) -> Caption:
    languages = known["language"].nunique()
    most = known.groupby("language")["judgments"].max()
    low, high = whole(most.min()), whole(most.max())
    spread = low if low == high else f"{low} to {high}"
    note = (
        f"n = {count_of(languages, 'language')}, up to {spread} judgments each. "
        "Points are means over random parts of the arena"
    )
    note += (
        "; bands hold 95% of them."
        if languages <= _MOST_BANDS
        else "; the thick line is the mean over languages."
    )
    title = "How many judgments a ranking needs"
    return Caption(f"{title}: {arena}" if arena else title, note, signature)


def _draw(axes: Axes, rows: pd.DataFrame, languages: Sequence[str]) -> dict[str, Artist]:
    handles: dict[str, Artist] = {}
    for place, language in enumerate(languages):
        curve = rows[rows["language"] == language].sort_values("share")
        turn, color = divmod(place, len(OKABE_ITO))
        (handles[drawable(language)],) = axes.plot(
            100 * curve["share"],
            curve["tau"],
            color=OKABE_ITO[color],
            linestyle=_STYLES[turn % len(_STYLES)],
            marker=MARKERS[(color + turn) % len(MARKERS)],
            markersize=4,
            linewidth=1.2,
        )
        if len(languages) <= _MOST_BANDS:
            axes.fill_between(
                100 * curve["share"],
                curve["low"],
                curve["high"],
                color=OKABE_ITO[color],
                alpha=0.15,
                linewidth=0,
            )
    if len(languages) > _MOST_BANDS:
        mean = rows.groupby("share")["tau"].mean()
        (handles["mean"],) = axes.plot(100 * mean.index, mean, color="black", linewidth=3)
    return handles
