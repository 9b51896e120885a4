"""How far an arena agrees with itself: halves, ceilings, and answers dealt at random.

    python benchmarks/reliability.py ARENA... [--judge ARENA=JUDGE] [--surrogate NAME] [--deals 20]
        [--languages en,sw] [--questions 20] [--jobs 1]

The script deals the answers of every question at random to its systems, so that there is no signal,
and prints tau on unseen systems (mean over languages) with its standard error: it is to be 0.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from judge_options import add_judge_option, pairs_of_names

from arena import read_arena
from arena.data.types import Floats
from arena.rating.battles import Battles
from arena.rating.bradley_terry import DEFAULT_RIDGE
from arena.rating.tournaments import fit_coefficients
from arena.statistics.agreement import kendall_tau, kendall_taus
from arena.statistics.bootstrap import generator
from arena.statistics.significance import finite_means
from surrogate.learning.cross_fitting import Repeats, leave_systems_out
from surrogate.learning.language_data import FEW_TOURNAMENTS, LanguageData
from surrogate.learning.observations import joint_posterior, observe
from surrogate.learning.surrogate import DEFAULT_SURROGATE, find_surrogate
from surrogate.learning.training_data import training_ratings
from surrogate_arena.studies.study import Study

SPLITS = 200
DRAWS = 1000


def split_half(languages: Sequence[LanguageData]) -> float:
    """Return Kendall's tau of the ratings of two random halves of the questions, a mean."""
    taus = [half_taus(data.tournaments.battles) for data in languages]
    return float(np.nanmean(finite_means(np.array(taus))))


def half_taus(battles: Battles) -> Floats:
    rng = generator(0, "split half")
    size = len(battles.questions)
    first = np.array([rng.permutation(size) < size // 2 for _ in range(SPLITS)], dtype=float)
    halves = [fit_coefficients(battles, part, DEFAULT_RIDGE)[0] for part in (first, 1 - first)]
    return np.array([kendall_tau(*pair) for pair in zip(*halves, strict=True)])


def ceiling(data: LanguageData) -> float:
    """Return the expected tau of a language's ratings with those behind the verdicts.

    What no surrogate can exceed. The ratings behind are drawn from their posterior by the verdicts
    alone, which shrinks the ratings as far as their spread is noise.
    """
    observed = observe(training_ratings({data.language: data.tournaments}), around=1.0)
    ratings = observed[data.language].ratings
    no_kernels = np.zeros((0, len(ratings), len(ratings)))
    posterior = joint_posterior(observed, no_kernels)[data.language]
    draws = posterior.draws(np.random.default_rng(0), DRAWS)
    return float(np.nanmean(kendall_taus(ratings[None], draws)))


def dealt(X: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Deal the answers to each question, with their features, to the systems that answered it."""
    keyed = X.assign(key=rng.random(len(X)))
    shuffled = keyed.sort_values(["language", "query_id", "key"]).index
    ordered = X.sort_values(["language", "query_id"], kind="stable")
    systems = pd.Series(ordered["system"].to_numpy(), shuffled)
    return X.assign(system=systems)


def main() -> None:
    parser = argparse.ArgumentParser(description="Tau on unseen systems without any signal.")
    parser.add_argument("arenas", type=Path, nargs="+", help="arena folders")
    add_judge_option(parser)
    parser.add_argument("--surrogate", default=DEFAULT_SURROGATE)
    parser.add_argument("--deals", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--languages", help="comma-separated; by default all")
    parser.add_argument("--questions", type=int, help="questions of each language, the first ones")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    judges = dict(pairs_of_names(options.judge))
    for folder in options.arenas:
        arena = read_arena(folder)
        study = Study.of(arena, judge=judges.get(folder.name), tournaments=FEW_TOURNAMENTS)
        languages = []
        for data in study.languages:
            if options.languages is None or data.language in options.languages.split(","):
                languages.append(fewer_questions(data, options.questions))
        surrogate = find_surrogate(options.surrogate)
        taus = []
        for deal in range(options.deals):
            rng = np.random.default_rng(deal)
            dealt_languages = [replace(data, X=dealt(data.X, rng)) for data in languages]
            repeats = Repeats(options.repeats, deal, options.jobs)
            outcomes = leave_systems_out(dealt_languages, surrogate, repeats)
            taus.append(finite_means(np.array([outcome.tau for outcome in outcomes])))
        error = np.std(taus, ddof=1) / np.sqrt(len(taus))
        print(f"{folder.name}, {study.judge}: {np.mean(taus):+.3f} ± {error:.3f}", flush=True)


def fewer_questions(data: LanguageData, most: int | None) -> LanguageData:
    if most is None or data.judgments.empty:
        return data
    questions = data.tournaments.battles.questions[:most]
    return replace(data.judged_on(questions), X=data.rows(questions=questions), questions=questions)


if __name__ == "__main__":
    main()
