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
"""From as many systems on, a quarter of the arenas."""


def equal_systems(systems: int, questions: int, seed: int) -> Battles:
    """All pairs on every question; each answer has a strength of its own, N(0, 1)."""
    random = np.random.default_rng(seed)
    first, second = np.triu_indices(systems, 1)
    strength = random.normal(size=(questions, systems))
    chance = 1 / (1 + np.exp(strength[:, second] - strength[:, first]))
    won = random.random(chance.shape) < chance
    return Battles(
        systems=tuple(f"s{number:02}" for number in range(systems)),
        side_a=np.tile(first, questions),
        side_b=np.tile(second, questions),
        winner=np.where(won, 0, 1).ravel(),
        question=np.repeat(np.arange(questions), len(first)),
        n_questions=questions,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arenas", type=int, default=400)
    arenas = parser.parse_args().arenas
    for estimator, ridge in {"posterior": None, "likelihood": 0.0}.items():
        for systems, questions in SHAPES:
            times = arenas if systems < MANY else max(arenas // 4, 1)
            tables = [
                rate(
                    equal_systems(systems, questions, seed),
                    ridge=ridge,
                    rounds=BOOTSTRAPS,
                ).table
                for seed in range(times)
            ]
            tiers = np.mean([table["tier"].max() > 1 for table in tables])
            ranks = np.mean([table["rank_low"].max() > 1 for table in tables])
            held = np.mean([(table["low"] <= 0) & (table["high"] >= 0) for table in tables])
            print(
                f"{estimator:10} {systems} systems, {questions:2} questions: "
                f"tiers wrong {tiers:.3f}, ranks wrong {ranks:.3f}, 95% intervals hold {held:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
