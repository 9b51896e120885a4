"""What the paper reports (Es et al., 2023, table 1)."""

from __future__ import annotations

import pandas as pd

from arena.metaevaluation.wikieval.criteria import CRITERIA

_ROWS = {
    "Ragas": (0.95, 0.78, 0.70),
    "GPT Score": (0.72, 0.52, 0.63),
    "GPT Ranking": (0.54, 0.40, 0.52),
}

PUBLISHED = pd.DataFrame(
    [
        (judge, criterion, accuracy)
        for judge, row in _ROWS.items()
        for criterion, accuracy in zip(CRITERIA, row, strict=True)
    ],
    columns=["judge", "criterion", "accuracy"],
)
"""Columns ``judge, criterion, accuracy``: 50 pairs a criterion, judged by gpt-3.5-turbo-16k."""
