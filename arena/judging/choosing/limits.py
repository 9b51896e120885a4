"""Fixed pairs within a number of calls, or within a cost that is known as replies come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from arena.judging.answer_pairs import QuestionKey, pair_keys
from arena.judging.choosing.chosen_pairs import ChosenPairs, Rounds, joined_pairs
from arena.judging.judging_settings import JudgingForm
from arena.llm.usage import Budget


def pairs_within(pairs: ChosenPairs, n_calls: int, form: JudgingForm) -> ChosenPairs:
    """Keep the first pairs, as many as one judge can be asked about with so many calls.

    Marks take a call for each answer, orders one for each question, and nuggets both: whole
    questions are kept. Pairs of identical texts take no call, and are all kept.
    """
    if form == "pairwise":
        return pairs.within(n_calls)
    answers_on: dict[QuestionKey, set[str]] = {}
    for language, query_id, system_a, system_b in pair_keys(pairs.table):
        answers_on.setdefault((language, query_id), set()).update((system_a, system_b))
    kept: list[QuestionKey] = []
    for question, systems in answers_on.items():
        n_calls -= _calls_on(len(systems), form)
        if n_calls < 0:
            break
        kept.append(question)
    return replace(pairs.on(kept), identical=pairs.identical)


def _calls_on(n_answers: int, form: JudgingForm) -> int:
    """Return the number of calls that a question takes."""
    if form == "listwise":
        return 1
    return n_answers + 1 if form == "nuggets" else n_answers


@dataclass(frozen=True)
class PacedPairs:
    """Asks fixed pairs in rounds, as many at a time as the cost left allows.

    Attributes:
        pairs: The pairs.
        form: What judges are asked for.
        n_judges: Number of judges, each of which is asked about every pair.
        budget: Of calls and cost.
    """

    pairs: ChosenPairs
    form: JudgingForm
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
                next_pairs = pairs_within(left, n_calls // self.n_judges, self.form)
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
