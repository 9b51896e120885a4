"""Fixed pairs in rounds: a few dozen first, then the rest, or what the cost left allows."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from arena.judging.choosing.chosen_pairs import ChosenPairs, Rounds, joined_pairs
from arena.judging.prompt import JudgePrompt
from arena.llm.usage import Budget


@dataclass(frozen=True)
class PacedPairs:
    """Asks fixed pairs in rounds, as the cost allows."""

    pairs: ChosenPairs
    form: type[JudgePrompt]
    n_judges: int
    budget: Budget

    @property
    def n_planned(self) -> int | None:
        """Return the maximum of pairs; None for other prompts."""
        return self.pairs.n_planned if self.form.form == "pairwise" else None

    def rounds(self) -> Rounds:
        """Yield rounds until all are asked, or the cost is spent."""
        left = self.pairs
        # Enough to see that a judge says the same of every pair; then all that may be asked.
        n_calls = 40
        while len(left):
            if self.budget.max_cost is not None:
                n_affordable = self.budget.calls_left or 0
                n_calls = min(n_calls, n_affordable // self.n_judges)
            next_pairs = self.form.within(left, n_calls)
            if not len(next_pairs):
                return "the budget of this run is spent"
            yield next_pairs
            left = left.without(pd.concat([next_pairs.table, next_pairs.identical]))
            n_calls = sys.maxsize
        return ""

    def chosen(self, rounds: Sequence[ChosenPairs]) -> ChosenPairs:
        """Join the pairs that were asked."""
        return joined_pairs(self.pairs.on([]), rounds)
