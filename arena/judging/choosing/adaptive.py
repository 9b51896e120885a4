"""Pairs that are chosen as verdicts come: those that tell most about the ranking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from arena.data.arena import Arena
from arena.data.schema import QUESTION_KEY
from arena.data.wording import count_of
from arena.judging.answer_pairs import PAIR_COLUMNS, ArenaTexts, PairKey
from arena.judging.choosing.chosen_pairs import (
    Batches,
    ChosenPairs,
    asked_pairs,
    draw_questions,
    joined_pairs,
)
from arena.judging.choosing.pairing import AdaptivePairing, batch_size
from arena.llm.replies import OVER_BUDGET, PASSING
from arena.llm.usage import Budget
from arena.statistics.significance import NORMAL_90

if TYPE_CHECKING:
    from arena.judging.judging_settings import JudgingSettings

KNOWN = "no ranking has more than {:.1%} of its pairs in the wrong order, as expected"
SPENT = "the budget of {} is spent"
CALLS_SPENT = "this run's budget of {} is spent"
NOTHING_OPEN = "every pair of the questions drawn is judged"
PROGRESS_COLUMNS = ["language", "systems", "questions", "judged", "failed", "open", "misordered"]
RATING_COLUMNS = ["language", "system", "rating", "low", "high"]

_SIDES = ["query_id", "system_a", "system_b", "winner"]


class AdaptivePairs:
    """Chooses, batch by batch, the pairs that lower the uncertainty of the ranking most.

    Batches go to the language whose order is known least, and are chosen there by
    ``AdaptivePairing``. They follow from the verdicts that are there, the prior and the seed: a
    run that was killed goes on as if it had not been.
    """

    def __init__(
        self,
        arena: Arena,
        settings: JudgingSettings,
        prior: pd.DataFrame | None = None,
        failed: pd.DataFrame | None = None,
        calls: Budget | None = None,
    ) -> None:
        """Start with the verdicts that the arena holds.

        Args:
            arena: Questions, answers, and the judgments there are.
            settings: Who judges, what may be asked, and when to stop.
            prior: Columns ``language, system, rating, standard_error``: what is expected of
                systems before they are judged, in logits; None or absent where nothing is.
            failed: Pairs that earlier runs got no verdict on; see ``lasting_failures``.
            calls: The judge's budget of calls.

        Raises:
            UsageError: If nothing says when to stop, or there is nothing to judge.
        """
        settings.require_adaptive()
        self._plan, self._calls, judge = settings, calls or Budget(), settings.judge
        self._texts, seed = ArenaTexts(arena), settings.seed
        limits = (settings.questions, settings.languages, seed)
        self._drawn = draw_questions(arena, self._texts, *limits)
        votes = arena.judgments[arena.judgments["judge"] == judge]
        failures = _lasting(failed, votes, judge)
        self._languages: dict[str, AdaptivePairing] = {}
        for language in dict(self._drawn):
            questions = [query_id for of, query_id in self._drawn if of == language]
            own = arena.answers[arena.answers["language"] == language]
            own = own[own["query_id"].isin(questions)]
            known = None if prior is None else prior[prior["language"] == language]
            pairing = AdaptivePairing(own["system"].unique(), questions, own, seed, known)
            self._languages[language] = pairing
            self._take_in(language, votes, failures)
        is_drawn = pd.MultiIndex.from_frame(votes[QUESTION_KEY]).isin(list(self._drawn))
        self._earlier = votes.loc[is_drawn, PAIR_COLUMNS].drop_duplicates()

    @property
    def whole(self) -> int | None:
        """Pairs left of the budget."""
        budget = self._plan.budget
        return None if budget is None else max(budget - self._done, 0)

    def batches(self) -> Batches:
        """Yield what to ask next, until enough is known, or no more may be asked."""
        while (reason := self._reason_to_stop()) is None:
            open_ones = {
                name: each for name, each in self._languages.items() if self._may_ask(each)
            }
            language, pairing = max(open_ones.items(), key=lambda item: item[1].misordered)
            limits = [batch_size(len(pairing.systems), pairing.judged + pairing.failed)]
            if self._calls.calls_left is not None:
                limits.append(self._calls.calls_left)
            if self._plan.budget is not None:
                limits.append(self._plan.budget - self._done)
            items = pairing.next_pairs(min(limits))
            found = yield self._pairs([(language, *item) for item in items])
            self._take_in(language, found.judgments, found.failures)
        return reason

    def chosen(self, asked: Sequence[ChosenPairs]) -> ChosenPairs:
        """Put together what was asked, in this run and before."""
        return joined_pairs(self._pairs([]), asked, self._earlier)

    def progress(self) -> pd.DataFrame:
        """Say of each language what is judged and known, ``PROGRESS_COLUMNS``."""
        rows = []
        for name, one in self._languages.items():
            counts = (len(one.systems), len(one.questions), one.judged, one.failed, one.open)
            rows.append((name, *counts, one.misordered))
        return pd.DataFrame(rows, columns=PROGRESS_COLUMNS)

    def ratings(self) -> pd.DataFrame:
        """Rate by verdicts and prior: ``RATING_COLUMNS``, best first, with 90% intervals."""
        tables = []
        for language, pairing in self._languages.items():
            table = pairing.ratings().assign(language=language)
            width = NORMAL_90 * table["standard_error"]
            bounds = {"low": table["rating"] - width, "high": table["rating"] + width}
            tables.append(table.assign(**bounds)[RATING_COLUMNS])
        return pd.concat(tables, ignore_index=True)

    @property
    def _done(self) -> int:
        return sum(each.judged + each.failed for each in self._languages.values())

    def _reason_to_stop(self) -> str | None:
        plan, everything = self._plan, self._languages.values()
        if all(map(self._is_known, everything)):
            return KNOWN.format(plan.until)
        if plan.budget is not None and self._done >= plan.budget:
            return SPENT.format(count_of(plan.budget, "pair"))
        if not any(map(self._may_ask, everything)):
            return NOTHING_OPEN
        if self._calls.calls_left == 0:
            return CALLS_SPENT.format(count_of(self._calls.max_calls or 0, "call"))
        return None

    def _is_known(self, pairing: AdaptivePairing) -> bool:
        return self._plan.until is not None and pairing.misordered <= self._plan.until

    def _may_ask(self, pairing: AdaptivePairing) -> bool:
        return pairing.open > 0 and not self._is_known(pairing)

    def _take_in(self, language: str, judgments: pd.DataFrame, failures: pd.DataFrame) -> None:
        """Learn from verdicts on any questions, and that pairs have none."""
        pairing = self._languages[language]
        verdicts, failed = (
            table[
                (table["language"] == language)
                & table["system_a"].isin(pairing.systems)
                & table["system_b"].isin(pairing.systems)
            ]
            for table in (judgments, failures)
        )
        both = [one_of_orders(verdicts), failed[_SIDES[:-1]].assign(winner=None)]
        pairing.record(pd.concat(both, ignore_index=True))

    def _pairs(self, keys: Sequence[PairKey]) -> ChosenPairs:
        plan, drawn = self._plan, self._drawn
        pairs = asked_pairs(self._texts, keys, drawn, False, plan.seed)
        return ChosenPairs(pairs.table, pairs.identical, False, drawn, adaptive=True)


def one_of_orders(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Make one verdict of those on a pair in both orders: a tie where they differ."""
    first = verdicts[["system_a", "system_b"]].min(axis=1)
    is_first = verdicts["system_a"] == first
    other = verdicts["system_b"].where(is_first, verdicts["system_a"])
    flipped = verdicts["winner"].map({"a": "b", "b": "a", "tie": "tie"})
    winner = verdicts["winner"].where(is_first, flipped)
    same = verdicts[["query_id"]].assign(system_a=first, system_b=other, winner=winner)
    grouped = same.groupby(_SIDES[:-1], sort=True)["winner"]
    merged = grouped.agg(lambda found: found.iloc[0] if found.nunique() == 1 else "tie")
    return merged.reset_index()


def _lasting(failed: pd.DataFrame | None, there: pd.DataFrame, judge: str) -> pd.DataFrame:
    """Return the pairs that a judge has given no verdict on and never will."""
    if failed is None or failed.empty:
        return pd.DataFrame(columns=PAIR_COLUMNS, dtype=object)
    listed = failed[~failed["reason"].isin([*PASSING, OVER_BUDGET]) & (failed["judge"] == judge)]
    keys, judged = (pd.MultiIndex.from_frame(table[PAIR_COLUMNS]) for table in (listed, there))
    return listed[~keys.isin(judged)]
