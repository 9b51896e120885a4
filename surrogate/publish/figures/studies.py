"""Curves: how many judgments a ranking needs (MIRAGE-Bench, figure 6), and losses of tuning."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from arena.data.wording import count_of
from arena.judging.choosing.sampling import COLUMNS
from surrogate.publish.figures.figure import (
    Caption,
    drawable,
    legend,
    new_sheet,
    panels,
    read_study,
    style,
)
from surrogate.publish.figures.importances import MARKERS
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

_REPLICATION = "surrogate-arena validate ARENA --protocol replication --judged 3,6,12,half --json"
_BY = {
    "tau": ("verdicts and surrogate", BOTH, "D"),
    "tau_verdicts": ("verdicts alone", VERDICTS, "s"),
    "tau_surrogate": ("surrogate alone", SURROGATE, "o"),
}
"""A column of the study of replication to what its ratings are by, a color and a marker."""
MOST_STEPS_WITH_MARKS = 40
_MAKE = "surrogate-arena validate ARENA --protocol sampling --json > FILE"
_MOST_BANDS = 3
_PANEL_INCHES = 4.2
_STYLES = ("-", "--", ":")


def read_sampling(path: Path | str) -> tuple[pd.DataFrame, str]:
    """Read what ``validate --protocol sampling --json`` printed.

    Returns:
        The table, with columns ``arena.sampling.study.COLUMNS``, and the signature.

    Raises:
        UsageError: If there is no such file.
        DataError: If it is no such file.
    """
    return read_study(path, "sampling study", _MAKE, _typed)


def _typed(table: pd.DataFrame) -> pd.DataFrame:
    numbers = dict.fromkeys(COLUMNS[2:], "float64")
    table = table.reindex(columns=list(COLUMNS))
    return table.astype({"language": str, "design": str, **numbers})


def sampling_curves(table: pd.DataFrame, signature: str, arena: str = "") -> Figure:
    """Draw Kendall tau with the whole arena against the share of judgments.

    Args:
        table: As ``arena.sampling.study_sampling`` gives it: ``language, design, share,
            judgments, tau, low, high``.
        signature: The study's.
        arena: Name of the arena, for the title.

    Raises:
        UsageError: If the table lacks a column, or rows with a tau.
    """
    absent = [name for name in COLUMNS if name not in table]
    if absent:
        raise UsageError(f"the sampling table lacks {', '.join(absent)}; make it with  {_MAKE}")
    known = table[table["tau"].notna()]
    if known.empty:
        raise UsageError(f"the sampling table holds no tau; make it with  {_MAKE}")
    designs = list(dict.fromkeys(known["design"]))
    languages = list(dict.fromkeys(known["language"]))
    width = max(len(designs) * _PANEL_INCHES, 5.5)
    with style():
        sheet = new_sheet(width, 4.0, _caption(known, signature, arena))
        handles: dict[str, Artist] = {}
        places = panels(sheet, len(designs), len(designs), sharey=True)
        for axes, design in zip(places, designs, strict=True):
            handles |= _draw(axes, known[known["design"] == design], languages)
            axes.set_title(DESIGNS.get(design, drawable(design)), loc="left")
            axes.set_xlabel("Share of the arena's judgments (%)")
            axes.set_xlim(0, 103)
            axes.grid()
        places[0].set_ylabel("Kendall tau with the whole arena")
        legend(sheet, handles, int(width / 0.9))
    return sheet.figure


def _caption(known: pd.DataFrame, signature: str, arena: str) -> Caption:
    languages = known["language"].nunique()
    most = known.groupby("language")["judgments"].max()
    low, high = whole(most.min()), whole(most.max())
    spread = low if low == high else f"{low} to {high}"
    note = (
        f"n = {count_of(languages, 'language')}, up to {spread} judgments each. "
        "Points are means over random parts of the arena"
    )
    note += (
        "; bands hold 95% of them."
        if languages <= _MOST_BANDS
        else "; the thick line is the mean over languages."
    )
    title = "How many judgments a ranking needs"
    return Caption(f"{title}: {arena}" if arena else title, note, signature)


def _draw(axes: Axes, rows: pd.DataFrame, languages: Sequence[str]) -> dict[str, Artist]:
    handles: dict[str, Artist] = {}
    for place, language in enumerate(languages):
        curve = rows[rows["language"] == language].sort_values("share")
        turn, color = divmod(place, len(OKABE_ITO))
        (handles[drawable(language)],) = axes.plot(
            100 * curve["share"],
            curve["tau"],
            color=OKABE_ITO[color],
            linestyle=_STYLES[turn % len(_STYLES)],
            marker=MARKERS[(color + turn) % len(MARKERS)],
            markersize=4,
            linewidth=1.2,
        )
        if len(languages) <= _MOST_BANDS:
            axes.fill_between(
                100 * curve["share"],
                curve["low"],
                curve["high"],
                color=OKABE_ITO[color],
                alpha=0.15,
                linewidth=0,
            )
    if len(languages) > _MOST_BANDS:
        mean = rows.groupby("share")["tau"].mean()
        (handles["mean"],) = axes.plot(100 * mean.index, mean, color="black", linewidth=3)
    return handles


def read_replication(path: Path | str) -> tuple[pd.DataFrame, str]:
    """Read what ``surrogate-arena validate --protocol replication --json`` printed.

    Returns:
        The table, as ``Study.replicate`` gives it, and the signature.

    Raises:
        UsageError: If there is no such file.
        DataError: If it is no such file.
    """
    return read_study(path, "study of replication", f"{_REPLICATION} > FILE", _replicated)


def _replicated(table: pd.DataFrame) -> pd.DataFrame:
    numbers = dict.fromkeys(REPLICATION_COLUMNS[1:], "float64")
    return table[REPLICATION_COLUMNS].astype({"language": str, **numbers})


def replication_part(table: pd.DataFrame, language: str | None = None) -> tuple[pd.DataFrame, str]:
    """Return the rows with a tau of a part of a study, by their questions, and what part it is.

    Args:
        table: As ``Study.replicate`` gives it.
        language: Language to take; by default the mean over languages, where there are several.

    Returns:
        The rows, none where there is no such part, and its language or such as ``mean over 12
        languages``.
    """
    known = list(dict.fromkeys(table["language"]))
    if language is None:
        language = MACRO if MACRO in known else next(iter(known), "")
    rows = table[(table["language"] == language) & table["tau"].notna()].sort_values("questions")
    others = count_of(sum(name != MACRO for name in known), "language")
    return rows, f"mean over {others}" if language == MACRO else language


def replication_curves(
    table: pd.DataFrame, signature: str, arena: str = "", language: str | None = None
) -> Figure:
    """Draw how well ratings replicate against the judged questions they are made from.

    Args:
        table: As ``Study.replicate`` gives it.
        signature: The study's.
        arena: Name of the arena, for the title.
        language: Language to take; None for the mean over languages.

    Raises:
        UsageError: If the table has no such language, or no tau of it.
    """
    rows, part = replication_part(table, language)
    if rows.empty:
        present = ", ".join(dict.fromkeys(table["language"])) or "none"
        raise UsageError(
            f"the study holds no tau of {language or 'any language'}; it has {present}"
        )
    named = ", ".join(filter(None, (arena, drawable(part))))
    title = f"Quality against judged questions: {named}"
    with style():
        caption = Caption(title, _replication_note(rows), signature)
        sheet = new_sheet(7.0, 4.4, caption)
        (axes,) = panels(sheet, 1, 1)
        handles = _draw_replication(axes, rows)
        axes.set_xlabel("Judged questions to learn from, in each language")
        axes.set_ylabel("Kendall tau with the verdicts on other questions")
        legend(sheet, handles, 3)
    return sheet.figure


def _replication_note(rows: pd.DataFrame) -> str:
    judgments = f"{whole(rows['judgments'].min())} to {whole(rows['judgments'].max())} judgments"
    last = rows.iloc[-1]
    note = (
        f"n = {judgments} a language. Ratings from part of the questions, held against the "
        "verdicts on the other half; means over splits, the band is 95% over systems. "
        f"Verdicts alone reach {decimal(last['tau_verdicts'])} with "
        f"{whole(last['questions'])} questions; "
    )
    return f"{note}with the surrogate {_needed(rows, float(last['tau_verdicts']))}."


def _needed(rows: pd.DataFrame, wanted: float) -> str:
    """Say how many judged questions ratings by both need for a tau, on the lines that are drawn."""
    questions, taus = rows["questions"].to_numpy(float), rows["tau"].to_numpy(float)
    below = np.flatnonzero(taus < wanted)
    if not below.size:
        return f"{whole(questions[0])} or fewer do"
    before = int(below[-1])
    if before + 1 == len(taus):
        return "these do not suffice"
    share = (wanted - taus[before]) / (taus[before + 1] - taus[before])
    needed = np.exp(np.log(questions[before]) + share * np.diff(np.log(questions))[before])
    return f"{whole(needed)} do"


def _draw_replication(axes: Axes, rows: pd.DataFrame) -> dict[str, Artist]:
    handles: dict[str, Artist] = {}
    for column, (name, color, marker) in _BY.items():
        if rows[column].isna().all():
            continue
        (handles[name],) = axes.plot(
            rows["questions"], rows[column], color=color, marker=marker, markersize=5, linewidth=1.4
        )
    axes.fill_between(
        rows["questions"], rows["tau_low"], rows["tau_high"], color=BOTH, alpha=0.1, linewidth=0
    )
    last = float(rows["tau_verdicts"].iloc[-1])
    axes.axhline(last, color=VERDICTS, linewidth=0.8, linestyle="--", zorder=1)
    axes.set_xscale("log")
    numbers = sorted(set(rows["questions"]))
    axes.set_xticks(numbers, [whole(number) for number in numbers])
    axes.set_xticks([], minor=True)
    axes.grid()
    return handles


def loss_curve(losses: pd.DataFrame, model: str, recipe: str) -> Figure:
    """Draw the loss of each step.

    Args:
        losses: Columns ``step, loss``; see ``surrogate.training.record.loss_table``.
        model: Name of the tuned model.
        recipe: Name of the recipe.

    Raises:
        UsageError: If there are no steps.
    """
    if losses.empty:
        raise UsageError("there are no steps to draw")
    note = f"{count_of(len(losses), 'step')}; mean over the learned tokens of each."
    caption = Caption(f"Loss while {model} was tuned", note, f"recipe:{recipe}")
    with style():
        sheet = new_sheet(6.0, 3.6, caption)
        (axes,) = panels(sheet, 1, 1)
        marker = "o" if len(losses) < MOST_STEPS_WITH_MARKS else ""
        axes.plot(losses["step"], losses["loss"], marker=marker, color=OKABE_ITO[0])
        axes.set_xlabel("Step")
        axes.set_ylabel("Loss (nats a token)")
        axes.set_ylim(bottom=0)
        axes.grid()
    return sheet.figure
