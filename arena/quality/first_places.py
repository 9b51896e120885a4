"""The fewest verdicts that decide first place: without them another system would be first.

One Newton step approximates a verdict's effect (Broderick, Giordano and Meager, 2020, "An automatic
finite-sample robustness metric"); another fit checks it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import starmap

import numpy as np
import pandas as pd
from scipy.special import expit

from arena.data.judges import PEOPLE, is_person
from arena.data.types import Floats, Indices
from arena.quality.judge_report import (
    DecisiveVerdict,
    FirstPlace,
)
from arena.rating.battles import Battles
from arena.rating.judgment_columns import points_of_a, weights_of
from arena.rating.penalized_likelihood import DEFAULT_RIDGE

EQUAL = 1e-6
"""Ratings closer than this are equal, in logits."""
MOST_SYSTEMS = 1_000
MOST_JUDGES = 20
LISTED = 50
"""Number of verdicts that a record of first place lists."""
DECISIVE_COLUMNS = ["query_id", "system_a", "system_b", "winner"]


def first_place(judgments: pd.DataFrame, language: str, judge: str) -> FirstPlace | None:
    """Find the fewest verdicts without which another system would be first.

    None if they are more than half, or with too few, too many or unconnected systems, or a shared
    first place.
    """
    battles = Battles.from_judgments(judgments)
    systems = list(battles.largest_group().systems)
    if not 2 <= len(systems) <= MOST_SYSTEMS or len(systems) < len(battles.systems):
        return None
    # Equally influential verdicts are named in one order, whatever the order of the rows.
    rows = judgments.sort_values(DECISIVE_COLUMNS, kind="stable")
    matches = Matches.of(rows, systems)
    ratings = matches.ratings()
    order = np.argsort(-ratings, kind="stable")
    leader = int(order[0])
    if ratings[order[1]] > ratings[leader] - EQUAL:
        return None
    fewest = _fewest_of_all(matches, ratings, order)
    if fewest is None:
        return None
    dropped, successor = fewest
    decisive = rows.iloc[dropped][DECISIVE_COLUMNS]
    return FirstPlace(
        language=language,
        judge=judge,
        first=systems[leader],
        successor=systems[successor],
        verdicts=len(rows),
        dropped=len(dropped),
        decisive=tuple(starmap(DecisiveVerdict, decisive.astype(str).to_numpy())),
    )


@dataclass(frozen=True)
class Matches:
    """N verdicts between S systems: sides, points of side A (0 to 1) and weights, shape (N,)."""

    side_a: Indices
    side_b: Indices
    points: Floats
    weights: Floats
    n_systems: int

    @classmethod
    def of(cls, judgments: pd.DataFrame, systems: Sequence[str]) -> Matches:
        """Read judgments between some systems."""
        code = {name: index for index, name in enumerate(systems)}
        weights = weights_of(judgments)
        return cls(
            side_a=judgments["system_a"].map(code).to_numpy(np.intp),
            side_b=judgments["system_b"].map(code).to_numpy(np.intp),
            points=points_of_a(judgments).to_numpy(np.float64),
            weights=np.ones(len(judgments)) if weights is None else weights,
            n_systems=len(systems),
        )

    def ratings(self, dropped: Sequence[int] | Indices = (), start: Floats | None = None) -> Floats:
        """Fit Bradley-Terry coefficients without some verdicts, shape (S,)."""
        won, met = self._counts(dropped)
        ratings = np.zeros(self.n_systems) if start is None else start.copy()
        for _ in range(50):
            information, gradient = self._information_and_gradient(ratings, won, met)
            step = np.linalg.solve(information, gradient)
            length = float(np.abs(step).max())
            # Longer steps of Newton's method may overshoot.
            ratings += step / max(1.0, length / 2)
            if length < 1e-9:
                break
        return ratings

    def supporters(self, ratings: Floats, leader: int, opponent: int) -> tuple[Indices, int]:
        """Return a lead's verdicts by influence, and how many undo it."""
        won, met = self._counts()
        information, _ = self._information_and_gradient(ratings, won, met)
        contrast = np.zeros(self.n_systems)
        contrast[leader] = 1.0
        contrast[opponent] = -1.0
        # The lead falls by contrast' H^-1 g, with g the verdict's part of the gradient.
        direction = np.linalg.solve(information, contrast)
        residuals = self.points - expit(ratings[self.side_a] - ratings[self.side_b])
        losses = self.weights * residuals * (direction[self.side_a] - direction[self.side_b])
        ordered = np.argsort(-losses, kind="stable")
        ordered = ordered[losses[ordered] > 0]
        is_gone = np.cumsum(losses[ordered]) > ratings[leader] - ratings[opponent]
        if not is_gone.any():
            return ordered, len(ordered)
        return ordered, int(np.argmax(is_gone)) + 1

    def _counts(self, dropped: Sequence[int] | Indices = ()) -> tuple[Floats, Floats]:
        is_counted = np.ones(len(self.points), dtype=np.bool_)
        is_counted[np.asarray(dropped, dtype=np.intp)] = False
        sides = self.side_a[is_counted], self.side_b[is_counted]
        won = np.zeros((self.n_systems, self.n_systems))
        met = np.zeros((self.n_systems, self.n_systems))
        np.add.at(won, sides, (self.weights * self.points)[is_counted])
        np.add.at(met, sides, self.weights[is_counted])
        return won, met

    def _information_and_gradient(
        self, ratings: Floats, won: Floats, met: Floats
    ) -> tuple[Floats, Floats]:
        expected = expit(ratings[:, None] - ratings[None, :])
        residuals = won - met * expected
        variances = met * expected * (1 - expected)
        variances = variances + variances.T
        information = np.diag(variances.sum(axis=1) + DEFAULT_RIDGE) - variances
        gradient = residuals.sum(axis=1) - residuals.sum(axis=0) - DEFAULT_RIDGE * ratings
        return information, gradient


