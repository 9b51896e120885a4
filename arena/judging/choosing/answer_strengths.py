"""Strengths of single answers, learned from some of the battles between them.

A Bradley-Terry model in two levels: the answer of system s to question q has the strength
u_qs = theta_s + e_qs, with e_qs normal of variance v and theta_s normal of variance 1 / ridge;
answer i beats answer j with probability sigma(u_qi - u_qj). A judge is far more consistent about
the same answers than about their systems, so a battle is predicted well by those that its two
answers fought with others. Strengths are the posterior's mode, uncertainty is Laplace's, and v has
the highest marginal likelihood (empirical Bayes) under a weak log-normal prior about 1.

Where more is known of systems before they meet, theta_s is normal about that (``RatingPrior``),
which is on the scale of a board, where answers are averaged over: theta_s is further from 0 by the
factor sqrt(1 + pi / 8 2 v), since the logistic of a normal variable is flatter (MacKay, 1992).

Where judges call many ties on a question, its outcomes vary less than those of coin flips: their
variance is taken as the question's share of decided battles times p (1 - p) (quasi-likelihood,
McCullagh and Nelder, 1989).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_expit

from arena.rating.bradley_terry import ConvergenceError
from arena.rating.pairs import Pairs
from arena.rating.posterior import TRUST, RatingPrior

Floats = npt.NDArray[np.float64]

VARIANCES = (0.05, 0.2, 0.8, 3.2, 12.8, 51.2)
LOG_VARIANCE_SPREAD = 1.0
LOGISTIC_NORMAL = np.pi / 8.0
TIES_BEFORE = 2.0
"""Battles that the arena's share of ties counts for on each question."""
LEAST_DISPERSION = 0.05
LONGEST_STEP = 2.0
MOST_STEPS = 100
TOLERANCE = 1e-8


@dataclass(frozen=True)
class AnswerPosterior:
    """Covariance of the strengths of Q x S answers and of the S systems behind them.

    Two answers are correlated by the battles on their question and through their systems. Blocks
    of two questions q and r are ``(q == r) within[q] + pull[q] between pull[r]'``.

    Attributes:
        within: Covariance of a question's answers, were the systems known, shape (Q, S, S).
        variance: Variance of an answer about its system.
        precisions: Of the prior on systems, shape (S,).
    """

    within: Floats
    variance: float
    precisions: Floats

    @cached_property
    def pull(self) -> Floats:
        """How far answers follow their systems, shape (Q, S, S)."""
        return self.within / self.variance

    @cached_property
    def between(self) -> Floats:
        """Covariance of the systems, shape (S, S)."""
        return np.asarray(np.linalg.inv(self._systems_precision))

    def of_questions(self) -> Floats:
        """Covariance of the answers to each question, shape (Q, S, S)."""
        return np.asarray(self.within + self.pull @ self.between @ self.pull.swapaxes(-2, -1))

    def step(self, of_answers: Floats, of_systems: Floats) -> tuple[Floats, Floats]:
        """Multiply a gradient with the whole covariance, as a Newton step does.

        Args:
            of_answers: Shape (Q, S).
            of_systems: Shape (S,).

        Returns:
            The answers' part, shape (Q, S), and the systems', shape (S,).
        """
        pulled = np.einsum("qij,qj->i", self.pull, of_answers)
        systems = self.between @ (of_systems + pulled)
        answers = np.einsum("qij,qj->qi", self.within, of_answers + systems / self.variance)
        return answers, systems

    def log_determinant(self) -> float:
        """Return the logarithm of the determinant of the whole covariance."""
        within = np.linalg.slogdet(self.within)[1].sum()
        return float(within - np.linalg.slogdet(self._systems_precision)[1])

    @property
    def _systems_precision(self) -> Floats:
        questions, systems = self.within.shape[:2]
        own = np.diag(np.broadcast_to(questions / self.variance + self.precisions, systems))
        return np.asarray(own - self.pull.sum(axis=0) / self.variance)


