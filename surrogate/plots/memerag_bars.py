"""Balanced accuracy of judges on MEMERAG (figure 2 of its paper), tied ones hatched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from arena.errors import UsageError
from arena.metaevaluation.memerag.best_judges import BEST, DAGGER
from surrogate.palette import BLUE, SKY_BLUE
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
from surrogate.plots.labels import drawable, longest_width, shown_names
from surrogate.plots.matrix import MISSING
from surrogate.report.formats import count_of, decimal, finite, whole

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HATCH = "////"
COLUMNS = (
    *("judge", "prompt", "language", "balanced_accuracy", "standard_error"),
    *("sentences", "failures", "not_asked", "mark"),
)

_PANEL_INCHES = 2.1
_CHANCE = 50
_BAR = 0.66
_ON_WHITE = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}


def memerag_bars(scores: pd.DataFrame, signature: str) -> Figure:
    """Draw judges' balanced accuracy by language and on average, with standard errors.

    The best judge of a language is darker; hatched ones are not statistically different from it.

    Args:
        scores: As ``arena.metaevaluation.memerag.mark_best`` returns them.
        signature: How they were computed.

    Raises:
        UsageError: If the table is empty or lacks a column.
    """
    absent = [name for name in COLUMNS if name not in scores]
    if absent or scores.empty:
        raise UsageError(
            f"the scores lack {', '.join(absent) or 'rows'}; take them from "
            "arena.metaevaluation.memerag: mark_best(score_judges(verdicts), verdicts)"
        )
    judged = scores.assign(shown=_shown(scores))
    judges = list(dict.fromkeys(judged["shown"]))
    languages = list(dict.fromkeys(judged["language"]))
    names = shown_names(judges)
    labels = label_inches(longest_width(names.values()))
    with style():
        sheet = new_sheet(
            max(labels + len(languages) * _PANEL_INCHES, 6.0),
            len(judges) * ROW_INCHES * 1.3 + 1.2,
            _caption(scores, languages, len(judges), signature),
        )
        axes = panels(sheet, len(languages), len(languages), sharey=True)
        for place, language in zip(axes, languages, strict=True):
            part = judged[judged["language"] == language].set_index("shown").reindex(judges)
            _draw(place, part)
            place.set_title(_panel_title(str(language), part), loc="left")
        axes[0].set_yticks(range(len(judges)), list(names.values()))
        axes[0].set_ylim(len(judges) - 0.4, -0.6)
        sheet.body.supxlabel(
            "Balanced accuracy (%), ± 1 standard error; dashed: chance", fontsize=9
        )
        handles = _handles()
        legend(sheet, handles, 3)
    return sheet.figure


def _shown(scores: pd.DataFrame) -> list[str]:
    return [
        f"{judge}, {prompt}" if prompt else str(judge)
        for judge, prompt in zip(scores["judge"], scores["prompt"].fillna(""), strict=True)
    ]


def _panel_title(language: str, part: pd.DataFrame) -> str:
    counts = part["sentences"].dropna()
    low, high = (whole(counts.min()), whole(counts.max())) if len(counts) else (MISSING, MISSING)
    return f"{drawable(language)}\nn = {low if low == high else f'{low} to {high}'}"


def _caption(
    scores: pd.DataFrame, languages: Sequence[str], judges: int, signature: str
) -> Caption:
    own = scores[scores["language"] != "macro"]
    note = (
        f"n = {count_of(judges, 'judge')}, {count_of(own['language'].nunique(), 'language')}; "
        "the number of sentences is above each panel"
    )
    note += ", macro weighs languages alike. " if "macro" in languages else ". "
    note += (
        f"Without a label, counted as errors: {whole(own['failures'].sum())}; "
        f"not asked, left out: {whole(own['not_asked'].sum())}. {MISSING} is no value."
    )
    return Caption("Judges of faithfulness on MEMERAG", note, signature)


def _draw(axes: Axes, part: pd.DataFrame) -> None:
    values = 100 * part["balanced_accuracy"].to_numpy(float)
    errors = np.nan_to_num(100 * part["standard_error"].to_numpy(float))
    marks = part["mark"].fillna("")
    bars = axes.barh(
        range(len(part)),
        np.nan_to_num(values),
        _BAR,
        color=[BLUE if mark == BEST else SKY_BLUE for mark in marks],
        edgecolor="black",
        linewidth=0.6,
    )
    for bar, mark in zip(bars, marks, strict=True):
        if mark == DAGGER:
            bar.set_hatch(HATCH)
    axes.hlines(
        range(len(part)), values - errors, values + errors, color="black", linewidth=1.4, zorder=3
    )
    for row, (value, error) in enumerate(zip(values, errors, strict=True)):
        known = finite(value)
        at = 1 if known is None else known + error + 2
        axes.text(at, row, decimal(known, 1), va="center", fontsize=8, bbox=_ON_WHITE)
    axes.axvline(_CHANCE, color=MUTED, linewidth=0.9, linestyle="--")
    axes.set_xlim(0, 118)
    axes.set_xticks(range(0, 101, 25))


def _handles() -> dict[str, Artist]:
    from matplotlib.patches import Patch

    return {
        "best": Patch(facecolor=BLUE, edgecolor="black", linewidth=0.6),
        "not different from the best (p > 0.05)": Patch(
            facecolor=SKY_BLUE, edgecolor="black", linewidth=0.6, hatch=HATCH
        ),
        "different from the best": Patch(facecolor=SKY_BLUE, edgecolor="black", linewidth=0.6),
    }
