"""Runs of TREC ranked as TREC AutoJudge asks: by answers alone, or with one verdict in 200.

    python benchmarks/autojudge.py ARENA [--features FILE] [--splits 20] [--one-in 200]

Questions are halved at random. The truth is the ranking by all verdicts on one half; methods see
verdicts on the other half alone, and all answers:

- surrogate, no verdict: the first board, as ``SurrogateJudge`` makes it without a budget;
- surrogate: the board by the verdicts of the default plan, until one pair in ``--one-in`` of the
  half's is asked;
- the same with as many verdicts on random pairs, and both without a surrogate, by Bradley-Terry;
- all verdicts of the half by Bradley-Terry: what remains is due to other questions;
- LENGTH and RANDOM: the baselines of the track's starter kit.

Printed is Kendall's tau with the truth, mean and standard error over splits; splits share answers
and verdicts, so that other topics would differ more than these errors say.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from judging_plans import DefaultPlan, Records, random_pairs

from arena import read_arena
from arena.data.arena import Arena
from arena.rating.battles import Battles
from arena.rating.posterior import RatingPrior, battle_posterior
from arena.statistics.agreement import kendall_tau
from arena.statistics.bootstrap import generator
from features import extract
from surrogate import build_board
from surrogate.board.tables import read_feature_table
from surrogate.learning.training_data import with_answers

LANGUAGE = "en"


def part_of(arena: Arena, query_ids: Sequence[str]) -> Arena:
    """Return the arena of some questions."""
    return replace(
        arena,
        queries=arena.queries[arena.queries["query_id"].isin(query_ids)],
        answers=arena.answers[arena.answers["query_id"].isin(query_ids)],
        judgments=arena.judgments[arena.judgments["query_id"].isin(query_ids)],
    )


def records_of(arena: Arena, features: pd.DataFrame, query_ids: Sequence[str]) -> Records:
    """Return the verdicts on some questions, with the prior that ``judge`` would start from."""
    part = part_of(arena, query_ids)
    rows = features[features["query_id"].isin(query_ids)]
    return Records.of(part, part.judges[0], LANGUAGE, with_answers(rows, part.answers), {})


def by_verdicts(records: Records, verdicts: pd.DataFrame) -> pd.Series:
    """Rate by some verdicts alone, with a prior of one logit around the mean."""
    battles = Battles.from_judgments(verdicts.assign(judge="nist"), systems=records.systems)
    prior = RatingPrior.of_table(None, records.systems)
    return pd.Series(battle_posterior(battles, prior).ratings, records.systems)


def by_length(arena: Arena) -> pd.Series:
    """Rate by the words of answers, ids of passages left out."""
    words = arena.answers["answer"].map(
        lambda answer: sum(not word.startswith("[") for word in answer.split())
    )
    return words.groupby(arena.answers["system"]).mean()


def by_board(arena: Arena, features: pd.DataFrame, verdicts: pd.DataFrame) -> pd.Series:
    """Rate by the board of some verdicts, which may be none."""
    judged = replace(arena, judgments=verdicts)
    return build_board(judged, feature_table=features).ratings.set_index("system")["rating"]


def ratings_of_split(
    arena: Arena, features: pd.DataFrame, seen: Sequence[str], one_in: int, seed: int
) -> Iterator[tuple[str, pd.Series]]:
    """Yield each method with its ratings."""
    records = records_of(arena, features, seen)
    n_calls = round(len(records.rows) / one_in)
    planned = DefaultPlan(records, seed).head(n_calls).assign(judge="nist")
    drawn = random_pairs(records, seed).head(n_calls)
    yield "surrogate, no verdict", by_board(arena, features, arena.judgments.iloc[:0])
    yield f"surrogate, one verdict in {one_in}", by_board(arena, features, planned)
    yield "these verdicts alone", by_verdicts(records, planned)
    yield "surrogate, as many on random pairs", by_board(arena, features, drawn)
    yield "verdicts on random pairs alone", by_verdicts(records, drawn)
    yield "all verdicts of the half", pd.Series(records.ratings, records.systems)
    yield "LENGTH", by_length(arena)
    random = generator(seed, "random judge").normal(size=len(records.systems))
    yield "RANDOM", pd.Series(random, records.systems)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("arena", type=Path)
    parser.add_argument("--features", type=Path, help="feature table, measured if not given")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--one-in", type=int, default=200)
    options = parser.parse_args()
    arena = read_arena(options.arena)
    features = extract(arena) if options.features is None else read_feature_table(options.features)
    query_ids = sorted(arena.queries["query_id"])
    taus: list[dict[str, float]] = []
    for seed in range(options.splits):
        shuffled = generator(seed, "halves").permutation(query_ids)
        seen, held = (half.tolist() for half in np.array_split(shuffled, 2))
        truth = records_of(arena, features, held)
        truth_ratings = pd.Series(truth.ratings, truth.systems)
        row = {}
        for method, ratings in ratings_of_split(arena, features, seen, options.one_in, seed):
            shared = ratings.reindex(truth_ratings.index)
            row[method] = kendall_tau(shared.to_numpy(float), truth_ratings.to_numpy(float))
        taus.append(row)
        print(seed, {method: round(tau, 2) for method, tau in row.items()}, flush=True)
    table = pd.DataFrame(taus)
    summary = pd.DataFrame({"tau": table.mean(), "error": table.sem()})
    print(summary.round(3).to_string())


if __name__ == "__main__":
    main()
