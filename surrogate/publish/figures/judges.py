"""Figures of judges held against labels (MEMERAG) and unit tests (GroUSE)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from arena.data.tables import read_rows
from arena.data.wording import count_of
from features.models.grouse_prompts import METRICS, SCALES
from surrogate.metaevaluation.evaluation import judge_labels, judges_of, short_prompt
from surrogate.metaevaluation.grouse.grouse import ScoreVerdict
from surrogate.metaevaluation.grouse.scores import confusion, reference_scores
from surrogate.metaevaluation.grouse.unit_tests import Condition
from surrogate.metaevaluation.memerag.accuracy import (
    BEST,
    DAGGER,
    PERMUTATIONS,
    REPLICATES,
    error_shares,
    mark_best,
    score_judges,
    with_prompts,
)
from surrogate.metaevaluation.memerag.memerag import LabelVerdict
from surrogate.metaevaluation.memerag.sentences import COARSE_OF_FINE
from surrogate.metaevaluation.records import read_run
from surrogate.publish.figures.figure import (
    HATCH,
    MUTED,
    ROW_INCHES,
    Caption,
    Drawing,
    draw_matrix,
    drawable,
    label_inches,
    legend,
    new_figure,
    shown_names,
    style,
)
from surrogate.publish.formats import (
    BLUE,
    MISSING,
    ORANGE,
    SEQUENTIAL,
    SKY_BLUE,
    VERMILLION,
    decimal,
    finite,
    percent,
    slugs,
    whole,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MEMERAG, GROUSE = "dataset:memerag", "dataset:grouse"
BAR: dict[str, Any] = {"edgecolor": "black", "linewidth": 0.6}
BARS: dict[str, dict[str, Any]] = {
    "best": {"facecolor": BLUE},
    "not different from the best (p > 0.05)": {"facecolor": SKY_BLUE, "hatch": HATCH},
    "different from the best": {"facecolor": SKY_BLUE},
}
ON_WHITE = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
FAILED, NO_SCORE, PASSED = 0.0, 0.5, 1.0
STATES = {"failed (×)": VERMILLION, "no readable score (?)": ORANGE, "passed": BLUE}
MARKS = {FAILED: "×", NO_SCORE: "?", PASSED: ""}
NEEDLESS = "no call where the scores before are right"
IS_NULL = str(Condition("==", None))
CELL_INCHES, ERROR_CELL_INCHES = 0.2, 0.36


def run_drawings(path: Path) -> Iterator[Drawing]:
    """List the figures of a run of judges: verdicts on MEMERAG, or on GroUSE's tests."""
    if "test_id" not in read_rows(path).table:
        verdicts = read_run(path, LabelVerdict)
        yield Drawing("memerag", partial(_bars, verdicts))
        if verdicts["fine"].notna().any():
            draw = partial(error_heat_map, error_shares(verdicts), MEMERAG)
            yield Drawing("memerag-errors", draw)
        return
    scores = read_run(path, ScoreVerdict)
    names = judge_labels(scores)
    files = slugs(names.values())
    reference = scores[scores["is_reference"]]
    for key, part in judges_of(scores).items():
        name = names[key]
        if part["condition"].notna().any():
            figure = partial(draw_unit_tests, part, name, GROUSE)
            yield Drawing(f"grouse-{files[name]}", figure)
        if len(reference) and not part["is_reference"].any():
            figure = partial(draw_confusions, part, reference, name, GROUSE)
            yield Drawing(f"grouse-confusions-{files[name]}", figure)


def _bars(verdicts: pd.DataFrame) -> Figure:
    """Score judges; where some have several prompts, the best with each prompt is marked."""
    scores = score_judges(verdicts)
    within = [] if with_prompts(scores).empty else ["prompt"]
    signature = f"{MEMERAG}|replicates:{REPLICATES}|permutations:{PERMUTATIONS}|seed:0"
    return memerag_bars(mark_best(scores, verdicts, within=within), signature)


def memerag_bars(scores: pd.DataFrame, signature: str) -> Figure:
    """Draw judges' balanced accuracy by language and on average, with standard errors (figure 2).

    Scores are as of ``mark_best``: the best judge of a language is darker; hatched ones are not
    statistically different from it.
    """
    from matplotlib.patches import Patch

    judged = scores.assign(shown=_shown(scores))
    judges, languages = (list(dict.fromkeys(judged[name])) for name in ("shown", "language"))
    own = scores[scores["language"] != "macro"]
    note = (
        f"n = {count_of(len(judges), 'judge')}, {count_of(own['language'].nunique(), 'language')}; "
        "the number of sentences is above each panel"
        + (", macro weighs languages alike. " if "macro" in languages else ". ")
        + f"Without a label, counted as errors: {whole(own['failures'].sum())}; not asked, left "
        f"out: {whole(own['not_asked'].sum())}. {MISSING} is no value. Bars end at ± 1 standard "
        "error; dashed: chance."
    )
    width = max(label_inches(judges) + len(languages) * 2.1, 6.0)
    caption = Caption("Judges of faithfulness on MEMERAG", note, signature)
    with style():
        height, count = len(judges) * ROW_INCHES * 1.3 + 1.1, len(languages)
        figure, panels = new_figure(caption, width, height, count, count, sharey=True)
        for axes, language in zip(panels, languages, strict=True):
            part = judged[judged["language"] == language].set_index("shown").reindex(judges)
            _draw_bars(axes, part)
            n = part["n"].dropna().agg(["min", "max"])
            counts = " to ".join(dict.fromkeys(whole(number) for number in n))
            axes.set_title(f"{drawable(language)}\nn = {counts}", loc="left")
            axes.set_xlabel("Balanced accuracy (%)")
        panels[0].set_yticks(range(len(judges)), list(shown_names(judges).values()))
        panels[0].set_ylim(len(judges) - 0.4, -0.6)
        legend(figure, {name: Patch(**BAR, **look) for name, look in BARS.items()}, 3)
    return figure


