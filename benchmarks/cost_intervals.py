"""How often an equally dear system is called cheaper, and a cheaper one found: two intervals.

    python benchmarks/tables.py cheaper

Costs of two systems are drawn on few questions. The gate calls the candidate cheaper where the 95%
interval of the mean difference lies below 0. Intervals: ``mean_interval``, and the percentiles of a
bootstrap over questions. Log-normal costs are named by the standard deviation of their logarithms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from arena.data.types import Floats
from arena.statistics.bootstrap import bootstrap_weights, percentile_interval
from surrogate_arena.gating.mean_intervals import mean_interval

SIZES = (10, 20, 40)
SAMPLES = 2000
RESAMPLES = 400
Draw = Callable[[float], Floats]
"""Draws costs of mean 1 with a standard deviation of their logarithms."""

WORLDS: Mapping[str, Callable[[Draw], Floats]] = {
    ".3 against a constant": lambda drawn: drawn(0.3) - 1,
    ".5 against a constant": lambda drawn: drawn(0.5) - 1,
    "1 against a constant": lambda drawn: drawn(1.0) - 1,
    "1 against .5": lambda drawn: drawn(1.0) - drawn(0.5),
    "both 1": lambda drawn: drawn(1.0) - drawn(1.0),
    "questions .7, both .3": lambda drawn: drawn(0.7) * (drawn(0.3) - drawn(0.3)),
    "questions .7, candidate .7": lambda drawn: drawn(0.7) * (drawn(0.7) - 1),
    "half as dear; questions .7, both .5": lambda drawn: (
        drawn(0.7) * (0.5 * drawn(0.5) - drawn(0.5))
    ),
}
"""A candidate's costs less its baseline's; equally dear unless named."""


def shares_called_cheaper(world: str) -> list[str]:
    """Return percent of samples called cheaper: by size, by ours and by a bootstrap."""
    rng = np.random.default_rng(0)
    cells: list[str] = []
    for size in SIZES:
        n_cheaper = np.zeros(2)
        for _ in range(SAMPLES):
            values = WORLDS[world](partial(log_normal, rng, size))
            means = bootstrap_weights(size, RESAMPLES, rng) @ values / size
            highs = [mean_interval(values)[1], percentile_interval(means)[1]]
            n_cheaper += np.less(highs, 0)
        cells.extend(f"{100 * share:.1f}" for share in n_cheaper / SAMPLES)
    return cells


def log_normal(rng: np.random.Generator, size: int, spread: float) -> Floats:
    return rng.lognormal(-(spread**2) / 2, spread, size)
