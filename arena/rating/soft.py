"""Soft verdicts: judgments that say how likely each verdict is, as shares of a battle."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import UsageError
from arena.data.schema import SOFT, SOFT_COLUMNS, WINNERS

Floats = npt.NDArray[np.float64]

_SHARES = list(SOFT_COLUMNS[1:])
_TRUE = ("true", "1", "1.0")
_ROUNDING = 1e-9


def spread(
    judgments: pd.DataFrame,
) -> tuple[pd.DataFrame, npt.NDArray[np.intp], Floats | None]:
    """Make a row of every verdict that a soft judgment gives some probability.

    Args:
        judgments: An arena's ``judgments``; those whose ``soft`` is true hold ``probability_a``
            and ``probability_b``, of which a tie has the rest. All others count as they are.

    Returns:
        The rows; which judgment each is of, shape (N,); and their weights, shape (N,), those of a
        judgment summing to 1, or None where no judgment is soft.

    Raises:
        UsageError: If a soft judgment has no probabilities, or questions no ids.
    """
    every = np.arange(len(judgments), dtype=np.intp)
    is_soft = (
        np.array([str(value).lower() in _TRUE for value in judgments[SOFT]], dtype=np.bool_)
        if SOFT in judgments
        else np.zeros(len(judgments), dtype=np.bool_)
    )
    if not is_soft.any():
        return judgments, every, None
    if "query_id" not in judgments or not set(_SHARES) <= set(judgments):
        raise UsageError("soft judgments need query_id, probability_a and probability_b")
    shares = _checked_shares(judgments.loc[is_soft, _SHARES])
    soft = every[is_soft]
    position = np.concatenate([every[~is_soft], np.repeat(soft, len(WINNERS))])
    weight = np.concatenate([np.ones(int((~is_soft).sum())), shares.ravel()])
    winner = np.concatenate(
        [
            judgments["winner"].to_numpy(dtype=object)[~is_soft],
            np.tile(np.array(WINNERS, dtype=object), len(soft)),
        ]
    )
    kept = np.flatnonzero(weight > 0)
    order = kept[np.argsort(position[kept], kind="stable")]
    rows = judgments.iloc[position[order]].reset_index(drop=True).assign(winner=winner[order])
    return rows, position[order], weight[order]


def _checked_shares(told: pd.DataFrame) -> Floats:
    """Return the probability of a, b and a tie, in the order of ``WINNERS``, shape (N, 3)."""
    known = told.apply(pd.to_numeric, errors="coerce").to_numpy(np.float64)
    tie = 1.0 - known.sum(axis=1)
    shares = np.column_stack([known, tie])
    if not (np.isfinite(shares).all() and (shares >= -_ROUNDING).all()):
        raise UsageError(
            "a soft judgment has no sound probability_a and probability_b: each from 0 to 1, "
            "together at most 1"
        )
    return np.where(shares < _ROUNDING, 0.0, shares)
