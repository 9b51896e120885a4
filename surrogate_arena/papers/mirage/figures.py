"""How many judgments a ranking needs (MIRAGE-Bench, figure 6): curves of a study of sampling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from arena.data.errors import UsageError
from surrogate_arena.papers.drawing import new_figure, plain_text
from surrogate_arena.studies.sampling import COLUMNS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DESIGNS = {
    "questions": "Fewer questions, all their pairs",
    "pairs": "Random pairs of each question",
    "completed": "Random pairs, the others predicted",
    "adaptive": "Pairs chosen one after the other",
}


def sampling_curves(table: pd.DataFrame, signature: str, arena: str = "") -> Figure:
    """Draw Kendall tau with the whole arena against the share of judgments (figure 6).

    The table is of ``validate(arena, "sampling")``.
    """
    # Languages above which bands would hide each other
    most_bands = 3
    absent = [column for column in COLUMNS if column not in table]
    if absent or table["tau"].isna().all():
        raise UsageError("the table is of no study of sampling; figures are drawn of those alone")
    rated = table.dropna(subset="tau")
    designs = list(rated["design"].unique())
    languages = list(rated["language"].unique())
    n_judgments = rated.groupby("language")["judgments"].max()
    note = (
        f"Means over random parts of the arena, of {n_judgments.min():.0f} to "
        f"{n_judgments.max():.0f} judgments per language."
    )
    if len(languages) <= most_bands:
        note += " Bands hold 95% of the parts."
    title = f"How many judgments a ranking needs: {arena}".removesuffix(": ")
    with plain_text():
        n_panels = len(designs)
        figure, panels = new_figure(title, note, n_panels, n_panels, 4.2 * n_panels, 4.5)
        for axes, design in zip(panels, designs, strict=True):
            rows = rated[rated["design"] == design]
            for language in languages:
                curve = rows[rows["language"] == language].sort_values("share")
                share = 100 * curve["share"].astype(float)
                (line,) = axes.plot(share, curve["tau"], marker="o", label=language)
                if len(languages) <= most_bands:
                    low, high = curve["low"].astype(float), curve["high"].astype(float)
                    axes.fill_between(share, low, high, color=line.get_color(), alpha=0.15)
            if len(languages) > most_bands:
                mean = rows.groupby("share")["tau"].mean()
                axes.plot(100 * mean.index, mean, color="black", linewidth=3, label="mean")
            axes.set_title(DESIGNS.get(design, design), loc="left")
            axes.set_xlabel("Share of the arena's judgments (%)")
            axes.grid()
        panels[0].set_ylabel("Kendall tau with the whole arena")
        panels[-1].legend()
    figure.set_label(f"{title}\n{signature}")
    return figure
