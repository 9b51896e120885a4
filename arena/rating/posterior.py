"""Ratings as the posterior of what was asked, right for judgments that were chosen by others.

Who chooses battles by what was judged before stops asking about pairs that look decided, some of
them by luck. Maximum likelihood then stretches the ratings, and resamples of questions know
nothing of what would have been asked instead. The likelihood is that of what was asked all the
same, so that a posterior is right where its prior is (Rubin, 1976, "Inference and missing data"):
the prior's spread is not set but averaged over, by its evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import coo_array, csr_array
from scipy.special import expit, log_expit, softmax

from arena.data.errors import UsageError
from arena.data.types import Flags, Floats
from arena.rating.battles import Battles
from arena.rating.bradley_terry import NormalPrior, PenalizedLikelihood, newton
from arena.rating.pairs import JudgedItems, Pairs
from arena.statistics.bootstrap import normal_draws
from arena.statistics.significance import NORMAL_QUANTILE

LEAST_EFFECT = 0.25
"""Design effect of questions that few of them may make seem smaller."""
SPREAD_PRECISIONS = (0.1, 0.25, 0.6, 1.5, 4.0)
"""Of ratings about what is known of them, where that is nothing; log-normal about 1 a priori."""
TRUST = (1.0, 0.25, 0.0625)
"""Factors of stated precisions, by how much ratings may differ more than stated."""
LOG_SPREAD = 1.0
DRAWS = 4_000
PRIOR_COLUMNS = ("language", "system", "rating", "standard_error")


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
        better = self.pairs.differences(ratings)
        won, met = self.items.totals
        return float((won * log_expit(better) + (met - won) * log_expit(-better)).sum())

    def scores(self, ratings: Floats) -> csr_array:
        """Gradient of each question's logarithm, shape (Q, S)."""
        items = self.items
        surplus = items.points - items.counts * self.expected(ratings)[items.pair]
        sides = np.concatenate([self.pairs.first[items.pair], self.pairs.second[items.pair]])
        entries = (np.concatenate([surplus, -surplus]), (np.tile(items.question, 2), sides))
        shape = (items.n_questions, self.pairs.n_systems)
        return coo_array(entries, shape=shape).tocsr()

    def slope(self, ratings: Floats) -> Floats:
        """Gradient of the logarithm, shape (S,)."""
        won, met = self.items.totals
        return self.pairs.sums(won - met * self.expected(ratings))

    def mode(self, prior: NormalPrior, effect: float = 1.0, start: Floats | None = None) -> Floats:
        """Find the most probable ratings, shape (S,).

        Args:
            prior: What is known of the systems.
            effect: Design effect; the likelihood is to the power of one over it.
            start: Ratings to climb from.

        Raises:
            ConvergenceError: If there is no mode.
        """
        points, counts = (total[:, None] / effect for total in self.items.totals)
        problem = PenalizedLikelihood(self.pairs, points, counts, prior)
        return newton(problem, (prior.means if start is None else start)[:, None])[:, 0]

    def information(self, ratings: Floats) -> Floats:
        """Of the battles as if they were independent, shape (S, S)."""
        expected = self.expected(ratings)
        return self.pairs.laplacian(self.items.totals[1] * expected * (1 - expected))

    def design_effects(self, ratings: Floats, precisions: npt.ArrayLike) -> Floats:
        """Variance of each system's score where questions are drawn, over that of single battles.

        Verdicts on a question hang together (Kish, 1965). Not of all scores in one, for in a star
        of battles about one system these would be its own. A fit comes nearer to its own verdicts
        than to others by as many as it has free parameters, of which a prior leaves a part.

        Args:
            ratings: Fitted to these battles, shape (S,).
            precisions: Of the prior they were fitted with, a number or shape (S,).

        Returns:
            Shape (S,); NaN without battles, 1 of one question.
        """
        information = self.information(ratings)
        independent = np.diag(information)
        questions = self.items.n_questions
        if questions < 2:
            return np.where(independent > 0, 1.0, np.nan)
        drawn = self.scores(ratings).power(2).sum(axis=0) * questions / (questions - 1)
        prior = np.diag(np.broadcast_to(np.asarray(precisions, np.float64), len(drawn)))
        free = float(np.trace(np.linalg.solve(information + prior, information)))
        met = float(self.items.counts.sum())
        drawn *= met / max(met - free, 1.0)
        unknown = np.full(len(drawn), np.nan)
        return np.asarray(np.divide(drawn, independent, out=unknown, where=independent > 0))


def mean_design_effect(effects: Floats) -> float:
    """Mean of the known design effects, not below a quarter; 1 if none is known."""
    known = effects[np.isfinite(effects)]
    return max(float(known.mean()), LEAST_EFFECT) if known.size else 1.0


