"""The fewest verdicts that decide first place: without them another system would be first.

One Newton step approximates a verdict's effect (Broderick, Giordano and Meager, 2020, "An automatic
finite-sample robustness metric"); another fit checks it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import starmap
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit

from arena.computing.codes import Distinct, distinct, row_keys, stable_order, value_flags
from arena.data.judges import PEOPLE, is_person
from arena.data.types import Floats, Indices
from arena.quality.judge_report import DecisiveVerdict, FirstPlace
from arena.rating.battles import Battles
from arena.rating.bradley_terry import DEFAULT_RIDGE, NormalPrior, PenalizedLikelihood, newton
from arena.rating.judgments import points_of_a, side_codes, weights_of
from arena.rating.pairs import Pairs
from arena.statistics.bootstrap import SAME_DECIMALS

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
    keys, n_possible = row_keys(judgments[DECISIVE_COLUMNS], is_sorted=True)
    rows = judgments.iloc[stable_order(keys, n_possible)]
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


class Matches(NamedTuple):
    """N verdicts on P pairs of systems: points of side A (0 to 1) and weights, shape (N,)."""

    pairs: Pairs
    pair: Distinct
    points: Floats
    weights: Floats

    @classmethod
    def of(cls, judgments: pd.DataFrame, systems: Sequence[str]) -> Matches:
        """Read judgments between systems, sorted by name."""
        n_systems = len(systems)
        side_a, side_b, _ = side_codes(judgments, systems)
        pair = distinct(side_a.astype(np.intp) * n_systems + side_b, n_systems**2)
        first, second = np.divmod(pair.values, n_systems)
        weights = weights_of(judgments)
        return cls(
            pairs=Pairs(first, second, n_systems),
            pair=pair,
            points=points_of_a(judgments).to_numpy(np.float64),
            weights=np.ones(len(judgments)) if weights is None else weights,
        )

    def ratings(self, dropped: Sequence[int] | Indices = (), start: Floats | None = None) -> Floats:
        """Fit Bradley-Terry coefficients without some verdicts, shape (S,)."""
        likelihood = self._likelihood(dropped)
        first = likelihood.start() if start is None else start[:, None]
        return newton(likelihood, first)[:, 0]

    def supporters(self, ratings: Floats, leader: int, opponent: int) -> tuple[Indices, int]:
        """Return a lead's verdicts by influence, and how many undo it."""
        contrast = np.zeros((len(ratings), 1))
        contrast[leader] = 1.0
        contrast[opponent] = -1.0
        # The lead falls by contrast' H^-1 g, with g the verdict's part of the gradient.
        direction = self._likelihood().solver(ratings[:, None])(contrast)[:, 0]
        expected = expit(self.pairs.differences(ratings))[self.pair.codes]
        slopes = self.pairs.differences(direction)[self.pair.codes]
        losses = self.weights * (self.points - expected) * slopes
        # Equally influential verdicts stay in their order, whatever the rounding errors.
        losses = losses.round(SAME_DECIMALS)
        ordered = np.argsort(-losses, kind="stable")
        ordered = ordered[losses[ordered] > 0]
        is_gone = np.cumsum(losses[ordered]) > ratings[leader] - ratings[opponent]
        if not is_gone.any():
            return ordered, len(ordered)
        return ordered, int(np.argmax(is_gone)) + 1

    def _likelihood(self, dropped: Sequence[int] | Indices = ()) -> PenalizedLikelihood:
        weights = self.weights.copy()
        weights[np.asarray(dropped, dtype=np.intp)] = 0.0
        return PenalizedLikelihood(
            pairs=self.pairs,
            points=self.pair.sums(weights * self.points)[:, None],
            counts=self.pair.sums(weights)[:, None],
            prior=NormalPrior.ridge(self.pairs.n_systems, DEFAULT_RIDGE),
        )


def _fewest_of_all(matches: Matches, ratings: Floats, order: Indices) -> tuple[Indices, int] | None:
    largest_share = 0.5  # of the verdicts to leave out
    n_opponents = 5
    leader = int(order[0])
    limit = int(len(matches.points) * largest_share)
    fewest: tuple[Indices, int] | None = None
    for opponent in order[1 : 1 + n_opponents]:
        supporters, n_needed = matches.supporters(ratings, leader, int(opponent))
        # A Newton step is rarely off by a factor of two, so a refit would hardly find fewer.
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
    first = successor(enough)
    while first is None:
        if enough >= limit:
            return None
        enough = min(enough + max(1, enough // 10), limit)
        first = successor(enough)
    too_few = 0
    # Bisect between a number that is too small and one that is enough.
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        first_by_fewer = successor(middle)
        if first_by_fewer is None:
            too_few = middle
        else:
            enough = middle
            first = first_by_fewer
    return supporters[:enough], first


def first_places(judgments: pd.DataFrame) -> list[FirstPlace]:
    """Find verdicts that decide first place, by judge and language."""
    judges = judgments["judge"]
    judged = judgments.assign(judge=judges.mask(value_flags(judges, is_person), PEOPLE))
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
