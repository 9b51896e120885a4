"""The Bradley-Terry likelihood of battles, and design effects of their questions.

Formulas: docs/reference/formulas.md, "Verdicts".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array
from scipy.special import expit, log_expit

from arena.data.types import Floats
from arena.rating.bradley_terry import NormalPrior, PenalizedLikelihood, newton
from arena.rating.pairs import JudgedItems, Pairs

LEAST_EFFECT = 0.25
"""Smallest design effect of whole verdicts that is believed: an estimate from few questions may be
far too small."""

LEAST_DISPERSION = 0.01
"""Smallest dispersion of soft verdicts that is believed: one counts for at most 100 wins."""


@dataclass(frozen=True)
class BattleLikelihood:
    """The Bradley-Terry likelihood of battles, by question; a tie is half a win for both.

    Attributes:
        items: Outcomes of the battles between S systems, on Q questions.
    """

    items: JudgedItems

    @property
    def pairs(self) -> Pairs:
        """The P pairs that met."""
        return self.items.pairs

    def expected(self, ratings: Floats) -> Floats:
        """Share of points of each pair's first system, shape (P,)."""
        return np.asarray(expit(self.pairs.differences(ratings)))

    def value(self, ratings: Floats) -> float:
        """Logarithm of the likelihood."""
        differences = self.pairs.differences(ratings)
        points, counts = self.items.totals
        won = points * log_expit(differences)
        lost = (counts - points) * log_expit(-differences)
        return float((won + lost).sum())

    def scores(self, ratings: Floats) -> csr_array:
        """Gradient of each question's logarithm, shape (Q, S)."""
        items = self.items
        residuals = items.points - items.counts * self.expected(ratings)[items.pair]
        # What the first system of a pair wins beyond expectation, the second one loses.
        values = np.concatenate([residuals, -residuals])
        columns = np.concatenate([self.pairs.first[items.pair], self.pairs.second[items.pair]])
        rows = np.tile(items.question, 2)
        shape = (items.n_questions, self.pairs.n_systems)
        return coo_array((values, (rows, columns)), shape=shape).tocsr()

    def slope(self, ratings: Floats) -> Floats:
        """Gradient of the logarithm, shape (S,)."""
        points, counts = self.items.totals
        return self.pairs.sums(points - counts * self.expected(ratings))

    def mode(self, prior: NormalPrior, effect: float = 1.0, start: Floats | None = None) -> Floats:
        """Find the most probable ratings, shape (S,).

        Args:
            prior: Of the systems' ratings.
            effect: Design effect; the likelihood is to the power of one over it.
            start: Ratings to climb from; by default the prior's means.

        Raises:
            ConvergenceError: If there is no mode.
        """
        points, counts = self.items.totals
        # The solver takes a column per replicate; here there is one.
        problem = PenalizedLikelihood(
            self.pairs, points[:, None] / effect, counts[:, None] / effect, prior
        )
        first = prior.means if start is None else start
        return newton(problem, first[:, None])[:, 0]

    def information(self, ratings: Floats) -> Floats:
        """Of the battles as if they were independent, shape (S, S)."""
        expected = self.expected(ratings)
        return self.pairs.laplacian(self.items.totals[1] * expected * (1 - expected))

    def design_effects(self, ratings: Floats, precisions: npt.ArrayLike) -> DesignEffects:
        """Compare the variance of each system's score by question with that of single battles.

        Verdicts on one question depend on each other (Kish, 1965). Systems are looked at one by
        one, since in a star of battles about one system most of the variance is that system's.

        Args:
            ratings: Fitted to these battles, shape (S,).
            precisions: Of the prior they were fitted with, a number or shape (S,).
        """
        information = self.information(ratings)
        independent = np.diag(information)
        n_questions = self.items.n_questions
        if n_questions < 2:
            effects = np.where(independent > 0, 1.0, np.nan)
            return DesignEffects(effects, np.ones(len(effects)))
        least = LEAST_EFFECT * self.dispersion(ratings)
        scores = self.scores(ratings)
        clustered = scores.power(2).sum(axis=0) * n_questions / (n_questions - 1)
        # A fit lies closer to the verdicts it was made from than to others, by its number of free
        # parameters; a prior leaves only a part of each parameter free.
        prior = np.diag(np.broadcast_to(np.asarray(precisions, np.float64), len(clustered)))
        n_free = float(np.trace(np.linalg.solve(information + prior, information)))
        n_battles = float(self.items.counts.sum())
        clustered *= n_battles / max(n_battles - n_free, 1.0)
        effects = np.full(len(clustered), np.nan)
        np.divide(clustered, independent, out=effects, where=independent > 0)
        judged_on = np.bincount(scores.indices, minlength=len(clustered)).astype(np.float64)
        return DesignEffects(effects, judged_on, least)

    def dispersion(self, ratings: Floats) -> float:
        """Variance of a battle's points over that of a win or loss; 1 without soft verdicts.

        Probabilities vary less than wins and losses of the same expectation (Wedderburn, 1974,
        "Quasi-likelihood functions"). Of soft verdicts it is Pearson's estimate, from
        ``LEAST_DISPERSION`` to 1.
        """
        items = self.items
        if items.soft_counts is None or not items.soft_counts.any():
            return 1.0
        expected = self.expected(ratings)[items.pair]
        variances = expected * (1.0 - expected)
        is_soft = items.soft_counts > 0
        residuals = items.points - items.counts * expected
        # Looks at one pair and question may be copies of each other, which is the larger variance.
        largest = float((items.counts**2 * variances)[is_soft].sum())
        pearson = float((residuals[is_soft] ** 2).sum()) / largest
        pearson = min(max(pearson, LEAST_DISPERSION), 1.0)
        soft_share = float((items.soft_counts * variances).sum() / (items.counts * variances).sum())
        return 1.0 - soft_share * (1.0 - pearson)

    def clustered_information(self, ratings: Floats, effects: Floats) -> Floats:
        """Variance of the gradient where questions are drawn, shape (S, S).

        It is the information with every system's score scaled to its design effect. The estimate
        from the questions themselves would be singular with fewer questions than systems.
        """
        scale = np.sqrt(effects)
        return np.asarray(scale[:, None] * self.information(ratings) * scale)