@dataclass(frozen=True)
class RatingPrior(NormalPrior):
    """What is known of S systems before they meet.

    Attributes:
        informed: Whether something is known of a system, shape (S,); else its mean is 0.
    """

    informed: Flags

    @classmethod
    def flat(cls, systems: int, precision: float) -> RatingPrior:
        """Know nothing of any system but how far ratings may spread about 0."""
        nothing = np.zeros(systems)
        return cls(nothing, np.full(systems, precision), np.zeros(systems, dtype=bool))

    @classmethod
    def of_table(
        cls, table: pd.DataFrame | None, systems: Sequence[str], precision: float
    ) -> RatingPrior:
        """Take what is known from a table.

        Args:
            table: Columns ``system, rating, standard_error`` of one language; systems that are
                absent, or have no rating or standard error, are not known. None knows nothing.
            systems: The S systems.
            precision: Of those that nothing is known of.

        Raises:
            UsageError: If a system stands there twice, or a standard error is not above 0.
        """
        flat = cls.flat(len(systems), precision)
        if table is None:
            return flat
        twice = table.loc[table["system"].duplicated(), "system"]
        if len(twice):
            raise UsageError(f"the prior holds {twice.iloc[0]} twice; keep one row a system")
        rows = table.set_index("system").reindex(list(systems))
        mean = rows["rating"].to_numpy(np.float64)
        error = rows["standard_error"].to_numpy(np.float64)
        if (error <= 0).any():
            name = systems[int(np.argmax(error <= 0))]
            raise UsageError(f"the prior's standard error of {name} is not above 0")
        known = np.isfinite(mean) & np.isfinite(error)
        if not known.any():
            return flat
        # Ratings are differences: their level is nobody's.
        centered = mean - mean[known].mean()
        return cls(
            np.where(known, centered, 0.0),
            np.where(known, 1.0 / np.where(known, error, 1.0) ** 2, precision),
            known,
        )

    def trusted(self, factor: float) -> RatingPrior:
        """Multiply the precisions of what is known by a factor."""
        return replace(
            self, precisions=np.where(self.informed, factor * self.precisions, self.precisions)
        )

    def spread(self, precision: float) -> RatingPrior:
        """Give systems that nothing is known of another precision."""
        return replace(self, precisions=np.where(self.informed, self.precisions, precision))


@dataclass(frozen=True)
class RatingPosterior:
    """Ratings of S systems by what is known of them, and verdicts.

    Attributes:
        systems: The systems.
        ratings: Logits, shape (S,).
        covariance: What is not known of them, shape (S, S).
        shares: How much of each rating rests on the system's own verdicts, shape (S,): by how
            much it moves where these move by 1; 0 without any.
    """

    systems: tuple[str, ...]
    ratings: Floats
    covariance: Floats
    shares: Floats

    @property
    def standard_errors(self) -> Floats:
        """Of the ratings, shape (S,)."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lower and upper bounds of 95% intervals, each of shape (S,)."""
        width = NORMAL_QUANTILE * self.standard_errors
        return self.ratings - width, self.ratings + width

    def draws(self, random: np.random.Generator, rounds: int = DRAWS) -> Floats:
        """Draw ratings of all systems together, shape (rounds, S)."""
        return normal_draws(self.ratings, self.covariance, rounds, random)


def battle_posterior(
    battles: Battles, prior: RatingPrior | None = None, trust: Sequence[float] = TRUST
) -> RatingPosterior:
    """Rate by battles and a prior, whatever chose the battles.

    The likelihood is that of Bradley and Terry, to the power of one over the design effect of
    questions (Kish, 1965), since verdicts on one hang together. Posteriors are normal about their
    mode (Laplace), and averaged over how far ratings spread: by a prior that is log-normal about
    1 where nothing is known, or by how far what is known may be trusted.

    Args:
        battles: Of some of the systems; their names are those of the prior.
        prior: What is known; by default nothing.
        trust: Factors of its precisions that are averaged over.

    Raises:
        ConvergenceError: If a mode is not found.
    """
    systems = battles.systems
    known = RatingPrior.flat(len(systems), 1.0) if prior is None else prior
    likelihood = BattleLikelihood(battles.items)
    alone = likelihood.mode(known)
    effect = mean_design_effect(likelihood.design_effects(alone, known.precisions))
    ratings, covariances, evidence, own = [], [], [], []
    for each, weight in _priors(known, trust):
        mode = likelihood.mode(each, effect, alone)
        precision = likelihood.information(mode) / effect + np.diag(each.precisions)
        ratings.append(mode - mode.mean())
        spread = np.asarray(np.linalg.inv(precision))
        own.append(1.0 - each.precisions * np.diag(spread))
        centered = spread - spread.mean(axis=0)
        covariances.append(centered - centered.mean(axis=1, keepdims=True))
        evidence.append(weight + likelihood.value(mode) / effect + _log_prior(each, mode, spread))
    shares = softmax(evidence)
    apart = np.array(ratings) - (mean := shares @ np.array(ratings))
    covariance = np.tensordot(shares, np.array(covariances), 1) + (apart.T * shares) @ apart
    return RatingPosterior(systems, mean, covariance, shares @ np.array(own))


def _priors(prior: RatingPrior, trust: Sequence[float]) -> list[tuple[RatingPrior, float]]:
    """Return what is averaged over, with the logarithm of each one's weight."""
    spreads = (1.0,) if prior.informed.all() else SPREAD_PRECISIONS
    factors = trust if prior.informed.any() else (1.0,)
    return [
        (
            prior.spread(spread).trusted(factor),
            -0.5 * (np.log(spread) ** 2 + np.log(factor) ** 2) / LOG_SPREAD**2,
        )
        for spread in spreads
        for factor in factors
    ]


def _log_prior(prior: RatingPrior, mode: Floats, covariance: Floats) -> float:
    """Logarithm of the prior's density at the mode times the volume about it (Laplace)."""
    apart = (prior.precisions * (mode - prior.means) ** 2).sum()
    volume = np.log(prior.precisions).sum() + np.linalg.slogdet(covariance)[1]
    return float(0.5 * (volume - apart))
