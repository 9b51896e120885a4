"""Judging to a budget by replay: random pairs, adaptive pairs, and these from a prior.

The verdicts that an arena holds answer what is asked. A prior must not have seen a system's own
verdicts: in an arena of several languages the surrogate is trained on the verdicts in all other
languages; in one of a single language on those among one half of its systems, to expect the other
half, and the other way round. The prior of a first board has seen no verdict at all. Printed are
the judgments needed for a Kendall tau of 0.9 with the ranking by all verdicts, and tau at few
judgments a system; means over seeds.

Run:  python benchmarks/adaptive_prior.py ARENA FEATURES.parquet [--seeds 5] [--languages sw,te]
          [--prior first] [--judge J]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from judging_plans import calls_needed

from arena import read_arena
from arena.data.seeds import generator
from arena.data.types import Floats, Integers
from arena.judging.choosing.pairing import AdaptivePairing, round_size
from arena.judging.choosing.sampling import connected_battles
from arena.rating.battles import Battles
from arena.rating.bradley_terry import fit_bradley_terry
from arena.statistics.rank_agreement import kendall_tau, kendall_taus
from surrogate.board.first_board import first_prior, first_ratings
from surrogate.board.tables import read_feature_table
from surrogate.learning.language_data import (
    LanguageData,
    TournamentSettings,
    language_data,
    with_answers,
)
from surrogate.learning.names import find_surrogate
from surrogate.learning.training import training_ratings

LEVEL = 0.9
A_SYSTEM = (0.5, 1, 2, 3, 5, 8, 12, 18, 27, 40, 60)
SHOWN = (0.5, 1, 2, 5, 12)
DESIGNS = ("random", "adaptive", "with prior")


def predicted(learned: Sequence[LanguageData], X: pd.DataFrame) -> pd.DataFrame:
    """Train the default surrogate and let it rate the systems of a feature table."""
    surrogate = find_surrogate()
    rows = pd.concat([item.X[item.X["system"].isin(set(item.systems))] for item in learned])
    surrogate.fit(rows, training_ratings({item.language: item.tournaments for item in learned}))
    return surrogate.predict(X)


def prior_of(data: LanguageData, everything: Sequence[LanguageData]) -> pd.DataFrame:
    """Return what is expected of a language's systems without their own verdicts in it."""
    others = [item for item in everything if item.language != data.language]
    if others:
        return predicted(others, data.X[data.X["system"].isin(set(data.systems))])
    order = generator(0, "halves", data.language).permutation(len(data.systems))
    halves = [[data.systems[place] for place in order[start::2]] for start in (0, 1)]
    parts = []
    for left_out in halves:
        expected = predicted(
            [data.without_systems(left_out)], data.X[data.X["system"].isin(left_out)]
        )
        parts.append(expected)
    return pd.concat(parts, ignore_index=True)


def first_prior_of(data: LanguageData) -> pd.DataFrame:
    """Return what a first board lets expect of a language's systems."""
    first = first_ratings(data.X, data.language, data.systems, 1)
    return first_prior(first.table, {data.language: first.used})


def curves(battles: Battles, prior: pd.DataFrame, budgets: Integers, seeds: int) -> Floats:
    """Tau of every design, seed and budget, shape (designs, seeds, budgets)."""
    items = battles.items
    share = items.points / items.counts
    winners = np.where(share > 0.5, "a", np.where(share < 0.5, "b", "tie"))
    names = np.array(battles.systems, dtype=object)
    rows = pd.DataFrame(
        {
            "query_id": np.array(battles.questions, dtype=object)[items.question],
            "system_a": names[items.pairs.first[items.pair]],
            "system_b": names[items.pairs.second[items.pair]],
            "winner": winners,
        }
    )
    whole = _coefficients(battles)
    found = []
    for seed in range(seeds):
        order = generator(seed, "replay").permutation(len(rows))
        parts = [rows.iloc[order[:budget]] for budget in budgets]
        seen = [Battles.from_judgments(part, systems=battles.systems) for part in parts]
        designs = [list(map(_coefficients, seen))]
        designs += [replay(rows, battles, known, budgets, seed) for known in (None, prior)]
        taus = [kendall_taus(np.array(each), whole[None])[:, 0] for each in designs]
        found.append(np.nan_to_num(taus))
    return np.array(found).swapaxes(0, 1)


def replay(
    rows: pd.DataFrame,
    battles: Battles,
    prior: pd.DataFrame | None,
    budgets: Integers,
    seed: int,
) -> list[Floats]:
    """Judge what adaptive pairing asks for; the ratings at each budget, what is left predicted."""
    sides = (rows[["query_id", side]] for side in ("system_a", "system_b"))
    both = [side.set_axis(["query_id", "system"], axis=1) for side in sides]
    answers = pd.concat(both).drop_duplicates()
    pairing = AdaptivePairing(battles.systems, battles.questions, answers, seed, prior=prior)
    outcomes = rows.set_index(["query_id", "system_a", "system_b"])
    ratings = []
    for budget in budgets:
        while pairing.judged < budget:
            size = round_size(len(battles.systems), pairing.judged)
            asked = pairing.next_pairs(min(size, budget - pairing.judged))
            known = [item for item in asked if item in outcomes.index]
            pairing.record(outcomes.loc[known].reset_index())
        found = pairing.ratings().set_index("system")["rating"]
        ratings.append(found.loc[list(battles.systems)].to_numpy())
    return ratings


def _coefficients(battles: Battles) -> Floats:
    fit = fit_bradley_terry(*battles.items.totals, battles.items.pairs)
    return np.asarray(fit.coefficients[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("arena", type=Path)
    parser.add_argument("features", type=Path)
    parser.add_argument("--languages", help="comma-separated; by default all")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--prior", choices=("surrogate", "first"), default="surrogate")
    parser.add_argument("--judge")
    arguments = parser.parse_args()
    arena = read_arena(arguments.arena)
    judged = arena.judged_by(arguments.judge or arena.judges[0])
    table = read_feature_table(arguments.features)
    if arguments.prior == "first":
        table = with_answers(table, arena.answers)
    everything = language_data(judged, table, TournamentSettings(tournaments=2))
    wanted = arguments.languages.split(",") if arguments.languages else None
    header = "".join(f"{f'{many:g} a system':>14}" for many in SHOWN)
    print(f"{'':26}{'judgments':>10}{header}   (tau {LEVEL:g}; tau)")
    for data in everything:
        if wanted is not None and data.language not in wanted:
            continue
        battles = connected_battles(data.judgments, data.language)
        is_first = arguments.prior == "first"
        expected = first_prior_of(data) if is_first else prior_of(data, everything)
        items = len(battles.items)
        budgets = np.minimum(np.array(A_SYSTEM) * len(battles.systems), items)
        judgments = np.unique(np.maximum(1, np.round(budgets)).astype(np.int64))
        found = curves(battles, expected, judgments, arguments.seeds).mean(axis=1)
        own = expected.set_index("system")["rating"].reindex(battles.systems)
        whole = _coefficients(battles)
        print(
            f"{data.language}: {len(battles.systems)} systems, {items:,} items; tau of the prior "
            f"{kendall_tau(own.to_numpy(np.float64), whole):.2f}"
        )
        for name, curve in zip(DESIGNS, found, strict=True):
            shown = np.interp(np.array(SHOWN) * len(battles.systems), judgments, curve)
            values = "".join(f"{value:14.3f}" for value in shown)
            print(f"  {name:24}{calls_needed(curve, judgments, LEVEL):10,.0f}{values}", flush=True)


if __name__ == "__main__":
    main()
