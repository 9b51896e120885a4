"""Figures of studies: curves over the part of an arena that is used, and taus of contenders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from arena.data.errors import UsageError
from surrogate_arena.studies.comparison import RATED_BY
from surrogate_arena.studies.drawing import BLUE, panels_of, plain_text
from surrogate_arena.studies.scores import MACRO

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from surrogate_arena.studies.study_table import StudyTable

MOST_BANDS = 3
"""Languages above which bands would hide each other."""
X_LABELS = {
    "share": "Share of the arena's judgments (%)",
    "questions": "Judged questions learned from",
}
PANELS = {
    "questions": "Fewer questions, against all judgments (theirs included)",
    "pairs": "Random pairs, against all judgments (theirs included)",
    "halves": "Fewer questions, against the other half of the questions",
    "tau": "Ratings by verdicts and surrogate",
    "tau_verdicts": "Ratings by verdicts alone",
}


def draw_study(study: StudyTable) -> Figure:
    """Draw the taus of a study; see ``StudyTable.draw``."""
    table = study.table
    if "tau" not in table or table["tau"].isna().all():
        raise UsageError("the table is of no study with a tau; figures are drawn of those alone")
    if "tau_verdicts" in table:
        figure = _curves(_replication_panels(table), "questions", study)
    elif "share" in table:
        panel = table["design"] if "design" in table else table["axis"]
        figure = _curves(table.assign(panel=panel), "share", study)
    else:
        figure = _points(table, study)
    figure.set_label(f"{study.title}\n{study.signature}")
    return figure


def _replication_panels(table: pd.DataFrame) -> pd.DataFrame:
    by_verdicts = table.assign(tau=table["tau_verdicts"], tau_low=None, tau_high=None)
    panels = {"tau": table, "tau_verdicts": by_verdicts}
    return pd.concat(panels, names=["panel"]).reset_index(level="panel")


def _curves(table: pd.DataFrame, along: str, study: StudyTable) -> Figure:
    rated = table.dropna(subset="tau")
    names = list(rated["panel"].unique())
    note = " ".join([*study.notes, f"Bands hold 95% (of {MOST_BANDS} languages at most)."])
    with plain_text():
        figure, panels = panels_of(names, study.title, note, (4.2, 3.5))
        for name, axes in panels.items():
            _draw_curves(axes, rated[rated["panel"] == name], along)
            axes.set_title(PANELS.get(name, f"Fewer {name}"))
        panels[names[0]].set_ylabel("Kendall tau")
        panels[names[-1]].legend()
    return figure


def _draw_curves(axes: Axes, rows: pd.DataFrame, along: str) -> None:
    has_bands = rows["language"].nunique() <= MOST_BANDS
    scale = 100 if along == "share" else 1
    for language, part in rows.groupby("language", sort=False):
        curve = part.astype(dict.fromkeys([along, "tau_low", "tau_high"], float)).sort_values(along)
        style: Any = {"color": "black", "linewidth": 3} if language == MACRO else {}
        (line,) = axes.plot(
            scale * curve[along], curve["tau"], marker="o", label=str(language), **style
        )
        if has_bands:
            axes.fill_between(
                scale * curve[along],
                curve["tau_low"],
                curve["tau_high"],
                color=line.get_color(),
                alpha=0.15,
            )
    if not has_bands and MACRO not in set(rows["language"]):
        mean = rows.groupby(along)["tau"].mean()
        axes.plot(scale * mean.index, mean, color="black", linewidth=3, label="mean")
    axes.set_xlabel(X_LABELS[along])
    axes.grid()


def _points(table: pd.DataFrame, study: StudyTable) -> Figure:
    panel = table["language"]
    if "arena" in table:
        # There is no room for each language of each arena.
        table = table[table["language"] == MACRO]
        panel = table["arena"]
    names = list(panel.unique())
    contenders = list(dict.fromkeys(table[RATED_BY]))
    note = " ".join([*study.notes, "Lines are 95% intervals."])
    with plain_text():
        figure, panels = panels_of(
            names, study.title, note, (2.4, 0.3 * len(contenders) + 0.6), columns=4
        )
        for name, axes in panels.items():
            rows = table[panel == name].set_index(RATED_BY).reindex(contenders)
            places = range(len(rows))
            axes.hlines(places, rows["tau_low"], rows["tau_high"], color=BLUE)
            axes.plot(rows["tau"], places, "o", color="black")
            axes.set_yticks(places, contenders)
            axes.set_xlabel("Kendall tau")
            axes.grid(axis="x")
        panels[names[0]].invert_yaxis()
    return figure
