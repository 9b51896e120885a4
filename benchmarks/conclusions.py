"""How often what is concluded of systems is wrong where there is nothing to conclude.

Equal systems whose verdicts hang together within questions: how often bounds of ranks or tiers set
any of them apart, which 5% of arenas may, and how many ratings 95% intervals hold. A champion that
won all of so many battles against each opponent: more opponents must not undo its first place. And
the hardest case for bounds of ranks: pairs of equals, each far from the next pair, so that a first
and a last place can be wrong at once.

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


def champion_bounds(n_battles: int, n_opponents: int) -> str:
    """Return the bounds of the rank of a system that won all battles, on alternating sides."""
    opponent = np.repeat(np.arange(1, n_opponents + 1), n_battles)
    champion = np.zeros_like(opponent)
    is_turned = np.arange(len(opponent)) % 2 == 1
    battles = Battles(
        systems=tuple(f"s{number:02}" for number in range(n_opponents + 1)),
        side_a=np.where(is_turned, opponent, champion),
        side_b=np.where(is_turned, champion, opponent),
        winner=is_turned.astype(np.intp),
        question=np.arange(len(opponent)),
        n_questions=len(opponent),
    )
    row = rate(battles).table.set_index("system").loc["s00"]
    return f"{row['rank_low']}-{row['rank_high']}"


def print_champions() -> None:
    opponents = (1, 2, 3, 6, 12, 30)
    for n_battles in (3, 5, 6, 7, 20, 50):
        bounds = [champion_bounds(n_battles, number) for number in opponents]
        print(f"{n_battles:2} of {n_battles} won against each of {opponents}: {', '.join(bounds)}")


def pairs_of_equals(n_pairs: int, n_battles: int, seed: int) -> Battles:
    """Equals meet in so many battles, systems of neighboring pairs, 5 logits apart, in 15."""
    rng = np.random.default_rng(seed)
    pair = np.arange(2 * n_pairs) // 2
    first, second = np.triu_indices(2 * n_pairs, 1)
    distance = pair[second] - pair[first]
    times = np.select([distance == 0, distance == 1], [n_battles, 15], 0)
    first, second, distance = (np.repeat(values, times) for values in (first, second, distance))
    is_won = rng.random(len(first)) < 1 / (1 + np.exp(-5.0 * distance))
    return Battles(
        systems=tuple(f"s{number:02}" for number in range(2 * n_pairs)),
        side_a=first,
        side_b=second,
        winner=np.where(is_won, 0, 1),
        question=np.arange(len(first)),
        n_questions=len(first),
        is_sided=np.zeros(len(first), dtype=bool),
    )


def print_equals(n_arenas: int) -> None:
    for n_pairs in (1, 2, 4):
        # Of equals either may be first: the first of pair p is in rank 2 p + 1 or 2 p + 2.
        first_rank = np.arange(2 * n_pairs) // 2 * 2 + 1
        for n_battles in (6, 12, 30, 100):
            wrong = []
            for seed in range(n_arenas):
                table = rate(pairs_of_equals(n_pairs, n_battles, seed)).table
                table = table.sort_values("system")
                is_low = table["rank_low"].to_numpy(int) > first_rank
                is_high = table["rank_high"].to_numpy(int) < first_rank + 1
                wrong.append(np.append(is_low, is_high).any())
            print(
                f"{n_pairs} pairs of equals, {n_battles:3} battles each: ranks wrong "
                f"{np.mean(wrong):.3f}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arenas", type=int, default=400)
    n_arenas = parser.parse_args().arenas
    print_champions()
    print_equals(n_arenas)
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
