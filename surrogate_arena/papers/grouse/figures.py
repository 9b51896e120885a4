"""Figures of GroUSE: unit tests one by one (figures 3, 13 to 15), scores against scores (6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from surrogate_arena.papers.drawing import HATCH, MISSING, draw_cells, new_figure, plain_text
from surrogate_arena.papers.grouse.metrics import METRICS, SCALES
from surrogate_arena.papers.grouse.scores import confusion, reference_scores
from surrogate_arena.papers.grouse.unit_tests import Condition

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FAILED, NO_SCORE, PASSED = 0.0, 0.5, 1.0
MARKS = {FAILED: "×", NO_SCORE: "?", PASSED: ""}
IS_NULL = str(Condition("==", None))


def draw_unit_tests(scores: pd.DataFrame, judge: str) -> Figure:
    """Draw each test as passed or failed, one panel per metric (figures 3 and 13 to 15)."""
    from matplotlib.patches import Rectangle

    checked = scores[scores["condition"].notna()]
    if checked.empty:
        raise UsageError(f"{judge} has no tests that call for scores")
    # A row is a topic in one language, as in figures 13 to 15, or a question without a topic.
    topics = checked["language"].str.cat(checked["topic"], sep=" ")
    row = topics.where(topics.notna(), checked["question"]).astype(str)
    # A second test of a type in the same row has a column of its own.
    number = checked.groupby([row, "test_type", "metric"]).cumcount()
    numbered = checked["test_type"] + " #" + (number + 1).astype(str)
    state = checked["passed"].map({True: PASSED}).fillna(FAILED)
    state = state.mask(checked["failure"].notna(), NO_SCORE).where(checked["was_asked"])
    tests = checked.assign(
        row=row, column=checked["test_type"].where(number == 0, numbered), state=state
    )
    rows, columns = list(tests["row"].unique()), list(tests["column"].unique())
    metrics = [name for name in METRICS if name in set(tests["metric"])]
    scored = tests[tests["was_asked"]]
    note = (
        f"×: failed; ?: no readable score; {MISSING}: not asked; hatched: no call where the scores "
        f"before are right. n = {len(scored)} checks of {tests['test_id'].nunique()} tests, "
        f"{100 * scored['passed'].eq(True).mean():.1f}% passed"
    )
    n_columns = min(2, len(metrics))
    height = -(-len(metrics) // n_columns) * (0.2 * len(rows) + 2.2) + 1
    with plain_text():
        title = f"Unit tests, one by one: {judge}"
        width = n_columns * (0.22 * len(columns) + 0.3) + 2.5
        figure, panels = new_figure(title, note, len(metrics), n_columns, width, height)
        for axes, metric in zip(panels, metrics, strict=True):
            part = tests[tests["metric"] == metric]
            states = part.pivot(index="row", columns="column", values="state")
            states = states.reindex(index=rows, columns=columns).astype(float)
            texts = [[MARKS.get(state, MISSING) for state in cells] for cells in states.to_numpy()]
            draw_cells(axes, states.to_numpy(), texts, rows, columns, "RdYlBu")
            # Figure 5: where null is right, the pipeline has no call for these two metrics.
            if metric in ("usefulness", "faithfulness"):
                is_null = part["condition"] == IS_NULL
                for _, test in part[is_null].iterrows():
                    corner = columns.index(test["column"]) - 0.5, rows.index(test["row"]) - 0.5
                    axes.add_patch(
                        Rectangle(corner, 1, 1, fill=False, hatch=HATCH, edgecolor="white")
                    )
            axes.set_title(metric)
    return figure


def draw_confusions(scores: pd.DataFrame, reference: pd.DataFrame, judge: str) -> Figure:
    """Draw which scores a judge gives where the reference gives which (figure 6)."""
    trusted = str(reference["judge"].iloc[0]) if len(reference) else "none"
    counts = confusion(scores, reference_scores(reference, trusted))
    metrics = [name for name in METRICS if name in set(counts["metric"])]
    if not metrics:
        raise UsageError(f"{judge} and the reference have no score in common")
    note = f"Rows: {trusted}; columns: {judge}. Answers, shaded by their share of the row"
    n_columns = min(3, len(metrics))
    height = 2.9 * -(-len(metrics) // n_columns) + 0.8
    with plain_text():
        title = f"Scores by {judge} and by {trusted}"
        figure, panels = new_figure(title, note, len(metrics), n_columns, 3 * n_columns, height)
        for axes, metric in zip(panels, metrics, strict=True):
            names = [*map(str, SCALES[metric]), "null"]
            part = counts[counts["metric"] == metric]
            named = part.assign(
                given=part["value"].map(_score_name), trusted=part["reference"].map(_score_name)
            )
            sums = named.pivot_table("answers", "trusted", "given", aggfunc="sum")
            table = sums.reindex(index=names, columns=names).fillna(0).to_numpy(float)
            shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
            texts = np.where(table > 0, np.char.mod("%.0f", table), "").tolist()
            draw_cells(axes, shares, texts, names, names)
            axes.set_title(metric)
    return figure


def _score_name(score: object) -> str:
    if score is None or score != score:
        return "null"
    return str(score).removesuffix(".0")
