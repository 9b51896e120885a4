"""Whether verdicts fit one scale: pairs that depart from it, and groups that disagree.

Under the Bradley-Terry model what a pair of systems wins beyond expectation is chance, and so is
what a group of verdicts adds to a system. Both are score tests (Rao, 1948): sums of squared
residuals, after what the ratings take of them. Verdicts on one question depend on each other, so
the distribution under the model is that of the same sums with all residuals of a question given a
random sign (the wild cluster bootstrap; Kline and Santos, 2012, "A score based approach to wild
bootstrap inference").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy
from scipy.sparse import coo_array, csr_array

from arena.data.types import Floats, Indices
from arena.rating.battles import Battles
from arena.rating.likelihood import BattleLikelihood
from arena.rating.penalized_likelihood import DEFAULT_RIDGE, NormalPrior
from arena.statistics.bootstrap import generator
from arena.statistics.codes import distinct

LEVEL = 0.05
FEWEST_QUESTIONS = 10
"""Fewer questions have too few combinations of signs."""


@dataclass(frozen=True)
class FitTest:
    """A test of whether verdicts fit one scale.

    Attributes:
        name: ``pairs`` (the ratings do not explain who beats whom) or ``disagreement`` (groups of
            verdicts rate systems differently).
        p_value: Probability of such verdicts, or of less likely ones, where they fit.
        sentence: What it finds, and what departs most.
    """

    name: Literal["pairs", "disagreement"]
    p_value: float
    sentence: str


def pairs_test(battles: Battles, seed: int = 0) -> FitTest | None:
    """Test whether pairs of systems win what their ratings let expect.

    Args:
        battles: Of systems that they connect.
        seed: Of the signs.

    Returns:
        None without a circle of pairs that met, or with fewer than ``FEWEST_QUESTIONS``.
    """
    residuals = _Residuals.of(battles)
    pairs = residuals.likelihood.pairs
    n_systems = pairs.n_systems
    first = np.minimum(pairs.first, pairs.second)
    met = distinct(first * n_systems + np.maximum(pairs.first, pairs.second), n_systems**2)
    if len(met.values) < n_systems or battles.n_questions < FEWEST_QUESTIONS:
        return None
    sign = np.where(pairs.first == first, 1.0, -1.0)
    rows = np.arange(len(pairs))
    cells = coo_array((sign, (rows, met.codes)), shape=(len(pairs), len(met.values)))
    departure = residuals.departure(cells.tocsr(), seed, "pairs")
    most = int(np.argmax(np.abs(departure.deviations)))
    system, opponent = (battles.systems[index] for index in divmod(met.values[most], n_systems))
    points, counts = residuals.likelihood.items.totals
    is_cell = met.codes == most
    n_battles = counts[is_cell].sum()
    points_of_first = np.where(sign > 0, points, counts - points)
    won = points_of_first[is_cell].sum() / n_battles
    expected = won - (sign * residuals.by_pair)[is_cell].sum() / n_battles
    found = "pairs of systems win as one scale lets expect, but for chance"
    if departure.p_value < LEVEL:
        found = (
            "one scale does not explain who beats whom, beyond chance: most of all, "
            f"{system} wins {won:.0%} against {opponent} where {expected:.0%} are expected"
        )
    return FitTest("pairs", departure.p_value, f"{found} (p = {departure.p_value:.2g})")


def disagreement_test(battles: Battles, groups: str = "judges", seed: int = 0) -> FitTest | None:
    """Test whether groups of verdicts, which are the judges of battles, rate systems alike.

    Args:
        battles: Of systems that they connect; ``judges`` names the groups.
        groups: What a sentence calls them.
        seed: Of the signs.

    Returns:
        None with one group, or with fewer than ``FEWEST_QUESTIONS``.
    """
    residuals = _Residuals.of(battles)
    biases = residuals.likelihood.biases
    if len(biases.judges) < 2 or battles.n_questions < FEWEST_QUESTIONS:
        return None
    pairs = residuals.likelihood.pairs
    n_systems = pairs.n_systems
    rows = np.tile(np.arange(len(pairs)), 2)
    systems = np.concatenate([pairs.first, pairs.second])
    signs = np.repeat([1.0, -1.0], len(pairs))
    columns = np.tile(biases.judge, 2) * n_systems + systems
    shape = (len(pairs), len(biases.judges) * n_systems)
    cells = coo_array((signs, (rows, columns)), shape=shape)
    departure = residuals.departure(cells.tocsr(), seed, "disagreement")
    most = int(np.argmax(np.abs(departure.deviations)))
    group, system = divmod(most, n_systems)
    direction = "higher" if departure.deviations[most] > 0 else "lower"
    found = f"{groups} do not differ by more than chance explains"
    if departure.p_value < LEVEL:
        found = (
            f"{groups} differ by more than chance, so that one ranking does not describe all: "
            f"most of all, {biases.judges[group]} rates {battles.systems[system]} {direction} than "
            "the others do"
        )
    return FitTest("disagreement", departure.p_value, f"{found} (p = {departure.p_value:.2g})")


@dataclass(frozen=True)
class _Departure:
    """How far C sums of residuals depart from what is expected.

    Attributes:
        p_value: Of the sum of their squares.
        deviations: Each in standard errors, shape (C,).
    """

    p_value: float
    deviations: Floats


@dataclass(frozen=True)
class _Residuals:
    """Points beyond expectation of P pairs on Q questions.

    Attributes:
        likelihood: Of the battles.
        parameters: Most probable ones with a weak prior, shape (K,).
        by_question: Residuals, shape (Q, P).
    """

    likelihood: BattleLikelihood
    parameters: Floats
    by_question: csr_array

    @classmethod
    def of(cls, battles: Battles) -> _Residuals:
        """Fit the battles."""
        items = battles.items_by_side
        likelihood = BattleLikelihood(items)
        parameters = likelihood.mode(NormalPrior.ridge(len(battles.systems), DEFAULT_RIDGE))
        values = items.points - items.counts * likelihood.expected(parameters)[items.pair]
        shape = (items.n_questions, len(items.pairs))
        by_question = coo_array((values, (items.question, items.pair)), shape=shape)
        return cls(likelihood, parameters, by_question.tocsr())

    @property
    def by_pair(self) -> Floats:
        """Sum over questions, shape (P,)."""
        return np.asarray(self.by_question.sum(axis=0)).ravel()

    def departure(self, cells: csr_array, seed: int, name: str) -> _Departure:
        """Test C sums of residuals over pairs.

        Args:
            cells: Factor of each pair in each sum, shape (P, C).
            seed: Of the signs.
            name: Keys them.
        """
        rounds = 999
        rounds_at_once = 50
        design = _design(self.likelihood)
        expected = self.likelihood.expected(self.parameters)
        variances = self.likelihood.items.totals[1] * expected * (1 - expected)
        # A change of the parameters moves the sums by this much: their slope is taken out.
        crossed = (design.T @ (cells * variances[:, None])).toarray()
        precisions = np.full(len(self.parameters), DEFAULT_RIDGE)
        precisions[self.likelihood.pairs.n_systems :] = self.likelihood.bias_precisions
        information = self.likelihood.information(self.parameters)
        regularized = information + np.diag(precisions)
        slopes = np.linalg.solve(regularized, crossed)
        # A fit lies closer to the verdicts it was made from, by its number of free parameters.
        n_free = float(np.trace(np.linalg.solve(regularized, information)))
        n_battles = float(self.likelihood.items.counts.sum())
        inflation = n_battles / max(n_battles - n_free, 1.0)
        sums_by_question = self.by_question @ cells
        scores_by_question = self.by_question @ design

        def sums(signs: Floats) -> Floats:
            """Sum over questions, each with its sign: (R, Q) to (R, C)."""
            return np.asarray(signs @ sums_by_question - (signs @ scores_by_question) @ slopes)

        scale = (cells * cells).T @ variances
        is_possible = scale > 0
        observed = sums(np.ones((1, self.by_question.shape[0])))[0]
        statistic = float((observed[is_possible] ** 2 / scale[is_possible]).sum())
        random = generator(seed, "lack of fit", name)
        n_larger = 0
        squares = np.zeros(len(observed))
        for start in range(0, rounds, rounds_at_once):
            size = (min(rounds_at_once, rounds - start), self.by_question.shape[0])
            drawn = sums(random.choice([-1.0, 1.0], size))
            drawn_squares = inflation * drawn**2
            squares += drawn_squares.sum(axis=0)
            statistics = (drawn_squares[:, is_possible] / scale[is_possible]).sum(axis=1)
            n_larger += int((statistics >= statistic).sum())
        errors = np.sqrt(squares / rounds)
        deviations = np.divide(observed, errors, out=np.zeros(len(observed)), where=errors > 1e-9)
        return _Departure((1 + n_larger) / (1 + rounds), deviations)


def _design(likelihood: BattleLikelihood) -> csr_array:
    """Return by how much each parameter counts in the logit of each pair, shape (P, K)."""
    biases = likelihood.biases
    n_traits = len(biases.traits)
    n_pairs = len(likelihood.pairs)
    rows = np.repeat(np.arange(n_pairs), n_traits)
    columns: Indices = (biases.judge[:, None] * n_traits + np.arange(n_traits)).ravel()
    entries = (biases.values.ravel(), (rows, columns))
    of_biases = coo_array(entries, shape=(n_pairs, len(biases)))
    return scipy.sparse.hstack([likelihood.pairs.incidence.T, of_biases], format="csr")
