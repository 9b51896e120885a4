"""Figures of GroUSE: unit tests one by one (figures 3, 13 to 15), scores against scores (6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from surrogate_arena.papers.grouse.metrics import METRICS, SCALES
from surrogate_arena.papers.grouse.scores import confusion, reference_scores
from surrogate_arena.papers.grouse.unit_tests import Condition
from surrogate_arena.papers.reports import NO_VALUE
from surrogate_arena.studies.drawing import HATCH, draw_cells, panels_of, plain_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FAILED, NO_SCORE, PASSED = 0.0, 0.5, 1.0
MARKS = {FAILED: "×", NO_SCORE: "?", PASSED: ""}
IS_NULL = str(Condition("==", None))
NOT_CALLED = ("usefulness", "faithfulness")
"""Metrics that the pipeline has no call for where null is right (figure 5)."""


def draw_unit_tests(scores: pd.DataFrame, judge: str) -> Figure:
    """Draw each test as passed or failed, one panel per metric (figures 3 and 13 to 15)."""
    checked = scores[scores["condition"].notna()]
    if checked.empty:
        raise UsageError(f"{judge} has no tests that call for scores")
    tests = _placed(checked)
    rows = list(tests["row"].unique())
    columns = list(tests["column"].unique())
    size = (0.22 * len(columns) + 1.5, 0.2 * len(rows) + 2.2)
    title = f"Unit tests, one by one: {judge}"
    with plain_text():
        figure, panels = panels_of(_shown_metrics(tests), title, _note(tests), size, columns=2)
        for metric, axes in panels.items():
            _draw_metric(axes, tests[tests["metric"] == metric], rows, columns)
    return figure


def _placed(checked: pd.DataFrame) -> pd.DataFrame:
    # A row is a topic in one language, as in figures 13 to 15, or a question without a topic.
    topics = checked["language"].str.cat(checked["topic"], sep=" ")
    row = topics.where(topics.notna(), checked["question"]).astype(str)
    # A second test of a type in the same row has a column of its own.
    number = checked.groupby([row, "test_type", "metric"]).cumcount()
    numbered = checked["test_type"] + " #" + (number + 1).astype(str)
    state = checked["passed"].map({True: PASSED}).fillna(FAILED)
    state = state.mask(checked["failure"].notna(), NO_SCORE).where(checked["was_asked"])
    column = checked["test_type"].where(number == 0, numbered)
    return checked.assign(row=row, column=column, state=state)


def _note(tests: pd.DataFrame) -> str:
    scored = tests[tests["was_asked"]]
    return (
        f"×: failed; ?: no readable score; {NO_VALUE}: not asked; hatched: no call where the "
        f"scores before are right. n = {len(scored)} checks of {tests['test_id'].nunique()} tests, "
        f"{100 * scored['passed'].eq(True).mean():.1f}% passed"
    )


def _draw_metric(axes: Axes, tests: pd.DataFrame, rows: list[str], columns: list[str]) -> None:
    from matplotlib.patches import Rectangle

    states = tests.pivot(index="row", columns="column", values="state")
    cells = states.reindex(index=rows, columns=columns).astype(float)
    texts = cells.map(lambda state: MARKS.get(state, NO_VALUE)).to_numpy().tolist()
    draw_cells(axes, cells.to_numpy(), texts, rows, columns, "RdYlBu")
    is_hatched = tests["metric"].isin(NOT_CALLED) & (tests["condition"] == IS_NULL)
    for _, test in tests[is_hatched].iterrows():
        corner = columns.index(test["column"]) - 0.5, rows.index(test["row"]) - 0.5
        axes.add_patch(Rectangle(corner, 1, 1, fill=False, hatch=HATCH, edgecolor="white"))


def draw_confusions(scores: pd.DataFrame, reference: pd.DataFrame, judge: str) -> Figure:
    """Draw which scores a judge gives where the reference gives which (figure 6)."""
    trusted = str(reference["judge"].iloc[0]) if len(reference) else "none"
    counts = confusion(scores, reference_scores(reference, trusted))
    if counts.empty:
        raise UsageError(f"{judge} and the reference have no score in common")
    note = f"Rows: {trusted}; columns: {judge}. Answers, shaded by their share of the row"
    title = f"Scores by {judge} and by {trusted}"
    with plain_text():
        # Metrics have scales of their own.
        metrics = _shown_metrics(counts)
        figure, panels = panels_of(metrics, title, note, (3, 2.9), columns=3, share_rows=False)
        for metric, axes in panels.items():
            _draw_confusion(axes, counts[counts["metric"] == metric], metric)
    return figure


def _draw_confusion(axes: Axes, counts: pd.DataFrame, metric: str) -> None:
    names = [*map(str, SCALES[metric]), "null"]
    named = counts.assign(
        given=counts["value"].map(_score_name), trusted=counts["reference"].map(_score_name)
    )
    sums = named.pivot_table("answers", "trusted", "given", aggfunc="sum")
    table = sums.reindex(index=names, columns=names).fillna(0).to_numpy(float)
    shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    texts = np.where(table > 0, np.char.mod("%.0f", table), "").tolist()
    draw_cells(axes, shares, texts, names, names)


def _shown_metrics(table: pd.DataFrame) -> list[str]:
    return [name for name in METRICS if name in set(table["metric"])]


def _score_name(score: object) -> str:
    if score is None or score != score:
        return "null"
    return str(score).removesuffix(".0")
