"""How close surrogates come to a true ranking that is known: simulated arenas.

    python benchmarks/known_truth.py [--systems 12,30] [--seeds 10] [--models M1,M2] [--jobs 2]

Prints Kendall tau with the truth of the arena's own ratings (whose distance from 1 is its sampling
noise), and, for each surrogate, of ratings of all systems it was trained on and of ratings of
systems it has not seen (leave-systems-out, five folds), with the paired difference from the arena
and its 95% interval over seeds. A seed draws the systems' error rates, answers and judgments.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

sys.path[0] = str(Path(__file__).parents[1])  # beside this file stands one named features

from surrogate.validation.tasks import Trial  # noqa: E402

from arena.simulation import Simulation, mix_systems, simulate  # noqa: E402
from arena.statistics.rank_agreement import kendall_tau  # noqa: E402
from features import parse_features  # noqa: E402
from surrogate.learning.cross_fitting import (
    leave_systems_out,  # noqa: E402
    train_and_rate,  # noqa: E402
)
from surrogate.learning.names import find_surrogate  # noqa: E402
from surrogate.validation import TournamentSettings  # noqa: E402
from surrogate.validation.protocols import whole_field  # noqa: E402
from surrogate.validation.study import LanguageArena, arrange  # noqa: E402

Floats = npt.NDArray[np.float64]

MODELS = (
    "random-forest",
    "extra-trees",
    "ridge",
    "relative-ridge",
    "pairwise-logistic",
    "selected",
)
RESAMPLES = 2000
INTERVAL = (2.5, 97.5)


def taus_of_seed(systems: int, models: Sequence[str], seed: int) -> Floats:
    """Return taus with the truth in the macro over languages, shape (1 + 2 x models,)."""
    with threadpool_limits(1):
        simulation = simulate(mix_systems(systems, seed), seed=seed)
        arenas = arrange(
            simulation.arena,
            parse_features("deterministic"),
            tournaments=TournamentSettings(seed=seed),
        ).arenas
        rated = [[arena.truth for arena in arenas]]
        for model in models:
            rated += [_seen(arenas, model, seed), _unseen(arenas, model, seed)]
    return np.array([_macro_tau(simulation, arenas, ratings) for ratings in rated])


def _seen(arenas: list[LanguageArena], model: str, seed: int) -> list[Floats]:
    fields = [whole_field(arena, (), 0) for arena in arenas]
    trials = [
        Trial(arena.judged, field.answers) for arena, field in zip(arenas, fields, strict=True)
    ]
    done = train_and_rate(find_surrogate(model), fields, trials, seed)
    return [item.values for item in done]


def _unseen(arenas: list[LanguageArena], model: str, seed: int) -> list[Floats]:
    done = leave_systems_out(arenas, find_surrogate(model), 1, seed)
    return [item.predicted[0] for item in done]


def _macro_tau(
    simulation: Simulation, arenas: Sequence[LanguageArena], ratings: Sequence[Floats]
) -> float:
    truth = simulation.truth.set_index(["language", "system"])["quality"]
    taus = []
    for arena, rated in zip(arenas, ratings, strict=True):
        true = truth[arena.language].loc[list(arena.systems)].to_numpy()
        taus.append(kendall_tau(rated, true))
    return float(np.mean(taus))


def report(systems: int, models: Sequence[str], taus: Floats) -> None:
    """Print the table of one size; ``taus`` has shape (seeds, 1 + 2 x models)."""
    random = np.random.default_rng(0)
    drawn = random.integers(len(taus), size=(RESAMPLES, len(taus)))
    print(f"\n{systems} systems, {len(taus)} seeds: the arena {taus[:, 0].mean():.3f}")
    print(f"  {'tau with the truth':20}{'seen':>7}{'unseen':>9}   unseen less arena, 95% of seeds")
    for place, model in enumerate(models):
        seen, unseen = taus[:, 1 + 2 * place], taus[:, 2 + 2 * place]
        behind = unseen - taus[:, 0]
        low, high = np.percentile(behind[drawn].mean(axis=1), INTERVAL)
        print(
            f"  {model:20}{seen.mean():7.3f}{unseen.mean():9.3f}   "
            f"{behind.mean():+.3f} [{low:+.3f}, {high:+.3f}]"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--systems", default="12,30", help="comma-separated numbers of systems")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    models = options.models.split(",")
    for systems in map(int, options.systems.split(",")):
        jobs = [delayed(taus_of_seed)(systems, models, seed) for seed in range(options.seeds)]
        report(systems, models, np.array(Parallel(options.jobs)(jobs)))


if __name__ == "__main__":
    main()
