"""Kendall tau of many estimated rankings with one reference."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from arena.errors import UsageError

Floats = npt.NDArray[np.float64]

SAME_RATING_DECIMALS = 8
"""Coefficients that agree to this many decimals are tied: fits are exact to about ten."""


def taus_with(reference: Floats, estimates: Floats) -> Floats:
    """Kendall tau-b of each estimate with the reference (Kendall, 1945).

    Args:
        reference: Coefficients of the systems, shape (S,).
        estimates: Coefficients of the same systems, shape (R, S).

    Returns:
        Shape (R,), in [-1, 1]; 0 for an estimate that ranks no system above another.

    Raises:
        UsageError: If the reference ranks no system above another.
    """
    expected = _orders(reference[None])[0]
    if not expected.any():
        raise UsageError("the whole arena ranks no system above another: nothing to agree with")
    orders = _orders(estimates)
    compared = np.sqrt(np.count_nonzero(orders, axis=1) * float(np.count_nonzero(expected)))
    return np.asarray((orders @ expected) / np.maximum(compared, 1.0))


def _orders(coefficients: Floats) -> Floats:
    """Sign of the difference of each pair of systems, shape (R, S (S - 1) / 2)."""
    one, other = np.triu_indices(coefficients.shape[1], k=1)
    difference = coefficients[:, one] - coefficients[:, other]
    return np.asarray(np.sign(np.round(difference, SAME_RATING_DECIMALS)))
