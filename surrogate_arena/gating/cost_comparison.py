"""Costs of a candidate and its baseline, on the questions that both answered."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from arena.data.schema import COST, LATENCY
from arena.data.wording import count_of
from surrogate_arena.costs.costs import (
    NO_COST,
    NO_CURRENCY,
    PRICED_ANSWERS,
    AnswerAmounts,
    answer_amounts,
    shown_amount,
)
from surrogate_arena.gating.contenders import Contenders
from surrogate_arena.gating.mean_intervals import mean_interval


@dataclass(frozen=True)
class CostComparison:
    """Costs of two systems, over the questions where both state one.

    Attributes:
        questions: Number of these questions.
        currency: Currency of both, if stated.
        cost: Mean cost of 1,000 answers of the candidate, or NaN.
        baseline_cost: The same of the baseline.
        low: Lower bound of the 95% interval of ``cost - baseline_cost``.
        high: Upper bound.
        latencies: Median and 95th percentile of seconds, then the baseline's.
        reason: Why costs cannot be compared.
    """

    questions: int
    currency: str
    cost: float
    baseline_cost: float
    low: float
    high: float
    latencies: tuple[float, float, float, float]
    reason: str = ""

    @property
    def is_cheaper(self) -> bool:
        """Return whether the whole interval says that the candidate costs less."""
        return self.high < 0

    @property
    def is_dearer(self) -> bool:
        """Return whether the candidate costs as much or more."""
        return self.low >= 0

    @property
    def sentences(self) -> tuple[str, ...]:
        """Costs and latencies in words."""
        sentences = []
        if self.reason:
            sentences.append(f"Costs cannot be compared: {self.reason}.")
        else:
            sentences.append(self._cost_sentence())
        median, late, baseline_median, baseline_late = self.latencies
        if not np.isnan(median):
            sentences.append(
                f"Latency: median {shown_amount(median)} seconds against "
                f"{shown_amount(baseline_median)}, 95th percentile {shown_amount(late)} against "
                f"{shown_amount(baseline_late)}."
            )
        return tuple(sentences)

    def _cost_sentence(self) -> str:
        unit = f" {self.currency}" if self.currency else ""
        amounts = f"{shown_amount(self.cost)} against {shown_amount(self.baseline_cost)}{unit}"
        interval = f"{_signed(self.low)} to {_signed(self.high)}"
        return (
            f"It costs {amounts} for 1,000 answers (95% interval of the difference {interval}, "
            f"{self.questions:,} questions)."
        )


def _signed(amount: float) -> str:
    sign = "\N{MINUS SIGN}" if amount < 0 else ""
    return f"{sign}{shown_amount(abs(amount))}"


def compare_costs(pair: Contenders) -> CostComparison:
    """Compare what candidate and baseline cost, question by question."""
    names = [pair.candidate, pair.baseline]
    answers = pd.concat([pair.answers, pair.baseline_answers], ignore_index=True)
    amounts = answer_amounts(replace(pair.arena, answers=answers))
    costs = amounts.amounts[COST][names].dropna().to_numpy(np.float64)
    result = CostComparison(
        questions=len(costs),
        currency=amounts.currencies[pair.candidate],
        cost=np.nan,
        baseline_cost=np.nan,
        low=np.nan,
        high=np.nan,
        latencies=_latencies(amounts, names),
        reason=_reason(amounts, names, pair.n_common),
    )
    if result.reason:
        return result
    cost, baseline_cost = np.sort(costs, axis=0).mean(axis=0) * PRICED_ANSWERS
    low, high = mean_interval(costs[:, 0] - costs[:, 1])
    return replace(
        result,
        cost=float(cost),
        baseline_cost=float(baseline_cost),
        low=low * PRICED_ANSWERS,
        high=high * PRICED_ANSWERS,
    )


def _latencies(amounts: AnswerAmounts, names: list[str]) -> tuple[float, float, float, float]:
    seconds = amounts.amounts[LATENCY][names].dropna().to_numpy(np.float64)
    if not len(seconds):
        return (np.nan, np.nan, np.nan, np.nan)
    (median, baseline_median), (late, baseline_late) = np.quantile(seconds, [0.5, 0.95], axis=0)
    return (float(median), float(late), float(baseline_median), float(baseline_late))


def _reason(amounts: AnswerAmounts, names: list[str], n_common: int) -> str:
    costs = amounts.amounts[COST]
    for name in names:
        if costs[name].isna().all():
            noted = [note for note in amounts.notes[name] if note.startswith(NO_COST)]
            why = noted[0].removeprefix(NO_COST) if noted else "its answers state none"
            return f"{name} has no cost, {why}"
    currencies = [amounts.currencies[name] or NO_CURRENCY for name in names]
    if currencies[0] != currencies[1]:
        return f"they are in {' and '.join(currencies)}; state all in one currency"
    n_priced = len(costs[names].dropna())
    # Fewer hardly show how skewed costs are.
    if n_priced < 10:
        return (
            f"both state a cost on {n_priced} of {count_of(n_common, 'common question')}; an "
            "interval needs 10"
        )
    return ""
