"""Figures of GroUSE: unit tests one by one (figures 3, 13 to 15), scores against scores (6)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from arena.data.wording import count_of
from surrogate_arena.pages.figures.figure import (
    HATCH,
    Caption,
    Drawing,
    draw_matrix,
    label_inches,
    legend,
    new_figure,
    style,
)
from surrogate_arena.pages.formats import (
    BLUE,
    MISSING,
    ORANGE,
    SEQUENTIAL,
    VERMILLION,
    percent,
    slugs,
    whole,
)
from surrogate_arena.papers.grouse.benchmark import ScoreVerdict
from surrogate_arena.papers.grouse.metrics import METRICS, SCALES
from surrogate_arena.papers.grouse.scores import confusion, reference_scores
from surrogate_arena.papers.grouse.unit_tests import Condition
from surrogate_arena.papers.records import read_run
from surrogate_arena.papers.reports import judge_labels, judges_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

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
    tests = _placed(checked)
    rows = list(tests["row"].unique())
    columns = list(tests["column"].unique())
    metrics = _metrics_of(tests)
    n_columns = min(2, len(metrics))
    n_rows = math.ceil(len(metrics) / n_columns)
    width = max(label_inches(rows) + n_columns * (len(columns) * TEST_INCHES + 0.3), 6.0)
    height = n_rows * (len(rows) * TEST_INCHES + label_inches(columns) + 0.55) + 0.3
    caption = Caption(f"Unit tests, one by one: {judge}", _note_on_tests(tests), signature)
    with style():
        figure, panels = new_figure(caption, width, height, len(metrics), n_columns, sharey=True)
        for axes, metric in zip(panels, metrics, strict=True):
            _draw_metric(axes, tests[tests["metric"] == metric], rows, columns)
            axes.set_xlabel(metric)
        legend(figure, _state_handles(), 4)
    return figure


def _state_handles() -> dict[str, Patch]:
    """Return what stands for each state of a test in the legend."""
    from matplotlib.patches import Patch

    handles = {state: Patch(facecolor=color) for state, color in STATES.items()}
    handles[NEEDLESS] = Patch(facecolor="#B0B0B0", edgecolor="white", hatch=HATCH)
    return handles


def _placed(checked: pd.DataFrame) -> pd.DataFrame:
    """Return the checks with the ``row`` and the ``column`` of their cell."""
    # A row is a topic in one language, as in figures 13 to 15, or a question without a topic.
    topics = checked["language"].str.cat(checked["topic"], sep=" ")
    row = topics.where(topics.notna(), checked["question"]).astype(str)
    # A second test of a type in the same row has a column of its own.
    number = checked.groupby([row, "test_type", "metric"]).cumcount()
    numbered = checked["test_type"] + " #" + (number + 1).astype(str)
    return checked.assign(row=row, column=checked["test_type"].where(number == 0, numbered))


def _metrics_of(table: pd.DataFrame) -> list[str]:
    """Return the metrics of a table, in the order of the pipeline."""
    return [name for name in METRICS if name in set(table["metric"])]


def _note_on_tests(tests: pd.DataFrame) -> str:
    scored = tests[tests["was_asked"]]
    pass_rate = scored["passed"].eq(True).sum() / max(len(scored), 1)
    return (
        f"{MISSING} was not asked. n = {whole(len(scored))} checks of "
        f"{count_of(tests['test_id'].nunique(), 'test')}, {percent(pass_rate, 1)} passed; "
        f"{count_of(int(scored['failure'].notna().sum()), 'check')} without a score."
    )


def _draw_metric(
    axes: Axes, tests: pd.DataFrame, rows: Sequence[str], columns: Sequence[str]
) -> None:
    """Draw the checks by one metric; those that the judge need not be asked for are hatched."""
    from matplotlib.patches import Rectangle

    states = np.full((len(rows), len(columns)), np.nan)
    texts = [[MISSING] * len(columns) for _ in rows]
    hatched = []
    for test in tests.to_dict("records"):
        row = rows.index(test["row"])
        column = columns.index(test["column"])
        if test["was_asked"]:
            state = FAILED
            if test["failure"] is not None:
                state = NO_SCORE
            elif test["passed"] is True:
                state = PASSED
            states[row, column] = state
            texts[row][column] = MARKS[state]
        # Figure 5: where null is right, the pipeline has no call for these two metrics.
        if test["metric"] in ("usefulness", "faithfulness") and test["condition"] == IS_NULL:
            hatched.append((row, column))
    scale = list(STATES.values())
    draw_matrix(axes, states, texts, rows, columns, scale, cell=TEST_INCHES, upright=True)
    for row, column in hatched:
        corner = (column - 0.5, row - 0.5)
        box = Rectangle(corner, 1, 1, fill=False, hatch=HATCH, edgecolor="white", linewidth=0)
        axes.add_patch(box)


def draw_confusions(
    scores: pd.DataFrame, reference: pd.DataFrame, judge: str, signature: str
) -> Figure:
    """Draw which scores a judge gives where the reference gives which (figure 6).

    Raises:
        UsageError: If the reference has no score, or none in common with the judge.
    """
    trusted = "none"
    if len(reference):
        trusted = str(reference["judge"].iloc[0])
    counts = confusion(scores, reference_scores(reference, trusted))
    metrics = _metrics_of(counts)
    if not metrics:
        raise UsageError(f"{judge} and the reference have no score in common")
    caption = Caption(
        f"Scores by {judge} and by {trusted}",
        f"Rows: {trusted}; columns: {judge}. Number of answers, shaded by its share of the row. "
        f"n = {whole(counts['answers'].sum())} scores, null among them.",
        signature,
    )
    n_columns = min(3, len(metrics))
    height = 2.9 * math.ceil(len(metrics) / n_columns) + 0.3
    with style():
        figure, panels = new_figure(caption, 3.0 * n_columns, height, len(metrics), n_columns)
        for axes, metric in zip(panels, metrics, strict=True):
            _draw_confusion(axes, counts[counts["metric"] == metric], metric)
            axes.set_xlabel(metric)
    return figure


def _draw_confusion(axes: Axes, counts: pd.DataFrame, metric: str) -> None:
    """Draw how many answers have each pair of scores by one metric; counts of ``confusion``."""
    names = [*map(str, SCALES[metric]), "null"]
    named = counts.assign(
        reference=counts["reference"].map(_score_name), value=counts["value"].map(_score_name)
    )
    sums = named.pivot_table("answers", "reference", "value", aggfunc="sum")
    table = sums.reindex(index=names, columns=names).fillna(0).to_numpy(float)
    # Shaded by its share of the row: a score that the reference seldom gives is seen as well.
    totals = table.sum(axis=1, keepdims=True)
    shares = np.divide(table, totals, out=np.full(table.shape, np.nan), where=totals > 0)
    texts = np.where(table > 0, np.vectorize(whole)(table), "").tolist()
    draw_matrix(axes, shares, texts, names, names, SEQUENTIAL[::-1], cell=SCORE_INCHES)


def _score_name(score: object) -> str:
    if score is None or score != score:
        return "null"
    return str(score).removesuffix(".0")
