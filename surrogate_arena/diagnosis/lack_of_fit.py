"""Whether verdicts fit one scale: pairs that depart from it, and groups that disagree.

Under the Bradley-Terry model what a pair of systems wins beyond expectation is chance, and so is
what a group of verdicts adds to a system. Both are score tests (Rao, 1948): sums of squared
residuals, after what the ratings take of them. Verdicts on one question depend on each other, so
the distribution under the model is that of the same sums with all residuals of a question given a
random sign (the wild cluster bootstrap; Kline and Santos, 2012, "A score based approach to wild
bootstrap inference").
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy
from scipy.sparse import coo_array, csr_array

from arena.data.types import Flags, Floats, Indices
from arena.data.wording import Remark, Severity
from arena.rating.battles import Battles
from arena.rating.likelihood import BattleLikelihood
from arena.rating.penalized_likelihood import DEFAULT_RIDGE, NormalPrior
from arena.statistics.bootstrap import generator
from arena.statistics.codes import Distinct, distinct

LEVEL = 0.05
FEWEST_QUESTIONS = 10
"""Fewer questions have too few combinations of signs."""


def pairs_test(battles: Battles, seed: int = 0) -> Remark | None:
    """Test whether pairs of systems, which battles connect, win what their ratings let expect.

    Returns:
        A remark whose statistic is the probability of such verdicts, or of less likely ones, where
        they fit; None without a circle of pairs that met, or with fewer than ``FEWEST_QUESTIONS``.
    """
    residuals = _Residuals.of(battles)
    pairs = residuals.likelihood.pairs
    n_systems = pairs.n_systems
    first = np.minimum(pairs.first, pairs.second)
    met = distinct(first * n_systems + np.maximum(pairs.first, pairs.second), n_systems**2)
    if len(met.values) < n_systems or battles.n_questions < FEWEST_QUESTIONS:
        return None
    sign = np.where(pairs.first == first, 1.0, -1.0)
    departure = residuals.departure(_cells_of_pairs(sign, met), seed, "pairs")
    if departure.p_value >= LEVEL:
        found = "pairs of systems win as one scale lets expect, but for chance"
        return _remark("pairs", departure, found)
    most = departure.largest
    system, opponent = (battles.systems[index] for index in divmod(met.values[most], n_systems))
    won, expected = _shares_of_first(residuals, sign, met.codes == most)
    found = (
        "one scale does not explain who beats whom, beyond chance: most of all, "
        f"{system} wins {won:.0%} against {opponent} where {expected:.0%} are expected"
    )
    return _remark("pairs", departure, found)


def _cells_of_pairs(sign: Floats, met: Distinct) -> csr_array:
    """Return the factor of each of P pairs on their sides in each pair of systems, shape (P, C)."""
    rows = np.arange(len(sign))
    return coo_array((sign, (rows, met.codes)), shape=(len(sign), len(met.values))).tocsr()


def _shares_of_first(residuals: _Residuals, sign: Floats, is_met: Flags) -> tuple[float, float]:
    """Return the share of points that a pair's first system won, and the one expected.

    ``sign`` is 1 where it stands on side A, and -1 else; ``is_met`` tells the battles of the pair,
    both with the shape (P,).
    """
    points, counts = residuals.likelihood.items.totals
    n_battles = counts[is_met].sum()
    points_of_first = np.where(sign > 0, points, counts - points)
    won = points_of_first[is_met].sum() / n_battles
    expected = won - (sign * residuals.by_pair)[is_met].sum() / n_battles
    return float(won), float(expected)


def disagreement_test(battles: Battles, groups: str = "judges", seed: int = 0) -> Remark | None:
    """Test whether groups of verdicts, which are the judges of battles, rate systems alike.

    Battles connect the systems; sentences call the groups by ``groups``.

    Returns:
        As of ``pairs_test``; None with one group, or with fewer than ``FEWEST_QUESTIONS``.
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
    if departure.p_value >= LEVEL:
        found = f"{groups} do not differ by more than chance explains"
        return _remark("disagreement", departure, found)
    group, system = divmod(departure.largest, n_systems)
    direction = "higher" if departure.deviations[departure.largest] > 0 else "lower"
    found = (
        f"{groups} differ by more than chance, so that one ranking does not describe all: "
        f"most of all, {biases.judges[group]} rates {battles.systems[system]} {direction} than "
        "the others do"
    )
    return _remark("disagreement", departure, found)


