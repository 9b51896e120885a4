"""Two judges by replay: tau with the strong one's ranking, by its share of calls.

    python benchmarks/escalation.py ARENA STRONG CHEAP [--languages ko,en]
        [--seeds 8]

CHEAP (comma-separated, one after the other) has judged all pairs in one order drawn per pair.
STRONG is asked by one of three plans; its recorded verdicts answer, and the ranking by all of them
is the truth:

- escalated: what ``judge --escalate`` does, random pairs and then those that tell most, from the
  ratings by CHEAP;
- adaptive alone: pairs that tell most, without a prior;
- random alone: pairs at random, without a prior.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from judging_plans import DefaultPlan, Records, random_pairs
from scipy.stats import sem

from arena import read_arena
from arena.data.arena import Arena
from arena.data.types import Floats, Integers
from arena.judging import JudgingSettings
from arena.judging.choosing.chosen_pairs import Verdicts
from arena.judging.llm_judge import FAILURE_COLUMNS
from arena.judging.plans.escalated_pairs import (
    EscalatedPairs,
    calibrated_prior,
    n_calibration,
    ratings_by_first,
)
from arena.judging.plans.escalation import NEVER
from arena.llm.usage import Budget

CALLS = (15, 30, 60, 120, 240)
METHODS = ("cheap alone", "random alone", "adaptive alone", "escalated")


def escalated_plan(records: Records, first_ratings: pd.DataFrame, n_calls: int) -> pd.DataFrame:
    """Return the strong judge's verdicts in the order asked."""
    settings = JudgingSettings(
        model="j", until=NEVER, budget=n_calls, audit=0.0, languages=(records.language,)
    )
    chooser = EscalatedPairs(records.arena, settings, first_ratings, None, Budget())
    rounds = chooser.rounds()
    parts: list[pd.DataFrame] = []
    try:
        next_pairs = next(rounds)
        while True:
            rows = records.answered(next_pairs.table).assign(judge="j")
            parts.append(rows)
            failures = next_pairs.table.iloc[:0].reindex(columns=FAILURE_COLUMNS)
            next_pairs = rounds.send(Verdicts(rows, failures))
    except StopIteration:
        return pd.concat(parts, ignore_index=True)


def shared_records(
    arena: Arena, strong: str, cheap: str, language: str
) -> tuple[Records, pd.DataFrame]:
    """Return both judges' verdicts in a language on the systems that both judged."""
    rows = arena.judgments
    rows = rows[(rows["language"] == language) & rows["judge"].isin([strong, cheap])]
    judged_systems = []
    for _, of_judge in rows.groupby("judge", observed=True):
        judged_systems.append({*of_judge["system_a"], *of_judge["system_b"]})
    systems = list(set.intersection(*judged_systems))
    rows = rows[rows["system_a"].isin(systems) & rows["system_b"].isin(systems)]
    answers = arena.answers[arena.answers["system"].isin(systems)]
    shared = replace(arena, judgments=rows, answers=answers)
    records = Records.of(shared, strong, language, pd.DataFrame(), None)
    return records, rows[rows["judge"] == cheap]


def taus_of(records: Records, cheap_rows: pd.DataFrame, n_calls: Integers, seed: int) -> Floats:
    """Return tau by method and calls."""
    cheap = random_pairs(replace(records, rows=cheap_rows), seed)
    first_ratings = ratings_by_first(cheap.assign(judge="c"), "c")
    n_random = n_calibration(len(records.systems))
    escalated = escalated_plan(records, first_ratings, int(n_calls[-1]))
    # The prior is calibrated on the random pairs, as ``EscalatedPairs`` does.
    prior = calibrated_prior(first_ratings, escalated.iloc[:n_random])
    from_cheap = replace(records, prior=prior)
    adaptive = DefaultPlan(records, seed).head(int(n_calls[-1]))
    at_random = random_pairs(records, seed)
    return np.array(
        [
            [records.tau(cheap)] * len(n_calls),
            [records.tau(at_random.iloc[:n]) for n in n_calls],
            [records.tau(adaptive.iloc[:n]) for n in n_calls],
            [from_cheap.tau(escalated.iloc[:n]) for n in n_calls],
        ]
    )


def report(taus: Floats) -> Iterator[str]:
    """Yield a line for each method, of taus by seed, method and calls."""
    for name, of_method in zip(METHODS, taus.swapaxes(0, 1), strict=True):
        values = ""
        for column in of_method.T:
            values += f"  {column.mean():.3f} ({sem(column):.3f})"
        yield f"  {name:16}{values}"
    gains = taus[:, 3] - taus[:, :3].max(axis=1)
    values = ""
    for column in gains.T:
        values += f" {column.mean():+.3f} ({sem(column):.3f})"
    yield f"  {'over the best':16} {values}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("arena", type=Path)
    parser.add_argument("strong")
    parser.add_argument("cheap", help="comma-separated")
    parser.add_argument("--languages", help="comma-separated; by default all")
    parser.add_argument("--seeds", type=int, default=8)
    options = parser.parse_args(arguments)
    arena = read_arena(options.arena)
    languages = options.languages.split(",") if options.languages else arena.info.languages
    mean_taus = []
    for language, judge in product(languages, options.cheap.split(",")):
        records, cheap_rows = shared_records(arena, options.strong, judge, language)
        n_pairs = len(random_pairs(records, 0))
        n_calls = np.array([n for n in CALLS if n <= n_pairs], dtype=np.int64)
        shares = ", ".join(f"{n} ({n / n_pairs:.0%})" for n in n_calls)
        print(f"{options.arena.name} {language}, {judge} then {options.strong}: {shares}")
        seeds = range(options.seeds)
        taus = np.array([taus_of(records, cheap_rows, n_calls, seed) for seed in seeds])
        print(*report(taus), sep="\n", flush=True)
        mean_taus.append(taus.mean(axis=0))
    print("mean over languages and cheap judges, standard errors over these")
    print(*report(np.array(mean_taus)), sep="\n")


if __name__ == "__main__":
    main()
