"""Comparing a board with the known truth of a simulated arena."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.statistics.rank_agreement import kendall_tau


def compare_with_truth(board: pd.DataFrame, truth: pd.DataFrame) -> pd.DataFrame:
    """Compare the arena's and the synthetic ranking with the true quality.

    Args:
        board: Rows with ``language, system, rating, arena_rating``.
        truth: Columns ``language, system, quality``.

    Returns:
        Columns ``language, arena, synthetic``: Kendall tau-b of each rating with the truth,
        and a last row ``macro`` with the means.
    """
    merged = board.merge(truth, on=["language", "system"], validate="one_to_one")
    rows = [
        {
            "language": language,
            "arena": kendall_tau(_floats(part["arena_rating"]), _floats(part["quality"])),
            "synthetic": kendall_tau(_floats(part["rating"]), _floats(part["quality"])),
        }
        for language, part in merged.groupby("language")
    ]
    compared = pd.DataFrame(rows)
    macro = {"language": "macro", **compared[["arena", "synthetic"]].mean().to_dict()}
    return pd.concat([compared, pd.DataFrame([macro])], ignore_index=True)


def _floats(values: pd.Series) -> npt.NDArray[np.float64]:
    return np.asarray(values, dtype=np.float64)
