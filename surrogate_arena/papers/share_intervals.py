"""Intervals of shares of items that hang together within units, such as topics."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit, stdtrit

from arena.statistics.significance import wilson_interval


def share_interval(
    share: float, standard_error: float, n_units: int, degrees: float
) -> tuple[float, float]:
    """Return a share's 95% interval, by its standard error over units.

    Student's in logits; of a share of 0 or 1, Wilson's.
    """
    if share in (0.0, 1.0):
        (low,), (high,) = wilson_interval([share * n_units], [n_units])
    else:
        half_width = stdtrit(degrees, 0.975) * standard_error / (share * (1 - share))
        low, high = expit(logit(share) + np.array([-half_width, half_width]))
    return float(low), float(high)
