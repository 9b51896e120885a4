"""How sure the strengths of answers are: a Gaussian, in blocks of questions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from arena.sampling.pairs import Pairs

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class AnswerPosterior:
    """Covariance of the strengths of Q x S answers and of the S systems behind them.

    Two answers are correlated by the battles on their question and through their systems. Blocks
    of two questions q and r are ``(q == r) within[q] + pull[q] between pull[r]'``.

    Attributes:
        within: Covariance of a question's answers, were the systems known, shape (Q, S, S).
        variance: Variance of an answer about its system.
        ridge: Precision of the prior on systems.
    """

    within: Floats
    variance: float
    ridge: float

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
        own = (questions / self.variance + self.ridge) * np.eye(systems)
        return np.asarray(own - self.pull.sum(axis=0) / self.variance)


def posterior_of(
    pairs: Pairs, information: Floats, variance: float, ridge: float
) -> AnswerPosterior:
    """Return what battles of so much information leave unsure.

    Args:
        pairs: The pairs.
        information: Fisher information of the battles of each item, shape (Q, P).
        variance: Variance of an answer about its system.
        ridge: Precision of the prior on systems, above 0.
    """
    precision = pairs.laplacian(information) + np.eye(pairs.n_systems) / variance
    return AnswerPosterior(np.asarray(np.linalg.inv(precision)), variance, ridge)