@dataclass(frozen=True)
class DesignEffects:
    """By how much the verdicts on a question depend on each other, for each of S systems.

    Attributes:
        estimates: Variance of a system's score where questions are drawn, over that of independent
            battles, shape (S,); NaN without battles, 1 of one question.
        n_questions: Questions on which each system was judged, shape (S,).
        least: Smallest effect that is believed.
    """

    estimates: Floats
    n_questions: Floats
    least: float = LEAST_EFFECT

    @classmethod
    def of_all(cls, parts: Sequence[DesignEffects]) -> DesignEffects:
        """Put the systems of several languages behind each other."""
        return cls(
            estimates=np.concatenate([np.empty(0), *(part.estimates for part in parts)]),
            n_questions=np.concatenate([np.empty(0), *(part.n_questions for part in parts)]),
            least=min((part.least for part in parts), default=LEAST_EFFECT),
        )

    @property
    def common(self) -> float:
        """Mean of the known effects, not below the least; 1 if none is known."""
        is_known = np.isfinite(self.estimates)
        if not is_known.any():
            return 1.0
        return max(float(self.estimates[is_known].mean()), self.least)

    @property
    def by_system(self) -> Floats:
        """Effect of each system, drawn to the common one (empirical Bayes), shape (S,).

        The estimate from Q questions has a relative variance of about 2 / (Q - 1). Variance beyond
        that is attributed to differences between systems (method of moments).
        """
        is_known = np.isfinite(self.estimates)
        common = self.common
        effects = np.full(len(self.estimates), common)
        if is_known.sum() < 2:
            return effects
        deviations = self.estimates[is_known] / common - 1.0
        error_variance = 2.0 / np.maximum(self.n_questions[is_known] - 1.0, 1.0)
        observed_variance = float(deviations @ deviations) / (len(deviations) - 1)
        between_systems = max(observed_variance - float(error_variance.mean()), 0.0)
        weight = between_systems / (between_systems + error_variance)
        shrunken = common * (1.0 + weight * deviations)
        # An effect that is estimated with a relative variance r calls for Student's quantiles; at
        # 90% and 95% these are those of a normal distribution of a variance of 1 + r.
        widened = shrunken * (1.0 + weight * error_variance)
        effects[is_known] = np.maximum(widened, self.least)
        return effects
