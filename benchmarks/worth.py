"""What ratings without verdicts are worth in verdicts: the claim, held against replay.

A board says of each system how many verdicts of its own would rate it as well as its answers do.
By replay: the judged questions are split in half, systems are rated by the verdicts on some
questions of one half, and the mean squared distance from the ratings by the other half, less the
noise of these, is the error of so many verdicts. Where it falls to the error of surrogates that
had not seen the system is what their ratings are worth. Means over splits and languages.

Run:  python benchmarks/worth.py ARENA FEATURES.parquet [--judge J] [--splits 20]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena import read_arena
from arena.data.seeds import generator
from surrogate.board.tables import read_feature_table
from surrogate.learning.cross_fitting import Repeats, leave_systems_out
from surrogate.learning.languages import LanguageData, TournamentSettings
from surrogate.learning.names import find_surrogate
from surrogate.learning.outcomes import Outcome
from surrogate.learning.posterior.observations import Observation, observe
from surrogate.learning.posterior.worth import worth_of
from surrogate.learning.training import training_ratings
from surrogate.validation.study import Study

Floats = npt.NDArray[np.float64]

QUESTIONS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)


def seen(data: Sequence[LanguageData]) -> dict[str, Observation]:
    """Rate by verdicts, languages together."""
    return observe(training_ratings({item.language: item.tournaments for item in data}))


def distance(one: Observation, other: Observation) -> float:
    """Mean squared distance of the systems both have, less the noise of the other."""
    names = [name for name in other.systems if name in one.systems]
    mine, true = one.among(names), other.among(names)
    place = [mine.systems.index(name) for name in true.systems]
    away = mine.ratings[place] - true.ratings
    return float(((away - away.mean()) ** 2).mean() - true.sampling_variances.mean())


def errors_of_verdicts(data: Sequence[LanguageData], splits: int) -> pd.DataFrame:
    """Error of ratings by few questions; columns ``verdicts`` (a system), ``error``."""
    rows = []
    for split in range(splits):
        orders = {}
        for item in data:
            questions = sorted(item.judgments["query_id"].unique())
            random = generator(split, "worth", item.language)
            orders[item.language] = [questions[at] for at in random.permutation(len(questions))]
        halves = {
            name: (order[: len(order) // 2], order[len(order) // 2 :])
            for name, order in orders.items()
        }
        truth = seen([item.judged_on(halves[item.language][1]) for item in data])
        for many in QUESTIONS:
            if many > min(len(half) for half, _ in halves.values()):
                break
            few = [item.judged_on(halves[item.language][0][:many]) for item in data]
            rated = seen(few)
            rows.append(
                {
                    "questions": many,
                    "verdicts": np.mean(
                        [2 * len(item.judgments) / len(item.systems) for item in few]
                    ),
                    "error": np.mean([distance(rated[name], truth[name]) for name in rated]),
                }
            )
    return pd.DataFrame(rows).groupby("questions").mean()


def claimed(unseen: Sequence[Outcome], data: Sequence[LanguageData]) -> tuple[float, float]:
    """Return the mean squared error of unseen ratings, and the verdicts claimed for it."""
    known = training_ratings({item.language: item.tournaments for item in data})
    worth = worth_of(unseen, known)
    if worth is None:
        raise SystemExit("the surrogate's errors are no larger than the noise of verdicts")
    units = [
        np.ones(1) if item.standard_errors is None else item.standard_errors.ravel() ** 2
        for item in unseen
    ]
    error = worth.error_variance * float(np.nanmean(np.concatenate(units)))
    return error, worth.verdict_variance / error


def verdicts_for(found: pd.DataFrame, error: float) -> tuple[float, str]:
    """Return how many verdicts have an error; beyond those replayed, as one over their number."""
    falling = np.minimum.accumulate(found["error"].to_numpy())[::-1]
    many = found["verdicts"].to_numpy()[::-1]
    if error < falling[0]:
        last = slice(0, len(many) // 3)
        return float((falling * many)[last].mean() / error), " (beyond what was replayed, as 1/n)"
    logs = np.interp(np.log(error), np.log(np.maximum(falling, 1e-9)), np.log(many))
    return float(np.exp(logs)), ""


def read_study(
    description: str | None, **numbers: int
) -> tuple[Sequence[LanguageData], argparse.Namespace]:
    """Read an arena and its features as the command line has them, and further numbers."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("arena", type=Path)
    parser.add_argument("features", type=Path)
    parser.add_argument("--judge")
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    study = Study.of(
        read_arena(options.arena),
        feature_table=read_feature_table(options.features),
        judge=options.judge,
        tournaments=TournamentSettings(tournaments=2),
    )
    return study.languages, options


def main() -> None:
    data, arguments = read_study(__doc__, splits=20)
    unseen = leave_systems_out(data, find_surrogate(), Repeats(1, 0))
    error, verdicts = claimed(unseen, data)
    found = errors_of_verdicts(data, arguments.splits)
    print(f"{arguments.arena.name}: error of unseen ratings {error:.3f}, claimed {verdicts:.1f}")
    print(found.round(4).to_string())
    replayed, how = verdicts_for(found, error)
    print(f"by replay {replayed:.1f}{how}: the claim is {verdicts / replayed - 1:+.0%}")


if __name__ == "__main__":
    main()
