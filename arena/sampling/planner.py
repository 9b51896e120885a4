"""Planning which items to judge next, an item being a pair of systems on a question."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from arena.sampling.belief import Belief, Pairs, believe
from arena.sampling.usefulness import after_battle, doubts, trusted_information, usefulness

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]
Booleans = npt.NDArray[np.bool_]

ABSENT, OPEN, PLANNED, JUDGED, FAILED = range(5)

SYSTEMS_A_ROUND = 0.4
"""Share of the systems that meet before the usefulness of battles is computed anew."""
CANDIDATES = 8
TIE_BREAK = 1e-4


class Planner:
    """Plans battles over an arena of Q questions and P pairs.

    What it plans next depends on the outcomes and on what is planned, not on their order.
    """

    def __init__(
        self, pairs: Pairs, available: Booleans, random: np.random.Generator, ridge: float
    ) -> None:
        """Plan from nothing.

        Args:
            pairs: The pairs.
            available: Which items can be judged, shape (Q, P).
            random: Breaks ties.
            ridge: Precision of the prior on strengths, above 0.
        """
        self.pairs = pairs
        self.state = np.where(available, OPEN, ABSENT).astype(np.int8)
        self.points = np.zeros(len(pairs.first))
        self.battles = np.zeros(len(pairs.first))
        self.ridge = ridge
        self._pair_order = 1.0 + TIE_BREAK * random.random(len(pairs.first))
        self._question_order = 0.5 * random.random(available.shape)

    def record(self, question: Integers, pair: Integers, points: Floats, battles: Floats) -> None:
        """Record judged items.

        Args:
            question: Their questions, shape (N,).
            pair: Their pairs, shape (N,).
            points: Points of each pair's first system, shape (N,).
            battles: Number of battles, shape (N,).
        """
        np.add.at(self.points, pair, points)
        np.add.at(self.battles, pair, battles)
        self.state[question, pair] = JUDGED

    def plan(self, n: int) -> tuple[Integers, Integers]:
        """Plan items to judge next and take them as planned.

        Returns:
            Questions and pairs, of shape (N,) with N at most ``n``: fewer where fewer are open.
        """
        draft = _Draft(self.state, self.pairs, self._question_order)
        covariance, doubt, information, trusted = self._weights()
        while len(draft.items) < n and draft.left.any():
            worth = usefulness(self.pairs, covariance, doubt, information, trusted)
            worth = np.where(draft.left > 0, worth * self._pair_order, -1.0)
            for pair in self._disjoint(worth)[: n - len(draft.items)]:
                one, other = int(self.pairs.first[pair]), int(self.pairs.second[pair])
                draft.take(pair)
                covariance = after_battle(covariance, one, other, float(information[pair]))
        questions, pairs = np.array(draft.items, dtype=np.intp).reshape(-1, 2).T
        self.state[questions, pairs] = PLANNED
        return questions, pairs

    def believe(self) -> Belief:
        """Return what the outcomes so far say about the strengths."""
        return believe(self.pairs, self.points, self.battles, self.ridge)

    def _weights(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the covariance of strengths, and each pair's doubt and two informations."""
        pairs = self.pairs
        belief = self.believe()
        planned = (self.state == PLANNED).sum(axis=0)
        possible = (self.state == OPEN).sum(axis=0)
        now = belief.covariance(pairs, self.battles + planned)
        whole = belief.covariance(pairs, self.battles + planned + possible)
        done = np.isin(self.state, (PLANNED, JUDGED)).sum()
        share = float(done / max(done + possible.sum(), 1))
        trusted = trusted_information(belief.information, share)
        return now, doubts(pairs, belief, now, whole), belief.information, trusted

    def _disjoint(self, worth: Floats) -> list[int]:
        """Take the most useful pairs, no system twice."""
        size = max(1, int(SYSTEMS_A_ROUND * self.pairs.n_systems / 2))
        chosen: list[int] = []
        busy: set[int] = set()
        for pair in np.argsort(-worth, kind="stable")[: CANDIDATES * size]:
            met = {int(self.pairs.first[pair]), int(self.pairs.second[pair])}
            if worth[pair] >= 0 and not met & busy and len(chosen) < size:
                chosen.append(int(pair))
                busy |= met
        return chosen


class _Draft:
    """Items taken in one plan; each pair takes the question its systems met on least.

    The systems' answers to a question are the same in all their battles there, so battles on one
    question are correlated: even loads tell the most.
    """

    def __init__(self, state: npt.NDArray[np.int8], pairs: Pairs, order: Floats) -> None:
        self.items: list[tuple[int, int]] = []
        self.left = (state == OPEN).sum(axis=0)
        self._open = state == OPEN
        self._pairs = pairs
        self._order = order
        self._load = _loads(np.isin(state, (PLANNED, JUDGED)), pairs)

    def take(self, pair: int) -> None:
        one, other = self._pairs.first[pair], self._pairs.second[pair]
        load = self._load[:, one] + self._load[:, other] + self._order[:, pair]
        question = int(np.argmin(np.where(self._open[:, pair], load, np.inf)))
        self.items.append((question, pair))
        self._open[question, pair] = False
        self._load[question, [one, other]] += 1.0
        self.left[pair] -= 1


def _loads(taken: Booleans, pairs: Pairs) -> Floats:
    """Count each system's items on each question, shape (Q, S)."""
    member = np.zeros((len(pairs.first), pairs.n_systems))
    rows = np.arange(len(pairs.first))
    member[rows, pairs.first] = member[rows, pairs.second] = 1.0
    return np.asarray(taken.astype(np.float64) @ member)
