"""What a board lets expect of an arena's systems before they are judged."""

from __future__ import annotations

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.rating.posterior import PRIOR_COLUMNS
from arena.statistics.significance import NORMAL_90
from surrogate.board.board import Board
from surrogate.board.first_board import first_prior
from surrogate.board.summary import fingerprint
from surrogate.ranking.rank import rank_systems


def expected_systems(
    board: Board, arena: Arena, feature_table: pd.DataFrame | None = None, n_jobs: int = 1
) -> pd.DataFrame:
    """Return a surrogate's ratings and standard errors of every system of an arena.

    Of systems on the board these are by surrogates that had not seen the system or its verdicts,
    so that its verdicts do not count twice; others are placed by their answers. A standard error
    is a 90% conformal interval's half-width over that of a normal density. A first board, without
    any verdict, is put on the scale of verdicts; see ``board.first_board.first_prior``.

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
    if (by := board.summary.settings.by) != "language":
        raise UsageError(f"what is expected needs a board by language; this one is by {by}")
    if board.summary.is_first:
        return first_prior(_all_rated(board, arena))
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


def _all_rated(board: Board, arena: Arena) -> pd.DataFrame:
    """Return the rows of a first board, which must be of this arena as it is."""
    absent = sorted(set(arena.info.systems) - set(board.ratings["system"]))
    if absent or fingerprint(arena) != board.summary.fingerprint:
        what = f"it lacks {', '.join(absent)}" if absent else "its questions are others"
        raise UsageError(f"the first board is not of this arena: {what}; build it again")
    return board.ratings[board.ratings["system"].isin(set(arena.info.systems))]
