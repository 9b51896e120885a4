"""Scores of a method's ratings by the verdicts on withheld questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real

import numpy as np
import numpy.typing as npt
import pandas as pd
from tasks import Puzzle

Rating = float | tuple[float, float, float]
Floats = npt.NDArray[np.float64]
NORMAL_90 = 1.645


class MethodError(Exception):
    """A method failed, or returned what are no ratings."""


def checked_ratings(ratings: object, systems: Sequence[str], at: str) -> dict[str, Rating]:
    """Return a method's ratings, each a number or three.

    Raises:
        MethodError: If they are none of these systems'.
    """
    expected = "return a number, or (share, low, high), for each system"
    if not isinstance(ratings, Mapping | pd.Series):
        raise MethodError(f"returned {type(ratings).__name__} on {at}: {expected}")
    checked: dict[str, Rating] = dict(ratings.items())
    for system, rating in checked.items():
        if system not in systems:
            names = ", ".join(systems)
            raise MethodError(f"rated {system!r} on {at}; the systems are {names}")
        numbers = rating if isinstance(rating, tuple) else (rating,)
        are_numbers = all(isinstance(n, Real) and np.isfinite(float(n)) for n in numbers)
        if len(numbers) not in (1, 3) or not are_numbers:
            raise MethodError(f"rated {system} as {rating!r} on {at}: {expected}")
    return checked


def scores_of(ratings: Mapping[str, Rating], puzzle: Puzzle) -> dict[str, float]:
    """Compare ratings with the truth.

    Args:
        ratings: A number for each system, higher is better; or its expected share of points against
            the other systems with a 90% interval: ``(share, low, high)``. A system that is left out
            has the mean of the others.
        puzzle: Systems and truth.

    Returns:
        ``tau``: Kendall's tau over the pairs that the truth does not tie; ``soft``: soft pairwise
        accuracy (Thompson et al., 2024), the method's order taken as certain; ``hidden_tau`` and
        ``hidden_soft``: the same over pairs with a hidden system; ``holds``: the share of intervals
        from which the truth differs by at most the joint 90% error; ``width`` of the intervals.
        NaN where there is nothing to compare.
    """
    table = _table(ratings, puzzle.systems)
    first, second = np.triu_indices(len(table), 1)
    is_hidden = table.index.isin(puzzle.hidden)
    has_hidden = is_hidden[first] | is_hidden[second]

    rating = table["rating"].to_numpy()
    order = np.sign(rating[first] - rating[second])
    truth = puzzle.truth.to_numpy()
    true_order = np.sign(truth[first] - truth[second])
    probability = _probability_of_first(puzzle.resampled_truth.to_numpy(), first, second)
    agreement = 1 - np.abs((order + 1) / 2 - probability)

    is_ordered = true_order != 0
    concordance = order * true_order
    return {
        "tau": _mean(concordance[is_ordered]),
        "soft": _mean(agreement),
        "hidden_tau": _mean(concordance[is_ordered & has_hidden]),
        "hidden_soft": _mean(agreement[has_hidden]),
        "holds": _share_that_holds(table, puzzle),
        "width": float((table["high"] - table["low"]).mean()),
    }


def _table(ratings: Mapping[str, Rating], systems: list[str]) -> pd.DataFrame:
    rows = []
    for system in systems:
        rating = ratings.get(system, np.nan)
        rows.append(rating if isinstance(rating, tuple) else (rating, np.nan, np.nan))
    table = pd.DataFrame(rows, index=systems, columns=["rating", "low", "high"], dtype=float)
    mean = table["rating"].mean()
    return table.assign(rating=table["rating"].fillna(0.0 if np.isnan(mean) else mean))


def _probability_of_first(
    resampled: Floats, first: npt.NDArray[np.intp], second: npt.NDArray[np.intp]
) -> Floats:
    difference = resampled[:, first] - resampled[:, second]
    return np.asarray((np.sign(difference) + 1).mean(axis=0) / 2)


def _share_that_holds(table: pd.DataFrame, puzzle: Puzzle) -> float:
    has_interval = table["low"].notna().to_numpy()
    error = (table["high"] - table["low"]).to_numpy() / (2 * NORMAL_90)
    joint_error = np.hypot(error, puzzle.resampled_truth.std(axis=0).to_numpy())
    difference = (table["rating"] - puzzle.truth).abs().to_numpy()
    return _mean((difference <= NORMAL_90 * joint_error)[has_interval])


def _mean(values: npt.NDArray[np.generic]) -> float:
    return float(values.mean()) if len(values) else np.nan
