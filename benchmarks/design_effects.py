"""Coverage of 90% intervals by system: a design effect for each system, or one for all.

    python benchmarks/design_effects.py [ARENA ...] [--worlds 60] [--splits 12]

Simulated worlds have a known truth. In arenas, ratings by one half of the questions are compared
with those by the other half, both errors counted. The interval score (Gneiting and Raftery, 2007)
is the width plus 20 times the distance by which an interval misses: narrow intervals that hold are
low. Differences are by system less common, paired by world or by arena.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
from scipy.special import expit

from arena import read_arena
from arena.data.types import Floats
from arena.rating.battles import Battles
from arena.rating.design_effects import DesignEffects
from arena.rating.likelihood import BattleLikelihood
from arena.rating.posterior import RatingPosterior, battle_posterior
from arena.statistics.significance import NORMAL_90

FIELDS = ((6, 80, 1.0), (9, 15, 1.0), (9, 40, 0.6), (20, 40, 0.3))
"""Systems, questions and the share of pairs judged on each."""
TRUTH_QUESTIONS = 4_000
MANY_SYSTEMS = 40
"""Arenas of this many systems or more are slow; only a third of the splits are drawn."""


def one_for_all(effects: DesignEffects) -> Floats:
    return np.full(len(effects.estimates), effects.common, dtype=np.float64)


def both_posteriors(battles: Battles) -> dict[str, RatingPosterior]:
    """Rate with one design effect for all systems, and with one for each."""
    with patch.object(DesignEffects, "by_system", property(one_for_all)):
        common = battle_posterior(battles)
    return {"common": common, "by system": battle_posterior(battles)}


def interval_score(distances: Floats, standard_errors: Floats) -> Floats:
    half_widths = NORMAL_90 * standard_errors
    misses = np.maximum(distances - half_widths, 0.0)
    return np.asarray(2 * half_widths + 20 * misses)


def simulated_rows(n_worlds: int) -> Iterator[dict[str, object]]:
    """Rate systems whose strength varies by question, by as much for all or for some."""
    rng = np.random.default_rng(0)
    for n_systems, n_questions, share in FIELDS:
        deviations = {
            "equal, 0": np.zeros(n_systems),
            "equal, 1": np.ones(n_systems),
            "one of 2": np.append(2.0, np.full(n_systems - 1, 0.5)),
            "0 to 2": np.linspace(0.0, 2.0, n_systems),
        }
        for setting, deviation in deviations.items():
            for world in range(n_worlds):
                strengths = rng.normal(size=n_systems)
                truth = true_ratings(strengths, deviation, rng)
                varied = strengths + deviation * rng.normal(size=(n_questions, n_systems))
                battles = simulated_battles(varied, share, rng)
                for kind, posterior in both_posteriors(battles).items():
                    distances = np.abs(posterior.ratings - truth)
                    errors = posterior.standard_errors
                    is_inside = distances < NORMAL_90 * errors
                    yield {
                        "field": f"{n_systems} systems, {n_questions} questions",
                        "setting": setting,
                        "world": world,
                        "kind": kind,
                        "inside": is_inside.mean(),
                        "most varied inside": is_inside[np.argmax(deviation)],
                        "score": interval_score(distances, errors).mean(),
                    }


def true_ratings(strengths: Floats, deviation: Floats, rng: np.random.Generator) -> Floats:
    """Fit Bradley-Terry coefficients to the expected outcomes over many questions."""
    n_systems = len(strengths)
    varied = strengths + deviation * rng.normal(size=(TRUTH_QUESTIONS, n_systems))
    wins = np.array([expit(varied[:, [index]] - varied).mean(axis=0) for index in range(n_systems)])
    ratings: Floats = np.zeros(n_systems)
    for _ in range(50):
        expected = expit(ratings[:, None] - ratings)
        weights = expected * (1 - expected)
        np.fill_diagonal(weights, 0.0)
        information = np.diag(weights.sum(axis=1)) - weights + 1 / n_systems
        gradient = (wins - expected).sum(axis=1)
        ratings += np.linalg.solve(information, gradient)
    return np.asarray(ratings - ratings.mean())


def simulated_battles(varied: Floats, share: float, rng: np.random.Generator) -> Battles:
    """Let a share of all pairs battle on every question, with strengths of shape (Q, S)."""
    n_questions, n_systems = varied.shape
    first, second = np.triu_indices(n_systems, 1)
    is_asked = rng.random((n_questions, len(first))) < share
    question, pair = np.nonzero(is_asked)
    side_a = first[pair]
    side_b = second[pair]
    is_won = rng.random(len(pair)) < expit(varied[question, side_a] - varied[question, side_b])
    return Battles(
        systems=tuple(f"s{number:02}" for number in range(n_systems)),
        side_a=side_a,
        side_b=side_b,
        winner=np.where(is_won, 0, 1),
        question=question,
        n_questions=n_questions,
    )


def halved_arena(folder: Path, n_splits: int) -> Iterator[pd.DataFrame]:
    """Rate systems by either half of the questions, each judge and language by itself."""
    judgments = read_arena(folder).judgments
    for (language, judge), rows in judgments.groupby(["language", "judge"]):
        battles = Battles.from_judgments(rows).largest_group()
        likelihood = BattleLikelihood(battles.items)
        effects = likelihood.design_effects(battle_posterior(battles).ratings, 0.1)
        key = {"arena": f"{folder.name}, {judge}", "language": language}
        key["relative effect"] = effects.by_system / effects.common
        n_drawn = n_splits if len(battles.systems) < MANY_SYSTEMS else max(n_splits // 3, 1)
        for split in range(n_drawn):
            order = np.random.default_rng(split).permutation(battles.n_questions)
            is_first = (order < battles.n_questions // 2)[battles.question]
            first, second = battles.only(is_first), battles.only(~is_first)
            if first.systems == second.systems == battles.systems:
                for compared in compared_halves(first, second):
                    yield compared.assign(**key)


def compared_halves(first: Battles, second: Battles) -> Iterator[pd.DataFrame]:
    """Yield a table for each kind of design effects, one row per system."""
    second_posteriors = both_posteriors(second)
    for kind, one in both_posteriors(first).items():
        other = second_posteriors[kind]
        distances = np.abs(one.ratings - other.ratings)
        errors = np.hypot(one.standard_errors, other.standard_errors)
        yield pd.DataFrame(
            {
                "system": first.systems,
                "kind": kind,
                "inside": distances < NORMAL_90 * errors,
                "score": interval_score(distances, errors),
            }
        )


def paired(table: pd.DataFrame, keys: list[str], value: str) -> str:
    """Show the mean difference of a value, by system less common, with its standard error."""
    means = table.groupby([*keys, "kind"])[value].mean().unstack("kind")
    difference = means["by system"] - means["common"]
    return f"{value}: {difference.mean():+.4f} ± {difference.sem():.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("arenas", type=Path, nargs="*")
    parser.add_argument("--worlds", type=int, default=60)
    parser.add_argument("--splits", type=int, default=12)
    options = parser.parse_args()
    report_worlds(pd.DataFrame(simulated_rows(options.worlds)))
    tables: list[pd.DataFrame] = []
    for folder in options.arenas:
        tables.extend(halved_arena(folder, options.splits))
    if tables:
        report_halves(pd.concat(tables, ignore_index=True))


def report_worlds(worlds: pd.DataFrame) -> None:
    print("Simulated worlds, truth known")
    values = ["inside", "most varied inside", "score"]
    means = worlds.groupby(["field", "setting", "kind"])[values].mean().unstack("kind")
    print(means.round(3).to_string())
    for value in values:
        print(paired(worlds.astype({value: float}), ["field", "setting", "world"], value))


def report_halves(halves: pd.DataFrame) -> None:
    halves = halves.astype({"inside": float})
    # Scores of arenas with wide intervals would outweigh all others.
    scale = halves[halves["kind"] == "common"].groupby("arena")["score"].mean()
    halves["score"] /= halves["arena"].map(scale)
    halves["varies"] = pd.cut(
        halves["relative effect"], [0.0, 0.8, 1.25, np.inf], labels=["less", "alike", "more"]
    )
    print("Halves of arenas' questions; the score is 1 with one effect for all systems")
    for keys in (["arena"], ["varies"]):
        means = halves.groupby([*keys, "kind"], observed=True)[["inside", "score"]].mean()
        print(means.unstack("kind").round(3).to_string())
    for value in ("inside", "score"):
        print(paired(halves, ["arena"], value))


if __name__ == "__main__":
    main()
