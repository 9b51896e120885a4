"""Bootstrapped tournaments: choix on lists of comparisons against counts and a batched solve.

The recipe of MIRAGE-Bench (Algorithm 1): 200 tournaments, 100 questions, 19 systems, all pairs
judged once a question. The reference builds the list of comparisons of every tournament and fits
it with ``choix.ilsr_pairwise``; both sides start from the same judgments in memory, draw the same
questions, and seek the plain maximum likelihood (no prior, no ties).

Run:  python benchmarks/tournaments.py [--tournaments 200] [--repeats 7]
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import time
from collections.abc import Callable
from typing import Any

import choix
import numpy as np
import pandas as pd
from scipy.special import expit
from threadpoolctl import threadpool_limits

from arena.rating.tournaments import Tournaments, bootstrap_tournaments, fit_coefficients

SYSTEMS = 19
QUESTIONS = 100


def simulated_judgments(seed: int) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    strength = random.normal(size=SYSTEMS)
    pairs = list(itertools.combinations(range(SYSTEMS), 2))
    chance = expit([strength[one] - strength[other] for one, other in pairs])
    rows = [
        (f"q{question:03}", f"s{one:02}", f"s{other:02}", "a" if won else "b")
        for question in range(QUESTIONS)
        for (one, other), won in zip(pairs, random.random(len(pairs)) < chance, strict=True)
    ]
    table = pd.DataFrame(rows, columns=["query_id", "system_a", "system_b", "winner"])
    return table.assign(language="en", judge="simulated")


def reference(judgments: pd.DataFrame, ours: Tournaments) -> np.ndarray[Any, Any]:
    """Fit every tournament from its list of comparisons, as the reference code does."""
    position = {system: index for index, system in enumerate(ours.systems)}
    by_question: dict[str, list[tuple[int, int]]] = {}
    rows = zip(
        *(judgments[name] for name in ("query_id", "system_a", "system_b", "winner")), strict=True
    )
    for question, one, other, winner in rows:
        pair = (position[one], position[other])
        by_question.setdefault(question, []).append(pair if winner == "a" else pair[::-1])
    fitted = []
    for draws in ours.draws:
        comparisons = [
            pair
            for question, times in zip(ours.battles.questions, draws, strict=True)
            for _ in range(times)
            for pair in by_question[question]
        ]
        fitted.append(choix.ilsr_pairwise(SYSTEMS, comparisons))
    return np.array(fitted)


def repeated(function: Callable[[], Any], times: int) -> tuple[Any, float]:
    """Call a function several times; return its last result and the median of its seconds."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        result = function()
        seconds.append(time.perf_counter() - start)
    return result, statistics.median(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tournaments", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--reference-repeats", type=int, default=3)
    arguments = parser.parse_args()
    judgments = simulated_judgments(seed=0)
    with threadpool_limits(1):
        held, ours = repeated(
            lambda: bootstrap_tournaments(judgments, arguments.tournaments, QUESTIONS, ridge=0.0),
            arguments.repeats,
        )
        _, solving = repeated(lambda: solve(held), arguments.repeats)
        fitted, theirs = repeated(lambda: reference(judgments, held), arguments.reference_repeats)
    expected = fitted - fitted.mean(axis=1, keepdims=True)
    report(theirs, ours, solving, float(np.abs(held.coefficients - expected).max()))


def solve(held: Tournaments) -> None:
    """Aggregate and fit alone, from per-question win counts already at hand."""
    fit_coefficients(held.battles, held.draws, ridge=0.0)


def report(theirs: float, ours: float, solve_only: float, difference: float) -> None:
    print(f"choix, lists of comparisons     {theirs:9.4f} s   1 x")
    print(f"ours, from the judgments table  {ours:9.4f} s   {theirs / ours:,.0f} x faster")
    print(
        f"ours, from win counts           {solve_only:9.4f} s   {theirs / solve_only:,.0f} x faster"
    )
    print(f"largest difference of coefficients: {difference:.1e}")


if __name__ == "__main__":
    main()
