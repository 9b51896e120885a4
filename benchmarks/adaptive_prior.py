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
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from judging_plans import calls_needed

from arena import read_arena
from arena.data.types import Floats, Integers
from arena.judging.choosing.pairing import AdaptivePairing, round_size
from arena.rating.battles import Battles
from arena.rating.bradley_terry import fit_bradley_terry
from arena.statistics.agreement import kendall_tau, kendall_taus
from arena.statistics.bootstrap import generator
from surrogate.board.first_board import first_ratings
from surrogate.board.tables import read_feature_table
from surrogate.learning.language_data import (
    LanguageData,
    TournamentSettings,
    language_data,
    with_answers,
)
from surrogate.learning.surrogate import find_surrogate
from surrogate.learning.training import training_ratings
from surrogate_arena.diagnosis.judging_prior import first_prior
from surrogate_arena.studies.sampling import connected_battles

LEVEL = 0.9
A_SYSTEM = (0.5, 1, 2, 3, 5, 8, 12, 18, 27, 40, 60)
SHOWN = (0.5, 1, 2, 5, 12)
DESIGNS = ("random", "adaptive", "with prior")


def predicted(training_data: Sequence[LanguageData], X: pd.DataFrame) -> pd.DataFrame:
    """Train the default surrogate, and predict the ratings of the systems of a feature table."""
    training_rows = pd.concat([rows_of(data, data.systems) for data in training_data])
    tournaments = {data.language: data.tournaments for data in training_data}
    surrogate = find_surrogate()
    surrogate.fit(training_rows, training_ratings(tournaments))
    return surrogate.predict(X)


def rows_of(data: LanguageData, systems: Collection[str]) -> pd.DataFrame:
    """Return the features of some systems."""
    return data.X[data.X["system"].isin(set(systems))]


def surrogate_prior(data: LanguageData, languages: Sequence[LanguageData]) -> pd.DataFrame:
    """Predict the ratings of a language's systems without their verdicts in it."""
    other_languages = [other for other in languages if other.language != data.language]
    if other_languages:
        return predicted(other_languages, rows_of(data, data.systems))
    shuffled = generator(0, "halves", data.language).permutation(np.array(data.systems, object))
    predictions = []
    for left_out in (shuffled[::2].tolist(), shuffled[1::2].tolist()):
        training_data = [data.without_systems(left_out)]
        predictions.append(predicted(training_data, rows_of(data, left_out)))
    return pd.concat(predictions, ignore_index=True)


def first_board_prior(data: LanguageData) -> pd.DataFrame:
    """Return the prior of a first board, which has no verdicts."""
    first = first_ratings(data.X, data.language, data.systems, 1)
    return first_prior(first.table, {data.language: first.basis})


def tau_curves(battles: Battles, prior: pd.DataFrame, budgets: Integers, n_seeds: int) -> Floats:
    """Return tau by design, seed and budget, shape (designs, seeds, budgets)."""
    judgments = judgments_by_item(battles)
    truth = coefficients_of(battles)
    taus = []
    for seed in range(n_seeds):
        designs = (
            random_design(judgments, battles, budgets, seed),
            adaptive_design(judgments, battles, None, budgets, seed),
            adaptive_design(judgments, battles, prior, budgets, seed),
        )
        of_seed = [kendall_taus(np.array(ratings), truth[None])[:, 0] for ratings in designs]
        taus.append(np.nan_to_num(of_seed))
    return np.array(taus).swapaxes(0, 1)


def judgments_by_item(battles: Battles) -> pd.DataFrame:
    """Return one judgment per pair and question, by the majority of its verdicts."""
    items = battles.items
    share = items.points / items.counts
    systems = np.array(battles.systems, dtype=object)
    return pd.DataFrame(
        {
            "query_id": np.array(battles.questions, dtype=object)[items.question],
            "system_a": systems[items.pairs.first[items.pair]],
            "system_b": systems[items.pairs.second[items.pair]],
            "winner": np.select([share > 0.5, share < 0.5], ["a", "b"], "tie"),
        }
    )


