"""How few verdicts decide who is ahead: those whose removal swaps two neighbors in the ranking."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import expit

from arena.rating.battles import points_of_a
from arena.rating.bradley_terry import DEFAULT_RIDGE, fit_bradley_terry

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]

INFLUENCE_COLUMNS = [
    *("language", "judge", "system", "next_system", "difference", "judgments", "fewest", "share"),
]
MOST_SHARE = 0.5
"""Of the verdicts that are left out at most, looking for a swap."""


@dataclass(frozen=True)
class _Battles:
    """N verdicts on S systems.

    Attributes:
        side_a: System on side A, shape (N,).
        side_b: System on side B, shape (N,).
        points: Of side A, shape (N,).
        systems: Names.
    """

    side_a: Integers
    side_b: Integers
    points: Floats
    systems: list[str]

    def fit(self, kept: npt.NDArray[np.bool_] | None = None) -> Floats:
        """Bradley-Terry coefficients with the usual weak prior, shape (S,)."""
        rows = slice(None) if kept is None else kept
        a, b, points = self.side_a[rows], self.side_b[rows], self.points[rows]
        size = len(self.systems)
        won = np.bincount(a * size + b, points, size * size)
        met = np.bincount(a * size + b, minlength=size * size)
        cells = np.flatnonzero(met)
        first, second = np.divmod(cells, size)
        fit = fit_bradley_terry(won[cells], met[cells], first, second, size)
        return np.asarray(fit.coefficients[0])


def fewest_to_swap(judgments: pd.DataFrame) -> pd.DataFrame:
    """Find, for every two neighbors in a ranking, few verdicts without which they swap.

    What leaving a verdict out does to the difference of two Bradley-Terry coefficients is
    approximated by its score and the inverse information (Broderick, Giordano and Meager, 2020,
    "An automatic finite-sample robustness metric"). Verdicts are left out in the order of that,
    and the systems are rated again without them; by halving, the number is found from which they
    have swapped. It does swap them; other verdicts, and fewer, may.

    Args:
        judgments: Columns ``language, system_a, system_b, winner, judge``; soft ones count by
            their shares (see ``arena.rating.battles.points_of_a``).

    Returns:
        ``INFLUENCE_COLUMNS``, by language, judge and rank: by how many logits a system is ahead of
        the next, the judgments there are, the ``fewest`` found that swap the two, and their share;
        missing where half of them do not.
    """
    rows: list[list[object]] = []
    for (language, judge), part in judgments.groupby(["language", "judge"], sort=True):
        battles = _battles(part)
        ratings = battles.fit()
        order = np.argsort(-ratings, kind="stable")
        for ahead, behind in pairwise(order):
            fewest = _fewest(battles, ratings, int(ahead), int(behind))
            names = (battles.systems[ahead], battles.systems[behind])
            apart = float(ratings[ahead] - ratings[behind])
            share = math.nan if fewest is None else fewest / len(part)
            rows.append([language, judge, *names, apart, len(part), fewest, share])
    return pd.DataFrame(rows, columns=INFLUENCE_COLUMNS).astype({"fewest": "Int64"})


def _battles(judgments: pd.DataFrame) -> _Battles:
    both = pd.concat([judgments["system_a"], judgments["system_b"]])
    codes, names = pd.factorize(both, sort=True)
    side_a, side_b = np.split(np.asarray(codes, dtype=np.intp), 2)
    points = points_of_a(judgments).to_numpy(np.float64)
    return _Battles(side_a, side_b, points, [str(name) for name in names])


def _fewest(battles: _Battles, ratings: Floats, ahead: int, behind: int) -> int | None:
    """Number of verdicts without which two neighbors swap; None where half are not enough."""
    held_up = _influence(battles, ratings, ahead, behind)
    order = np.argsort(-held_up, kind="stable")

    def swaps(count: int) -> bool:
        kept = np.ones(len(order), dtype=np.bool_)
        kept[order[:count]] = False
        again = battles.fit(kept)
        return bool(again[ahead] < again[behind])

    few, many = 0, min(int(MOST_SHARE * len(order)), int((held_up > 0).sum()))
    if many == 0 or not swaps(many):
        return None
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if swaps(middle) else (middle, many)
    return many


def _influence(battles: _Battles, ratings: Floats, ahead: int, behind: int) -> Floats:
    """By how much each verdict holds up a difference, to the first order, shape (N,)."""
    size = len(ratings)
    expected = expit(ratings[battles.side_a] - ratings[battles.side_b])
    weights = expected * (1 - expected)
    a, b = battles.side_a, battles.side_b
    information = DEFAULT_RIDGE * np.eye(size)
    np.add.at(information, (a, a), weights)
    np.add.at(information, (b, b), weights)
    np.add.at(information, (a, b), -weights)
    np.add.at(information, (b, a), -weights)
    contrast = np.zeros(size)
    contrast[ahead], contrast[behind] = 1.0, -1.0
    inverse = np.linalg.inv(information)
    direction = inverse @ contrast
    leverage = weights * (inverse[a, a] + inverse[b, b] - 2.0 * inverse[a, b])
    along = direction[a] - direction[b]
    return np.asarray((battles.points - expected) * along / (1.0 - leverage))