def _shown(scores: pd.DataFrame) -> list[str]:
    return [
        f"{judge}, {short_prompt(prompt)}" if prompt else str(judge)
        for judge, prompt in zip(scores["judge"], scores["prompt"].fillna(""), strict=True)
    ]


def _draw_bars(axes: Axes, part: pd.DataFrame) -> None:
    values = 100 * part["value"].to_numpy(float)
    errors = np.nan_to_num(100 * part["standard_error"].to_numpy(float))
    rows, looks = np.arange(len(part)), list(BARS.values())
    for row, mark in enumerate(part["mark"].fillna("")):
        look = looks[0] if mark == BEST else looks[1] if mark == DAGGER else looks[2]
        axes.barh(row, np.nan_to_num(values[row]), 0.66, **BAR, **look)
    axes.hlines(rows, values - errors, values + errors, color="black", linewidth=1.4, zorder=3)
    for row, (value, error) in enumerate(zip(values, errors, strict=True)):
        at = 1 if finite(value) is None else value + error + 2
        axes.text(at, row, decimal(value, 1), va="center", fontsize=8, bbox=ON_WHITE)
    axes.axvline(50, color=MUTED, linewidth=0.9, linestyle="--")
    axes.set_xlim(0, 118)
    axes.set_xticks(range(0, 101, 25))


def error_heat_map(shares: pd.DataFrame, signature: str) -> Figure:
    """Draw how each judge's errors are spread over fine-grained labels (figure 5).

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
    texts = [[decimal(100 * share, 0) for share in row] for row in cells]
    caption = Caption(
        "What judges of faithfulness get wrong on MEMERAG",
        f"Share of a judge's errors by the sentence's fine-grained label, in %; {MISSING} is no "
        f"such sentence. n = {count_of(len(judges), 'judge')}, "
        f"{count_of(int(known['errors'].sum()), 'error')}, all languages together.",
        signature,
    )
    width = max(label_inches(judges) + len(labels) * 0.62 + 0.3, 6.0)
    with style():
        height = len(judges) * ERROR_CELL_INCHES + label_inches(labels) + 0.5
        figure, (axes,) = new_figure(caption, width, height)
        shades, scale = cells / max(float(np.nanmax(cells)), 1e-9), SEQUENTIAL[::-1]
        looks: dict[str, Any] = {"cell": ERROR_CELL_INCHES, "upright": True}
        draw_matrix(axes, shades, texts, judges, labels, scale, **looks)
    return figure


def draw_unit_tests(scores: pd.DataFrame, judge: str, signature: str) -> Figure:
    """Draw every test that a judge passed or failed, a panel a metric (figures 3 and 13 to 15).

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
    asked = tests[tests["was_asked"]]
    caption = Caption(
        f"Unit tests, one by one: {judge}",
        f"{MISSING} was not asked. n = {whole(len(asked))} checks of "
        f"{count_of(tests['test_id'].nunique(), 'test')}, "
        f"{percent(asked['passed'].eq(True).sum() / max(len(asked), 1), 1)} passed; "
        f"{count_of(int(asked['failure'].notna().sum()), 'check')} without a score.",
        signature,
    )
    wide = min(2, len(metrics))
    width = max(label_inches(rows) + wide * (len(columns) * CELL_INCHES + 0.3), 6.0)
    one_high = len(rows) * CELL_INCHES + label_inches(columns) + 0.55
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
    looks: dict[str, Any] = {"cell": CELL_INCHES, "upright": True}
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
            own = counts[counts["metric"] == metric]
            own = own.assign(**{side: own[side].map(_named) for side in ("reference", "value")})
            summed = own.groupby(["reference", "value"])["answers"].sum().unstack()
            table = summed.reindex(index=names, columns=names).fillna(0).to_numpy(float)
            totals = table.sum(axis=1, keepdims=True)
            shares = np.divide(table, totals, out=np.full(table.shape, np.nan), where=totals > 0)
            texts = [[whole(count) if count else "" for count in line] for line in table]
            cell = ERROR_CELL_INCHES
            draw_matrix(axes, shares, texts, names, names, SEQUENTIAL[::-1], cell=cell)
            axes.set_xlabel(metric)
    return figure


def _named(score: object) -> str:
    return "null" if score is None or score != score else str(score).removesuffix(".0")
