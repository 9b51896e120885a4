"""Why a quality of Ragas has no value; the scorer gives reasons as numbers beside its scores."""

from __future__ import annotations

import numpy as np

from arena.llm.failures import OVER_BUDGET, PASSING
from features.missing import Missing
from features.models.scorer import Scores

NO_STATEMENTS_FOUND = Missing("the LLM finds no statement in the answer")
INSUFFICIENT_INFORMATION = Missing("the LLM finds no sentence that helps to answer")
NO_USABLE_REPLY = Missing("no usable reply by the LLM")
NOT_REACHED = Missing("the LLM was not reached")

REASONS = (NO_STATEMENTS_FOUND, INSUFFICIENT_INFORMATION, NO_USABLE_REPLY, NOT_REACHED)

Measured = float | Missing


def reason_for(failure: str | None) -> Missing:
    """Return why there is no value, of how a call failed (see ``arena.llm.failures``)."""
    return NOT_REACHED if failure in PASSING | {OVER_BUDGET} else NO_USABLE_REPLY


def as_scores(found: list[Measured]) -> Scores:
    """Write values as rows of value and number of the reason, 0 for none; shape (items, 2)."""
    rows = [
        (np.nan, 1 + REASONS.index(each)) if isinstance(each, Missing) else (each, 0)
        for each in found
    ]
    return np.array(rows, dtype=np.float32).reshape(len(rows), 2)


def from_scores(row: Scores) -> Measured:
    """Read one row of ``as_scores``."""
    value, reason = float(row[0]), int(row[1])
    return REASONS[reason - 1] if reason else value
