"""Planning which items to judge next, an item being a pair of systems on a question."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from arena.sampling.answer_posterior import AnswerPosterior, posterior_of
from arena.sampling.answer_strengths import AnswerStrengths, estimate_answers
from arena.sampling.pairs import Pairs
from arena.sampling.usefulness import doubts, usefulness
from arena.sampling.whole_arena import (
    Forecast,
    WholeRatings,
    complete,
    foretell,
    rate_whole,
    rating_covariance,
)

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]

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
        self, pairs: Pairs, items: Floats, random: np.random.Generator, ridge: float
    ) -> None:
        """Plan from nothing.

        Args:
            pairs: The pairs.
            items: Battles that judging each item brings, 0 for one that cannot be judged, shape
                (Q, P).
            random: Breaks ties.
            ridge: Precision of the prior on strengths, above 0.
        """
        self.pairs = pairs
        self.items = items
        self.state = np.where(items > 0, OPEN, ABSENT).astype(np.int8)
        self.points = np.zeros(items.shape)
        self.battles = np.zeros(items.shape)
        self.ridge = ridge
        self._order = 1.0 + TIE_BREAK * random.random(items.shape)

    def record(self, question: Integers, pair: Integers, points: Floats, battles: Floats) -> None:
        """Record judged items.

        Args:
            question: Their questions, shape (N,).
            pair: Their pairs, shape (N,).
            points: Points of each pair's first system, shape (N,).
            battles: Number of battles, shape (N,).
        """
        self.points[question, pair] = points
        self.battles[question, pair] = battles
        self.state[question, pair] = JUDGED

    def plan(self, n: int) -> tuple[Integers, Integers]:
        """Plan items to judge next and take them as planned.

        Returns:
            Questions and pairs, of shape (N,) with N at most ``n``: fewer where fewer are open.
        """
        strengths, forecast, ratings = self._foresee()
        target = self._target(strengths, forecast, ratings)
        chosen: list[tuple[int, int]] = []
        while len(chosen) < n and (self.state == OPEN).any():
            worth = usefulness(
                self.pairs,
                self._posterior(strengths, forecast),
                strengths.dispersion,
                forecast.information,
                self._held(OPEN),
                target,
            )
            for item in self._disjoint(worth)[: n - len(chosen)]:
                self.state[item] = PLANNED
                chosen.append(item)
        questions, pairs = np.array(chosen, dtype=np.intp).reshape(-1, 2).T
        return questions, pairs

    def rate(self) -> tuple[Floats, Floats]:
        """Rate the systems as the whole arena would, what is not judged foretold.

        Returns:
            Coefficients, shape (S,), and how far they are unsure until the last battle is judged,
            shape (S, S).
        """
        strengths, forecast, ratings = self._foresee()
        covariance = rating_covariance(
            self.pairs,
            strengths.posterior,
            strengths.dispersion,
            forecast.information * self._held(OPEN, PLANNED),
            ratings.slopes,
        )
        return ratings.coefficients, covariance

    def completed(self) -> tuple[Floats, Floats]:
        """Return points and battles of each pair, what is not judged foretold, of shape (P,)."""
        _, forecast = self._learn()
        return complete(self.points, self.battles, self._held(OPEN, PLANNED), forecast)

    def _learn(self) -> tuple[AnswerStrengths, Forecast]:
        """Return what the outcomes so far say about answers and battles ahead."""
        strengths = estimate_answers(self.pairs, self.points, self.battles, self.ridge)
        return strengths, foretell(self.pairs, strengths)

    def _foresee(self) -> tuple[AnswerStrengths, Forecast, WholeRatings]:
        """Return that, and what it says about the whole arena's ratings."""
        strengths, forecast = self._learn()
        ahead = self._held(OPEN, PLANNED)
        ratings = rate_whole(self.pairs, self.points, self.battles, ahead, forecast, self.ridge)
        return strengths, forecast, ratings

    def _held(self, *states: int) -> Floats:
        """Battles of the items in some states, 0 elsewhere, shape (Q, P)."""
        return np.where(np.isin(self.state, states), self.items, 0.0)

    def _posterior(self, strengths: AnswerStrengths, forecast: Forecast) -> AnswerPosterior:
        """Return what is unsure about the answers once all that is planned is judged."""
        met = self._held(JUDGED, PLANNED) * forecast.information / strengths.dispersion[:, None]
        return posterior_of(self.pairs, met, strengths.posterior.variance, self.ridge)

    def _target(
        self, strengths: AnswerStrengths, forecast: Forecast, ratings: WholeRatings
    ) -> Floats:
        """Weigh the points of each two systems by the doubt about their order, shape (S, S)."""
        posterior = self._posterior(strengths, forecast)
        ahead = forecast.information * self._held(OPEN)
        slopes = ratings.slopes
        covariance = rating_covariance(self.pairs, posterior, strengths.dispersion, ahead, slopes)
        doubt = doubts(self.pairs, ratings.coefficients, covariance)
        return np.asarray(slopes @ self.pairs.laplacian(doubt) @ slopes)

    def _disjoint(self, worth: Floats) -> list[tuple[int, int]]:
        """Take the most useful items, of each pair one and of no system two."""
        worth = np.where(self.state == OPEN, worth * self._order, -1.0)
        question = np.argmax(worth, axis=0)
        best = worth[question, np.arange(worth.shape[1])]
        size = max(1, int(SYSTEMS_A_ROUND * self.pairs.n_systems / 2))
        chosen: list[tuple[int, int]] = []
        busy: set[int] = set()
        for pair in np.argsort(-best, kind="stable")[: CANDIDATES * size]:
            met = {int(self.pairs.first[pair]), int(self.pairs.second[pair])}
            if best[pair] >= 0 and not met & busy and len(chosen) < size:
                chosen.append((int(question[pair]), int(pair)))
                busy |= met
        return chosen
