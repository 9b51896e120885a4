"""Planning which items to judge next, an item being a pair of systems on a question."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit, ndtr

from arena.judging.choosing.answer_strengths import (
    LOGISTIC_NORMAL,
    AnswerPosterior,
    AnswerStrengths,
    estimate_answers,
    posterior_of,
    refitted,
)
from arena.rating.bradley_terry import fit_bradley_terry
from arena.rating.pairs import Pairs
from arena.rating.posterior import TRUST, RatingPrior

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]

ABSENT, OPEN, PLANNED, JUDGED, FAILED = range(5)

SYSTEMS_A_ROUND = 0.4
"""Share of the systems that meet before the usefulness of battles is computed again."""
CANDIDATES = 8
TIE_BREAK = 1e-4


class Planner:
    """Plans battles over an arena of Q questions and P pairs.

    What it plans next depends on the outcomes and on what is planned, not on their order.
    """

    def __init__(
        self,
        pairs: Pairs,
        items: Floats,
        random: np.random.Generator,
        ridge: float,
        prior: RatingPrior | None = None,
    ) -> None:
        """Plan from nothing.

        Args:
            pairs: The pairs.
            items: Battles that judging each item brings, 0 for one that cannot be judged, shape
                (Q, P).
            random: Breaks ties.
            ridge: Precision of the prior on coefficients, above 0.
            prior: What is known of the systems; by default a strength of that precision about 0.
        """
        self.pairs = pairs
        self.items = items
        self.state = np.where(items > 0, OPEN, ABSENT).astype(np.int8)
        self.points = np.zeros(items.shape)
        self.battles = np.zeros(items.shape)
        self.ridge = ridge
        self.prior = RatingPrior.flat(pairs.n_systems, ridge) if prior is None else prior
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
        strengths, predicted, ratings = self._predict_whole()
        target = self._target(strengths, predicted, ratings)
        chosen: list[tuple[int, int]] = []
        while len(chosen) < n and (self.state == OPEN).any():
            worth = usefulness(
                self.pairs,
                self._posterior(strengths, predicted),
                strengths.dispersion,
                predicted.information,
                self._held(OPEN),
                target,
            )
            for item in self._disjoint(worth)[: n - len(chosen)]:
                self.state[item] = PLANNED
                chosen.append(item)
        questions, pairs = np.array(chosen, dtype=np.intp).reshape(-1, 2).T
        return questions, pairs

    def rate(self) -> tuple[Floats, Floats]:
        """Rate the systems as the whole arena would, what is not judged predicted.

        Returns:
            Coefficients, shape (S,), and how far they are unsure until the last battle is judged,
            shape (S, S).
        """
        strengths, predicted, ratings = self._predict_whole()
        covariance = rating_covariance(
            self.pairs,
            strengths.posterior,
            strengths.dispersion,
            predicted.information * self._held(OPEN, PLANNED),
            ratings.slopes,
        )
        return ratings.coefficients, covariance

    def completed(self) -> tuple[Floats, Floats]:
        """Return points and battles of each pair, what is not judged predicted, of shape (P,)."""
        _, predicted = self._learn()
        return complete_counts(self.points, self.battles, self._held(OPEN, PLANNED), predicted)

    def _learn(self) -> tuple[AnswerStrengths, PredictedBattles]:
        """Return what the outcomes so far say about answers and battles ahead."""
        strengths = estimate_answers(self.pairs, self.points, self.battles, self.prior)
        for factor in TRUST[1:] if self.prior.informed.any() else ():
            prior = self.prior.trusted(factor)
            other = refitted(self.pairs, self.points, self.battles, prior, strengths)
            if other.log_evidence > strengths.log_evidence:
                strengths = other
        return strengths, predict_battles(self.pairs, strengths)

    def _predict_whole(self) -> tuple[AnswerStrengths, PredictedBattles, WholeRatings]:
        """Return that, and what it says about the whole arena's ratings."""
        strengths, predicted = self._learn()
        ahead = self._held(OPEN, PLANNED)
        ratings = rate_whole(self.pairs, self.points, self.battles, ahead, predicted, self.ridge)
        return strengths, predicted, ratings

    def _held(self, *states: int) -> Floats:
        """Battles of the items in some states, 0 elsewhere, shape (Q, P)."""
        return np.where(np.isin(self.state, states), self.items, 0.0)

    def _posterior(
        self, strengths: AnswerStrengths, predicted: PredictedBattles
    ) -> AnswerPosterior:
        """Return what is unsure about the answers once all that is planned is judged."""
        met = self._held(JUDGED, PLANNED) * predicted.information / strengths.dispersion[:, None]
        own = strengths.posterior
        return posterior_of(self.pairs, met, own.variance, own.precisions)

    def _target(
        self, strengths: AnswerStrengths, predicted: PredictedBattles, ratings: WholeRatings
    ) -> Floats:
        """Weigh the points of each two systems by the doubt about their order, shape (S, S)."""
        posterior = self._posterior(strengths, predicted)
        ahead = predicted.information * self._held(OPEN)
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


