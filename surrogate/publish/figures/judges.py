"""Figures of judges: unit tests passed (GroUSE), balanced accuracy by language (MEMERAG)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from arena.data.errors import DataError, Problem, UsageError
from surrogate.metaevaluation.memerag.comparison import BEST, DAGGER
from surrogate.publish.figures.figure import (
    MUTED,
    ROW_INCHES,
    Caption,
    drawable,
    label_inches,
    legend,
    longest_width,
    new_sheet,
    panels,
    shown_names,
    style,
)
from surrogate.publish.figures.matrices import MISSING, Floats, Matrix, draw_matrix
from surrogate.publish.formats import count_of, decimal, finite, percent, whole
from surrogate.publish.palette import BLUE, SEQUENTIAL, SKY_BLUE

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MATRIX_COLUMNS = ("test_type", "metric", "passed", "tests")

_CELL_INCHES = 0.36
_COLUMN_INCHES = 0.62
_ALL = "all types"


def grouse_matrix(table: pd.DataFrame, judge: str, signature: str) -> Figure:
    """Draw how many unit tests of each type a judge passes, metric by metric.

    Args:
        table: Columns ``test_type, metric, passed, tests``, a row a type and metric; types and
            metrics in the order they are to be drawn. What was not tested has no row.
        judge: Whose tests they are.
        signature: How they were run.

    Raises:
        UsageError: If the table is empty or lacks a column.
        DataError: If counts are impossible, or a type and metric stand there twice.
    """
    _check(table)
    metrics, types = (list(dict.fromkeys(table[name])) for name in ("metric", "test_type"))
    counts = {
        name: table.pivot(index="metric", columns="test_type", values=name)
        .reindex(index=metrics, columns=types)
        .astype(float)
        for name in ("passed", "tests")
    }
    whole_row = {name: part.sum(axis=1).rename(_ALL) for name, part in counts.items()}
    passed, tests = (
        pd.concat([counts[name], whole_row[name]], axis=1).to_numpy(float)
        for name in ("passed", "tests")
    )
    rows = [str(metric) for metric in metrics]
    columns = [*map(str, types), _ALL]
    labels = label_inches(longest_width(shown_names(rows).values()))
    above = label_inches(longest_width(shown_names(columns).values()))
    total, run = int(table["passed"].sum()), int(table["tests"].sum())
    caption = Caption(
        f"Unit tests passed: {judge}",
        f"Passed of all tests of a type, metric by metric; {MISSING} is not tested. "
        f"n = {whole(run)} tests, {percent(total / run, 1)} passed; "
        f"{count_of(len(metrics), 'metric')}, {count_of(len(types), 'test type')}.",
        signature,
    )
    with style():
        width = max(labels + len(columns) * _COLUMN_INCHES + 0.3, 6.0)
        sheet = new_sheet(width, len(rows) * _CELL_INCHES + above + 0.5, caption)
        (axes,) = panels(sheet, 1, 1)
        matrix = Matrix(_rates(passed, tests), _texts(passed, tests), rows, columns)
        draw_matrix(axes, matrix, SEQUENTIAL[::-1], _CELL_INCHES, upright_columns=True)
        axes.axvline(len(types) - 0.5, color="white", linewidth=4)
    return sheet.figure


def _check(table: pd.DataFrame) -> None:
    absent = [name for name in MATRIX_COLUMNS if name not in table]
    if absent or table.empty:
        raise UsageError(
            f"the table of unit tests lacks {', '.join(absent) or 'rows'}; "
            f"give it the columns {', '.join(MATRIX_COLUMNS)}"
        )
    problems = []
    repeated = table.duplicated(["metric", "test_type"])
    for line, row in enumerate(table.to_dict(orient="records"), start=1):
        if not 0 <= row["passed"] <= row["tests"] or row["tests"] < 1:
            value = f"{row['passed']} of {row['tests']}"
            fault, hint = "is impossible", "give 0 to tests passed, of 1 test or more"
            problems.append(Problem("unit tests", line, "passed", value, fault, hint))
        if repeated.iloc[line - 1]:
            fault, hint = f"stands twice for {row['metric']!r}", "add the counts up"
            problems.append(Problem("unit tests", line, "test_type", row["test_type"], fault, hint))
    if problems:
        raise DataError(problems)


def _rates(passed: Floats, tests: Floats) -> Floats:
    rates = np.full(passed.shape, np.nan)
    np.divide(passed, tests, out=rates, where=np.isfinite(tests) & (tests > 0))
    return rates


def _texts(passed: Floats, tests: Floats) -> list[list[str]]:
    return [
        [
            f"{whole(hits)}/{whole(count)}" if np.isfinite(count) and count > 0 else MISSING
            for hits, count in zip(*row, strict=True)
        ]
        for row in zip(passed, tests, strict=True)
    ]


HATCH = "////"
SCORE_COLUMNS = (
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
