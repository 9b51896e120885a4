"""Figures of MEMERAG: judges' balanced accuracy (figure 2), and what they get wrong (figure 5)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from arena.data.wording import count_of
from surrogate_arena.pages.figures.figure import (
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
from surrogate_arena.pages.formats import (
    BLUE,
    MISSING,
    SEQUENTIAL,
    SKY_BLUE,
    decimal,
    whole,
)
from surrogate_arena.papers.memerag.accuracy import (
    BEST,
    DAGGER,
    MACRO,
    PERMUTATIONS,
    REPLICATES,
    error_shares,
    mark_best,
    score_judges,
    with_prompts,
)
from surrogate_arena.papers.memerag.benchmark import LabelVerdict
from surrogate_arena.papers.memerag.sentences import COARSE_OF_FINE
from surrogate_arena.papers.records import read_run
from surrogate_arena.papers.reports import short_prompt

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DATASET = "dataset:memerag"
BAR: dict[str, Any] = {"edgecolor": "black", "linewidth": 0.6}
BARS: dict[str, dict[str, Any]] = {
    "best": {"facecolor": BLUE},
    "not different from the best (p > 0.05)": {"facecolor": SKY_BLUE, "hatch": HATCH},
    "different from the best": {"facecolor": SKY_BLUE},
}
ON_WHITE = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
CELL_INCHES = 0.36


def memerag_drawings(path: Path) -> Iterator[Drawing]:
    """List the figures of a file of verdicts on MEMERAG's sentences."""
    verdicts = read_run(path, LabelVerdict)
    yield Drawing("memerag", partial(_bars, verdicts))
    if verdicts["fine"].notna().any():
        draw = partial(error_heat_map, error_shares(verdicts), DATASET)
        yield Drawing("memerag-errors", draw)


def _bars(verdicts: pd.DataFrame) -> Figure:
    """Score judges; where some have several prompts, the best with each prompt is marked."""
    scores = score_judges(verdicts)
    within = [] if with_prompts(scores).empty else ["prompt"]
    signature = f"{DATASET}|replicates:{REPLICATES}|permutations:{PERMUTATIONS}|seed:0"
    return memerag_bars(mark_best(scores, verdicts, within=within), signature)


def memerag_bars(scores: pd.DataFrame, signature: str) -> Figure:
    """Draw judges' balanced accuracy by language and on average, with standard errors (figure 2).

    Scores are as of ``mark_best``: the best judge of a language is darker; hatched ones are not
    statistically different from it.
    """
    from matplotlib.patches import Patch

    judged = scores.assign(shown=_shown(scores))
    judges = list(judged["shown"].unique())
    languages = list(judged["language"].unique())
    caption = Caption(
        title="Judges of faithfulness on MEMERAG",
        note=_note_on_bars(scores, len(judges)),
        signature=signature,
    )
    width = max(label_inches(judges) + len(languages) * 2.1, 6.0)
    height = len(judges) * ROW_INCHES * 1.3 + 1.1
    n_panels = len(languages)
    with style():
        figure, panels = new_figure(caption, width, height, n_panels, n_panels, sharey=True)
        for axes, language in zip(panels, languages, strict=True):
            part = judged[judged["language"] == language].set_index("shown").reindex(judges)
            _draw_bars(axes, part)
            # Judges that were not asked about some sentences are scored on fewer.
            sizes = part["n"].dropna().agg(["min", "max"]).map(whole).unique()
            axes.set_title(f"{drawable(language)}\nn = {' to '.join(sizes)}", loc="left")
            axes.set_xlabel("Balanced accuracy (%)")
        panels[0].set_yticks(range(len(judges)), list(shown_names(judges).values()))
        panels[0].set_ylim(len(judges) - 0.4, -0.6)
        legend(figure, {name: Patch(**BAR, **look) for name, look in BARS.items()}, 3)
    return figure


