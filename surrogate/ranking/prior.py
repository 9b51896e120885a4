"""What a board's surrogate expects of an arena's systems, before any verdict on them is used."""

from __future__ import annotations

import pandas as pd

from arena.data.folder import Arena
from arena.rating.posterior import PRIOR_COLUMNS
from arena.statistics.significance import NORMAL_90
from surrogate.board.board import Board
from surrogate.ranking.rank import rank_systems


def expected_systems(
    board: Board, arena: Arena, feature_table: pd.DataFrame | None = None, n_jobs: int = 1
) -> pd.DataFrame:
    """Return a surrogate's ratings and standard errors of every system of an arena.

    Of systems on the board these are by surrogates that had not seen the system or its verdicts,
    so that its verdicts do not count twice; others are placed by their answers. A standard error
    is a 90% conformal interval's half-width over that of a normal density.

    Args:
        board: A board of an arena with the same questions.
        arena: Answers of the systems.
        feature_table: Features of the answers of systems that are not on the board; extracted
            if not given.
        n_jobs: Processes for feature extraction.

    Returns:
        Columns ``language, system, rating, standard_error``; NaN where nothing is expected.

    Raises:
        UsageError: If the board's questions are others, or the features cannot be had.
    """
    known = set(board.ratings["system"])
    new = arena.answers[~arena.answers["system"].isin(known)]
    rows = board.ratings
    if len(new):
        placed = rank_systems(board, new, arena, n_jobs, feature_table=feature_table)
        rows = placed.board
    own = rows[rows["system"].isin(set(arena.info.systems))]
    width = own["surrogate_rating"] - own["surrogate_low"]
    expected = own.assign(rating=own["surrogate_rating"], standard_error=width / NORMAL_90)
    known_error = expected["standard_error"] > 0
    expected["rating"] = expected["rating"].where(known_error)
    expected["standard_error"] = expected["standard_error"].where(known_error)
    return expected[list(PRIOR_COLUMNS)].reset_index(drop=True)