@dataclass(frozen=True)
class AnswerStrengths:
    """The posterior given some battles.

    Attributes:
        answers: Strengths of answers, in logits, shape (Q, S).
        systems: Strengths of systems, shape (S,).
        dispersion: Variance of an outcome over p (1 - p), by question, shape (Q,).
        posterior: Their covariance.
        log_evidence: Logarithm of the marginal likelihood times the variance's prior, up to a
            constant.
    """

    answers: Floats
    systems: Floats
    dispersion: Floats
    posterior: AnswerPosterior
    log_evidence: float

    def battles(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """Predict a battle of each item, averaged over what is unsure (MacKay, 1992).

        Returns:
            The probability that the first system wins, and its slope in the difference of the two
            answers' strengths (about the Fisher information of the battle), each of shape (Q, P).
        """
        unsure = pairs.spreads(self.posterior.of_questions())
        shrink = 1.0 / np.sqrt(1.0 + LOGISTIC_NORMAL * np.maximum(unsure, 0.0))
        probability = expit(shrink * pairs.differences(self.answers))
        return probability, np.asarray(shrink * probability * (1.0 - probability))


def attenuation(variance: float) -> float:
    """Return the squared ratio of a system's strength to its rating over many questions."""
    return float(1.0 + LOGISTIC_NORMAL * 2.0 * variance)


def posterior_of(
    pairs: Pairs, information: Floats, variance: float, precisions: Floats
) -> AnswerPosterior:
    """Return what battles of so much information leave unsure.

    Args:
        pairs: The pairs.
        information: Fisher information of the battles of each item, shape (Q, P).
        variance: Variance of an answer about its system.
        precisions: Of the prior on systems' strengths, above 0, shape (S,).
    """
    precision = pairs.laplacian(information) + np.eye(pairs.n_systems) / variance
    return AnswerPosterior(np.asarray(np.linalg.inv(precision)), variance, precisions)


def estimate_answers(
    pairs: Pairs, points: Floats, battles: Floats, prior: RatingPrior
) -> AnswerStrengths:
    """Learn the strengths of answers; a prior that battles contradict is trusted less.

    Args:
        pairs: The pairs.
        points: Points of each item's first system, shape (Q, P).
        battles: Battles of each item, 0 where it was not judged, shape (Q, P).
        prior: What is known of the systems.

    Raises:
        ConvergenceError: If Newton's method does not converge.
    """
    judged = (battles > 0).sum(axis=1)
    tied = ((battles > 0) & (points == battles / 2.0)).sum(axis=1)
    share = tied.sum() / max(judged.sum(), 1)
    ties = (tied + TIES_BEFORE * share) / (judged + TIES_BEFORE)
    dispersion = np.asarray(np.maximum(1.0 - ties, LEAST_DISPERSION))
    won, met = points / dispersion[:, None], battles / dispersion[:, None]

    fits: list[AnswerStrengths] = []
    for variance in VARIANCES:
        start = fits[-1] if fits else None
        fits.append(_fit(pairs, (won, met, dispersion), variance, prior, start))
    peak = _peak(np.array([fit.log_evidence for fit in fits]))
    nearest = fits[int(np.argmin(np.abs(np.log(VARIANCES) - peak)))]
    variance = float(np.exp(peak))
    best = _fit(pairs, (won, met, dispersion), variance, prior, nearest)
    for factor in TRUST[1:] if prior.informed.any() else ():
        other = _fit(pairs, (won, met, dispersion), variance, prior.trusted(factor), best)
        best = max(best, other, key=lambda fit: fit.log_evidence)
    return best


def _fit(
    pairs: Pairs,
    outcomes: tuple[Floats, Floats, Floats],
    variance: float,
    prior: RatingPrior,
    start: AnswerStrengths | None,
) -> AnswerStrengths:
    """Climb to the mode for one variance, from points and battles over their dispersion."""
    won, met, dispersion = outcomes
    stretch = np.where(prior.informed, np.sqrt(attenuation(variance)), 1.0)
    means, precisions = prior.means * stretch, prior.precisions / stretch**2
    answers = np.zeros((len(won), pairs.n_systems)) if start is None else start.answers
    systems = np.zeros(pairs.n_systems) if start is None else start.systems
    for _ in range(MOST_STEPS):
        probability = expit(pairs.differences(answers))
        posterior = posterior_of(
            pairs, met * probability * (1.0 - probability), variance, precisions
        )
        apart = (answers - systems) / variance
        of_answers, of_systems = posterior.step(
            pairs.sums(won - met * probability) - apart,
            apart.sum(axis=0) - precisions * (systems - means),
        )
        length = max(float(np.abs(of_answers).max()), float(np.abs(of_systems).max()))
        scale = min(1.0, LONGEST_STEP / max(length, TOLERANCE))
        answers, systems = answers + scale * of_answers, systems + scale * of_systems
        if length < TOLERANCE:
            break
    else:
        raise ConvergenceError(
            f"the strengths of answers did not converge in {MOST_STEPS} steps (last {length:.1e}); "
            "use a larger ridge"
        )
    better = pairs.differences(answers)
    likelihood = (won * log_expit(better) + (met - won) * log_expit(-better)).sum()
    spread = ((answers - systems) ** 2).sum() / variance + answers.size * np.log(variance)
    level = (precisions * (systems - means) ** 2).sum() - np.log(precisions).sum()
    of_variance = (np.log(variance) / LOG_VARIANCE_SPREAD) ** 2
    volume = posterior.log_determinant() - spread - level - of_variance  # Laplace's
    evidence = float(likelihood + 0.5 * volume)
    return AnswerStrengths(answers, systems, dispersion, posterior, evidence)


def _peak(log_evidence: Floats) -> float:
    """Logarithm of the best variance, by a parabola through the three best places."""
    grid = np.log(VARIANCES)
    best = int(np.argmax(log_evidence))
    if best in (0, len(grid) - 1):
        return float(grid[best])
    below, top, above = log_evidence[best - 1 : best + 2]
    shift = 0.5 * (below - above) / (below - 2.0 * top + above)
    return float(grid[best] + shift * (grid[1] - grid[0]))