def random_design(
    judgments: pd.DataFrame, battles: Battles, budgets: Integers, seed: int
) -> list[Floats]:
    """Return the ratings at each budget by pairs at random."""
    order = generator(seed, "replay").permutation(len(judgments))
    ratings = []
    for budget in budgets:
        drawn = judgments.iloc[order[:budget]]
        drawn_battles = Battles.from_judgments(drawn, systems=battles.systems)
        ratings.append(coefficients_of(drawn_battles))
    return ratings


def adaptive_design(
    judgments: pd.DataFrame,
    battles: Battles,
    prior: pd.DataFrame | None,
    budgets: Integers,
    seed: int,
) -> list[Floats]:
    """Return the ratings at each budget by the pairs that adaptive pairing asks for."""
    sides = []
    for side in ("system_a", "system_b"):
        sides.append(judgments[["query_id", side]].rename(columns={side: "system"}))
    answers = pd.concat(sides).drop_duplicates()
    pairing = AdaptivePairing(battles.systems, battles.questions, answers, seed, prior=prior)
    recorded = judgments.set_index(["query_id", "system_a", "system_b"])
    ratings = []
    for budget in budgets:
        while pairing.judged < budget:
            size = round_size(len(battles.systems), pairing.judged)
            next_pairs = pairing.next_pairs(min(size, budget - pairing.judged))
            recorded_pairs = [pair for pair in next_pairs if pair in recorded.index]
            pairing.record(recorded.loc[recorded_pairs].reset_index())
        table = pairing.ratings().set_index("system")
        ratings.append(table.loc[list(battles.systems), "rating"].to_numpy())
    return ratings


def coefficients_of(battles: Battles) -> Floats:
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
    options = parser.parse_args()
    arena = read_arena(options.arena)
    judged_arena = arena.judged_by(options.judge or arena.judges[0])
    features = read_feature_table(options.features)
    if options.prior == "first":
        features = with_answers(features, arena.answers)
    languages = language_data(judged_arena, features, TournamentSettings(tournaments=2))
    header = "".join(f"{f'{budget:g} a system':>14}" for budget in SHOWN)
    print(f"{'':26}{'judgments':>10}{header}   (tau {LEVEL:g}; tau)")
    for data in languages:
        if options.languages and data.language not in options.languages.split(","):
            continue
        if options.prior == "first":
            prior = first_board_prior(data)
        else:
            prior = surrogate_prior(data, languages)
        for line in report(data, prior, options.seeds):
            print(line, flush=True)


def report(data: LanguageData, prior: pd.DataFrame, n_seeds: int) -> Iterator[str]:
    """Yield a line on the prior, and a line for each design."""
    battles = connected_battles(data.judgments, data.language)
    n_systems = len(battles.systems)
    n_items = len(battles.items)
    prior_ratings = prior.set_index("system")["rating"].reindex(battles.systems)
    prior_tau = kendall_tau(prior_ratings.to_numpy(np.float64), coefficients_of(battles))
    yield (
        f"{data.language}: {n_systems} systems, {n_items:,} items; tau of the prior {prior_tau:.2f}"
    )
    budgets = np.round(np.minimum(np.array(A_SYSTEM) * n_systems, n_items))
    budgets = np.unique(np.maximum(1, budgets).astype(np.int64))
    mean_curves = tau_curves(battles, prior, budgets, n_seeds).mean(axis=1)
    for name, curve in zip(DESIGNS, mean_curves, strict=True):
        needed = calls_needed(curve, budgets, LEVEL)
        shown_taus = np.interp(np.array(SHOWN) * n_systems, budgets, curve)
        values = "".join(f"{tau:14.3f}" for tau in shown_taus)
        yield f"  {name:24}{needed:10,.0f}{values}"


if __name__ == "__main__":
    main()
