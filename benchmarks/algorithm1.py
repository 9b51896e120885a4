"""Algorithm 1 of MIRAGE-Bench: a loop over choix and scikit-learn against this project.

    python benchmarks/algorithm1.py [--tournaments 200]

19 systems, 100 questions, all pairs judged once a question, features that tell the systems'
strength with noise. Each tournament draws the questions with replacement, fits Bradley-Terry,
trains a forest of 100 trees on 17 systems and scores R² on the other two. Both sides draw
tournaments and forests of their own from the same judgments; that they do the same is checked by a
two-sample Kolmogorov-Smirnov test of the R² they find.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import choix
import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import ks_2samp
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import r2_score
from threadpoolctl import threadpool_limits

sys.path[0] = str(Path(__file__).parents[1])  # beside this file stands one named features
sys.path.append(str(Path(__file__).parent))

from tournaments import QUESTIONS, SYSTEMS, simulated_judgments  # noqa: E402

from arena.tournaments import hold_tournaments  # noqa: E402
from surrogate.holdout import fit_tournaments  # noqa: E402
from surrogate.judge import Recipe  # noqa: E402
from surrogate.learners import TREES  # noqa: E402
from surrogate.tensor import FeatureTensor  # noqa: E402

Floats = npt.NDArray[np.float64]

FEATURES = 11
HELD_OUT = (4, 13)
ALPHA = 0.01
"""Regularisation of the reference, so that it converges where a system wins all."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tournaments", type=int, default=200)
    options = parser.parse_args()
    judgments = simulated_judgments(seed=0)
    features = simulated_features(judgments)
    with threadpool_limits(1):
        started = time.perf_counter()
        theirs, fitting = reference(judgments, features, options.tournaments)
        between = time.perf_counter()
        ours = project(judgments, features, options.tournaments)
        ended = time.perf_counter()
    loop, whole = between - started, ended - between
    print(f"loop over choix and scikit-learn  {loop:8.1f} s   1 x  ({fitting:.1f} s of it choix)")
    print(f"this project, one process         {whole:8.1f} s   {loop / whole:.1f} x faster")
    for name, found in (("loop", theirs), ("this project", ours)):
        low, median, high = np.percentile(found, [25, 50, 75])
        print(f"holdout R² of {name}: median {median:.3f}, quartiles {low:.3f} to {high:.3f}")
    test = ks_2samp(theirs, ours)
    verdict = "agree" if test.pvalue > ALPHA else "DISAGREE"
    print(f"two-sample Kolmogorov-Smirnov: D {test.statistic:.3f}, p {test.pvalue:.3f}: {verdict}")


def simulated_features(judgments: pd.DataFrame) -> Floats:
    """Features of each system's answers, shape (S, Q, F): points won, more or less noisy."""
    systems = sorted({*judgments["system_a"], *judgments["system_b"]})
    won = judgments["winner"] == "a"
    winners = judgments["system_a"].where(won, judgments["system_b"])
    quality = winners.value_counts(normalize=True).reindex(systems).to_numpy(np.float64)
    random = np.random.default_rng(1)
    noise = np.linspace(0.2, 3.0, FEATURES)
    draws = random.normal(size=(SYSTEMS, QUESTIONS, FEATURES))
    own = random.normal(size=(SYSTEMS, 1, FEATURES))
    scaled = (quality - quality.mean()) / quality.std()
    return np.asarray(scaled[:, None, None] + noise * (0.5 * own + draws))


def reference(judgments: pd.DataFrame, features: Floats, tournaments: int) -> tuple[Floats, float]:
    """Run the loop as it is written down; return R² of each tournament and seconds in choix."""
    random = np.random.default_rng(2)
    place = {
        name: index
        for index, name in enumerate(
            sorted(set(judgments["system_a"]) | set(judgments["system_b"]))
        )
    }
    pairs: list[list[tuple[int, int]]] = [[] for _ in range(QUESTIONS)]
    columns = (judgments[name] for name in ("query_id", "system_a", "system_b", "winner"))
    for question, one, other, winner in zip(*columns, strict=True):
        pair = (place[one], place[other])
        pairs[int(question[1:])].append(pair if winner == "a" else pair[::-1])
    kept = [index for index in range(SYSTEMS) if index not in HELD_OUT]
    held = list(HELD_OUT)
    scores, fitting = [], 0.0
    for number in range(tournaments):
        drawn = random.integers(QUESTIONS, size=QUESTIONS)
        comparisons = [pair for question in drawn for pair in pairs[question]]
        started = time.perf_counter()
        coefficients = choix.ilsr_pairwise(SYSTEMS, comparisons, alpha=ALPHA)
        fitting += time.perf_counter() - started
        rows = features[:, drawn].mean(axis=1)
        forest = RandomForestRegressor(n_estimators=TREES, random_state=number)
        forest.fit(rows[kept], coefficients[kept])
        scores.append(r2_score(coefficients[held], forest.predict(rows[held])))
    return np.array(scores), fitting


def project(judgments: pd.DataFrame, features: Floats, tournaments: int) -> Floats:
    """Do the same with this project, from the table of judgments."""
    held = hold_tournaments(judgments, tournaments, QUESTIONS, seed=3)
    names = tuple(f"f{index}" for index in range(FEATURES))
    answered = np.ones(features.shape[:2], dtype=np.bool_)
    tensor = FeatureTensor("en", held.systems, held.battles.questions, names, features, answered)
    out = [held.systems[index] for index in HELD_OUT]
    return fit_tournaments(tensor, held, out, Recipe(), range(tournaments)).r2


if __name__ == "__main__":
    main()