def _remark(name: str, departure: _Departure, found: str) -> Remark:
    severity: Severity = "warning" if departure.p_value < LEVEL else "info"
    sentence = f"{found} (p = {departure.p_value:.2g})"
    return Remark(name, severity, sentence, statistic=departure.p_value)


@dataclass(frozen=True)
class _Departure:
    """How far C sums of residuals depart from what is expected.

    Attributes:
        p_value: Of the sum of their squares.
        deviations: Each in standard errors, shape (C,).
    """

    p_value: float
    deviations: Floats

    @property
    def largest(self) -> int:
        """Index of the largest deviation."""
        return int(np.argmax(np.abs(self.deviations)))


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
        expected = self.likelihood.expected(self.parameters)
        variances = self.likelihood.items.totals[1] * expected * (1 - expected)
        slopes, inflation = self._fitted(cells, variances)
        sums_by_question = self.by_question @ cells
        scores_by_question = self.by_question @ _design(self.likelihood)

        def sums(signs: Floats) -> Floats:
            """Sum over questions, each with its sign: (R, Q) to (R, C)."""
            return np.asarray(signs @ sums_by_question - (signs @ scores_by_question) @ slopes)

        n_questions = self.by_question.shape[0]
        scale = (cells * cells).T @ variances

        def statistics(squares: Floats) -> Floats:
            """Sum squares over what may depart, in units of their scale: (R, C) to (R,)."""
            return np.asarray((squares[:, scale > 0] / scale[scale > 0]).sum(axis=1))

        observed = sums(np.ones((1, n_questions)))
        rounds = 999
        n_larger = 0
        total = np.zeros(observed.shape[1])
        for signs in _drawn_signs(rounds, n_questions, generator(seed, "lack of fit", name)):
            squares = inflation * sums(signs) ** 2
            total += squares.sum(axis=0)
            n_larger += int((statistics(squares) >= statistics(observed**2)).sum())
        errors = np.sqrt(total / rounds)
        # A sum that no signs move does not depart.
        errors[errors <= 1e-9] = np.inf
        return _Departure((1 + n_larger) / (1 + rounds), observed[0] / errors)

    def _fitted(self, cells: csr_array, variances: Floats) -> tuple[Floats, float]:
        """Return what the fit takes out of the sums, and by how much it lowers all residuals.

        A change of the parameters moves the sums by slopes, shape (K, C). A fit lies closer to the
        verdicts it was made from, by its number of free parameters.
        """
        crossed = (_design(self.likelihood).T @ (cells * variances[:, None])).toarray()
        precisions = np.full(len(self.parameters), DEFAULT_RIDGE)
        precisions[self.likelihood.pairs.n_systems :] = self.likelihood.bias_precisions
        information = self.likelihood.information(self.parameters)
        regularized = information + np.diag(precisions)
        slopes = np.linalg.solve(regularized, crossed)
        n_free = float(np.trace(np.linalg.solve(regularized, information)))
        n_battles = float(self.likelihood.items.counts.sum())
        return slopes, n_battles / max(n_battles - n_free, 1.0)


def _drawn_signs(rounds: int, n_questions: int, random: np.random.Generator) -> Iterator[Floats]:
    """Draw the signs of Q questions in R rounds, some rounds at a time: (r, Q)."""
    rounds_at_once = 50
    for start in range(0, rounds, rounds_at_once):
        yield random.choice([-1.0, 1.0], (min(rounds_at_once, rounds - start), n_questions))


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
