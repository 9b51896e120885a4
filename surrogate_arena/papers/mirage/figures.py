"""How many judgments a ranking needs (MIRAGE-Bench, figure 6): curves of a study of sampling."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from arena.data.errors import DataError, Problem, UsageError
from arena.data.files import small_file
from arena.data.wording import count_of
from arena.judging.choosing.sampling import COLUMNS
from surrogate_arena.pages.figures.figure import (
    MARKERS,
    Caption,
    drawable,
    legend,
    new_figure,
    style,
)
from surrogate_arena.pages.formats import OKABE_ITO, whole

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
MAKE = "surrogate-arena validate ARENA --protocol sampling --json > FILE"
MOST_BANDS = 3
STYLES = ("-", "--", ":")


def read_sampling(path: Path | str) -> tuple[pd.DataFrame, str]:
    """Read what ``validate --protocol sampling --json`` printed: the table and the signature.

    Raises:
        UsageError: If there is no such file.
        DataError: If it is damaged.
    """
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"there is no study at {path}; make one with  {MAKE}")
    try:
        content = json.loads(small_file(path))
        table, signature = pd.DataFrame(content["table"]), str(content["signature"])
    except (KeyError, TypeError, ValueError) as error:
        fault = f"is not a study ({type(error).__name__}: {error})"
        problem = Problem(path.name, None, None, None, fault, f"write it again with  {MAKE}")
        raise DataError([problem]) from error
    return table, signature


def sampling_curves(table: pd.DataFrame, signature: str, arena: str = "") -> Figure:
    """Draw Kendall tau with the whole arena against the share of judgments (figure 6).

    Raises:
        UsageError: If the table lacks a column, or rows with a tau.
    """
    absent = [column for column in COLUMNS if column not in table]
    if absent or table["tau"].isna().all():
        lacking = ", ".join(absent) or "rows with a tau"
        raise UsageError(f"the table lacks {lacking} of a study of sampling; make it with  {MAKE}")
    numbers = [name for name in COLUMNS if name not in ("language", "design")]
    rated = table.astype(dict.fromkeys(numbers, "float64")).dropna(subset="tau")
    designs = list(rated["design"].unique())
    title = "How many judgments a ranking needs"
    if arena:
        title += f": {arena}"
    caption = Caption(title, _note_on_curves(rated), signature)
    width = max(len(designs) * 4.2, 5.5)
    with style():
        figure, panels = new_figure(caption, width, 3.6, len(designs), len(designs), sharey=True)
        handles: dict[str, Artist] = {}
        for axes, design in zip(panels, designs, strict=True):
            handles |= _draw_design(axes, rated[rated["design"] == design])
            axes.set_title(DESIGNS.get(design, drawable(design)), loc="left")
            axes.set_xlabel("Share of the arena's judgments (%)")
            axes.set_xlim(0, 103)
            axes.grid()
        panels[0].set_ylabel("Kendall tau with the whole arena")
        legend(figure, handles, int(width / 0.9))
    return figure


def _note_on_curves(rated: pd.DataFrame) -> str:
    n_languages = rated["language"].nunique()
    n_judgments = rated.groupby("language")["judgments"].max()
    spread = " to ".join(dict.fromkeys([whole(n_judgments.min()), whole(n_judgments.max())]))
    lines = "bands hold 95% of them"
    if n_languages > MOST_BANDS:
        # More bands than this hide each other.
        lines = "thick is the mean over languages"
    return (
        f"n = {count_of(n_languages, 'language')}, up to {spread} judgments each. Points are means "
        f"over random parts of the arena; {lines}."
    )


def _draw_design(axes: Axes, rows: pd.DataFrame) -> dict[str, Artist]:
    handles: dict[str, Artist] = {}
    languages = list(rows["language"].unique())
    for index, language in enumerate(languages):
        curve = rows[rows["language"] == language].sort_values("share")
        # Where colors are used up, they begin again with other lines and markers.
        turn, color = divmod(index, len(OKABE_ITO))
        (handles[drawable(language)],) = axes.plot(
            100 * curve["share"],
            curve["tau"],
            color=OKABE_ITO[color],
            linestyle=STYLES[turn % len(STYLES)],
            marker=MARKERS[(color + turn) % len(MARKERS)],
            markersize=4,
            linewidth=1.2,
        )
        if len(languages) <= MOST_BANDS:
            axes.fill_between(
                100 * curve["share"],
                curve["low"],
                curve["high"],
                color=OKABE_ITO[color],
                alpha=0.15,
                linewidth=0,
            )
    if len(languages) > MOST_BANDS:
        mean = rows.groupby("share")["tau"].mean()
        (handles["mean"],) = axes.plot(100 * mean.index, mean, color="black", linewidth=3)
    return handles
