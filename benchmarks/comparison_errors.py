"""How often does a comparison find a difference between contenders that are equally good?

    python benchmarks/tables.py nulls

Contenders rate systems by the truth and an error of their own, on systems split into folds (of two
to ten, five times). How often are any two found to differ, after Holm's correction?
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from arena.data.types import Floats
from surrogate.learning.cross_fitting import fold_count
from surrogate.learning.outcomes import Outcome
from surrogate_arena.studies.comparison import ResampledTau, tested_differences
from surrogate_arena.studies.scores import Contender, replicate_taus

ROUNDS = 2000
SPLITS = 5
NOISE = 0.5
"""Standard deviation of a contender's errors, where that of the ratings is 1."""


def trained(n_systems: int, n_contenders: int, rng: np.random.Generator) -> list[ResampledTau]:
    """Rate systems in folds, and resample them."""
    truth = rng.normal(size=n_systems)
    n_folds = fold_count(n_systems)
    folds = np.array([rng.permutation(n_systems) % n_folds for _ in range(SPLITS)])
    taus = []
    for _ in range(n_contenders):
        errors = NOISE * rng.normal(size=n_systems)
        # What a surrogate predicts depends a little on the split.
        predicted = truth + errors + 0.3 * NOISE * rng.normal(size=folds.shape)
        outcome = outcome_of(predicted, np.tile(truth, (SPLITS, 1)), folds)
        replicates = replicate_taus(Contender([outcome]), 0, "systems", {})
        taus.append(ResampledTau(outcome.tau, replicates["en"], n_systems))
    return taus


def outcome_of(predicted: Floats, ratings: Floats, folds: np.ndarray | None) -> Outcome:
    names = tuple(f"s{number:03}" for number in range(predicted.shape[1]))
    return Outcome("en", names, predicted, ratings, folds)


def share_found(n_systems: int, n_contenders: int) -> list[str]:
    """Return how often any two contenders are found to differ."""
    rng = np.random.default_rng(0)
    n_found = 0
    for _ in range(ROUNDS):
        taus = trained(n_systems, n_contenders, rng)
        differences = {}
        for first, second in combinations(range(n_contenders), 2):
            differences[str(first), str(second)] = taus[first].minus(taus[second])
        n_found += (tested_differences(differences)["p_holm"] < 0.05).any()
    return [f"{n_found / ROUNDS:.1%}", ""]
