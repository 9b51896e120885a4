"""Pairs that are chosen as verdicts come: those that tell most about the ranking."""

from __future__ import annotations

from collections.abc import Sequence

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
from arena.judging.judging_settings import JudgingSettings
from arena.llm.replies import OVER_BUDGET, PASSING
from arena.llm.usage import Budget
from arena.statistics.significance import NORMAL_90

PROGRESS_COLUMNS = ["language", "systems", "questions", "judged", "failed", "open", "misordered"]
RATING_COLUMNS = ["language", "system", "rating", "low", "high"]


class AdaptivePairs:
    """Chooses, batch by batch, the pairs that lower the uncertainty of the ranking most.

    Each batch is for the language whose ranking is least certain, and ``AdaptivePairing`` chooses
    its pairs. Batches follow from the verdicts so far, the prior and the seed alone, so that a run
    that was killed continues as if it had not been.

    Attributes:
        n_planned: Pairs left of the budget at the start; None without a budget.
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
            arena: Questions, answers, and the judgments so far.
            settings: Who judges, what may be asked, and when to stop.
            prior: Columns ``language, system, rating, standard_error``: expected ratings of systems
                before they are judged, in logits; None, or no row, where nothing is expected.
            failed: Pairs that earlier runs got no verdict on; see ``lasting_failures``.
            calls: The judge's budget of calls.

        Raises:
            UsageError: If nothing says when to stop, or there is nothing to judge.
        """
        settings.require_adaptive()
        self._settings = settings
        self._calls = calls or Budget()
        self._texts = ArenaTexts(arena)
        self._questions = draw_questions(
            arena, self._texts, settings.questions, settings.languages, settings.seed
        )
        verdicts = arena.judgments[arena.judgments["judge"] == settings.judge]
        failures = _lasting(failed, verdicts, settings.judge)
        self._pairings: dict[str, AdaptivePairing] = {}
        for language in dict(self._questions):
            query_ids = [query_id for code, query_id in self._questions if code == language]
            answers = arena.answers[arena.answers["language"] == language]
            answers = answers[answers["query_id"].isin(query_ids)]
            self._pairings[language] = AdaptivePairing(
                answers["system"].unique(),
                query_ids,
                answers,
                settings.seed,
                None if prior is None else prior[prior["language"] == language],
            )
            self._record(language, verdicts, failures)
        is_drawn = pd.MultiIndex.from_frame(verdicts[QUESTION_KEY]).isin(list(self._questions))
        self._earlier = verdicts.loc[is_drawn, PAIR_COLUMNS].drop_duplicates()
        self.n_planned: int | None = None
        if settings.budget is not None:
            self.n_planned = max(settings.budget - self._n_done, 0)

    def batches(self) -> Batches:
        """Yield what to ask next, until the ranking is certain enough or no more may be asked."""
        while (reason := self._reason_to_stop()) is None:
            candidates = {
                language: pairing
                for language, pairing in self._pairings.items()
                if self._may_ask(pairing)
            }
            language = max(candidates, key=lambda code: candidates[code].misordered)
            pairing = candidates[language]
            n_pairs = batch_size(len(pairing.systems), pairing.judged + pairing.failed)
            if self._calls.calls_left is not None:
                n_pairs = min(n_pairs, self._calls.calls_left)
            if self._settings.budget is not None:
                n_pairs = min(n_pairs, self._settings.budget - self._n_done)
            items = pairing.next_pairs(n_pairs)
            outcome = yield self._pairs([(language, *item) for item in items])
            self._record(language, outcome.judgments, outcome.failures)
        return reason

    def chosen(self, batches: Sequence[ChosenPairs]) -> ChosenPairs:
        """Put together what was asked, in this run and before."""
        return joined_pairs(self._pairs([]), batches, self._earlier)

    def progress(self) -> pd.DataFrame:
        """Return what is judged of each language and how certain its ranking is.

        Columns are ``PROGRESS_COLUMNS``.
        """
        rows = [
            (
                language,
                len(pairing.systems),
                len(pairing.questions),
                pairing.judged,
                pairing.failed,
                pairing.open,
                pairing.misordered,
            )
            for language, pairing in self._pairings.items()
        ]
        return pd.DataFrame(rows, columns=PROGRESS_COLUMNS)

    def ratings(self) -> pd.DataFrame:
        """Rate by verdicts and prior: ``RATING_COLUMNS``, best first, with 90% intervals."""
        tables = []
        for language, pairing in self._pairings.items():
            table = pairing.ratings().assign(language=language)
            half_width = NORMAL_90 * table["standard_error"]
            table["low"] = table["rating"] - half_width
            table["high"] = table["rating"] + half_width
            tables.append(table[RATING_COLUMNS])
        return pd.concat(tables, ignore_index=True)

    @property
    def _n_done(self) -> int:
        return sum(pairing.judged + pairing.failed for pairing in self._pairings.values())

    def _reason_to_stop(self) -> str | None:
        settings = self._settings
        pairings = self._pairings.values()
        if all(map(self._is_certain, pairings)):
            return (
                f"no ranking has more than {settings.until:.1%} of its pairs in the wrong order, "
                "as expected"
            )
        if settings.budget is not None and self._n_done >= settings.budget:
            return f"the budget of {count_of(settings.budget, 'pair')} is spent"
        if not any(map(self._may_ask, pairings)):
            return "every pair of the questions drawn is judged"
        if self._calls.calls_left == 0:
            n_calls = self._calls.max_calls or 0
            return f"this run's budget of {count_of(n_calls, 'call')} is spent"
        return None

    def _is_certain(self, pairing: AdaptivePairing) -> bool:
        until = self._settings.until
        return until is not None and pairing.misordered <= until

    def _may_ask(self, pairing: AdaptivePairing) -> bool:
        return pairing.open > 0 and not self._is_certain(pairing)

    def _record(self, language: str, judgments: pd.DataFrame, failures: pd.DataFrame) -> None:
        """Record verdicts on any questions of a language, and pairs without one."""
        pairing = self._pairings[language]

        def of_language(table: pd.DataFrame) -> pd.DataFrame:
            return table[
                (table["language"] == language)
                & table["system_a"].isin(pairing.systems)
                & table["system_b"].isin(pairing.systems)
            ]

        verdicts = one_of_orders(of_language(judgments))
        failed = of_language(failures)[["query_id", "system_a", "system_b"]].assign(winner=None)
        pairing.record(pd.concat([verdicts, failed], ignore_index=True))

    def _pairs(self, keys: Sequence[PairKey]) -> ChosenPairs:
        return asked_pairs(
            self._texts,
            keys,
            self._questions,
            both_orders=False,
            seed=self._settings.seed,
            adaptive=True,
        )


