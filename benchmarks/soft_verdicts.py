"""Soft verdicts against whole ones: how well few questions rank, and what intervals hold.

    python benchmarks/tables.py soft
    python benchmarks/soft_verdicts.py [--worlds 60]

In AlpacaEval's arena the verdicts of GPT-4 have probabilities (column ``preference_of_system``).
Ratings by a few questions are compared with ratings by *whole* verdicts on the other half of the
questions. An interval holds if the two differ by at most 1.96 standard errors of their difference,
both by the same kind of verdict.

The script simulates worlds where the truth is known, and a judge is sure, noisy or drawn to side A;
people have voted on the same pairs, or the judge has seen them in both orders.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from arena import read_arena
from arena.data.types import Flags, Floats
from arena.rating.battles import Battles
from arena.rating.posterior import RatingPosterior, battle_posterior
from arena.rating.soft_verdicts import (
    DEFAULT_TEMPERATURE,
    calibrated_judgments,
    learn_temperatures,
)
from arena.statistics.agreement import kendall_tau
from arena.statistics.significance import NORMAL_95

Cell = Any
DRAWS = 40
TEMPERATURES: Mapping[str, float | None] = {
    "whole": None,
    "1": 1.0,
    "default": DEFAULT_TEMPERATURE,
}
"""Kinds of verdicts; a temperature of None counts the winners alone."""


@cache
def battles_by_kind(folder: Path) -> dict[str, Battles]:
    """Read AlpacaEval's verdicts with their probabilities, counted in each way."""
    arena = read_arena(folder)
    judgments = arena.judgments
    is_system_a = (judgments["system_a"] != arena.info.reference_system).to_numpy()
    preference = judgments["preference_of_system"].to_numpy(np.float64)
    probability_a = np.where(is_system_a, preference, 1.0 - preference).round(6)
    soft = judgments.assign(probability_a=probability_a, probability_b=1.0 - probability_a)
    return {name: battles_of(soft, value) for name, value in TEMPERATURES.items()}


def battles_of(judgments: pd.DataFrame, temperature: float | None) -> Battles:
    if temperature is None:
        return Battles.from_judgments(calibrated_judgments(judgments, hard=True))
    judges = dict.fromkeys(judgments["judge"].unique(), temperature)
    return Battles.from_judgments(calibrated_judgments(judgments, judges))


def tau_between(ratings: Floats, expected: Floats, is_compared: Flags) -> float:
    return kendall_tau(ratings[is_compared], expected[is_compared])


def inside(near: RatingPosterior, far: RatingPosterior) -> Flags:
    errors = np.hypot(near.standard_errors, far.standard_errors)
    return np.abs(near.ratings - far.ratings) <= NORMAL_95 * errors


def replayed(folder: Path, n_questions: int) -> list[Cell]:
    """Compare ratings by drawn questions with the other half's: tau by kind, gain, coverage."""
    reference = read_arena(folder).info.reference_system
    battles = battles_by_kind(folder)
    is_compared = np.array(battles["whole"].systems) != reference
    rng = np.random.default_rng(0)
    taus: dict[str, list[float]] = {name: [] for name in TEMPERATURES}
    held: dict[str, list[float]] = {name: [] for name in TEMPERATURES}
    for _ in range(DRAWS):
        order = rng.permutation(battles["whole"].n_questions)
        other_half = np.isin(np.arange(len(order)), order[len(order) // 2 :])
        drawn = np.isin(np.arange(len(order)), order[:n_questions])
        far = {}
        for name, part in battles.items():
            far[name] = battle_posterior(part.only(other_half[part.question]))
            near = battle_posterior(part.only(drawn[part.question]))
            taus[name].append(tau_between(near.ratings, far["whole"].ratings, is_compared))
            held[name].append(float(inside(near, far[name])[is_compared].mean()))
    gains = pd.Series(taus["default"]) - pd.Series(taus["whole"])
    means = [float(np.mean(taus[name])) for name in TEMPERATURES]
    coverage = [float(np.mean(held[name])) for name in ("whole", "default")]
    return [*means, [float(gains.mean()), float(gains.sem())], *coverage]


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
    parser.add_argument("--worlds", type=int, default=60)
    options = parser.parse_args()
    worlds = simulated(options.worlds)
    for (judge, labels), part in worlds.groupby(["judge", "labels"], sort=False):
        gain = mean_and_error(part["soft"] - part["whole"])
        temperature = part["temperature"].median()
        print(f"{judge:16} {labels:12} whole {part['whole'].mean():.3f}  soft {gain}", end="")
        print(f"  temperature {temperature:.1f}")


if __name__ == "__main__":
    main()
