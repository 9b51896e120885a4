"""The loss of a model while it was tuned, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from arena.data.errors import UsageError
from arena.data.wording import count_of
from surrogate.publish.figures.figure import Caption, new_sheet, panels, style
from surrogate.publish.palette import OKABE_ITO

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEAST_STEPS_FOR_A_LINE = 40
"""Steps from which on points would hide the line."""


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
        marker = "o" if len(losses) < LEAST_STEPS_FOR_A_LINE else ""
        axes.plot(losses["step"], losses["loss"], marker=marker, color=OKABE_ITO[0])
        axes.set_xlabel("Step")
        axes.set_ylabel("Loss (nats a token)")
        axes.set_ylim(bottom=0)
        axes.grid()
    return sheet.figure
