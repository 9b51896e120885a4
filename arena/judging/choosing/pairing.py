"""Adaptive pairing: which answers to compare next, so that the ranking settles soonest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import expit, ndtr

from arena.data.errors import UsageError
from arena.data.schema import WINNERS
from arena.data.seeds import generator
from arena.judging.choosing.answer_strengths import (
    AnswerPosterior,
    AnswerStrengths,
    estimate_answers,
    posterior_of,
)
from arena.rating.bradley_terry import DEFAULT_RIDGE, fit_bradley_terry
from arena.rating.pairs import Pairs
from arena.rating.posterior import RatingPrior

Floats = npt.NDArray[np.float64]
Item = tuple[str, str, str]

ABSENT, OPEN, PLANNED, JUDGED, FAILED = range(5)

STEP_GROWTH = 0.05
"""An adaptive run looks at its outcomes whenever this share more of them is there."""
SYSTEMS_A_ROUND = 0.4
"""Share of the systems that meet before the usefulness of battles is computed again."""
CANDIDATES = 8
TIE_BREAK = 1e-4
LEAST_VARIANCE = 1e-9
LOPSIDED = 0.1
"""Information below which a battle counts in proportion to it; far above it, all count alike."""

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

    Attributes:
        systems: The S systems, sorted.
        questions: The Q questions, sorted.
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
            seed: Seed of ties.
            ridge: Precision of the prior on Bradley-Terry coefficients, above 0.
            prior: Columns ``system, rating, standard_error``: what is expected of systems before
                they are judged, in logits, as by a surrogate; other systems are not known. Where
                judgments show it to be further off than it states, it is trusted less.

        Raises:
            UsageError: For names given twice, fewer than two systems, no question, or a standard
                error that is not above 0.
        """
        self.systems, self.questions = tuple(sorted(systems)), tuple(sorted(questions))
        for names, noun, fewest in ((self.systems, "systems", 2), (self.questions, "questions", 1)):
            if len(set(names)) < max(len(names), fewest):
                raise UsageError(f"name at least {fewest} {noun}, and each once")
        first, second = np.triu_indices(len(self.systems), k=1)
        self._pairs, self._ridge = Pairs(first, second, len(self.systems)), ridge
        self._pair_of = np.zeros((len(self.systems),) * 2, dtype=np.intp)
        self._pair_of[first, second] = self._pair_of[second, first] = np.arange(len(first))
        answered = np.ones((len(self.questions), len(self.systems)), dtype=bool)
        if answers is not None:
            there = pd.crosstab(answers["query_id"], answers["system"]) > 0
            there = there.reindex(index=self.questions, columns=self.systems, fill_value=False)
            answered = there.to_numpy(dtype=bool)
        can_meet = answered[:, first] & answered[:, second]
        self._state = np.where(can_meet, OPEN, ABSENT).astype(np.int8)
        self._points = np.zeros(can_meet.shape)
        self._prior = RatingPrior.of_table(prior, self.systems, ridge)
        random = generator(seed, "adaptive pairing")
        self._order = 1.0 + TIE_BREAK * random.random(can_meet.shape)

    @property
    def judged(self) -> int:
        """Number of items judged."""
        return int(self._in(JUDGED).sum())

    @property
    def failed(self) -> int:
        """Number of items whose judgment failed; they are not asked for again."""
        return int(self._in(FAILED).sum())

    @property
    def open(self) -> int:
        """Number of items that can still be asked for."""
        return int(self._in(OPEN).sum())

    def next_pairs(self, n: int) -> list[Item]:
        """Choose the items to judge next, which are then out.

        Returns:
            ``(question, system, other system)`` of each, the most useful first; fewer than ``n``
            where fewer are left, none at the end.
        """
        strengths = self._learn()
        probability, information = strengths.battles(self._pairs)
        coefficients, slopes = self._whole(probability)
        target = self._target(strengths, information, coefficients, slopes)
        chosen: list[tuple[int, int]] = []
        while len(chosen) < n and self.open:
            posterior = self._posterior(strengths, information)
            worth = usefulness(
                self._pairs, posterior, strengths.dispersion, information, self._in(OPEN), target
            )
            for item in self._disjoint(worth)[: n - len(chosen)]:
                self._state[item] = PLANNED
                chosen.append(item)
        first, second = self._pairs.first, self._pairs.second
        return [
            (self.questions[question], self.systems[first[pair]], self.systems[second[pair]])
            for question, pair in chosen
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
        if judgments.empty:
            return
        question = pd.Index(self.questions).get_indexer(pd.Index(judgments["query_id"]))
        one, other = (
            pd.Index(self.systems).get_indexer(pd.Index(judgments[side]))
            for side in ("system_a", "system_b")
        )
        winner = judgments["winner"].astype(object)
        points = winner.map(_POINTS_A).to_numpy(np.float64)
        pair = self._pair_of[one, other]
        state = self._state[question, pair]
        twice = pd.Series(zip(question, pair, strict=True)).duplicated().to_numpy()
        is_named = (np.minimum(np.minimum(question, one), other) >= 0) & (one != other)
        is_said = winner.isna().to_numpy() | np.isfinite(points)
        faults = {
            "names something unknown, or a system against itself": ~is_named,
            "has a winner that is none of a, b, tie": ~is_said,
            "is of systems that did not both answer": state == ABSENT,
            "was recorded before": twice | np.isin(state, (JUDGED, FAILED)),
        }
        for fault, holds in faults.items():
            if holds.any():
                row = judgments.iloc[int(np.argmax(holds))]
                named = f"{row['query_id']}: {row['system_a']} and {row['system_b']}"
                raise UsageError(f"the judgment of {named} {fault}")
        failed = winner.isna().to_numpy()
        self._state[question, pair] = np.where(failed, FAILED, JUDGED)
        points = np.where(one < other, points, 1.0 - points)
        self._points[question, pair] = np.where(failed, 0.0, points)

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
        strengths = self._learn()
        probability, information = strengths.battles(self._pairs)
        coefficients, slopes = self._whole(probability)
        covariance = rating_covariance(
            self._pairs,
            strengths.posterior,
            strengths.dispersion,
            information * self._ahead,
            slopes,
        )
        error = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        columns = {"system": self.systems, "rating": coefficients, "standard_error": error}
        table = pd.DataFrame(columns)
        return table.sort_values("rating", ascending=False, kind="stable", ignore_index=True)

    def _in(self, *states: int) -> Floats:
        """Battles of the items in some states, 0 elsewhere, shape (Q, P)."""
        return np.isin(self._state, states).astype(np.float64)

    @property
    def _ahead(self) -> Floats:
        return self._in(OPEN, PLANNED)

    def _learn(self) -> AnswerStrengths:
        return estimate_answers(self._pairs, self._points, self._in(JUDGED), self._prior)

    def _whole(self, probability: Floats) -> tuple[Floats, Floats]:
        """Fit ratings to the battles so far and to the expected outcomes of all others.

        Returns:
            Coefficients, shape (S,), and their change with the points of systems, shape (S, S).
        """
        points = (self._points + self._ahead * probability).sum(axis=0)
        counts = (self._in(JUDGED) + self._ahead).sum(axis=0)
        coefficients = fit_bradley_terry(points, counts, self._pairs, self._ridge).coefficients[0]
        expected = expit(self._pairs.differences(coefficients))
        precision = self._pairs.laplacian(counts * expected * (1.0 - expected))
        slopes = np.linalg.inv(precision + self._ridge * np.eye(len(self.systems)))
        return coefficients, np.asarray(slopes)

    def _posterior(self, strengths: AnswerStrengths, information: Floats) -> AnswerPosterior:
        """Return what is unsure about the answers once all that is planned is judged."""
        met = self._in(JUDGED, PLANNED) * information / strengths.dispersion[:, None]
        own = strengths.posterior
        return posterior_of(self._pairs, met, own.variance, own.precisions)

    def _target(
        self, strengths: AnswerStrengths, information: Floats, coefficients: Floats, slopes: Floats
    ) -> Floats:
        """Weigh the points of each two systems by the doubt about their order, shape (S, S).

        The doubt is the probability of the other order over the variance of the difference.
        """
        pairs, posterior = self._pairs, self._posterior(strengths, information)
        ahead = information * self._in(OPEN)
        covariance = rating_covariance(pairs, posterior, strengths.dispersion, ahead, slopes)
        variance = np.maximum(pairs.spreads(covariance), LEAST_VARIANCE)
        distance = np.abs(pairs.differences(coefficients)) / np.sqrt(variance)
        return np.asarray(slopes @ pairs.laplacian(ndtr(-distance) / variance) @ slopes)

    def _disjoint(self, worth: Floats) -> list[tuple[int, int]]:
        """Take the most useful items, of each pair one and of no system two."""
        worth = np.where(self._state == OPEN, worth * self._order, -1.0)
        question = np.argmax(worth, axis=0)
        best = worth[question, np.arange(worth.shape[1])]
        size = max(1, int(SYSTEMS_A_ROUND * len(self.systems) / 2))
        chosen: list[tuple[int, int]] = []
        busy: set[int] = set()
        for pair in np.argsort(-best, kind="stable")[: CANDIDATES * size]:
            met = {int(self._pairs.first[pair]), int(self._pairs.second[pair])}
            if best[pair] >= 0 and not met & busy and len(chosen) < size:
                chosen.append((int(question[pair]), int(pair)))
                busy |= met
        return chosen


def usefulness(
    pairs: Pairs,
    posterior: AnswerPosterior,
    dispersion: Floats,
    information: Floats,
    ahead: Floats,
    target: Floats,
) -> Floats:
    """Return what one more battle of each item is worth; only ratios mean something.

    Args:
        pairs: The pairs.
        posterior: Covariance of the answers' strengths, battles that are planned included.
        dispersion: See ``AnswerStrengths``, shape (Q,).
        information: Of a battle of each item, shape (Q, P).
        ahead: Battles of each item that are neither judged nor planned, shape (Q, P).
        target: Weight of the points of each two systems, shape (S, S).

    Returns:
        Shape (Q, P), at least 0.
    """
    to_points = pairs.laplacian(information * ahead)
    follow = (to_points @ posterior.pull).sum(axis=0) @ posterior.between
    learned = to_points @ posterior.within + follow @ posterior.pull.swapaxes(-2, -1)
    learned += dispersion[:, None, None] * np.eye(pairs.n_systems)
    gain = pairs.spreads(learned.swapaxes(-2, -1) @ target @ learned)
    unsure = np.maximum(pairs.spreads(posterior.of_questions()), 0.0)
    shrink = dispersion[:, None] + information * unsure
    trusted = information / (information + LOPSIDED)
    return np.asarray(trusted * np.maximum(gain, 0.0) / shrink)


def rating_covariance(
    pairs: Pairs,
    posterior: AnswerPosterior,
    dispersion: Floats,
    information: Floats,
    slopes: Floats,
) -> Floats:
    """Return how unsure the whole arena's ratings are before its last battle is judged, (S, S).

    The points of battles ahead are unsure because the answers' strengths are, and because a
    battle of known strengths is. Battles that are judged are certain.

    Args:
        pairs: The pairs.
        posterior: Covariance of the answers' strengths.
        dispersion: See ``AnswerStrengths``, shape (Q,).
        information: Of the battles ahead, shape (Q, P).
        slopes: Change of the coefficients with the points of systems, shape (S, S).
    """
    ahead = pairs.laplacian(information)
    follow = (ahead @ posterior.pull).sum(axis=0)
    within = (ahead @ posterior.within @ ahead).sum(axis=0)
    of_outcomes = pairs.laplacian((information * dispersion[:, None]).sum(axis=0))
    points = within + follow @ posterior.between @ follow.T + of_outcomes
    return np.asarray(slopes @ points @ slopes)
