"""Adaptive pairing: which answers to compare next, so that the ranking settles soonest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import UsageError, checked_choice
from arena.data.schema import WINNERS
from arena.data.seeds import generator
from arena.judging.choosing.planner import ABSENT, FAILED, JUDGED, OPEN, Planner
from arena.rating.bradley_terry import DEFAULT_RIDGE
from arena.rating.pairs import Pairs
from arena.rating.posterior import RatingPrior

Item = tuple[str, str, str]

STEP_GROWTH = 0.05
"""An adaptive run looks at its outcomes whenever this share more of them is there."""

_POINTS_A = dict(zip(WINNERS, (1.0, 0.0, 0.5), strict=True))


def batch_size(systems: int, judged: int) -> int:
    """Return how many items to ask for before the next look at outcomes."""
    return max(1, systems // 2, int(STEP_GROWTH * judged))


class AdaptivePairing:
    """Chooses items to judge, an item being a pair of systems on a question of one language.

    Ask for a batch with ``next_pairs``, judge it, hand back what came of it with ``record``, and
    so on until the budget is spent. Outcomes may come back in any order, and more may be asked
    for before they are all back. To resume a run, record the judgments there are. What is asked
    for depends on the seed, on what was recorded and on what is out, and on nothing else.

    Small batches choose better than large ones: see ``batch_size``.
    """

    def __init__(
        self,
        systems: Sequence[str],
        questions: Sequence[str],
        answers: pd.DataFrame | None = None,
        seed: int = 0,
        ridge: float = DEFAULT_RIDGE,
        prior: pd.DataFrame | None = None,
    ) -> None:
        """Start with nothing judged.

        Args:
            systems: Names of at least two systems.
            questions: Query ids of one language.
            answers: Columns ``query_id, system``: the answers there are, in that language; by
                default every system has answered every question.
            seed: Seed of ties and of which answer is shown first.
            ridge: Precision of the prior on Bradley-Terry coefficients, above 0.
            prior: Columns ``system, rating, standard_error``: what is expected of systems before
                they are judged, in logits, as by a surrogate; other systems are not known. Where
                judgments show it to be further off than it states, it is trusted less.

        Raises:
            UsageError: For names given twice, fewer than two systems, no question, a ridge or
                seed out of range, or a standard error that is not above 0.
        """
        self.systems = _distinct(systems, "system", 2)
        self.questions = _distinct(questions, "question", 1)
        if not 0 < ridge < np.inf:
            raise UsageError(f"ridge = {ridge:g} is out of range; use above 0")
        if seed < 0:
            raise UsageError(f"seed = {seed} is negative; use 0 or more")
        self._seed = seed
        self._system_at = {name: at for at, name in enumerate(self.systems)}
        self._question_at = {name: at for at, name in enumerate(self.questions)}
        first, second = np.triu_indices(len(self.systems), k=1)
        pairs = Pairs(first, second, len(self.systems))
        self._pair_at = {
            met: at for at, met in enumerate(zip(first.tolist(), second.tolist(), strict=True))
        }
        answered = self._answered(answers)
        random = generator(seed, "adaptive pairing")
        available = answered[:, first] & answered[:, second]
        known = RatingPrior.of_table(prior, self.systems, ridge)
        self._planner = Planner(pairs, available.astype(np.float64), random, ridge, known)

    @property
    def judged(self) -> int:
        """Number of items judged."""
        return self._count(JUDGED)

    @property
    def failed(self) -> int:
        """Number of items whose judgment failed; they are not asked for again."""
        return self._count(FAILED)

    @property
    def open(self) -> int:
        """Number of items that can still be asked for."""
        return self._count(OPEN)

    def next_pairs(self, n: int) -> list[Item]:
        """Choose the items to judge next.

        Args:
            n: Number of items, at least 1.

        Returns:
            ``(question, system_a, system_b)`` of each, the most useful first; fewer than ``n``
            where fewer are left, none at the end. Which system is A is drawn by the seed and the
            item, whatever else is judged.

        Raises:
            UsageError: If ``n`` is below 1.
        """
        if n < 1:
            raise UsageError(f"n = {n} is out of range; ask for at least 1 item")
        questions, pairs = self._planner.plan(n)
        return [
            self._shown(self.questions[question], *self._names(pair))
            for question, pair in zip(questions, pairs, strict=True)
        ]

    def record(self, judgments: pd.DataFrame) -> None:
        """Take in judgments, asked for or not; all of them or, where one is at fault, none.

        Args:
            judgments: Columns ``query_id, system_a, system_b, winner``: ``a``, ``b``, ``tie``, or
                missing for a judgment that failed. A failed item tells nothing and is not asked
                for again; its pair may be, on another question.

        Raises:
            UsageError: For a system, question or winner that is not known, an item without two
                answers, and an item recorded before.
        """
        rows = judgments[["query_id", "system_a", "system_b", "winner"]]
        taken: dict[tuple[int, int], float | None] = {}
        for question, system_a, system_b, winner in rows.itertuples(index=False, name=None):
            at, is_first = self._locate(question, system_a, system_b)
            if at in taken or self._planner.state[at] in (JUDGED, FAILED):
                raise UsageError(f"{question}: {system_a} and {system_b} were recorded before")
            taken[at] = None if pd.isna(winner) else _points(winner, is_first)
        self._record({at: points for at, points in taken.items() if points is not None})
        for at, points in taken.items():
            if points is None:
                self._planner.state[at] = FAILED

    def ratings(self) -> pd.DataFrame:
        """Rate the systems as the judgments of all items would, what is not judged predicted.

        Strengths of single answers are learned from the judgments (``answer_strengths``), outcomes
        of the other items expected from them, and Bradley-Terry coefficients fitted to both.
        Chosen items alone would not do: they show every system mostly against its equals.

        Returns:
            Columns ``system, rating, standard_error``, best first: coefficients in logits, of
            mean 0 up to the prior, and how far the ratings of the whole arena may lie from them;
            0 once all items are judged.
        """
        ratings, covariance = self._planner.rate()
        variance = np.maximum(np.diag(covariance), 0.0)
        table = pd.DataFrame(
            {"system": self.systems, "rating": ratings, "standard_error": np.sqrt(variance)}
        )
        return table.sort_values("rating", ascending=False, kind="stable", ignore_index=True)

    def _record(self, outcomes: dict[tuple[int, int], float]) -> None:
        places = np.array(list(outcomes), dtype=np.intp).reshape(-1, 2)
        points = np.array(list(outcomes.values()))
        self._planner.record(places[:, 0], places[:, 1], points, np.ones(len(points)))

    def _locate(self, question: str, system_a: str, system_b: str) -> tuple[tuple[int, int], bool]:
        """Return the place of an item and whether A is the first system of its pair."""
        if question not in self._question_at or not {system_a, system_b} <= set(self._system_at):
            raise UsageError(f"{question}: {system_a} or {system_b} is not known here")
        one, other = self._system_at[system_a], self._system_at[system_b]
        if one == other:
            raise UsageError(f"{question}: {system_a} is judged against itself")
        at = self._question_at[question], self._pair_at[min(one, other), max(one, other)]
        if self._planner.state[at] == ABSENT:
            raise UsageError(f"{question}: {system_a} and {system_b} did not both answer")
        return at, one < other

    def _answered(self, answers: pd.DataFrame | None) -> npt.NDArray[np.bool_]:
        """Tell which system answered which question, shape (Q, S)."""
        shape = len(self.questions), len(self.systems)
        if answers is None:
            return np.ones(shape, dtype=bool)
        question = pd.Index(self.questions).get_indexer(pd.Index(answers["query_id"]))
        system = pd.Index(self.systems).get_indexer(pd.Index(answers["system"]))
        known = (question >= 0) & (system >= 0)
        answered = np.zeros(shape, dtype=bool)
        answered[question[known], system[known]] = True
        return answered

    def _names(self, pair: int) -> tuple[str, str]:
        pairs = self._planner.pairs
        return self.systems[pairs.first[pair]], self.systems[pairs.second[pair]]

    def _shown(self, question: str, first: str, second: str) -> Item:
        random = generator(self._seed, "order of answers", question, first, second)
        return (question, second, first) if random.random() < 0.5 else (question, first, second)

    def _count(self, state: int) -> int:
        return int((self._planner.state == state).sum())


def _points(winner: str, is_first: bool) -> float:
    points = _POINTS_A[checked_choice(winner, WINNERS, "winner")]
    return points if is_first else 1.0 - points


def _distinct(names: Sequence[str], noun: str, fewest: int) -> tuple[str, ...]:
    if len(set(names)) < max(len(names), fewest):
        raise UsageError(f"name {fewest} {noun}s at least, and each once")
    return tuple(sorted(names))
