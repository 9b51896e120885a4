"""Figures of judges on MEMERAG: balanced accuracy by language, and what their errors are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from arena.data.wording import count_of
from surrogate.metaevaluation.evaluation import short_prompt
from surrogate.metaevaluation.memerag.accuracy import BEST, DAGGER
from surrogate.metaevaluation.memerag.sentences import COARSE_OF_FINE
from surrogate.publish.figures.figure import (
    MUTED,
    ROW_INCHES,
    Caption,
    drawable,
    label_inches,
    legend,
    new_sheet,
    panels,
    shown_names,
    style,
)
from surrogate.publish.figures.matrices import MISSING, Matrix, draw_matrix
from surrogate.publish.formats import decimal, finite, whole
from surrogate.publish.palette import BLUE, SEQUENTIAL, SKY_BLUE

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HATCH = "////"
SCORE_COLUMNS = (
    *("judge", "prompt", "language", "value", "standard_error"),
    *("n", "failures", "not_asked", "mark"),
)

_PANEL_INCHES = 2.1
_CHANCE = 50
_BAR = 0.66
_ON_WHITE = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}


def memerag_bars(scores: pd.DataFrame, signature: str) -> Figure:
    """Draw judges' balanced accuracy by language and on average, with standard errors.

    The best judge of a language is darker; hatched ones are not statistically different from it.

    Args:
        scores: As ``surrogate.metaevaluation.mark_best`` returns them.
        signature: How they were computed.

    Raises:
        UsageError: If the table is empty or lacks a column.
    """
    absent = [name for name in SCORE_COLUMNS if name not in scores]
    if absent or scores.empty:
        raise UsageError(
            f"the scores lack {', '.join(absent) or 'rows'}; take them from "
            "surrogate.metaevaluation: mark_best(score_judges(verdicts), verdicts)"
        )
    judged = scores.assign(shown=_shown(scores))
    judges = list(dict.fromkeys(judged["shown"]))
    languages = list(dict.fromkeys(judged["language"]))
    names = shown_names(judges)
    labels = label_inches(names.values())
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
        f"{judge}, {short_prompt(prompt)}" if prompt else str(judge)
        for judge, prompt in zip(scores["judge"], scores["prompt"].fillna(""), strict=True)
    ]


def _panel_title(language: str, part: pd.DataFrame) -> str:
    counts = part["n"].dropna()
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
    values = 100 * part["value"].to_numpy(float)
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


_COLUMN_INCHES = 0.62
_ERROR_CELL_INCHES = 0.36


def error_heat_map(shares: pd.DataFrame, signature: str) -> Figure:
    """Draw how each judge's errors are spread over fine-grained labels (figure 5).

    Args:
        shares: As ``error_shares`` returns them.
        signature: How they were computed.

    Raises:
        UsageError: If no judge made an error on a sentence with a fine-grained label.
    """
    known = shares[shares["share"].notna()]
    if known.empty:
        raise UsageError("no judge made an error on a sentence with a fine-grained label")
    named = known.assign(shown=_shown(known))
    labels = [name for name in COARSE_OF_FINE if name in set(named["fine"])]
    judges = list(dict.fromkeys(named["shown"]))
    table = named.pivot(index="shown", columns="fine", values="share")
    cells = table.reindex(index=judges, columns=labels).to_numpy(float)
    texts = [[decimal(finite(100 * share), 0) for share in row] for row in cells]
    errors = int(known["errors"].sum())
    caption = Caption(
        "What judges of faithfulness get wrong on MEMERAG",
        f"Share of a judge's errors by the sentence's fine-grained label, in %; {MISSING} is no "
        f"such sentence. n = {count_of(len(judges), 'judge')}, {count_of(errors, 'error')}, all "
        "languages together.",
        signature,
    )
    rows = label_inches(shown_names(judges).values())
    above = label_inches(labels)
    with style():
        width = max(rows + len(labels) * _COLUMN_INCHES + 0.3, 6.0)
        sheet = new_sheet(width, len(judges) * _ERROR_CELL_INCHES + above + 0.5, caption)
        (axes,) = panels(sheet, 1, 1)
        matrix = Matrix(cells / max(float(np.nanmax(cells)), 1e-9), texts, judges, labels)
        draw_matrix(axes, matrix, SEQUENTIAL[::-1], _ERROR_CELL_INCHES, upright_columns=True)
    return sheet.figure
