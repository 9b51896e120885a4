"""Fixed pairs within a cost that is known as replies come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from arena.judging.choosing.chosen_pairs import ChosenPairs, Rounds, joined_pairs
from arena.judging.prompt import JudgePrompt
from arena.llm.usage import Budget


@dataclass(frozen=True)
class PacedPairs:
    """Asks fixed pairs in rounds, as many at a time as the cost left allows.

    Attributes:
        pairs: The pairs.
        form: The form of judging, which says how many calls pairs take.
        n_judges: Number of judges, each of which is asked about every pair.
        budget: Of calls and cost.
    """

    pairs: ChosenPairs
    form: type[JudgePrompt]
    n_judges: int
    budget: Budget

    @property
    def n_planned(self) -> int:
        """Number of pairs to ask at most."""
        return self.pairs.n_planned

    def rounds(self) -> Rounds:
        """Yield rounds of pairs until all are asked, or the cost is spent."""
        left = self.pairs
        while len(left):
            next_pairs = left
            n_calls = self.budget.calls_left
            if n_calls is not None:
                next_pairs = self.form.within(left, n_calls // self.n_judges)
            if not len(next_pairs):
                return "the budget of this run is spent"
            yield next_pairs
            left = left.without(pd.concat([next_pairs.table, next_pairs.identical]))
        return ""

    def on_sides_of(self, judgments: pd.DataFrame) -> PacedPairs:
        """Turn pairs as ``ChosenPairs.on_sides_of`` does."""
        return replace(self, pairs=self.pairs.on_sides_of(judgments))

    def chosen(self, rounds: Sequence[ChosenPairs]) -> ChosenPairs:
        """Put together the pairs that were asked."""
        return joined_pairs(self.pairs.on([]), rounds)
