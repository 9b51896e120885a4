"""The Bradley-Terry likelihood of battles, and how its gradient varies over questions.

Parameters are S ratings, then C coefficients of judges' biases, K in all
(docs/reference/formulas.md, "Likelihood").
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.special import expit, log_expit

from arena.computing.codes import Distinct, blocks, distinct
from arena.data.types import Floats, Indices
from arena.rating.biases import Biases
from arena.rating.bradley_terry import NormalPrior, PenalizedLikelihood, newton
from arena.rating.design_effects import LEAST_EFFECT, Clusters, DesignEffects
from arena.rating.pairs import JudgedItems, Pairs

LEAST_DISPERSION = 0.01
"""Smallest dispersion of soft verdicts that is believed: one counts for at most 100 wins."""

FEWEST_QUESTIONS = 2.5
"""Smallest effective number of questions, 1 / Σh² of their shares h of the verdicts, that tell how
far verdicts on a question depend on each other."""


@dataclass(frozen=True)
class BattleLikelihood:
    """The Bradley-Terry likelihood of battles; a tie is half a win."""

    items: JudgedItems

    @property
    def pairs(self) -> Pairs:
        """Return the P pairs that met."""
        return self.items.pairs

    @property
    def biases(self) -> Biases:
        """Return what judges like besides quality."""
        return self.items.biases or Biases.none(len(self.pairs))

    @property
    def bias_precisions(self) -> Floats:
        """Return the precision of the prior of each bias, shape (C,)."""
        return self.biases.prior_precisions

    def logits(self, parameters: Floats) -> Floats:
        """Return logits that pairs' first systems are better, (P,)."""
        logits = self.pairs.differences(parameters)
        if self.items.biases is None:
            return logits
        return logits + self.items.biases.logits(parameters[self.pairs.n_systems :])

    def expected(self, parameters: Floats) -> Floats:
        """Return expected shares of pairs' first systems, (P,)."""
        return np.asarray(expit(self.logits(parameters)))

    def value(self, parameters: Floats) -> float:
        """Return the logarithm of the likelihood."""
        logits = self.logits(parameters)
        points, counts = self.items.totals
        # A loss has the probability of a win times exp(-logit).
        return float((counts * log_expit(logits) - (counts - points) * logits).sum())

    @cached_property
    def design(self) -> csr_array:
        """Return the derivative of each pair's logit by each parameter, shape (P, K)."""
        return self.pairs.design(self.biases)

    def squared_scores(
        self, parameters: Floats, cluster: Indices, n_clusters: int
    ) -> tuple[Floats, Floats]:
        """Sum clusters' squared gradients, and count clusters, each (K,)."""
        items = self.items
        expected = self.expected(parameters)
        # A question with many battles pulls the fit toward itself (Bell and McCaffrey, 2002).
        shares = items.shares_by_question
        n_questions = max(int(np.count_nonzero(shares)), 1)
        corrections = (1 - 1 / n_questions) / np.maximum(1 - shares, 1e-9)
        residuals = np.empty(len(items))
        for rows in blocks(len(items)):
            residuals[rows] = items.points[rows] - items.counts[rows] * expected[items.pair[rows]]
            residuals[rows] *= corrections[items.question[rows]]
        clusters = Clusters(self.pairs, self.biases, items.pair, cluster, n_clusters)
        n_counted, squares = clusters.moments(residuals, power=1, exponents=(2,))
        return squares, n_counted

    def slope(self, parameters: Floats) -> Floats:
        """Return the gradient of the logarithm, shape (K,)."""
        points, counts = self.items.totals
        residuals = points - counts * self.expected(parameters)
        slope = self.pairs.sums(residuals)
        if self.items.biases is None:
            return slope
        return np.append(slope, self.items.biases.sums(residuals))

    def penalized(self, prior: NormalPrior, effect: float = 1.0) -> PenalizedLikelihood:
        """Return the likelihood to the power of 1 / ``effect``, with a prior."""
        points, counts = self.items.totals
        # The solver takes a column per replicate; here there is one.
        return PenalizedLikelihood(
            pairs=self.pairs,
            points=points[:, None] / effect,
            counts=counts[:, None] / effect,
            prior=prior,
            biases=self.items.biases,
        )

    def mode(self, prior: NormalPrior, effect: float = 1.0, start: Floats | None = None) -> Floats:
        """Find the most probable parameters, shape (K,)."""
        problem = self.penalized(prior, effect)
        first = problem.start() if start is None else start[:, None]
        return newton(problem, first)[:, 0]

    def information(self, parameters: Floats) -> Floats:
        """Return the information of independent battles, shape (K, K)."""
        expected = self.expected(parameters)
        by_pair = self.items.totals[1] * expected * (1 - expected)
        return self.pairs.information(by_pair, self.items.biases)

    def bias_errors(self, parameters: Floats, effect: float) -> Floats:
        """Return the biases' errors with priors for them alone, (C,).

        Where one system always stands on side A, verdicts cannot tell both apart.
        """
        # Next to nothing is known of ratings: they have a deviation of 1,000 logits.
        ratings_precision = 1e-6
        n_systems = self.pairs.n_systems
        precision = self.information(parameters) / effect
        ratings = precision[:n_systems, :n_systems] + ratings_precision * np.eye(n_systems)
        crossed = precision[:n_systems, n_systems:]
        biases = precision[n_systems:, n_systems:] - crossed.T @ np.linalg.solve(ratings, crossed)
        return np.sqrt(np.diag(np.linalg.inv(biases + np.diag(self.bias_precisions))))

    def design_effects(self, parameters: Floats, precisions: npt.ArrayLike) -> DesignEffects:
        """Compare the variance of scores by question with single battles'.

        Verdicts on one question, and of one voter, depend on each other (Kish, 1965).
        """
        information = self.information(parameters)
        independent = np.diag(information)
        least = LEAST_EFFECT * self.dispersion(parameters)
        clustered, n_clusters = self._variances_by_question(
            parameters, information, precisions, least
        )
        if self.items.voter is not None:
            added, n_voters = self._variances_by_voter(parameters, self.items.voter)
            clustered = clustered + added
            n_clusters = np.minimum(n_clusters, n_voters)
        effects = np.full(len(clustered), np.nan)
        np.divide(clustered, independent, out=effects, where=independent > 0)
        n_systems = self.pairs.n_systems
        of_systems, of_biases = np.split(effects, [n_systems])
        estimated = DesignEffects(of_systems, n_clusters[:n_systems], least, of_biases)
        shares = self.items.shares_by_question
        concentration = float(shares @ shares)
        if concentration <= 1 / FEWEST_QUESTIONS:
            if self.items.is_single:
                return estimated
            # Scores of S systems sum to 0 on each question: S - 1 of them vary freely.
            n_free = max(n_systems - 1, 1) * (1 / max(concentration, 1e-9) - 1)
            return replace(estimated, common_variance=2 / n_free)
        # On one question, all verdicts on a pair, shown in one order, count as one.
        _, counts = self.items.totals
        repeats = float(counts @ counts) / float(counts.sum())
        return replace(
            estimated,
            estimates=of_systems * np.nan,
            of_biases=of_biases * np.nan,
            if_unknown=max(concentration * repeats, estimated.common),
        )

    def _variances_by_question(
        self, parameters: Floats, information: Floats, precisions: npt.ArrayLike, least: float
    ) -> tuple[Floats, Floats]:
        """Return scores' variance by question, and the questions, each (K,)."""
        independent = np.diag(information)
        n_questions = self.items.n_questions
        squares, judged_on = self.squared_scores(parameters, self.items.question, n_questions)
        if self.items.is_single:
            return independent * max(self._share_of_variance(parameters), least), judged_on
        # A fit lies closer to the verdicts it was made from than to others, by its number of free
        # parameters; a prior leaves only a part of each parameter free.
        n_systems = self.pairs.n_systems
        rating_precisions = np.broadcast_to(np.asarray(precisions, np.float64), n_systems)
        prior = np.diag(np.append(rating_precisions, self.bias_precisions))
        n_free = float(np.trace(np.linalg.solve(information + prior, information)))
        n_battles = float(self.items.counts.sum())
        unbiased = n_questions / max(n_questions - 1, 1)
        return squares * unbiased * n_battles / max(n_battles - n_free, 1.0), judged_on

    def _variances_by_voter(self, parameters: Floats, voter: Indices) -> tuple[Floats, Floats]:
        """Return scores' variance by voter beyond questions', and the voters, each (K,).

        It is that by voters, less that by a voter's question (Cameron, Gelbach and Miller, 2011,
        "Robust inference with multiway clustering"), at least 0; 0 with a single voter.
        """
        voters = distinct(voter, int(voter.max(initial=-1)) + 1)
        n_voters = len(voters.values)
        if n_voters < 2:
            return np.zeros(len(parameters)), np.full(len(parameters), np.inf)
        squares, n_judging = self.squared_scores(parameters, voters.codes, n_voters)
        n_votes = self.items.n_questions * n_voters
        votes = distinct(self.items.question * n_voters + voters.codes, n_votes)
        of_votes, _ = self.squared_scores(parameters, votes.codes, len(votes.values))
        added = np.maximum(squares - of_votes, 0.0)
        return added * self._correction(voters), n_judging

    def _correction(self, voters: Distinct) -> Floats:
        """Return factors that undo the bias of the variance by voter, (K,).

        A voter deviates from a mean that holds its own votes, a share w. If tastes vary equally,
        only 1 - 2 Σw³/Σw² + Σw² of their variance shows: 1 - 1/G for G equal voters, 0 for one.
        """
        rounding_error = 1e-12
        clusters = Clusters(
            self.pairs, self.biases, self.items.pair, voters.codes, len(voters.values)
        )
        _, total, squares, cubes = clusters.moments(self.items.counts, power=2, exponents=(1, 2, 3))
        total[total == 0] = 1.0
        squares /= total**2
        seen = squares - 2 * cubes / total**3 + squares**2
        correction = np.zeros(len(seen))
        np.divide(squares, seen, out=correction, where=seen > rounding_error)
        # The effective number of voters is 1 / Σw² (Carter, Schnepel and Steigerwald, 2017). The
        # sampling error widens intervals as in ``by_system``, for the mean of the systems.
        concentration = np.minimum(squares, 0.5)
        per_freedom = concentration / (1 - concentration) / (self.pairs.n_systems - 1)
        return np.asarray(correction * (1 + 2 * per_freedom))

    def _share_of_variance(self, parameters: Floats) -> float:
        """Return the variance of points y over that of wins: ties vary less.

        With E y = p it is p (1 - p) - E y (1 - y).
        """
        expected = self.expected(parameters)
        points = self.items.points
        # By pairs, since the order of items may change the last digits of a sum.
        variance = float(self.items.totals[1] @ (expected * (1 - expected)))
        if not variance:  # no battle
            return 1.0
        return 1.0 - float((points * (1 - points)).sum()) / variance

    def dispersion(self, parameters: Floats) -> float:
        """Return a battle's variance over that of wins; 1 unless soft.

        Probabilities vary less than wins and losses of the same expectation (Wedderburn, 1974,
        "Quasi-likelihood functions"). It is Pearson's estimate, from ``LEAST_DISPERSION`` to 1.
        """
        items = self.items
        if items.soft_counts is None or not items.soft_counts.any():
            return 1.0
        expected = self.expected(parameters)[items.pair]
        variances = expected * (1.0 - expected)
        is_soft = items.soft_counts > 0
        residuals = items.points - items.counts * expected
        # Looks at one pair and question may be copies of each other, which is the larger variance.
        largest = float((items.counts**2 * variances)[is_soft].sum())
        pearson = float((residuals[is_soft] ** 2).sum()) / largest
        pearson = min(max(pearson, LEAST_DISPERSION), 1.0)
        soft_share = float((items.soft_counts * variances).sum() / (items.counts * variances).sum())
        return 1.0 - soft_share * (1.0 - pearson)

    def covariance(
        self,
        information: Floats,
        precisions: Floats,
        inverse: Floats,
        effects: Floats,
        common_effect: float = 1.0,
    ) -> Floats:
        """Return the covariance of modes, with ratings centered, (K, K).

        The sandwich H (M + d P) H with H = (I + P)^-1 (``inverse``), I the ``information``, P the
        prior's precisions, d the common design effect, and M the variance of the gradient over
        questions: I with every score scaled to its design effect.
        """
        scale = np.sqrt(effects)
        middle = scale[:, None] * information * scale
        middle += common_effect * np.diag(precisions)
        # Battles tell differences only. Products with the large variance of the level would lose
        # half of the digits.
        ratings = slice(self.pairs.n_systems)
        centered = inverse.copy()
        centered[ratings] -= centered[ratings].mean(axis=0)
        return np.asarray(centered @ middle @ centered.T)
