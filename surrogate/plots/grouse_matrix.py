"""Unit tests of a judge that it passes, metrics by types of test (GroUSE)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from arena.errors import DataError, Problem, UsageError
from surrogate.palette import SEQUENTIAL
from surrogate.plots.figure import Caption, label_inches, new_sheet, panels, style
from surrogate.plots.labels import longest_width, shown_names
from surrogate.plots.matrix import MISSING, Floats, Matrix, draw_matrix
from surrogate.report.formats import count_of, percent, whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = ("test_type", "metric", "passed", "tests")

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
    absent = [name for name in COLUMNS if name not in table]
    if absent or table.empty:
        raise UsageError(
            f"the table of unit tests lacks {', '.join(absent) or 'rows'}; "
            f"give it the columns {', '.join(COLUMNS)}"
        )
    problems = []
    repeated = table.duplicated(["metric", "test_type"])
    for line, row in enumerate(table.to_dict(orient="records"), start=1):
        if not 0 <= row["passed"] <= row["tests"] or row["tests"] < 1:
            value = f"{row['passed']} of {row['tests']}"
            fault, mend = "is impossible", "give 0 to tests passed, of 1 test or more"
            problems.append(Problem("unit tests", line, "passed", value, fault, mend))
        if repeated.iloc[line - 1]:
            fault, mend = f"stands twice for {row['metric']!r}", "add the counts up"
            problems.append(Problem("unit tests", line, "test_type", row["test_type"], fault, mend))
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
