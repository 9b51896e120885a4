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
from arena.rating.posterior import RatingPrior

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


def strengths_prior(prior: RatingPrior, variance: float) -> tuple[Floats, Floats]:
    """Return means and precisions of systems' strengths, where answers vary about them."""
    stretch = np.where(prior.informed, np.sqrt(attenuation(variance)), 1.0)
    return prior.means * stretch, prior.precisions / stretch**2


def attenuation(variance: float) -> float:
    """Return the squared ratio of a system's strength to its rating over many questions."""
    return float(1.0 + LOGISTIC_NORMAL * 2.0 * variance)


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


def estimate_answers(
    pairs: Pairs, points: Floats, battles: Floats, prior: RatingPrior
) -> AnswerStrengths:
    """Learn the strengths of answers.

    Args:
        pairs: The pairs.
        points: Points of each item's first system, shape (Q, P).
        battles: Battles of each item, 0 where it was not judged, shape (Q, P).
        prior: What is known of the systems.

    Raises:
        ConvergenceError: If Newton's method does not converge.
    """
    dispersion = _dispersion(points, battles)
    fit: AnswerStrengths | None = None
    fits = []
    for variance in VARIANCES:
        fit = _fit(pairs, points, battles, dispersion, variance, prior, fit)
        fits.append(fit)
    peak = _peak(np.array([each.log_evidence for each in fits]))
    nearest = fits[int(np.argmin(np.abs(np.log(VARIANCES) - peak)))]
    return _fit(pairs, points, battles, dispersion, float(np.exp(peak)), prior, nearest)


def refitted(
    pairs: Pairs, points: Floats, battles: Floats, prior: RatingPrior, start: AnswerStrengths
) -> AnswerStrengths:
    """Learn the strengths by another prior, the variance of answers being as it was found.

    The evidence of both is on one scale.

    Raises:
        ConvergenceError: If Newton's method does not converge.
    """
    variance = start.posterior.variance
    return _fit(pairs, points, battles, start.dispersion, variance, prior, start)


def _dispersion(points: Floats, battles: Floats) -> Floats:
    judged = (battles > 0).sum(axis=1)
    tied = ((battles > 0) & (points == battles / 2.0)).sum(axis=1)
    share = tied.sum() / max(judged.sum(), 1)
    ties = (tied + TIES_BEFORE * share) / (judged + TIES_BEFORE)
    return np.asarray(np.maximum(1.0 - ties, LEAST_DISPERSION))


def _fit(
    pairs: Pairs,
    points: Floats,
    battles: Floats,
    dispersion: Floats,
    variance: float,
    prior: RatingPrior,
    start: AnswerStrengths | None,
) -> AnswerStrengths:
    """Climb to the mode for one variance."""
    means, precisions = strengths_prior(prior, variance)
    won, met = points / dispersion[:, None], battles / dispersion[:, None]
    answers = np.zeros((len(points), pairs.n_systems)) if start is None else start.answers
    systems = np.zeros(pairs.n_systems) if start is None else start.systems
    for _ in range(MOST_STEPS):
        probability = expit(pairs.differences(answers))
        posterior = posterior_of(
            pairs, met * probability * (1.0 - probability), variance, precisions
        )
        apart = (answers - systems) / variance
        uphill = pairs.sums(won - met * probability) - apart
        of_answers, of_systems = posterior.step(
            uphill, apart.sum(axis=0) - precisions * (systems - means)
        )
        length = max(float(np.abs(of_answers).max()), float(np.abs(of_systems).max()))
        scale = min(1.0, LONGEST_STEP / max(length, TOLERANCE))
        answers, systems = answers + scale * of_answers, systems + scale * of_systems
        if length < TOLERANCE:
            evidence = _log_evidence(pairs, won, met, answers, systems, means, posterior)
            return AnswerStrengths(answers, systems, dispersion, posterior, evidence)
    raise ConvergenceError(
        f"the strengths of answers did not converge in {MOST_STEPS} steps (last {length:.1e}); "
        "use a larger ridge"
    )


def _log_evidence(
    pairs: Pairs,
    won: Floats,
    met: Floats,
    answers: Floats,
    systems: Floats,
    means: Floats,
    posterior: AnswerPosterior,
) -> float:
    """Laplace's approximation, up to a constant."""
    better = pairs.differences(answers)
    likelihood = (won * log_expit(better) + (met - won) * log_expit(-better)).sum()
    variance = posterior.variance
    apart = ((answers - systems) ** 2).sum() / variance + answers.size * np.log(variance)
    precisions = posterior.precisions
    prior = apart + (precisions * (systems - means) ** 2).sum() - np.log(precisions).sum()
    of_variance = (np.log(variance) / LOG_VARIANCE_SPREAD) ** 2
    return float(likelihood + 0.5 * (posterior.log_determinant() - prior - of_variance))


def _peak(log_evidence: Floats) -> float:
    """Logarithm of the best variance, by a parabola through the three best places."""
    grid = np.log(VARIANCES)
    best = int(np.argmax(log_evidence))
    if best in (0, len(grid) - 1):
        return float(grid[best])
    below, top, above = log_evidence[best - 1 : best + 2]
    shift = 0.5 * (below - above) / (below - 2.0 * top + above)
    return float(grid[best] + shift * (grid[1] - grid[0]))


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
        """Multiply with the whole covariance, as a Newton step does with a gradient.

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