def _note_on_bars(scores: pd.DataFrame, n_judges: int) -> str:
    """Return how many judges and languages there are, and what bars and marks are."""
    language_scores = scores[scores["language"] != MACRO]
    n_languages = language_scores["language"].nunique()
    weighting = ""
    if len(language_scores) < len(scores):
        weighting = ", macro weighs languages alike"
    failures = whole(language_scores["failures"].sum())
    not_asked = whole(language_scores["not_asked"].sum())
    return (
        f"n = {count_of(n_judges, 'judge')}, {count_of(n_languages, 'language')}; the number of "
        f"sentences is above each panel{weighting}. Without a label, counted as errors: {failures}"
        f"; not asked, left out: {not_asked}. {MISSING} is no value. Bars end at ± 1 standard "
        "error; dashed: chance."
    )


def _shown(scores: pd.DataFrame) -> list[str]:
    """Name judges with their prompt, if they have one."""
    names = []
    for judge, prompt in zip(scores["judge"], scores["prompt"].fillna(""), strict=True):
        name = str(judge)
        if prompt:
            name += f", {short_prompt(prompt)}"
        names.append(name)
    return names


def _draw_bars(axes: Axes, part: pd.DataFrame) -> None:
    """Draw one language's scores, one row per judge; columns of ``mark_best``."""
    values = 100 * part["value"].to_numpy(float)
    # A language of one sentence per label has a value without an error: its line has no length.
    errors = np.nan_to_num(100 * part["standard_error"].to_numpy(float))
    rows = np.arange(len(part))
    best, tied, different = BARS.values()
    looks = {BEST: best, DAGGER: tied}
    for row, mark in enumerate(part["mark"]):
        axes.barh(row, np.nan_to_num(values[row]), 0.66, **BAR, **looks.get(mark, different))
    axes.hlines(rows, values - errors, values + errors, color="black", linewidth=1.4, zorder=3)
    # The text of a value stands right of its error; that of no value at the axis.
    positions = np.nan_to_num(values + errors + 2, nan=1.0)
    for row, (value, position) in enumerate(zip(values, positions, strict=True)):
        axes.text(position, row, decimal(value, 1), va="center", fontsize=8, bbox=ON_WHITE)
    # A judge that always says the same has a balanced accuracy of 50 %.
    axes.axvline(50, color=MUTED, linewidth=0.9, linestyle="--")
    axes.set_xlim(0, 118)
    axes.set_xticks(range(0, 101, 25))


def error_heat_map(shares: pd.DataFrame, signature: str) -> Figure:
    """Draw how each judge's errors are spread over fine-grained labels (figure 5).

    Raises:
        UsageError: If no judge made an error on a sentence with a fine-grained label.
    """
    defined = shares[shares["share"].notna()]
    if defined.empty:
        raise UsageError("no judge made an error on a sentence with a fine-grained label")
    defined = defined.assign(shown=_shown(defined))
    table = defined.pivot(index="shown", columns="fine", values="share")
    # Judges in the order of the file, labels in that of table 4; relevance has none of these.
    judges = list(defined["shown"].unique())
    labels = [name for name in COARSE_OF_FINE if name in table]
    cells = table.reindex(index=judges, columns=labels).to_numpy(float)
    texts = []
    for row in cells:
        texts.append([decimal(100 * share, 0) for share in row])
    caption = Caption(
        "What judges of faithfulness get wrong on MEMERAG",
        f"Share of a judge's errors by the sentence's fine-grained label, in %; {MISSING} is no "
        f"such sentence. n = {count_of(len(judges), 'judge')}, "
        f"{count_of(int(defined['errors'].sum()), 'error')}, all languages together.",
        signature,
    )
    width = max(label_inches(judges) + len(labels) * 0.62 + 0.3, 6.0)
    height = len(judges) * CELL_INCHES + label_inches(labels) + 0.5
    with style():
        figure, (axes,) = new_figure(caption, width, height)
        # The largest share has the darkest color, however small it is.
        draw_matrix(
            axes,
            cells / max(float(np.nanmax(cells)), 1e-9),
            texts,
            rows=judges,
            columns=labels,
            scale=SEQUENTIAL[::-1],
            cell=CELL_INCHES,
            upright=True,
        )
    return figure
