"""Figures of studies: how many judgments a ranking needs, and how well ratings replicate."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from arena.data.errors import DataError, Problem, UsageError, checked_choice
from arena.data.files import small_file
from arena.data.wording import count_of
from arena.judging.choosing.sampling import COLUMNS
from surrogate.metaevaluation.records import JSONL_SUFFIXES
from surrogate.publish.figures.figure import (
    MARKERS,
    Caption,
    Drawing,
    drawable,
    legend,
    new_figure,
    style,
)
from surrogate.publish.figures.judges import run_drawings
from surrogate.publish.formats import decimal, whole
from surrogate.publish.palette import BOTH, OKABE_ITO, SURROGATE, VERDICTS
from surrogate.validation.scores import MACRO
from surrogate.validation.study import REPLICATION_COLUMNS

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DESIGNS = {
    "questions": "Fewer questions, all their pairs",
    "pairs": "Random pairs of each question",
    "completed": "Random pairs, the others predicted",
    "adaptive": "Pairs chosen one after the other",
}
RATED_BY = {
    "tau": ("verdicts and surrogate", BOTH, "D"),
    "tau_verdicts": ("verdicts alone", VERDICTS, "s"),
    "tau_surrogate": ("surrogate alone", SURROGATE, "o"),
}
"""A column of the study of replication to what its ratings are by, a color and a marker."""
MAKE = "surrogate-arena validate ARENA --protocol sampling (or replication) --json > FILE"
MOST_BANDS = 3
STYLES = ("-", "--", ":")


def study_drawings(path: Path, language: str | None = None) -> Iterator[Drawing]:
    """List the figures of a file of ``validate --json`` or ``metaeval --out``.

    Raises:
        UsageError: If it is none of these, or a study without a figure.
        DataError: If it is damaged.
    """
    if path.name.endswith(JSONL_SUFFIXES):
        yield from run_drawings(path)
        return
    table, signature = read_study(path)
    if "design" in table:
        yield Drawing("sampling", partial(sampling_curves, table, signature))
    else:
        part = f"-{language}" if language else ""
        draw = partial(replication_curves, table, signature, language=language)
        yield Drawing(f"replication{part}", draw)


def read_study(path: Path | str) -> tuple[pd.DataFrame, str]:
    """Read what ``validate`` printed of the protocols sampling and replication (``--json``).

    Returns:
        The table and the signature.

    Raises:
        UsageError: If there is no such file, or it holds another study.
        DataError: If it is damaged.
    """
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"there is no study at {path}; make one with  {MAKE}")
    try:
        content = json.loads(small_file(path))
        table, signature = pd.DataFrame(content["table"]), str(content["signature"])
        names = COLUMNS if "design" in table else REPLICATION_COLUMNS
        if absent := [name for name in names if name not in table]:
            raise UsageError(f"{path} has no figure (no {', '.join(absent)}); draw  {MAKE}")
        texts = dict.fromkeys(("language", "design"), str)
        typed = {name: texts.get(name, "float64") for name in names}
        return table[list(names)].astype(typed), signature
    except (KeyError, TypeError, ValueError) as error:
        fault = f"is no study ({type(error).__name__}: {error})"
        problem = Problem(path.name, None, None, None, fault, f"write it again with  {MAKE}")
        raise DataError([problem]) from error


def sampling_curves(table: pd.DataFrame, signature: str, arena: str = "") -> Figure:
    """Draw Kendall tau with the whole arena against the share of judgments (figure 6).

    Raises:
        UsageError: If the table lacks a column, or rows with a tau.
    """
    absent = [name for name in COLUMNS if name not in table]
    if absent or table["tau"].isna().all():
        lacking = ", ".join(absent) or "rows with a tau"
        raise UsageError(f"the sampling table lacks {lacking}; make it with  {MAKE}")
    known = table[table["tau"].notna()]
    designs = list(dict.fromkeys(known["design"]))
    languages = known["language"].nunique()
    most = known.groupby("language")["judgments"].max()
    spread = " to ".join(dict.fromkeys([whole(most.min()), whole(most.max())]))
    note = (
        f"n = {count_of(languages, 'language')}, up to {spread} judgments each. Points are means "
        "over random parts of the arena; "
    )
    note += (
        "bands hold 95% of them."
        if languages <= MOST_BANDS
        else "the thick line is the mean over languages."
    )
    title = "How many judgments a ranking needs" + (f": {arena}" if arena else "")
    width = max(len(designs) * 4.2, 5.5)
    with style():
        figure, panels = new_figure(
            *(Caption(title, note, signature), width, 3.6, len(designs), len(designs)), sharey=True
        )
        handles: dict[str, Artist] = {}
        for axes, design in zip(panels, designs, strict=True):
            handles |= _draw_design(axes, known[known["design"] == design])
            axes.set_title(DESIGNS.get(design, drawable(design)), loc="left")
            axes.set_xlabel("Share of the arena's judgments (%)")
            axes.set_xlim(0, 103)
            axes.grid()
        panels[0].set_ylabel("Kendall tau with the whole arena")
        legend(figure, handles, int(width / 0.9))
    return figure


def _draw_design(axes: Axes, rows: pd.DataFrame) -> dict[str, Artist]:
    handles: dict[str, Artist] = {}
    languages = list(dict.fromkeys(rows["language"]))
    for place, language in enumerate(languages):
        curve = rows[rows["language"] == language].sort_values("share")
        turn, color = divmod(place, len(OKABE_ITO))
        (handles[drawable(language)],) = axes.plot(
            *(100 * curve["share"], curve["tau"]),
            color=OKABE_ITO[color],
            linestyle=STYLES[turn % len(STYLES)],
            marker=MARKERS[(color + turn) % len(MARKERS)],
            markersize=4,
            linewidth=1.2,
        )
        if len(languages) <= MOST_BANDS:
            band = 100 * curve["share"], curve["low"], curve["high"]
            axes.fill_between(*band, color=OKABE_ITO[color], alpha=0.15, linewidth=0)
    if len(languages) > MOST_BANDS:
        mean = rows.groupby("share")["tau"].mean()
        (handles["mean"],) = axes.plot(100 * mean.index, mean, color="black", linewidth=3)
    return handles


def replication_curves(
    table: pd.DataFrame, signature: str, arena: str = "", language: str | None = None
) -> Figure:
    """Draw how well ratings replicate against the judged questions they are made from.

    Raises:
        UsageError: If the table has no such language, or no tau of it.
    """
    known = list(dict.fromkeys(table.loc[table["tau"].notna(), "language"]))
    if language is None:
        language = MACRO if MACRO in known else next(iter(known), "")
    checked_choice(language, known, "language of this study")
    rows = table[(table["language"] == language) & table["tau"].notna()].sort_values("questions")
    part = f"mean over {count_of(len(known) - 1, 'language')}" if language == MACRO else language
    last = rows.iloc[-1]
    judgments = " to ".join(whole(number) for number in rows["judgments"].agg(["min", "max"]))
    note = (
        f"n = {judgments} judgments a language. Ratings from part of the questions, held against "
        "the verdicts on the other half; means over splits, the band is 95% over systems. Verdicts "
        f"alone reach {decimal(last['tau_verdicts'])} with {whole(last['questions'])} questions."
    )
    title = f"Quality against judged questions: {', '.join(filter(None, (arena, drawable(part))))}"
    with style():
        figure, (axes,) = new_figure(Caption(title, note, signature), 7.0, 4.0)
        handles: dict[str, Artist] = {}
        for column, (name, color, marker) in RATED_BY.items():
            if rows[column].notna().any():
                look: dict[str, Any] = {"color": color, "marker": marker, "markersize": 5}
                (handles[name],) = axes.plot(rows["questions"], rows[column], **look)
        band = rows["questions"], rows["tau_low"], rows["tau_high"]
        axes.fill_between(*band, color=BOTH, alpha=0.1, linewidth=0)
        line: dict[str, Any] = {"color": VERDICTS, "linewidth": 0.8, "linestyle": "--", "zorder": 1}
        axes.axhline(float(last["tau_verdicts"]), **line)
        axes.set_xscale("log")
        numbers = sorted(set(rows["questions"]))
        axes.set_xticks(numbers, [whole(number) for number in numbers])
        axes.set_xticks(np.array([]), minor=True)
        axes.grid()
        axes.set_xlabel("Judged questions to learn from, in each language")
        axes.set_ylabel("Kendall tau with the verdicts on other questions")
        legend(figure, handles, 3)
    return figure
