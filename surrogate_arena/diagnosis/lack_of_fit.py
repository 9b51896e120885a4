"""Do groups of verdicts, such as of categories or judges, fit one scale?

A score test (Rao, 1948): a sum of squared residuals, after what the ratings take of them. Its
distribution has a random sign for all residuals of a question (the wild cluster bootstrap; Kline
and Santos, 2012, "A score based approach to wild bootstrap inference").
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array

from arena.data.types import Floats
from arena.data.wording import Remark, Severity
from arena.rating.battles import Battles
from arena.rating.bradley_terry import DEFAULT_RIDGE, NormalPrior
from arena.rating.likelihood import BattleLikelihood
from arena.statistics.bootstrap import generator

LEVEL = 0.05
FEWEST_QUESTIONS = 10
"""Fewer questions have too few combinations of signs."""


def disagreement_test(battles: Battles, groups: str, seed: int = 0) -> Remark | None:
    """Test whether groups, the judges of connected battles, rate systems alike.

    Returns:
        A remark with the p-value; None with one group, or with fewer than ``FEWEST_QUESTIONS``.
    """
    residuals = _Residuals.of(battles)
    biases = residuals.likelihood.biases
    if len(biases.judges) < 2 or battles.n_questions < FEWEST_QUESTIONS:
        return None
    departure = residuals.departure(_systems_in_groups(residuals.likelihood), seed)
    severity: Severity = "info"
    found = f"{groups} do not differ by more than chance explains"
    if departure.p_value < LEVEL:
        severity = "warning"
        group, system = divmod(departure.largest, len(battles.systems))
        direction = "higher" if departure.deviations[departure.largest] > 0 else "lower"
        found = (
            f"{groups} differ by more than chance, so that one ranking does not describe all: "
            f"most of all, {biases.judges[group]} rates {battles.systems[system]} {direction} than "
            "the others do"
        )
    sentence = f"{found} (p = {departure.p_value:.2g})"
    return Remark("disagreement", severity, sentence, statistic=departure.p_value)


def _systems_in_groups(likelihood: BattleLikelihood) -> csr_array:
    """Return the factor of each of P pairs on each system in each group, shape (P, G * S)."""
    pairs, biases = likelihood.pairs, likelihood.biases
    rows = np.tile(np.arange(len(pairs)), 2)
    systems = np.concatenate([pairs.first, pairs.second])
    signs = np.repeat([1.0, -1.0], len(pairs))
    columns = np.tile(biases.judge, 2) * pairs.n_systems + systems
    shape = (len(pairs), len(biases.judges) * pairs.n_systems)
    return coo_array((signs, (rows, columns)), shape=shape).tocsr()


class _Departure(NamedTuple):
    """Departure of C sums of residuals from expectation.

    Attributes:
        p_value: Of the sum of their squares.
        deviations: In standard errors, shape (C,).
    """

    p_value: float
    deviations: Floats

    @property
    def largest(self) -> int:
        return int(np.argmax(np.abs(self.deviations)))


class _Residuals(NamedTuple):
    """Points beyond expectation of P pairs on Q questions.

    Attributes:
        parameters: Most probable ones with a weak prior, shape (K,).
        by_question: Residuals, shape (Q, P).
    """

    likelihood: BattleLikelihood
    parameters: Floats
    by_question: csr_array

    @classmethod
    def of(cls, battles: Battles) -> _Residuals:
        items = battles.items_by_side
        likelihood = BattleLikelihood(items)
        parameters = likelihood.mode(NormalPrior.ridge(len(battles.systems), DEFAULT_RIDGE))
        values = items.points - items.counts * likelihood.expected(parameters)[items.pair]
        shape = (items.n_questions, len(items.pairs))
        by_question = coo_array((values, (items.question, items.pair)), shape=shape)
        return cls(likelihood, parameters, by_question.tocsr())

    def departure(self, cells: csr_array, seed: int) -> _Departure:
        """Test C sums of residuals, with pairs' factors (P, C)."""
        expected = self.likelihood.expected(self.parameters)
        variances = self.likelihood.items.totals[1] * expected * (1 - expected)
        slopes, inflation = self._fitted(cells, variances)
        sums_by_question = self.by_question @ cells
        scores_by_question = self.by_question @ self.likelihood.design

        def sums(signs: Floats) -> Floats:
            return np.asarray(signs @ sums_by_question - (signs @ scores_by_question) @ slopes)

        n_questions = self.by_question.shape[0]
        scale = (cells * cells).T @ variances

        def statistics(squares: Floats) -> Floats:
            """Sum squares of departures in units of their scale: (R, C) to (R,)."""
            return np.asarray((squares[:, scale > 0] / scale[scale > 0]).sum(axis=1))

        observed = sums(np.ones((1, n_questions)))
        rounds = 999
        n_larger = 0
        total = np.zeros(observed.shape[1])
        for signs in _drawn_signs(
            rounds, n_questions, generator(seed, "lack of fit", "disagreement")
        ):
            squares = inflation * sums(signs) ** 2
            total += squares.sum(axis=0)
            n_larger += int((statistics(squares) >= statistics(observed**2)).sum())
        errors = np.sqrt(total / rounds)
        # A sum that no signs move does not depart.
        errors[errors <= 1e-9] = np.inf
        return _Departure((1 + n_larger) / (1 + rounds), observed[0] / errors)

    def _fitted(self, cells: csr_array, variances: Floats) -> tuple[Floats, float]:
        """Return what the fit takes out of the sums, and a factor on variances."""
        crossed = (self.likelihood.design.T @ (cells * variances[:, None])).toarray()
        precisions = np.full(len(self.parameters), DEFAULT_RIDGE)
        precisions[self.likelihood.pairs.n_systems :] = self.likelihood.bias_precisions
        information = self.likelihood.information(self.parameters)
        regularized = information + np.diag(precisions)
        slopes = np.linalg.solve(regularized, crossed)
        n_free = float(np.trace(np.linalg.solve(regularized, information)))
        n_battles = float(self.likelihood.items.counts.sum())
        return slopes, n_battles / max(n_battles - n_free, 1.0)


def _drawn_signs(rounds: int, n_questions: int, random: np.random.Generator) -> Iterator[Floats]:
    """Draw signs of Q questions in R rounds, some rounds at a time: (r, Q)."""
    rounds_at_once = 50
    for start in range(0, rounds, rounds_at_once):
        yield random.choice([-1.0, 1.0], (min(rounds_at_once, rounds - start), n_questions))
