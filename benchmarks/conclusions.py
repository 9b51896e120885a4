"""How often what is concluded of systems is wrong where there is nothing to conclude.

Equal systems whose verdicts hang together within questions: how often bounds of ranks or tiers set
any of them apart, which 5% of arenas may, and how many ratings 95% intervals hold.

    python benchmarks/conclusions.py --arenas 400
"""

from __future__ import annotations

import argparse

import numpy as np

from arena.rating.battles import Battles
from arena.rating.ratings import rate

SHAPES = ((12, 5), (12, 10), (12, 25), (12, 50), (53, 12))
BOOTSTRAPS = 200
MANY = 20
"""Arenas of this many systems or more are slow; only a quarter as many are drawn."""


def equal_systems(n_systems: int, n_questions: int, seed: int) -> Battles:
    """All pairs on every question; each answer has a strength of its own, N(0, 1)."""
    rng = np.random.default_rng(seed)
    first, second = np.triu_indices(n_systems, 1)
    strengths = rng.normal(size=(n_questions, n_systems))
    probabilities = 1 / (1 + np.exp(strengths[:, second] - strengths[:, first]))
    is_won = rng.random(probabilities.shape) < probabilities
    return Battles(
        systems=tuple(f"s{number:02}" for number in range(n_systems)),
        side_a=np.tile(first, n_questions),
        side_b=np.tile(second, n_questions),
        winner=np.where(is_won, 0, 1).ravel(),
        question=np.repeat(np.arange(n_questions), len(first)),
        n_questions=n_questions,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arenas", type=int, default=400)
    n_arenas = parser.parse_args().arenas
    for estimator, ridge in {"posterior": None, "likelihood": 0.0}.items():
        for n_systems, n_questions in SHAPES:
            n_seeds = n_arenas if n_systems < MANY else max(n_arenas // 4, 1)
            tables = []
            for seed in range(n_seeds):
                battles = equal_systems(n_systems, n_questions, seed)
                tables.append(rate(battles, ridge=ridge, rounds=BOOTSTRAPS).table)
            tiers = np.mean([table["tier"].max() > 1 for table in tables])
            ranks = np.mean([table["rank_low"].max() > 1 for table in tables])
            coverage = np.mean([table["low"].le(0) & table["high"].ge(0) for table in tables])
            print(
                f"{estimator:10} {n_systems} systems, {n_questions:2} questions: tiers wrong "
                f"{tiers:.3f}, ranks wrong {ranks:.3f}, 95% intervals hold {coverage:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