def _fewest_of_all(matches: Matches, ratings: Floats, order: Indices) -> tuple[Indices, int] | None:
    largest_share = 0.5  # of the verdicts to leave out
    n_opponents = 5
    leader = int(order[0])
    limit = int(len(matches.points) * largest_share)
    fewest: tuple[Indices, int] | None = None
    for opponent in order[1 : 1 + n_opponents]:
        supporters, n_needed = matches.supporters(ratings, leader, int(opponent))
        # The Newton step is seldom wrong by a factor of two: do not fit again in vain.
        if fewest is not None and n_needed > 2 * limit:
            continue
        fewer = _fewest(matches, supporters, n_needed, leader, ratings, limit)
        if fewer is not None:
            fewest = fewer
            limit = len(fewer[0]) - 1
    return fewest


def _fewest(
    matches: Matches,
    supporters: Indices,
    n_needed: int,
    leader: int,
    ratings: Floats,
    limit: int,
) -> tuple[Indices, int] | None:
    """Return the fewest ``supporters`` to leave out, and who is first then."""
    limit = min(limit, len(supporters))

    def successor(n_dropped: int) -> int | None:
        refitted = matches.ratings(supporters[:n_dropped], ratings)
        first = int(np.argmax(refitted))
        if refitted[first] > refitted[leader] + EQUAL:
            return first
        return None

    enough = min(n_needed, limit)
    while successor(enough) is None:
        if enough >= limit:
            return None
        enough = min(enough + max(1, enough // 10), limit)
    too_few = 0
    # Bisect between a number that is too small and one that is enough.
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        if successor(middle) is None:
            too_few = middle
        else:
            enough = middle
    taken = successor(enough)
    if taken is None:
        return None
    return supporters[:enough], taken


def first_places(judgments: pd.DataFrame) -> list[FirstPlace]:
    """Find verdicts that decide first place, by judge and language."""
    is_by_people = judgments["judge"].map(is_person).astype(bool)
    judged = judgments.assign(judge=judgments["judge"].mask(is_by_people, PEOPLE))
    n_verdicts = judged["judge"].value_counts()
    # Sorted by name first, so that ties in the number of verdicts are always broken the same way.
    n_verdicts = n_verdicts.sort_index().sort_values(ascending=False, kind="stable")
    judged = judged[judged["judge"].isin(n_verdicts.index[:MOST_JUDGES])]
    places = []
    for (language, judge), rows in judged.groupby(["language", "judge"]):
        place = first_place(rows, str(language), str(judge))
        if place is not None:
            places.append(place)
    return places
