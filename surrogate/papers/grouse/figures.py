"""Figures of GroUSE: unit tests one by one (figures 3, 13 to 15), scores against scores (6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from arena.data.wording import count_of
from surrogate.papers.grouse.benchmark import ScoreVerdict
from surrogate.papers.grouse.metrics import METRICS, SCALES
from surrogate.papers.grouse.scores import confusion, reference_scores
from surrogate.papers.grouse.unit_tests import Condition
from surrogate.papers.records import read_run
from surrogate.papers.reports import judge_labels, judges_of
from surrogate.publish.figures.figure import (
    HATCH,
    Caption,
    Drawing,
    draw_matrix,
    label_inches,
    legend,
    new_figure,
    style,
)
from surrogate.publish.formats import (
    BLUE,
    MISSING,
    ORANGE,
    SEQUENTIAL,
    VERMILLION,
    percent,
    slugs,
    whole,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DATASET = "dataset:grouse"
FAILED, NO_SCORE, PASSED = 0.0, 0.5, 1.0
STATES = {"failed (×)": VERMILLION, "no readable score (?)": ORANGE, "passed": BLUE}
MARKS = {FAILED: "×", NO_SCORE: "?", PASSED: ""}
NEEDLESS = "no call where the scores before are right"
IS_NULL = str(Condition("==", None))
TEST_INCHES, SCORE_INCHES = 0.2, 0.36
"""Sizes of a cell: of unit tests, of scores against scores."""


def grouse_drawings(path: Path) -> Iterator[Drawing]:
    """List the figures of a file of scores by GroUSE's metrics, judge by judge."""
    scores = read_run(path, ScoreVerdict)
    names = judge_labels(scores)
    files = slugs(names.values())
    reference = scores[scores["is_reference"]]
    for key, part in judges_of(scores).items():
        name = names[key]
        if part["condition"].notna().any():
            figure = partial(draw_unit_tests, part, name, DATASET)
            yield Drawing(f"grouse-{files[name]}", figure)
        if len(reference) and not part["is_reference"].any():
            figure = partial(draw_confusions, part, reference, name, DATASET)
            yield Drawing(f"grouse-confusions-{files[name]}", figure)


def draw_unit_tests(scores: pd.DataFrame, judge: str, signature: str) -> Figure:
    """Draw every test that a judge passed or failed, one panel per metric (figures 3 and 13 to 15).

    Raises:
        UsageError: If the judge has no tests that call for scores.
    """
    checked = scores[scores["condition"].notna()]
    if checked.empty:
        raise UsageError(f"{judge} has no tests that call for scores")
    from matplotlib.patches import Patch

    named = checked["language"].str.cat(checked["topic"], sep=" ")  # the sets, or the question
    row = named.where(named.notna(), checked["question"]).astype(str)
    number = checked.groupby([row, "test_type", "metric"]).cumcount()  # a second one of a type
    several = checked["test_type"] + " #" + (number + 1).astype(str)
    tests = checked.assign(row=row, column=checked["test_type"].where(number == 0, several))
    rows, columns = (list(dict.fromkeys(tests[name])) for name in ("row", "column"))
    metrics = [name for name in METRICS if name in set(tests["metric"])]
    scored = tests[tests["was_asked"]]
    caption = Caption(
        f"Unit tests, one by one: {judge}",
        f"{MISSING} was not asked. n = {whole(len(scored))} checks of "
        f"{count_of(tests['test_id'].nunique(), 'test')}, "
        f"{percent(scored['passed'].eq(True).sum() / max(len(scored), 1), 1)} passed; "
        f"{count_of(int(scored['failure'].notna().sum()), 'check')} without a score.",
        signature,
    )
    wide = min(2, len(metrics))
    width = max(label_inches(rows) + wide * (len(columns) * TEST_INCHES + 0.3), 6.0)
    one_high = len(rows) * TEST_INCHES + label_inches(columns) + 0.55
    with style():
        height = -(-len(metrics) // wide) * one_high + 0.3
        figure, panels = new_figure(caption, width, height, len(metrics), wide, sharey=True)
        for axes, metric in zip(panels, metrics, strict=True):
            _draw_metric(axes, tests[tests["metric"] == metric], rows, columns)
            axes.set_xlabel(metric)
        hatched = Patch(facecolor="#B0B0B0", edgecolor="white", hatch=HATCH)
        states = {name: Patch(facecolor=color) for name, color in STATES.items()}
        legend(figure, states | {NEEDLESS: hatched}, 4)
    return figure


def _draw_metric(
    axes: Axes, tests: pd.DataFrame, rows: Sequence[str], columns: Sequence[str]
) -> None:
    from matplotlib.patches import Rectangle

    cells = np.full((len(rows), len(columns)), np.nan)
    hatched = []
    for test in tests.to_dict("records"):
        place = rows.index(test["row"]), columns.index(test["column"])
        if test["was_asked"]:
            wrong = FAILED if test["failure"] is None else NO_SCORE
            cells[place] = PASSED if test["passed"] is True else wrong
        if test["metric"] in ("usefulness", "faithfulness") and test["condition"] == IS_NULL:
            hatched.append(place)
    texts = [[MISSING if np.isnan(state) else MARKS[state] for state in line] for line in cells]
    looks: dict[str, Any] = {"cell": TEST_INCHES, "upright": True}
    draw_matrix(axes, cells, texts, rows, columns, list(STATES.values()), **looks)
    box: dict[str, Any] = {"fill": False, "hatch": HATCH, "edgecolor": "white", "linewidth": 0}
    for row, column in hatched:
        axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, **box))


def draw_confusions(
    scores: pd.DataFrame, reference: pd.DataFrame, judge: str, signature: str
) -> Figure:
    """Draw which scores a judge gives where the reference gives which (figure 6).

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
    wide = min(3, len(metrics))
    with style():
        height = 2.9 * -(-len(metrics) // wide) + 0.3
        figure, panels = new_figure(caption, 3.0 * wide, height, len(metrics), wide)
        for axes, metric in zip(panels, metrics, strict=True):
            names = [*map(str, SCALES[metric]), "null"]
            metric_counts = counts[counts["metric"] == metric]
            metric_counts = metric_counts.assign(
                **{side: metric_counts[side].map(_named) for side in ("reference", "value")}
            )
            summed = metric_counts.groupby(["reference", "value"])["answers"].sum().unstack()
            table = summed.reindex(index=names, columns=names).fillna(0).to_numpy(float)
            totals = table.sum(axis=1, keepdims=True)
            shares = np.divide(table, totals, out=np.full(table.shape, np.nan), where=totals > 0)
            texts = [[whole(count) if count else "" for count in line] for line in table]
            cell = SCORE_INCHES
            draw_matrix(axes, shares, texts, names, names, SEQUENTIAL[::-1], cell=cell)
            axes.set_xlabel(metric)
    return figure


def _named(score: object) -> str:
    return "null" if score is None or score != score else str(score).removesuffix(".0")
