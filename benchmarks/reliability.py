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

from arena import read_arena
from arena.data.seeds import generator
from arena.data.types import Flags, Floats
from arena.rating.battles import Battles
from arena.rating.penalized_likelihood import DEFAULT_RIDGE
from arena.rating.tournaments import fit_coefficients
from arena.statistics.bootstrap import percentile_interval
from arena.statistics.rank_agreement import kendall_tau
from surrogate.board.intervals import unseen_distances, unseen_intervals
from surrogate.board.summary import RatingInterval
from surrogate.learning.cross_fitting import Repeats, leave_systems_out
from surrogate.learning.language_data import FEW_TOURNAMENTS, LanguageData
from surrogate.learning.names import DEFAULT_SURROGATE, find_surrogate
from surrogate.learning.outcomes import Outcome
from surrogate.learning.training import finite_means
from surrogate.validation.study import Study

SPLITS = 200
FOLDS = 5
NORMAL_90 = 1.645
"""Standard errors to each side that hold 90% of a normal distribution."""
SHARES = ("normal_coverage", "conformal_coverage", "conformal_width")


def split_half(languages: Sequence[LanguageData], seed: int) -> dict[str, float | str]:
    """Kendall tau of the ratings of two random halves of the questions, with 95% of the splits."""
    if any(item.judgments.empty for item in languages):
        return {"reason": "only ratings are published, there are no questions to halve"}
    means = finite_means(
        np.array([half_taus(item.tournaments.battles, seed) for item in languages])
    )
    low, high = percentile_interval(means)
    return {"tau": float(np.nanmean(means)), "tau_low": low, "tau_high": high}


def half_taus(battles: Battles, seed: int) -> Floats:
    random = generator(seed, "split half")
    size = len(battles.questions)
    first = np.array([random.permutation(size) < size // 2 for _ in range(SPLITS)], dtype=float)
    halves = [fit_coefficients(battles, part, DEFAULT_RIDGE)[0] for part in (first, 1 - first)]
    return np.array([kendall_tau(*pair) for pair in zip(*halves, strict=True)])


def coverage(outcomes: Sequence[Outcome], seed: int) -> dict[str, float | None]:
    """Share of the arena's ratings inside intervals of surrogates that did not see the systems.

    Of rating ± 1.645 standard errors, and of 90% conformal intervals, those of each fifth of the
    systems found with the others; with the latter's half-width, in standard deviations of ratings.
    """
    raw, conformal = list[Flags](), list[Floats]()
    systems = sorted({name for item in outcomes for name in item.systems})
    for repeat in range(len(outcomes[0].predicted)):
        rated = [repeat_of(item, repeat) for item in outcomes]
        raw += [
            unseen_distances(item) <= NORMAL_90
            for item in rated
            if item.standard_errors is not None
        ]
        order = generator(seed, "coverage", str(repeat)).permutation(len(systems))
        for fold in np.array_split(order, FOLDS):
            held = [np.isin(item.systems, [systems[place] for place in fold]) for item in outcomes]
            pairs = list(zip(rated, held, strict=True))
            found = unseen_intervals(
                [
                    replace(item, arena_ratings=np.where(own, np.nan, item.arena_ratings))
                    for item, own in pairs
                ]
            )
            for item, own in pairs:
                conformal.append(insides(item, found[item.language])[own])
    shares = [float(np.concatenate(raw).mean()) if raw else np.nan]
    shares += finite_means(np.concatenate(conformal)).tolist()
    named = dict(zip(SHARES, shares, strict=True))
    return {name: value if np.isfinite(value) else None for name, value in named.items()}


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
    both = np.column_stack([distance <= width, width / np.nanstd(arena_ratings)])
    both[~np.isfinite(distance + width)] = np.nan
    return both


def dealt(X: pd.DataFrame, random: np.random.Generator) -> pd.DataFrame:
    """Deal the answers to each question, with their features, to the systems that answered it."""
    drawn = X.assign(drawn=random.random(len(X)))
    order = drawn.sort_values(["language", "query_id", "drawn"]).index
    keys = X.sort_values(["language", "query_id"], kind="stable").index
    names = pd.Series(X.loc[keys, "system"].to_numpy(), order)
    return X.assign(system=names)


def main() -> None:
    parser = argparse.ArgumentParser(description="Tau on unseen systems without any signal.")
    parser.add_argument("arenas", type=Path, nargs="+", help="arena folders")
    parser.add_argument("--judge", action="append", default=[], help="ARENA=JUDGE, repeatable")
    parser.add_argument("--surrogate", default=DEFAULT_SURROGATE)
    parser.add_argument("--deals", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--languages", type=lambda text: text.split(","))
    parser.add_argument("--questions", type=int, help="questions of each language, the first ones")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    judges = dict(item.split("=", 1) for item in options.judge)
    for folder in options.arenas:
        arena = read_arena(folder)
        study = Study.of(arena, judge=judges.get(folder.name), tournaments=FEW_TOURNAMENTS)
        chosen = [
            item
            for item in study.languages
            if options.languages is None or item.language in options.languages
        ]
        languages = [fewer_questions(item, options.questions) for item in chosen]
        taus = []
        for deal in range(options.deals):
            random = np.random.default_rng(deal)
            outcomes = leave_systems_out(
                [replace(item, X=dealt(item.X, random)) for item in languages],
                find_surrogate(options.surrogate),
                Repeats(options.repeats, deal, options.jobs),
            )
            taus.append(finite_means(np.array([item.tau for item in outcomes])))
        error = np.std(taus, ddof=1) / np.sqrt(len(taus))
        print(f"{folder.name}, {study.judge}: {np.mean(taus):+.3f} ± {error:.3f}", flush=True)


def fewer_questions(data: LanguageData, most: int | None) -> LanguageData:
    judged = data.tournaments.battles.questions[:most]
    if most is None or data.judgments.empty:
        return data
    return replace(data.judged_on(judged), X=data.rows(questions=judged), questions=judged)


if __name__ == "__main__":
    main()
