"""Figures of MEMERAG: judges' balanced accuracy (figure 2), and what they get wrong (figure 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from surrogate_arena.papers.memerag.accuracy import BEST, DAGGER
from surrogate_arena.papers.memerag.sentences import COARSE_OF_FINE
from surrogate_arena.papers.reports import NO_VALUE, named
from surrogate_arena.studies.drawing import (
    BLUE,
    HATCH,
    LIGHT_BLUE,
    draw_cells,
    panels_of,
    plain_text,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NOTE = (
    "Dark: the highest of its language; hatched: not shown to be worse (p > 0.05, Holm). Bars end "
    "at ± 1 standard error over questions; dashed: chance."
)
_LOOKS: dict[str, dict[str, Any]] = {
    BEST: {"facecolor": BLUE},
    DAGGER: {"facecolor": LIGHT_BLUE, "hatch": HATCH},
    "": {"facecolor": LIGHT_BLUE},
}


def memerag_bars(scores: pd.DataFrame) -> Figure:
    """Draw judges' balanced accuracy by language, with standard errors (figure 2).

    Scores are as of ``mark_best``.
    """
    shown = named(scores)
    judges = list(shown["judge"].unique())
    languages = list(shown["language"].unique())
    size = (2.2, 0.32 * len(judges) + 0.6)
    with plain_text():
        figure, panels = panels_of(languages, "Judges of faithfulness on MEMERAG", _NOTE, size)
        for language, axes in panels.items():
            rows = shown[shown["language"] == language].set_index("judge").reindex(judges)
            _draw_bars(axes, rows)
            axes.set_title(f"{language}\nn = {rows['n'].max():.0f}")
        first = panels[languages[0]]
        first.set_yticks(range(len(judges)), judges)
        first.set_ylim(len(judges) - 0.4, -0.6)
    return figure


def _draw_bars(axes: Axes, rows: pd.DataFrame) -> None:
    for place, row in enumerate(rows.to_dict("records")):
        value, error = 100 * row["value"], 100 * row["standard_error"]
        text = NO_VALUE
        if not pd.isna(value):
            look = _LOOKS[row["mark"]]
            axes.barh(place, value, edgecolor="black", xerr=np.nan_to_num(error), **look)
            text = f"{value:.1f}"
        axes.text(103, place, text, va="center")
    axes.axvline(50, color="gray", linestyle="--")
    axes.set_xlim(0, 122)
    axes.set_xlabel("Balanced accuracy (%)")


def error_heat_map(shares: pd.DataFrame) -> Figure:
    """Draw how each judge's errors are spread over fine-grained labels (figure 5).

    Shares are as of ``error_shares``.
    """
    defined = shares[shares["share"].notna()]
    if defined.empty:
        raise UsageError("no judge made an error on a sentence with a fine-grained label")
    defined = named(defined)
    table = defined.pivot(index="judge", columns="fine", values="share")
    judges = list(defined["judge"].unique())
    labels = [name for name in COARSE_OF_FINE if name in table]
    cells = table.reindex(index=judges, columns=labels).to_numpy(float)
    texts = np.where(np.isfinite(cells), np.char.mod("%.0f", 100 * cells), NO_VALUE).tolist()
    title = "What judges of faithfulness get wrong on MEMERAG"
    heading = "Errors by the sentence's fine-grained label, % of the judge's"
    size = (0.6 * len(labels) + 1.5, 0.36 * len(judges) + 2)
    with plain_text():
        note = f"n = {defined['errors'].sum():.0f} errors"
        figure, panels = panels_of([heading], title, note, size)
        # The largest share has the darkest color, however small it is.
        draw_cells(panels[heading], cells / np.nanmax(cells), texts, judges, labels)
    return figure
