"""Bootstrapped tournaments: choix on lists of comparisons against counts and a batched solve.

The recipe of MIRAGE-Bench (Algorithm 1): 200 tournaments, 100 questions, 19 systems, all pairs
judged once a question. The reference builds the list of comparisons of every tournament and fits
it with ``choix.ilsr_pairwise``; both sides start from the same judgments in memory, draw the same
questions, and seek the plain maximum likelihood (no prior, no ties).

Run:  python benchmarks/tournaments.py [--tournaments 200] [--repeats 7]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import defaultdict
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
    rng = np.random.default_rng(seed)
    strengths = rng.normal(size=SYSTEMS)
    side_a, side_b = np.triu_indices(SYSTEMS, 1)
    probabilities = expit(strengths[side_a] - strengths[side_b])
    systems = np.array([f"s{number:02}" for number in range(SYSTEMS)], dtype=object)
    tables = []
    for question in range(QUESTIONS):
        is_won = rng.random(len(side_a)) < probabilities
        judgments = pd.DataFrame({"system_a": systems[side_a], "system_b": systems[side_b]})
        winner = np.where(is_won, "a", "b")
        tables.append(judgments.assign(query_id=f"q{question:03}", winner=winner))
    table = pd.concat(tables, ignore_index=True)
    return table.assign(language="en", judge="simulated")


def reference(judgments: pd.DataFrame, ours: Tournaments) -> np.ndarray[Any, Any]:
    """Fit every tournament from its list of comparisons, as the reference code does."""
    index_of = {system: index for index, system in enumerate(ours.systems)}
    by_question = defaultdict[str, list[tuple[int, int]]](list)
    rows = judgments[["query_id", "system_a", "system_b", "winner"]]
    for question, system_a, system_b, winner in rows.itertuples(index=False, name=None):
        winner_first = (index_of[system_a], index_of[system_b])
        if winner == "b":
            winner_first = (index_of[system_b], index_of[system_a])
        by_question[question].append(winner_first)
    fitted = []
    for draws in ours.draws:
        comparisons: list[tuple[int, int]] = []
        for question, n_drawn in zip(ours.battles.questions, draws, strict=True):
            comparisons += by_question[question] * int(n_drawn)
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
    options = parser.parse_args()
    judgments = simulated_judgments(seed=0)
    with threadpool_limits(1):
        tournaments, ours = repeated(
            lambda: bootstrap_tournaments(judgments, options.tournaments, QUESTIONS, ridge=0.0),
            options.repeats,
        )
        _, fit_alone = repeated(lambda: fit_again(tournaments), options.repeats)
        fitted, theirs = repeated(
            lambda: reference(judgments, tournaments), options.reference_repeats
        )
    expected = fitted - fitted.mean(axis=1, keepdims=True)
    difference = np.abs(tournaments.coefficients - expected).max()
    print(f"choix, lists of comparisons     {theirs:9.4f} s   1 x")
    print(f"ours, from the judgments table  {ours:9.4f} s   {theirs / ours:,.0f} x faster")
    print(
        f"ours, from win counts           {fit_alone:9.4f} s   {theirs / fit_alone:,.0f} x faster"
    )
    print(f"largest difference of coefficients: {difference:.1e}")


def fit_again(tournaments: Tournaments) -> None:
    """Aggregate and fit alone, from per-question win counts already at hand."""
    fit_coefficients(tournaments.battles, tournaments.draws, ridge=0.0)


if __name__ == "__main__":
    main()
