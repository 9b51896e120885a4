"""How far an arena agrees with itself, and what intervals of surrogates hold of its ratings.

    python benchmarks/reliability.py ARENA... [--judge ARENA=JUDGE] [--surrogate NAME] [--deals 20]
        [--languages en,sw] [--questions 20] [--jobs 1]

deals the answers of every question at random to its systems, so that there is no signal, and prints
tau on unseen systems (mean over languages) with its standard error: it is to be 0.
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
from arena.data.types import Flags, Floats
from arena.rating.battles import Battles
from arena.rating.penalized_likelihood import DEFAULT_RIDGE
from arena.rating.tournaments import fit_coefficients
from arena.statistics.agreement import kendall_tau
from arena.statistics.bootstrap import generator, percentile_interval
from arena.statistics.significance import NORMAL_90
from surrogate.board.intervals import unseen_distances, unseen_intervals
from surrogate.board.summary import RatingInterval
from surrogate.learning.cross_fitting import Repeats, leave_systems_out
from surrogate.learning.language_data import FEW_TOURNAMENTS, LanguageData
from surrogate.learning.outcomes import Outcome
from surrogate.learning.surrogate import DEFAULT_SURROGATE, find_surrogate
from surrogate.learning.training import finite_means
from surrogate_arena.studies.study import Study

SPLITS = 200
FOLDS = 5
SHARES = ("normal_coverage", "conformal_coverage", "conformal_width")


def split_half(languages: Sequence[LanguageData], seed: int) -> dict[str, float | str]:
    """Kendall tau of the ratings of two random halves of the questions, with 95% of the splits."""
    if any(data.judgments.empty for data in languages):
        return {"reason": "only ratings are published, there are no questions to halve"}
    means = finite_means(
        np.array([half_taus(data.tournaments.battles, seed) for data in languages])
    )
    low, high = percentile_interval(means)
    return {"tau": float(np.nanmean(means)), "tau_low": low, "tau_high": high}


def half_taus(battles: Battles, seed: int) -> Floats:
    rng = generator(seed, "split half")
    size = len(battles.questions)
    first = np.array([rng.permutation(size) < size // 2 for _ in range(SPLITS)], dtype=float)
    halves = [fit_coefficients(battles, part, DEFAULT_RIDGE)[0] for part in (first, 1 - first)]
    return np.array([kendall_tau(*pair) for pair in zip(*halves, strict=True)])


def coverage(outcomes: Sequence[Outcome], seed: int) -> dict[str, float | None]:
    """Share of the arena's ratings inside intervals of surrogates that did not see the systems.

    Of rating ± 1.645 standard errors, and of 90% conformal intervals, those of each fifth of the
    systems found with the others; with the latter's half-width, in standard deviations of ratings.
    """
    by_errors = list[Flags]()
    conformal = list[Floats]()
    systems = sorted({name for outcome in outcomes for name in outcome.systems})
    for repeat in range(len(outcomes[0].predicted)):
        of_repeat = [repeat_of(outcome, repeat) for outcome in outcomes]
        for outcome in of_repeat:
            if outcome.standard_errors is not None:
                by_errors.append(unseen_distances(outcome) <= NORMAL_90)
        shuffled = generator(seed, "coverage", str(repeat)).permutation(np.array(systems, object))
        for fold in np.array_split(shuffled, FOLDS):
            conformal += conformal_insides(of_repeat, fold.tolist())
    shares = [float(np.concatenate(by_errors).mean()) if by_errors else np.nan]
    shares += finite_means(np.concatenate(conformal)).tolist()
    coverages: dict[str, float | None] = {}
    for name, share in zip(SHARES, shares, strict=True):
        coverages[name] = share if np.isfinite(share) else None
    return coverages


def conformal_insides(outcomes: Sequence[Outcome], fold: Sequence[str]) -> list[Floats]:
    """Return ``insides`` of a fold's systems in each language, by intervals from the others."""
    is_in_fold = [np.isin(outcome.systems, fold) for outcome in outcomes]
    others = []
    for outcome, is_held_out in zip(outcomes, is_in_fold, strict=True):
        ratings = np.where(is_held_out, np.nan, outcome.arena_ratings)
        others.append(replace(outcome, arena_ratings=ratings))
    intervals = unseen_intervals(others)
    of_fold = []
    for outcome, is_held_out in zip(outcomes, is_in_fold, strict=True):
        of_fold.append(insides(outcome, intervals[outcome.language])[is_held_out])
    return of_fold


def repeat_of(outcome: Outcome, repeat: int) -> Outcome:
    errors = outcome.standard_errors
    return replace(
        outcome,
        arena_ratings=outcome.arena_ratings[[repeat]],
        predicted=outcome.predicted[[repeat]],
        standard_errors=None if errors is None else errors[[repeat]],
    )


def insides(rated: Outcome, interval: RatingInterval) -> Floats:
    """Whether the interval of each system holds its rating, and its half-width, shape (S, 2)."""
    errors, arena_ratings = rated.standard_errors, rated.arena_ratings[0]
    width = interval.width(np.ones(len(arena_ratings)) if errors is None else errors[0])
    distance = np.abs(arena_ratings - rated.predicted[0])
    columns = np.column_stack([distance <= width, width / np.nanstd(arena_ratings)])
    columns[~np.isfinite(distance + width)] = np.nan
    return columns


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
