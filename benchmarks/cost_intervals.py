"""How often an equally dear system is called cheaper, and a cheaper one found: two intervals.

    python benchmarks/cost_intervals.py

Costs of two systems are drawn on few questions. The gate calls the candidate cheaper where the 95%
interval of the mean difference lies below 0. Intervals: ``mean_interval``, and the percentiles of a
bootstrap over questions. Printed: percent of samples called cheaper, and called dearer. Log-normal
costs are named by the standard deviation of their logarithms.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable

import numpy as np
import pandas as pd

from arena.statistics.bootstrap import bootstrap_weights, percentile_interval
from surrogate_arena.gating.mean_intervals import mean_interval

RESAMPLES = 400


def drawn(rng: np.random.Generator, size: int, spread: float) -> np.ndarray:
    """Draw costs of mean 1."""
    return rng.lognormal(-(spread**2) / 2, spread, size)


def differences(rng: np.random.Generator, size: int) -> dict[str, np.ndarray]:
    """Draw a candidate's costs less its baseline's, in each world; equally dear unless named."""
    question = drawn(rng, size, 0.7)
    candidate = drawn(rng, size, 0.3)
    baseline = drawn(rng, size, 0.3)
    cheaper = 0.5 * drawn(rng, size, 0.5) - drawn(rng, size, 0.5)
    return {
        ".3 against a constant": drawn(rng, size, 0.3) - 1,
        ".5 against a constant": drawn(rng, size, 0.5) - 1,
        "1 against a constant": drawn(rng, size, 1.0) - 1,
        "1 against .5": drawn(rng, size, 1.0) - drawn(rng, size, 0.5),
        "questions .7, candidate .7": question * (drawn(rng, size, 0.7) - 1),
        "questions .7, both .3": question * (candidate - baseline),
        "both 1": drawn(rng, size, 1.0) - drawn(rng, size, 1.0),
        "half as dear; questions .7, both .5": question * cheaper,
    }


def resampled_interval(values: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    """Return percentiles of means over resamples."""
    weights = bootstrap_weights(len(values), RESAMPLES, rng)
    return percentile_interval(weights @ values / len(values))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    intervals: dict[str, Callable[[np.ndarray], tuple[float, float]]] = {
        "mean_interval": mean_interval,
        "percentiles": lambda values: resampled_interval(values, rng),
    }
    rows = []
    for size in (10, 20, 40, 100):
        n_cheaper: Counter[tuple[str, str]] = Counter()
        n_dearer: Counter[tuple[str, str]] = Counter()
        for _ in range(options.samples):
            for world, values in differences(rng, size).items():
                for name, interval in intervals.items():
                    low, high = interval(values)
                    n_cheaper[world, name] += high < 0
                    n_dearer[world, name] += low >= 0
        for world, name in n_cheaper:
            cheaper = 100 * n_cheaper[world, name] / options.samples
            dearer = 100 * n_dearer[world, name] / options.samples
            rows.append((size, world, name, f"{cheaper:.1f} / {dearer:.1f}"))
    table = pd.DataFrame(rows, columns=["questions", "costs", "interval", "cheaper / dearer, %"])
    print(table.pivot(index=["costs", "interval"], columns="questions").to_string())


if __name__ == "__main__":
    main()
