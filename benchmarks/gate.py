"""How often is a gate wrong, how often does it find a difference, and after how many verdicts?

Two parts. Verdicts: scores of questions (both orders: 0, 0.25, 0.5, 0.75 or 1) of a given mean and
variance, as many as find 5 points; printed are the shares of sequences that end as better, same,
worse and undecided, their mean number of questions, and what a test of fixed size takes. Surrogate:
every judged system of a board, rated by a surrogate that had not seen it, as a candidate against
every other as a baseline; printed are the statements, and how many of them have the arena's own
ratings, noise and all, against them.

Run:  python benchmarks/gate.py [--sequences 2000] [BOARD ...]
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import fsolve
from scipy.special import softmax
from scipy.stats import norm

from arena.data.types import Floats
from arena.statistics.significance import EVEN, SequentialTest
from surrogate.board.tables import RATINGS
from surrogate.ranking.rating_difference import GateRates, rating_difference

SCORES: Floats = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
VARIANCES = (0.06, 0.12, 0.2)
DIFFERENCES = (0.0, 0.05, 0.1, 0.2)
PLANNED = 0.05


def shares_of(mean: float, variance: float) -> Floats:
    """Return how often each score comes: the distribution of most entropy."""

    def weights(tilt: Floats) -> Floats:
        away = SCORES - EVEN
        return np.asarray(softmax(tilt[0] * away + tilt[1] * away**2))

    def fault(tilt: Floats) -> list[float]:
        shares = weights(tilt)
        found = float(shares @ SCORES)
        return [found - mean, float(shares @ SCORES**2) - found**2 - variance]

    return weights(fsolve(fault, np.zeros(2)))


def ends(drawn: Floats, test: SequentialTest) -> tuple[str, int]:
    """Return what a test says first, and after how many scores."""
    looks = test.looks(len(drawn))
    for look in looks:
        said = test.decide(drawn[:look], is_last=look == looks[-1])
        if said is not None:
            return said, look
    return "undecided", len(drawn)


def simulated(sequences: int, test: SequentialTest) -> pd.DataFrame:
    """Simulate tests of several differences and variances, planned for the same difference."""
    random, rows = np.random.default_rng(0), []
    quantiles = float(norm.ppf(1 - test.error / 2) + norm.ppf(0.8))
    for variance in VARIANCES:
        needed = test.scores_needed(PLANNED, variance)
        for difference in DIFFERENCES:
            shares = shares_of(EVEN + difference, variance)
            drawn = random.choice(SCORES, size=(sequences, needed), p=shares)
            found = [ends(scores, test) for scores in drawn]
            said = pd.Series([name for name, _ in found]).value_counts(normalize=True)
            names = ("better", "same", "worse", "undecided")
            rows.append(
                {
                    **{"variance": variance, "difference": difference, "at most": needed},
                    **{name: said.get(name, 0.0) for name in names},
                    "mean questions": np.mean([count for _, count in found]),
                    "fixed size": math.ceil(quantiles**2 * variance / PLANNED**2),
                }
            )
    return pd.DataFrame(rows)


def replayed(ratings: pd.DataFrame, rates: GateRates) -> dict[str, object]:
    """Hold every judged system, unseen by the surrogate, against every other."""
    judged = ratings[ratings["arena_rating"].notna() & ratings["surrogate_rating"].notna()]
    counts = dict.fromkeys(("better", "same", "worse", "cannot say", "against the arena"), 0)
    systems = sorted(judged["system"].unique())
    unseen = judged.assign(
        rating=judged["surrogate_rating"],
        high=judged["surrogate_high"],
        standard_error=judged["surrogate_error"],
    )
    for name in systems:
        own = unseen[unseen["system"] == name]
        for other in systems:
            if other == name:
                continue
            baseline = judged[judged["system"] == other]
            said = rating_difference(own, baseline, rates, rates.error).difference
            counts[said or "cannot say"] += 1
            both = own.merge(baseline, on="language", suffixes=("", "_other"))
            apart = float((both["arena_rating"] - both["arena_rating_other"]).mean())
            wrong = {"better": apart < 0, "worse": apart > 0}
            counts["against the arena"] += bool(wrong.get(said or "", False))
    stated = counts["better"] + counts["worse"]
    share = counts["against the arena"] / stated if stated else math.nan
    return {"systems": len(systems), **counts, "share against": share}


def main() -> None:
    """Print both parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("boards", nargs="*", type=Path)
    parser.add_argument("--sequences", type=int, default=2000)
    options = parser.parse_args()
    rates = GateRates()
    print(simulated(options.sequences, rates.test()).round(3).to_string(index=False))
    rows = [{"board": path.name, **replayed(RATINGS.read(path), rates)} for path in options.boards]
    if rows:
        print(pd.DataFrame(rows).round(3).to_string(index=False))


if __name__ == "__main__":
    main()
