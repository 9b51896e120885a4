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
from surrogate.papers.memerag.accuracy import (
    BEST,
    DAGGER,
    PERMUTATIONS,
    REPLICATES,
    error_shares,
    mark_best,
    score_judges,
    with_prompts,
)
from surrogate.papers.memerag.benchmark import LabelVerdict
from surrogate.papers.memerag.sentences import COARSE_OF_FINE
from surrogate.papers.records import read_run
from surrogate.papers.reports import short_prompt
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
    SEQUENTIAL,
    SKY_BLUE,
    decimal,
    finite,
    whole,
)

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
    judges, languages = (list(dict.fromkeys(judged[name])) for name in ("shown", "language"))
    language_scores = scores[scores["language"] != "macro"]
    n_languages = language_scores["language"].nunique()
    weighting = ", macro weighs languages alike" if "macro" in languages else ""
    failures = whole(language_scores["failures"].sum())
    not_asked = whole(language_scores["not_asked"].sum())
    note = (
        f"n = {count_of(len(judges), 'judge')}, {count_of(n_languages, 'language')}; the number of "
        f"sentences is above each panel{weighting}. Without a label, counted as errors: {failures}"
        f"; not asked, left out: {not_asked}. {MISSING} is no value. Bars end at ± 1 standard "
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
    defined = shares[shares["share"].notna()]
    if defined.empty:
        raise UsageError("no judge made an error on a sentence with a fine-grained label")
    named = defined.assign(shown=_shown(defined))
    labels = [name for name in COARSE_OF_FINE if name in set(named["fine"])]
    judges = list(dict.fromkeys(named["shown"]))
    table = named.pivot(index="shown", columns="fine", values="share")
    cells = table.reindex(index=judges, columns=labels).to_numpy(float)
    texts = [[decimal(100 * share, 0) for share in row] for row in cells]
    caption = Caption(
        "What judges of faithfulness get wrong on MEMERAG",
        f"Share of a judge's errors by the sentence's fine-grained label, in %; {MISSING} is no "
        f"such sentence. n = {count_of(len(judges), 'judge')}, "
        f"{count_of(int(defined['errors'].sum()), 'error')}, all languages together.",
        signature,
    )
    width = max(label_inches(judges) + len(labels) * 0.62 + 0.3, 6.0)
    with style():
        height = len(judges) * CELL_INCHES + label_inches(labels) + 0.5
        figure, (axes,) = new_figure(caption, width, height)
        shades, scale = cells / max(float(np.nanmax(cells)), 1e-9), SEQUENTIAL[::-1]
        looks: dict[str, Any] = {"cell": CELL_INCHES, "upright": True}
        draw_matrix(axes, shades, texts, judges, labels, scale, **looks)
    return figure
