"""New systems on a board: the result of ``rank_systems``."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from arena.data.wording import Remark, notebook_html
from surrogate.checks.faults import AnswerFaults

JUDGED_COLUMNS = [
    "language",
    "system",
    "judgments",
    "judged_questions",
    "rating",
    "standard_error",
    "verdict_share",
    "is_contradicted",
]
"""Of new systems rated by verdicts, too."""


@dataclass(frozen=True)
class RankedSystems:
    """A board with new systems placed on it.

    Attributes:
        board: The published rows, and one per new system and language with ``split`` ``new``.
        overall: The published overall rows, and one per new system.
        features: Feature table of the new answers.
        new: Ratings of the new systems by language. ``rank`` or, of systems that verdicts do not
            rank, ``place`` among the ranked, with bounds.
        explanations: By language and system, ``expected`` (its rating, ranked or not), ``original``
            (the system it copies) and what moves the prediction.
        judgments: The verdicts that count.
        faults: What is wrong with the new answers; None where not known.
        remarks: What limits the board for new systems.
    """

    board: pd.DataFrame
    overall: pd.DataFrame
    features: pd.DataFrame
    new: pd.DataFrame
    explanations: pd.DataFrame
    judgments: pd.DataFrame
    remarks: tuple[Remark, ...]
    faults: AnswerFaults | None = None

    def _repr_html_(self) -> str:
        return notebook_html("New systems on the board", self.remarks, self.new)

    def __repr__(self) -> str:
        """List the new systems with their ranks."""
        entries = []
        columns = ["language", "system", "rank", "place"]
        for language, system, rank, place in self.new[columns].to_numpy():
            shown = f"place {place}" if pd.isna(rank) else rank
            if pd.isna(rank) and pd.isna(place):
                shown = "–"
            entries.append(f"{system} ({language}): {shown}")
        return f"<RankedSystems by rank: {', '.join(entries)}>"
