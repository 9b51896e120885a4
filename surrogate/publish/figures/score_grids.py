"""Figures of unit tests of judges (GroUSE): every test by itself, and confusions of scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from arena.data.wording import count_of
from surrogate.metaevaluation.grouse.scores import confusion, reference_scores
from surrogate.metaevaluation.grouse.unit_tests import METRICS, SCALES, Condition
from surrogate.publish.figures.figure import (
    Caption,
    label_inches,
    legend,
    new_sheet,
    panels,
    shown_names,
    style,
)
from surrogate.publish.figures.matrices import MISSING, Floats, Matrix, draw_matrix
from surrogate.publish.formats import percent, whole
from surrogate.publish.palette import BLUE, ORANGE, SEQUENTIAL, VERMILLION

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FAILED, _NO_SCORE, _PASSED = 0.0, 0.5, 1.0
_STATES = (VERMILLION, ORANGE, BLUE)
_MARKS = {_FAILED: "×", _NO_SCORE: "?", _PASSED: ""}
_HATCH = "////"

_CELL_INCHES = 0.2
_PANELS_WIDE = 2
_MORE_INCHES = 0.55


def draw_unit_tests(scores: pd.DataFrame, judge: str, signature: str) -> Figure:
    """Draw every test that a judge passed or failed, a panel a metric (figures 3 and 13 to 15).

    Rows are questions, columns test types. Scores that the format of the reply kept from being read
    are apart from wrong ones. Hatched cells need no call where the scores before are right.

    Args:
        scores: Verdicts of ``Grouse``, or of features, of one judge.
        judge: Whose tests they are.
        signature: How they were run.

    Raises:
        UsageError: If the judge has no tests that call for scores.
    """
    checked = scores[scores["condition"].notna()]
    if checked.empty:
        raise UsageError(f"{judge} has no tests that call for scores")
    tests = checked.assign(column=_columns(checked), row=_rows(checked))
    rows, columns = (list(dict.fromkeys(tests[name])) for name in ("row", "column"))
    metrics = [name for name in METRICS if name in set(tests["metric"])]
    asked = tests[tests["was_asked"]]
    passed = int(asked["passed"].eq(True).sum())
    labels = label_inches(shown_names(rows).values())
    above = label_inches(columns)
    caption = Caption(
        f"Unit tests, one by one: {judge}",
        f"{MISSING} was not asked. n = {whole(len(asked))} checks of "
        f"{count_of(tests['test_id'].nunique(), 'test')}, "
        f"{percent(passed / max(len(asked), 1), 1)} passed; "
        f"{count_of(int(asked['failure'].notna().sum()), 'check')} without a score.",
        signature,
    )
    wide = min(_PANELS_WIDE, len(metrics))
    high = -(-len(metrics) // wide)
    with style():
        sheet = new_sheet(
            max(labels + wide * (len(columns) * _CELL_INCHES + 0.3), 6.0),
            high * (len(rows) * _CELL_INCHES + above + _MORE_INCHES) + 0.5,
            caption,
        )
        places = panels(sheet, len(metrics), wide, sharey=True)
        for place, metric in zip(places, metrics, strict=True):
            _draw_metric(place, tests[tests["metric"] == metric], rows, columns)
            place.set_xlabel(metric)
        places[0].set_ylim(len(rows) - 0.5, -0.5)
        legend(sheet, _handles(), 4)
    return sheet.figure


def _rows(tests: pd.DataFrame) -> pd.Series:
    """Name the sets: language and topic, or the question where there are none."""
    named = tests["language"].str.cat(tests["topic"], sep=" ")
    return named.where(named.notna(), tests["question"]).astype(str)


def _columns(tests: pd.DataFrame) -> pd.Series:
    """Name the types; a second test of the same set and type has a column of its own."""
    number = tests.groupby([_rows(tests), "test_type", "metric"]).cumcount()
    several = "#" + (number + 1).astype(str)
    return tests["test_type"].where(number == 0, tests["test_type"] + " " + several)


def _draw_metric(
    axes: Axes, tests: pd.DataFrame, rows: Sequence[str], columns: Sequence[str]
) -> None:
    from matplotlib.patches import Rectangle

    cells: Floats = np.full((len(rows), len(columns)), np.nan)
    places = [
        (rows.index(row), columns.index(column))
        for row, column in zip(tests["row"], tests["column"], strict=True)
    ]
    for place, row in zip(places, tests.to_dict("records"), strict=True):
        if row["was_asked"]:
            wrong = _FAILED if row["failure"] is None else _NO_SCORE
            cells[place] = _PASSED if row["passed"] is True else wrong
    texts = [[MISSING if np.isnan(state) else _MARKS[state] for state in line] for line in cells]
    matrix = Matrix(cells, texts, rows, columns)
    draw_matrix(axes, matrix, _STATES, _CELL_INCHES, upright_columns=True)
    for (row, column), is_needless in zip(places, _needless(tests), strict=True):
        if is_needless:
            corner = (column - 0.5, row - 0.5)
            axes.add_patch(
                Rectangle(corner, 1, 1, fill=False, hatch=_HATCH, edgecolor="white", linewidth=0)
            )


def _needless(tests: pd.DataFrame) -> list[bool]:
    """Tell which scores need no call where those before are right: null without asking."""
    return [
        row["metric"] in ("usefulness", "faithfulness") and _is_null(row["condition"])
        for row in tests.to_dict("records")
    ]


def _is_null(condition: str) -> bool:
    try:
        parsed = Condition.parse(condition)
    except ValueError:
        return False
    return parsed.sign == "==" and parsed.bound is None


def _handles() -> dict[str, Artist]:
    from matplotlib.patches import Patch

    names = ("failed (×)", "no readable score (?)", "passed")
    handles: dict[str, Artist] = {
        name: Patch(facecolor=color) for name, color in zip(names, _STATES, strict=True)
    }
    hatched = Patch(facecolor="#B0B0B0", edgecolor="white", hatch=_HATCH)
    return handles | {"no call where the scores before are right": hatched}


def draw_confusions(
    scores: pd.DataFrame, reference: pd.DataFrame, judge: str, signature: str
) -> Figure:
    """Draw which scores a judge gives where the reference gives which (figure 6).

    Args:
        scores: Verdicts of ``Grouse`` by one judge.
        reference: Those by the reference.
        judge: Name of the judge.
        signature: How they were run.

    Raises:
        UsageError: If the reference has no score, or none in common with the judge.
    """
    trusted = str(reference["judge"].iloc[0]) if len(reference) else "none"
    counts = confusion(scores, reference_scores(reference, trusted))
    metrics = [name for name in METRICS if name in set(counts["metric"])]
    if not metrics:
        raise UsageError(f"{judge} and the reference have no score in common")
    caption = Caption(
        f"Scores by {judge} and by {trusted}",
        f"Rows: {trusted}; columns: {judge}. Number of answers, shaded by its share of the row. "
        f"n = {whole(counts['answers'].sum())} scores, null among them.",
        signature,
    )
    with style():
        wide = min(3, len(metrics))
        sheet = new_sheet(3.0 * wide, 2.9 * -(-len(metrics) // wide) + 0.5, caption)
        for place, metric in zip(panels(sheet, len(metrics), wide), metrics, strict=True):
            _draw_confusion(place, counts[counts["metric"] == metric], metric)
    return sheet.figure


def _draw_confusion(axes: Axes, counts: pd.DataFrame, metric: str) -> None:
    scale = next(SCALES[name] for name in METRICS if name == metric)
    names = [*map(str, scale), "null"]
    table = np.zeros((len(names), len(names)))
    for row in counts.to_dict("records"):
        table[_place(row["reference"], names), _place(row["value"], names)] += row["answers"]
    totals = table.sum(axis=1, keepdims=True)
    shares = np.divide(table, totals, out=np.full(table.shape, np.nan), where=totals > 0)
    texts = [[whole(count) if count else "" for count in line] for line in table]
    draw_matrix(axes, Matrix(shares, texts, names, names), SEQUENTIAL[::-1], 0.36)
    axes.set_xlabel(metric)


def _place(score: object, names: Sequence[str]) -> int:
    is_null = score is None or score != score
    return len(names) - 1 if is_null else names.index(str(int(str(score).removesuffix(".0"))))