LEAST_VARIANCE = 1e-9
LOPSIDED = 0.1
"""Information below which a battle counts in proportion to it; far above it, all count alike."""


def doubts(pairs: Pairs, coefficients: Floats, covariance: Floats) -> Floats:
    """Weigh each pair by the probability that the whole arena would order it the other way.

    Args:
        pairs: The pairs.
        coefficients: Expected ratings of the whole arena, shape (S,).
        covariance: Their covariance, shape (S, S).

    Returns:
        Probability of the other order over its variance, shape (P,).
    """
    variance = np.maximum(pairs.spreads(covariance), LEAST_VARIANCE)
    distance = np.abs(pairs.differences(coefficients)) / np.sqrt(variance)
    return np.asarray(ndtr(-distance) / variance)


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


@dataclass(frozen=True)
class PredictedBattles:
    """What one battle of each item would bring.

    Attributes:
        probability: That the first system wins, shape (Q, P).
        information: Its slope in the difference of the two answers' strengths; about the Fisher
            information of the battle, shape (Q, P).
    """

    probability: Floats
    information: Floats


@dataclass(frozen=True)
class WholeRatings:
    """Bradley-Terry ratings of the whole arena, battles that are not judged predicted.

    Attributes:
        coefficients: Expected coefficients, shape (S,).
        slopes: Change of the coefficients with the points of systems, shape (S, S).
    """

    coefficients: Floats
    slopes: Floats


def predict_battles(pairs: Pairs, strengths: AnswerStrengths) -> PredictedBattles:
    """Average the probabilities over what is unsure about the answers (MacKay, 1992)."""
    unsure = pairs.spreads(strengths.posterior.of_questions())
    shrink = 1.0 / np.sqrt(1.0 + LOGISTIC_NORMAL * np.maximum(unsure, 0.0))
    probability = expit(shrink * pairs.differences(strengths.answers))
    return PredictedBattles(probability, np.asarray(shrink * probability * (1.0 - probability)))


def complete_counts(
    points: Floats, battles: Floats, ahead: Floats, predicted: PredictedBattles
) -> tuple[Floats, Floats]:
    """Add the expected outcomes of all battles ahead; arguments as of ``rate_whole``.

    Returns:
        Points of each pair's first system and battles of each pair, each of shape (P,).
    """
    return (points + ahead * predicted.probability).sum(axis=0), (battles + ahead).sum(axis=0)


def rate_whole(
    pairs: Pairs,
    points: Floats,
    battles: Floats,
    ahead: Floats,
    predicted: PredictedBattles,
    ridge: float,
) -> WholeRatings:
    """Fit ratings to the battles so far and to the expected outcomes of all others.

    Args:
        pairs: The pairs.
        points: Points of each item's first system, shape (Q, P).
        battles: Battles of each item, shape (Q, P).
        ahead: Battles that each item would hold and that are not judged, shape (Q, P).
        predicted: Expected outcomes.
        ridge: Precision of the prior on coefficients, above 0.
    """
    expected, counts = complete_counts(points, battles, ahead, predicted)
    fit = fit_bradley_terry(expected[None], counts[None], pairs, ridge)
    coefficients = fit.coefficients[0]
    probability = expit(pairs.differences(coefficients))
    precision = pairs.laplacian(counts * probability * (1.0 - probability))
    slopes = np.linalg.inv(precision + ridge * np.eye(pairs.n_systems))
    return WholeRatings(coefficients, np.asarray(slopes))


def rating_covariance(
    pairs: Pairs,
    posterior: AnswerPosterior,
    dispersion: Floats,
    information: Floats,
    slopes: Floats,
) -> Floats:
    """Return how unsure the whole arena's ratings are before its last battle is judged.

    The points of battles ahead are unsure because the answers' strengths are, and because a
    battle of known strengths is. Battles that are judged are certain: nothing is unsure once all
    are.

    Args:
        pairs: The pairs.
        posterior: Covariance of the answers' strengths.
        dispersion: See ``AnswerStrengths``, shape (Q,).
        information: Of the battles ahead, shape (Q, P).
        slopes: See ``WholeRatings``.

    Returns:
        Shape (S, S).
    """
    ahead = pairs.laplacian(information)
    follow = (ahead @ posterior.pull).sum(axis=0)
    within = (ahead @ posterior.within @ ahead).sum(axis=0)
    of_outcomes = pairs.laplacian((information * dispersion[:, None]).sum(axis=0))
    points = within + follow @ posterior.between @ follow.T + of_outcomes
    return np.asarray(slopes @ points @ slopes)
