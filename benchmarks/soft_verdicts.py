"""Soft verdicts against whole ones: how well few questions rank, and what intervals hold.

    python benchmarks/soft_verdicts.py [ALPACAEVAL] [--draws 40] [--worlds 60]

In AlpacaEval's arena the verdicts of GPT-4 have probabilities (column ``preference_of_system``).
Ratings by a few questions are compared with ratings by *whole* verdicts on the other half of the
questions. An interval holds if the two differ by at most 1.96 standard errors of their difference,
both by the same kind of verdict.

In simulated worlds the truth is known, and a judge is sure, noisy or drawn to side A; people have
voted on the same pairs, or the judge has seen them in both orders.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import kendalltau

from arena import read_arena
from arena.data.types import Flags, Floats
from arena.rating.battles import Battles
from arena.rating.posterior import RatingPosterior, battle_posterior
from arena.rating.soft_verdicts import (
    DEFAULT_TEMPERATURE,
    calibrated_judgments,
    learn_temperatures,
)
from arena.statistics.significance import NORMAL_95

ALPACAEVAL = Path("../shared/data/arenas/alpacaeval")
QUESTIONS = (5, 10, 20, 40)
TEMPERATURES: Mapping[str, float | None] = {
    "whole": None,
    "1": 1.0,
    "2": 2.0,
    "default": DEFAULT_TEMPERATURE,
    "8": 8.0,
}
"""Kinds of verdicts; a temperature of None counts the winners alone."""


def preferences(folder: Path) -> pd.DataFrame:
    """Read AlpacaEval's verdicts with their probabilities."""
    arena = read_arena(folder)
    judgments = arena.judgments
    is_system_a = (judgments["system_a"] != arena.info.reference_system).to_numpy()
    preference = judgments["preference_of_system"].to_numpy(np.float64)
    probability_a = np.where(is_system_a, preference, 1.0 - preference).round(6)
    return judgments.assign(probability_a=probability_a, probability_b=1.0 - probability_a)


def battles_of(judgments: pd.DataFrame, temperature: float | None) -> Battles:
    if temperature is None:
        return Battles.from_judgments(calibrated_judgments(judgments, hard=True))
    judges = dict.fromkeys(judgments["judge"].unique(), temperature)
    return Battles.from_judgments(calibrated_judgments(judgments, judges))


def tau_between(ratings: Floats, expected: Floats, is_compared: Flags) -> float:
    return float(kendalltau(ratings[is_compared], expected[is_compared])[0])


def inside(near: RatingPosterior, far: RatingPosterior) -> Flags:
    errors = np.hypot(near.standard_errors, far.standard_errors)
    return np.abs(near.ratings - far.ratings) <= NORMAL_95 * errors


def replayed(judgments: pd.DataFrame, reference: str, n_draws: int) -> pd.DataFrame:
    """Draw questions, and compare their ratings with the other half's."""
    battles = {name: battles_of(judgments, value) for name, value in TEMPERATURES.items()}
    systems = np.array(battles["whole"].systems)
    is_compared = systems != reference
    rng = np.random.default_rng(0)
    rows = []
    for draw in range(n_draws):
        order = rng.permutation(battles["whole"].n_questions)
        half = len(order) // 2
        far = {}
        for name, part in battles.items():
            far[name] = battle_posterior(part.only(np.isin(part.question, order[half:])))
        for n_questions in QUESTIONS:
            for name, part in battles.items():
                near = battle_posterior(part.only(np.isin(part.question, order[:n_questions])))
                rows.append(
                    {
                        "draw": draw,
                        "questions": n_questions,
                        "verdicts": name,
                        "tau": tau_between(near.ratings, far["whole"].ratings, is_compared),
                        "inside": inside(near, far[name])[is_compared].mean(),
                    }
                )
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class Judge:
    """A simulated judge: its logits are ``sureness`` times the true ones, and some more."""

    sureness: float = 4.0
    noise: float = 0.0
    side: float = 0.0


JUDGES = {
    "sure": Judge(),
    "calibrated": Judge(sureness=1.0),
    "noisy": Judge(noise=4.0),
    "drawn to side A": Judge(side=3.0),
}
LABELS = ("people", "both orders", "one order")


def world(judge: Judge, labels: str, rng: np.random.Generator) -> tuple[pd.DataFrame, Floats]:
    """Simulate six systems on six questions."""
    strengths = rng.normal(0, 0.7, 6)
    rows: list[Mapping[str, str | float]] = []
    for question in range(6):
        qualities = strengths + rng.normal(0, 0.6, 6)
        for first, second in zip(*np.triu_indices(6, 1), strict=True):
            for a, b in ((first, second), (second, first))[: 2 if labels == "both orders" else 1]:
                difference = qualities[a] - qualities[b]
                log_odds = judge.sureness * difference + judge.side + judge.noise * rng.normal()
                key = {"query_id": f"q{question}", "language": "en"}
                key |= {"system_a": f"s{a}", "system_b": f"s{b}"}
                sides = {"probability_a": round(float(expit(log_odds)), 6)}
                sides["probability_b"] = round(1.0 - sides["probability_a"], 6)
                winner = "a" if log_odds > 0 else "b"
                rows.append(key | sides | {"winner": winner, "judge": "model"})
            if labels == "people":
                vote = "a" if rng.random() < expit(qualities[a] - qualities[b]) else "b"
                rows.append(key | {"winner": vote, "judge": "people"})
    return pd.DataFrame(rows), strengths


def simulated(n_worlds: int) -> pd.DataFrame:
    """Rate simulated worlds by whole and by soft verdicts of the judge."""
    rows = []
    all_systems = np.ones(6, dtype=np.bool_)
    for name, judge in JUDGES.items():
        for labels in LABELS:
            rng = np.random.default_rng(1)
            for number in range(n_worlds):
                table, truth = world(judge, labels, rng)
                (learned,) = learn_temperatures(table)
                by_model = table[table["judge"] == "model"]
                row: dict[str, str | float]
                row = {"judge": name, "labels": labels, "world": number}
                for kind, value in (("whole", None), ("soft", learned.value)):
                    posterior = battle_posterior(battles_of(by_model, value))
                    row[kind] = tau_between(posterior.ratings, truth, all_systems)
                rows.append(row | {"temperature": learned.value})
    return pd.DataFrame(rows)


def mean_and_error(values: pd.Series) -> str:
    return f"{values.mean():+.3f} ± {values.std() / np.sqrt(len(values)):.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("arena", type=Path, nargs="?", default=ALPACAEVAL)
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--worlds", type=int, default=60)
    options = parser.parse_args()
    if options.draws:
        reference = str(read_arena(options.arena).info.reference_system)
        table = replayed(preferences(options.arena), reference, options.draws)
        for n_questions, part in table.groupby("questions"):
            taus = part.pivot_table(index="draw", columns="verdicts", values="tau")
            coverage = part.groupby("verdicts")["inside"].mean()
            for name in TEMPERATURES:
                gain = mean_and_error(taus[name] - taus["whole"])
                print(f"{n_questions:>3} {name:8} tau {taus[name].mean():.3f}  {gain}", end="")
                print(f"  inside 95%: {coverage[name]:.3f}")
    worlds = simulated(options.worlds)
    for (judge, labels), part in worlds.groupby(["judge", "labels"], sort=False):
        gain = mean_and_error(part["soft"] - part["whole"])
        temperature = part["temperature"].median()
        print(f"{judge:16} {labels:12} whole {part['whole'].mean():.3f}  soft {gain}", end="")
        print(f"  temperature {temperature:.1f}")


if __name__ == "__main__":
    main()
