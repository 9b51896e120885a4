"""How close surrogates come to a true ranking that is known: simulated arenas.

    python benchmarks/known_truth.py [--systems 12,30] [--seeds 10] [--surrogates M1,M2] [--jobs 2]

Prints Kendall tau with the truth of the arena's own ratings (whose distance from 1 is its sampling
noise), and, for each surrogate, of ratings by it and the verdicts together, of its own of all
systems it was trained on, and of systems it has not seen (leave-systems-out, five folds), with the
paired difference of the first from the arena and its 95% interval over seeds. A seed draws the
systems' error rates, answers and judgments.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from joblib import Parallel, delayed
from mixed_systems import mix_systems
from threadpoolctl import threadpool_limits

from arena.simulation import Simulation, simulate
from arena.statistics.rank_agreement import kendall_tau
from features import parse_features
from surrogate.learning.cross_fitting import Repeats, leave_systems_out
from surrogate.learning.languages import LanguageData, TournamentSettings
from surrogate.learning.names import find_surrogate
from surrogate.learning.posterior.ratings import (
    expected_ratings,
    posterior_ratings,
)
from surrogate.learning.training import training_ratings
from surrogate.validation.study import Study

Floats = npt.NDArray[np.float64]

SURROGATES = (
    "random-forest",
    "linear",
    "gaussian-process",
)
RESAMPLES = 2000
INTERVAL = (2.5, 97.5)


def taus_of_seed(systems: int, surrogates: Sequence[str], seed: int) -> Floats:
    """Return taus with the truth in the macro over languages, shape (1 + 3 x surrogates,)."""
    with threadpool_limits(1):
        simulation = simulate(mix_systems(systems, seed), seed=seed)
        data = Study.of(
            simulation.arena,
            parse_features("deterministic"),
            tournaments=TournamentSettings(tournaments=50, seed=seed),
        ).languages
        rated = [[item.truth for item in data]]
        for name in surrogates:
            rated += _ratings(data, name, seed)
    return np.array([_macro_tau(simulation, data, ratings) for ratings in rated])


def _ratings(data: list[LanguageData], name: str, seed: int) -> list[list[Floats]]:
    """Rate by surrogate and verdicts together, and by the surrogate of systems seen and unseen."""
    X = pd.concat([item.rows() for item in data])
    known = training_ratings({item.language: item.tournaments for item in data})
    surrogate = find_surrogate(name, seed=seed).fit(X, known)
    unseen = leave_systems_out(data, find_surrogate(name), Repeats(1, seed))
    posteriors = posterior_ratings(surrogate, known, pd.concat(map(expected_ratings, unseen)))
    together = {
        language: dict(zip(p.systems, p.ratings, strict=True)) for language, p in posteriors.items()
    }
    predicted = surrogate.predict(X).set_index(["language", "system"])["rating"]
    return [
        [np.array([together[item.language][system] for system in item.systems]) for item in data],
        [predicted[item.language].loc[list(item.systems)].to_numpy() for item in data],
        [item.predicted[0] for item in unseen],
    ]


def _macro_tau(
    simulation: Simulation, data: Sequence[LanguageData], ratings: Sequence[Floats]
) -> float:
    truth = simulation.truth.set_index(["language", "system"])["quality"]
    taus = []
    for item, rated in zip(data, ratings, strict=True):
        true = truth[item.language].loc[list(item.systems)].to_numpy()
        taus.append(kendall_tau(rated, true))
    return float(np.mean(taus))


def report(systems: int, surrogates: Sequence[str], taus: Floats) -> None:
    """Print the table of one size; ``taus`` has shape (seeds, 1 + 3 x surrogates)."""
    random = np.random.default_rng(0)
    drawn = random.integers(len(taus), size=(RESAMPLES, len(taus)))
    print(f"\n{systems} systems, {len(taus)} seeds: the arena {taus[:, 0].mean():.3f}")
    print(
        f"  {'tau with the truth':20}{'both':>7}{'seen':>8}{'unseen':>8}   "
        "both less arena, 95% of seeds"
    )
    for place, name in enumerate(surrogates):
        both, seen, unseen = taus[:, 1 + 3 * place : 4 + 3 * place].T
        behind = both - taus[:, 0]
        low, high = np.percentile(behind[drawn].mean(axis=1), INTERVAL)
        print(
            f"  {name:20}{both.mean():7.3f}{seen.mean():8.3f}{unseen.mean():8.3f}   "
            f"{behind.mean():+.3f} [{low:+.3f}, {high:+.3f}]"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--systems", default="12,30", help="comma-separated numbers of systems")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--surrogates", default=",".join(SURROGATES))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    surrogates = options.surrogates.split(",")
    for systems in map(int, options.systems.split(",")):
        jobs = [delayed(taus_of_seed)(systems, surrogates, seed) for seed in range(options.seeds)]
        report(systems, surrogates, np.array(Parallel(options.jobs)(jobs)))


if __name__ == "__main__":
    main()
