"""Pairs that are chosen as verdicts come: those that tell most about the ranking."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.rows import are_in
from arena.data.schema import QUESTION_KEY
from arena.data.wording import count_of
from arena.judging.answer_pairs import PAIR_COLUMNS, ArenaTexts, PairKey, unordered
from arena.judging.choosing.chosen_pairs import (
    ASKED_COLUMNS,
    ChosenPairs,
    Rounds,
    joined_pairs,
    turned,
)
from arena.judging.choosing.drawn_pairs import REPEATED, asked_pairs, pair_draw
from arena.judging.choosing.drawn_questions import draw_questions
from arena.judging.choosing.forecast import Course, Forecast, course, forecast_adaptive
from arena.judging.choosing.pairing import AdaptivePairing, round_size
from arena.judging.judging_settings import JudgingSettings
from arena.llm.replies import OVER_BUDGET, PASSING
from arena.llm.usage import Budget
from arena.quality.agreement import without_identical
from arena.rating.judgments import points_of_a
from arena.statistics.bootstrap import SAME_DECIMALS, by_content
from arena.statistics.significance import NORMAL_90

PROGRESS_COLUMNS = ["language", "systems", "questions", "judged", "failed", "open", "misordered"]
ITEM = ["query_id", "system_a", "system_b"]
RATING_COLUMNS = ["language", "system", "rating", "low", "high"]


class AdaptivePairs:
    """Chooses, round by round, the pairs that lower the uncertainty of the ranking most.

    Each round is for the language whose ranking is least certain. Audited pairs are asked in both
    orders, others in one. Rounds depend only on verdicts, prior and seed, so a killed run continues
    as if it had not been killed.

    Attributes:
        budget: Maximum number of calls, those of earlier runs included.
        n_planned: Calls that each judge may get: those left of the budget at the start, or of the
            open pairs, if fewer.
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
            settings: Who judges, what may be asked, and when to stop. A panel's verdicts are
                averaged.
            prior: Columns ``language, system, rating, standard_error``: expected ratings (logits).
            failed: Pairs that earlier runs got no verdict on.
            calls: The budget of calls of this run.

        Raises:
            UsageError: If settings contradict each other, or there is nothing to judge.
        """
        settings.require_plan()
        self._settings = settings
        self._calls = calls or Budget()
        self._texts = ArenaTexts(arena)
        self._questions = draw_questions(
            arena, settings.questions, settings.languages, settings.seed
        )
        drawn = pd.DataFrame(self._questions, columns=QUESTION_KEY, dtype=object)
        verdicts = arena.judgments[arena.judgments["judge"].isin(settings.judges)]
        failures = _lasting(failed, verdicts, settings.judges)
        drawn_answers = arena.answers[are_in(arena.answers, drawn, QUESTION_KEY)]
        # Without passages the prior is by other judges' preferences, and verdicts on unlike answers
        # rank no better than others (benchmarks/README.md, "Judging plans").
        has_passages = self._texts.has_passages
        self._pairings: dict[str, AdaptivePairing] = {}
        for language in drawn["language"].unique():
            answers = drawn_answers[drawn_answers["language"] == language]
            self._pairings[language] = AdaptivePairing(
                by_content(answers["system"], answers),
                list(answers["query_id"].unique()),
                answers,
                settings.seed,
                None if prior is None else prior[prior["language"] == language],
                partial(self._texts.unlikeness, language) if has_passages else None,
            )
            self._record(language, verdicts, failures)
        earlier = verdicts[are_in(verdicts, drawn, QUESTION_KEY)]
        self._earlier = earlier.reindex(columns=ASKED_COLUMNS).drop_duplicates()
        self._n_asked = len(without_identical(earlier))
        self._n_asked += int(are_in(failures, drawn, QUESTION_KEY).sum())
        n_systems = sum(len(pairing.systems) for pairing in self._pairings.values())
        self.budget = settings.budget or settings.default_budget(n_systems)
        n_open = sum(pairing.open for pairing in self._pairings.values())
        self.n_planned = min(self._pairs_in_budget, round(n_open * self._calls_a_pair))

    def rounds(self) -> Rounds:
        """Yield what to ask next, until the ranking is certain enough or the budget is spent."""
        while (reason := self._reason_to_stop()) is None:
            language = self._least_certain()
            pairing = self._pairings[language]
            n_pairs = round_size(len(pairing.systems), pairing.judged + pairing.failed)
            items = pairing.next_pairs(min(n_pairs, self._pairs_in_budget))
            next_pairs = self._pairs([(language, *item) for item in items])
            # Pairs of the audit take several calls each, so not all may be asked.
            next_pairs = next_pairs.within(self._pairs_in_budget)
            asked = set(map(unordered, next_pairs.keys()))
            pairing.withdraw([item for item in items if unordered((language, *item)) not in asked])
            if not len(next_pairs):
                return self._spent
            outcome = yield next_pairs
            self._n_asked += next_pairs.n_planned * len(self._settings.judges)
            self._record(language, outcome.judgments, outcome.failures)
        return reason

    def forecast(self) -> Forecast:
        """Say what the run is likely to take and to give."""
        settings = self._settings
        return forecast_adaptive(
            self.courses(),
            settings.until,
            int(self._pairs_in_budget / self._calls_a_pair),
            self._calls_a_pair,
            settings.judges,
        )

    @property
    def _calls_a_pair(self) -> float:
        share = self._settings.audit_share
        # Of an audit that takes some pairs, a part is asked a third time.
        return 1.0 + share * (1.0 if share == 1 else 1.0 + REPEATED)

    def courses(self) -> dict[str, Course]:
        """Return how the ranking of each language is likely to settle."""
        return {
            language: course(pairing.posterior, pairing.open, self._settings.seed)
            for language, pairing in self._pairings.items()
        }

    def chosen(self, rounds: Sequence[ChosenPairs]) -> ChosenPairs:
        """Put together what was asked, in this run and before."""
        return joined_pairs(self._pairs([]), rounds, self._earlier)

    def progress(self) -> pd.DataFrame:
        """Return ``PROGRESS_COLUMNS``: judged verdicts and certainty of each language."""
        rows = []
        for language, pairing in self._pairings.items():
            row = (
                language,
                len(pairing.systems),
                len(pairing.questions),
                pairing.judged,
                pairing.failed,
                pairing.open,
                pairing.misordered,
            )
            rows.append(row)
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
    def _pairs_in_budget(self) -> int:
        n_calls = self.budget - self._n_asked
        if self._calls.calls_left is not None:
            n_calls = min(n_calls, self._calls.calls_left)
        return max(n_calls, 0) // len(self._settings.judges)

    @property
    def _spent(self) -> str:
        if self.budget - self._n_asked < len(self._settings.judges):
            return f"the budget of {count_of(self.budget, 'call')} is spent"
        return "the calls or the cost allowed in this run are spent"

    def _reason_to_stop(self) -> str | None:
        pairings = self._pairings.values()
        until = self._settings.until
        if all(pairing.misordered <= until for pairing in pairings):
            return (
                f"no ranking has more than {until:.1%} of its pairs in the wrong order, as expected"
            )
        if self._least_certain():
            return None if self._pairs_in_budget else self._spent
        n_failed = sum(pairing.failed for pairing in pairings)
        if n_failed:
            return f"every pair that may tell more was asked; {n_failed} got no verdict"
        if any(pairing.open for pairing in pairings):
            return "every pair was asked where the ranking is not certain enough"
        return "every pair of the questions drawn is judged"

    def _least_certain(self) -> str:
        worst, language = self._settings.until, ""
        for code, pairing in self._pairings.items():
            if pairing.open and pairing.misordered > worst:
                worst, language = pairing.misordered, code
        return language

    def _record(self, language: str, judgments: pd.DataFrame, failures: pd.DataFrame) -> None:
        pairing = self._pairings[language]

        def of_language(table: pd.DataFrame) -> pd.DataFrame:
            return table[
                (table["language"] == language)
                & table["system_a"].isin(pairing.systems)
                & table["system_b"].isin(pairing.systems)
            ]

        verdicts = _merged_verdicts(of_language(judgments))
        failed = _in_order(of_language(failures))[ITEM].assign(winner=None).drop_duplicates()
        # A pair that one judge, or one order, gave a verdict on is judged.
        is_judged = are_in(failed, verdicts, ITEM)
        outcomes = pd.concat([verdicts, failed[~is_judged]], ignore_index=True)
        pairing.record(self._on_sides_drawn(language, outcomes))

    def _on_sides_drawn(self, language: str, verdicts: pd.DataFrame) -> pd.DataFrame:
        """Put each pair's systems on the sides drawn for it.

        The order of names would hide a judge's bias to a side.
        """
        is_turned = np.zeros(len(verdicts), dtype=np.bool_)
        for row, (query_id, one, other) in enumerate(verdicts[ITEM].itertuples(index=False)):
            question = (language, query_id)
            if {one, other} <= set(self._texts.systems(question)):
                draw = pair_draw(self._texts, question, one, other, self._settings.seed)
                is_turned[row] = draw.side_a != one
        return turned(verdicts, is_turned)

    def _pairs(self, keys: Sequence[PairKey]) -> ChosenPairs:
        return asked_pairs(
            self._texts,
            keys,
            self._questions,
            audit=self._settings.audit_share,
            seed=self._settings.seed,
            adaptive=True,
        )


def _merged_verdicts(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Merge verdicts on a pair (orders, repeats, judges): more than half of the points win."""
    points = points_of_a(verdicts)
    in_order = _in_order(verdicts)
    is_kept = in_order["system_a"] == verdicts["system_a"]
    merged = in_order[ITEM].assign(points=points.where(is_kept, 1.0 - points))
    means = merged.groupby(ITEM, sort=True)["points"].mean().round(SAME_DECIMALS).reset_index()
    winners = np.select([means["points"] > 0.5, means["points"] < 0.5], ["a", "b"], "tie")
    return means[ITEM].assign(winner=winners)


def _in_order(pairs: pd.DataFrame) -> pd.DataFrame:
    return turned(pairs, (pairs["system_a"] > pairs["system_b"]).to_numpy(np.bool_))


def _lasting(
    failed: pd.DataFrame | None, verdicts: pd.DataFrame, judges: Sequence[str]
) -> pd.DataFrame:
    if failed is None or failed.empty:
        return pd.DataFrame(columns=PAIR_COLUMNS, dtype=object)
    is_passing = failed["reason"].isin([*PASSING, OVER_BUDGET])
    lasting = failed[~is_passing & failed["judge"].isin(judges)]
    return lasting[~are_in(lasting, verdicts, ["judge", *PAIR_COLUMNS])]