def one_of_orders(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Make one verdict of those on a pair in both orders: a tie if they differ."""
    first = verdicts[["system_a", "system_b"]].min(axis=1)
    is_first_on_a = verdicts["system_a"] == first
    second = verdicts["system_b"].where(is_first_on_a, verdicts["system_a"])
    flipped = verdicts["winner"].map({"a": "b", "b": "a", "tie": "tie"})
    winner = verdicts["winner"].where(is_first_on_a, flipped)
    sorted_sides = verdicts[["query_id"]].assign(system_a=first, system_b=second, winner=winner)
    grouped = sorted_sides.groupby(["query_id", "system_a", "system_b"], sort=True)["winner"]
    merged = grouped.agg(lambda winners: winners.iloc[0] if winners.nunique() == 1 else "tie")
    return merged.reset_index()


def _lasting(failed: pd.DataFrame | None, verdicts: pd.DataFrame, judge: str) -> pd.DataFrame:
    """Return the pairs that a judge gave no verdict on and, asked again, would give none."""
    if failed is None or failed.empty:
        return pd.DataFrame(columns=PAIR_COLUMNS, dtype=object)
    is_passing = failed["reason"].isin([*PASSING, OVER_BUDGET])
    lasting = failed[~is_passing & (failed["judge"] == judge)]
    keys = pd.MultiIndex.from_frame(lasting[PAIR_COLUMNS])
    return lasting[~keys.isin(pd.MultiIndex.from_frame(verdicts[PAIR_COLUMNS]))]
