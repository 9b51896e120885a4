"""How few verdicts hold up first place: those whose absence would make another system the first.

Intervals take verdicts for a sample; this is the worst case. The change of a rating without a
verdict is approximated by one step of Newton's (Broderick, Giordano and Meager, 2020, "An automatic
finite-sample robustness metric"), and what it names is left out and the ratings fitted again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit

from arena.data.judge_names import PEOPLE, is_person
from arena.data.types import Floats, Indices
from arena.data.wording import count_of
from arena.diagnostics.verdicts import Finding, Severity
from arena.rating.battles import Battles
from arena.rating.bradley_terry import DEFAULT_RIDGE
from arena.rating.outcomes import points_of_a, weights_of

FRAGILE = 0.005
"""Share of the verdicts; a first place that rests on fewer is worth a warning."""
EQUAL = 1e-6
"""Ratings closer than this are equal, in logits."""
OPPONENTS = 5
"""Systems next to the first one, of which it is seen which could take its place."""
MOST_SYSTEMS = 1_000
MOST_DROPPED = 0.5
"""Share of the verdicts that are left out at most."""
NEWTON_STEPS, TOLERANCE = 50, 1e-9
MOST_JUDGES = 20
LISTED = 50
"""Verdicts that a record of first place lists."""
VERDICT_COLUMNS = ["query_id", "system_a", "system_b", "winner"]


@dataclass(frozen=True)
class FirstPlace:
    """What holds up first place by one judge's verdicts in one language.

    Attributes:
        language: Language code.
        judge: Whose verdicts.
        first: System with the highest rating by the verdicts alone.
        successor: System that would be first without ``dropped``.
        verdicts: All verdicts.
        dropped: The fewest found, most influential first: columns ``query_id, system_a, system_b,
            winner``.
    """

    language: str
    judge: str
    first: str
    successor: str
    verdicts: int
    dropped: pd.DataFrame

    @property
    def share(self) -> float:
        """Share of the verdicts that hold up first place."""
        return len(self.dropped) / self.verdicts

    @property
    def sentence(self) -> str:
        """Say how few verdicts hold up first place."""
        return support_sentence(self.first, self.successor, len(self.dropped), self.verdicts)


def support_sentence(first: str, successor: str, dropped: int, whole: int) -> str:
    """Say how few verdicts hold up first place, without the full stop."""
    return (
        f"by the verdicts alone {first} is first, and without {dropped:,} of "
        f"{count_of(whole, 'verdict')} ({dropped / whole:.2%}) {successor} would be"
    )


def first_place(judgments: pd.DataFrame, language: str, judge: str) -> FirstPlace | None:
    """Find the fewest verdicts without which another system would be first.

    Ratings are Bradley-Terry coefficients with a weak prior, ties half a win for both. For each of
    the systems next to the first one, verdicts are ordered by how much the lead over it loses
    without them; as many are left out as it takes, by refitting.

    Args:
        judgments: Verdicts of one judge in one language.
        language: Language code.
        judge: Its name.

    Returns:
        None with fewer than two systems, more than ``MOST_SYSTEMS``, several first ones, or where
        it would take more than half of the verdicts.
    """
    battles = Battles.from_judgments(judgments).largest_group()
    names = list(battles.systems)
    if not 2 <= len(names) <= MOST_SYSTEMS:
        return None
    rows = judgments[judgments["system_a"].isin(names) & judgments["system_b"].isin(names)]
    rows = rows.sort_values(VERDICT_COLUMNS, kind="stable")  # equal ones are named in one order
    code = {name: place for place, name in enumerate(names)}
    weights = weights_of(rows)
    matches = _Matches(
        side_a=rows["system_a"].map(code).to_numpy(np.intp),
        side_b=rows["system_b"].map(code).to_numpy(np.intp),
        points=points_of_a(rows).to_numpy(np.float64),
        weights=np.ones(len(rows)) if weights is None else weights,
        systems=len(names),
    )
    ratings = matches.ratings()
    order = np.argsort(-ratings, kind="stable")
    leader = int(order[0])
    if ratings[order[1]] > ratings[leader] - EQUAL:
        return None
    best: tuple[Indices, int] | None = None
    for opponent in order[1 : 1 + OPPONENTS]:
        ordered, needed = matches.supporters(ratings, leader, int(opponent))
        most = len(rows) * MOST_DROPPED if best is None else len(best[0]) - 1
        if best is not None and needed > 2 * most:
            continue
        found = _fewest(matches, ordered, needed, leader, ratings, int(most))
        best = best if found is None else found
    if best is None:
        return None
    dropped, successor = best
    return FirstPlace(
        language=language,
        judge=judge,
        first=names[leader],
        successor=names[successor],
        verdicts=len(rows),
        dropped=rows.iloc[dropped][VERDICT_COLUMNS].reset_index(drop=True),
    )


@dataclass(frozen=True)
class _Matches:
    """N verdicts between S systems.

    Attributes:
        side_a: System on side A, shape (N,).
        side_b: System on side B.
        points: Points of side A, 0 to 1.
        weights: How many verdicts each counts for.
        systems: S.
    """

    side_a: Indices
    side_b: Indices
    points: Floats
    weights: Floats
    systems: int

    def ratings(self, dropped: Indices | None = None, start: Floats | None = None) -> Floats:
        """Fit Bradley-Terry coefficients, shape (S,), without some of the verdicts."""
        won, met = self._counts(dropped)
        ratings = np.zeros(self.systems) if start is None else start.copy()
        for _ in range(NEWTON_STEPS):
            information, gradient = self._slopes(ratings, won, met)
            step = np.linalg.solve(information, gradient)
            ratings += step / max(1.0, float(np.abs(step).max()) / 2)
            if np.abs(step).max() < TOLERANCE:
                break
        return ratings

    def supporters(self, ratings: Floats, leader: int, opponent: int) -> tuple[Indices, int]:
        """Order verdicts by how much the leader's lead over a opponent loses without them.

        Returns:
            Their places, those that support the lead alone; and after how many the lead is gone
            by one step of Newton's; all of them if it never is.
        """
        information, _ = self._slopes(ratings, *self._counts(None))
        apart = np.zeros(self.systems)
        apart[[leader, opponent]] = 1.0, -1.0
        pull = np.linalg.solve(information, apart)
        surplus = self.points - expit(ratings[self.side_a] - ratings[self.side_b])
        lost = self.weights * surplus * (pull[self.side_a] - pull[self.side_b])
        ordered = np.argsort(-lost, kind="stable")
        ordered = ordered[lost[ordered] > 0]
        gone = np.cumsum(lost[ordered]) > ratings[leader] - ratings[opponent]
        return ordered, int(np.argmax(gone)) + 1 if gone.any() else len(ordered)

    def _counts(self, dropped: Indices | None) -> tuple[Floats, Floats]:
        """Points of each system against each other one, and verdicts, both of shape (S, S)."""
        kept = np.ones(len(self.points), dtype=np.bool_)
        kept[[] if dropped is None else dropped] = False
        won = np.zeros((self.systems, self.systems))
        met = np.zeros((self.systems, self.systems))
        sides = self.side_a[kept], self.side_b[kept]
        np.add.at(won, sides, (self.weights * self.points)[kept])
        np.add.at(met, sides, self.weights[kept])
        return won, met

    def _slopes(self, ratings: Floats, won: Floats, met: Floats) -> tuple[Floats, Floats]:
        """Information, shape (S, S), and gradient, shape (S,), of the penalized likelihood."""
        expected = expit(ratings[:, None] - ratings[None, :])
        surplus = won - met * expected
        weights = met * expected * (1 - expected)
        weights = weights + weights.T
        information = np.diag(weights.sum(axis=1) + DEFAULT_RIDGE) - weights
        gradient = surplus.sum(axis=1) - surplus.sum(axis=0) - DEFAULT_RIDGE * ratings
        return information, gradient


def _fewest(
    matches: _Matches,
    ordered: Indices,
    needed: int,
    leader: int,
    ratings: Floats,
    most: int,
) -> tuple[Indices, int] | None:
    """Leave out the fewest of some ordered verdicts that take first place; and say who gets it."""

    def successor(number: int) -> int | None:
        found = matches.ratings(ordered[:number], ratings)
        first = int(np.argmax(found))
        return first if found[first] > found[leader] + EQUAL else None

    enough = min(needed, most, len(ordered))
    while successor(enough) is None:
        if enough >= min(most, len(ordered)):
            return None
        enough = min(enough + max(1, enough // 10), most, len(ordered))
    too_few = 0
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        if successor(middle) is None:
            too_few = middle
        else:
            enough = middle
    taken = successor(enough)
    return None if taken is None else (ordered[:enough], taken)


def first_places(judgments: pd.DataFrame) -> list[FirstPlace]:
    """Find what holds up first place by each judge in each language; people count as one judge.

    Of more than ``MOST_JUDGES`` judges, those with the most verdicts are looked at.
    """
    is_by_people = judgments["judge"].map(is_person).astype(bool)
    judged = judgments.assign(judge=judgments["judge"].mask(is_by_people, PEOPLE))
    often = judged["judge"].value_counts().sort_index().sort_values(ascending=False, kind="stable")
    judged = judged[judged["judge"].isin(often.index[:MOST_JUDGES])]
    found = []
    for (language, judge), rows in judged.groupby(["language", "judge"]):
        known = first_place(rows, str(language), str(judge))
        if known is not None:
            found.append(known)
    return found


def first_place_findings(places: list[FirstPlace]) -> Iterator[Finding]:
    """Say how few verdicts hold up first place."""
    for place in places:
        severity: Severity = "warning" if place.share < FRAGILE else "info"
        subject = f"{place.language}, {place.judge}"
        yield Finding(severity, "first place", subject, place.sentence)


def support_table(places: list[FirstPlace]) -> pd.DataFrame:
    """List the verdicts that hold up first place.

    Returns:
        Columns ``language, judge, first, successor`` and ``VERDICT_COLUMNS``, the most influential
        first.
    """
    parts = [
        place.dropped.assign(
            language=place.language,
            judge=place.judge,
            first=place.first,
            successor=place.successor,
        )
        for place in places
    ]
    columns = ["language", "judge", "first", "successor", *VERDICT_COLUMNS]
    if not parts:
        return pd.DataFrame(columns=columns)
    return pd.concat(parts, ignore_index=True)[columns]
