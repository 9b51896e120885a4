"""How often does a comparison find a difference between contenders that are equally good?

    python benchmarks/comparison_errors.py [--rounds 2000] [--systems 6 9 20 50] [--errors 0.5 2]

Contenders rate systems by the truth and an error of their own, on systems split into folds (of two
to ten, five times) or all at once. How often is one of two found to differ, and how often is any
pair of four, after Holm's correction? By systems, then by systems and questions: there the arena's
ratings and the contenders' are means over questions, each with an error of its own.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import combinations, product

import numpy as np

from arena.data.types import Floats
from arena.statistics.bootstrap import bootstrap_weights
from surrogate.learning.cross_fitting import fold_count
from surrogate.learning.outcomes import RESAMPLES, Outcome
from surrogate_arena.studies.comparison import ResampledTau, tested_differences
from surrogate_arena.studies.scores import Contender, replicate_taus

SPLITS = 5
N_QUESTIONS = 30
N_CONTENDERS = 4


def trained(n_systems: int, noise: float, rng: np.random.Generator) -> list[ResampledTau]:
    """Rate with errors of one's own, in folds, and resample systems."""
    truth = rng.normal(size=n_systems)
    n_folds = fold_count(n_systems)
    folds = np.array([rng.permutation(n_systems) % n_folds for _ in range(SPLITS)])
    taus = []
    for _ in range(N_CONTENDERS):
        errors = noise * rng.normal(size=n_systems)
        # What a surrogate predicts depends a little on the split.
        predicted = truth + errors + 0.3 * noise * rng.normal(size=folds.shape)
        outcome = outcome_of(predicted, np.tile(truth, (SPLITS, 1)), folds)
        replicates = replicate_taus(Contender([outcome]), 0, "systems", {})
        taus.append(ResampledTau(outcome.tau, replicates["en"], n_systems))
    return taus


def scored(n_systems: int, noise: float, rng: np.random.Generator) -> list[ResampledTau]:
    """Rate by means over questions, as the arena does, and resample systems and questions."""
    truth = rng.normal(size=n_systems)
    draws = bootstrap_weights(N_QUESTIONS, RESAMPLES, rng) / N_QUESTIONS

    def answers(spread: float) -> Floats:
        errors = spread * rng.normal(size=n_systems)
        return truth + errors + 2 * rng.normal(size=(N_QUESTIONS, n_systems))

    judged = answers(0.0)
    taus = []
    for _ in range(N_CONTENDERS):
        scores = answers(noise)
        outcome = outcome_of(scores.mean(axis=0)[None], judged.mean(axis=0)[None], None)
        contender = Contender([outcome], {"en": draws @ scores})
        replicates = replicate_taus(contender, 0, "both", {"en": draws @ judged})
        taus.append(ResampledTau(outcome.tau, replicates["en"], n_systems))
    return taus


def outcome_of(predicted: Floats, ratings: Floats, folds: np.ndarray | None) -> Outcome:
    names = tuple(f"s{number:03}" for number in range(predicted.shape[1]))
    return Outcome("en", names, predicted, ratings, folds)


def share_found(
    simulated: Callable[..., list[ResampledTau]], n_systems: int, noise: float, rounds: int
) -> Floats:
    """Return how often one of two is found to differ, and how often any pair."""
    rng = np.random.default_rng(0)
    found = np.zeros(2)
    for _ in range(rounds):
        taus = simulated(n_systems, noise, rng)
        differences = {}
        for first, second in combinations(range(N_CONTENDERS), 2):
            differences[str(first), str(second)] = taus[first].minus(taus[second])
        tested = tested_differences(differences)
        found += tested["p"].iloc[0] < 0.05, (tested["p_holm"] < 0.05).any()
    return found / rounds


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--systems", type=int, nargs="+", default=[6, 9, 20, 50])
    parser.add_argument("--errors", type=float, nargs="+", default=[0.5, 2.0])
    options = parser.parse_args()
    for simulated, n_systems, noise in product((trained, scored), options.systems, options.errors):
        of_two, of_four = share_found(simulated, n_systems, noise, options.rounds)
        print(
            f"{simulated.__name__}, {n_systems} systems, error {noise}: "
            f"one of two {of_two:.1%}, any of {N_CONTENDERS} {of_four:.1%}",
            flush=True,
        )


if __name__ == "__main__":
    main()
