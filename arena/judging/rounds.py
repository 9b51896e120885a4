"""Rounds of pairs: all judges are asked about one, and the chooser learns from it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import pandas as pd

from arena.data.arena import Arena
from arena.data.schema import JUDGMENTS, REPEAT
from arena.data.types import Progress
from arena.judging.choosing.chosen_pairs import ChosenPairs, PairChooser, Verdicts
from arena.judging.llm_judge import FAILURE_COLUMNS, VERDICT_COLUMNS, LlmJudge, ask_judge
from arena.llm.batches.awaiting import AwaitedReplies
from arena.llm.replies import OVER_BUDGET, PASSING
from arena.llm.store import Store
from arena.llm.usage import Budget, Usage
from arena.quality.agreement import without_identical
from arena.quality.judge_tests import same_verdict


class JudgedRounds:
    """The rounds asked in one run, and each judge's outcomes and usages.

    ``reason`` says why asking stopped, ``useless`` if a judge's verdicts say nothing.
    """

    def __init__(self, judges: Sequence[str]) -> None:
        self.rounds: list[ChosenPairs] = []
        self.parts: dict[str, list[Verdicts]] = {judge: [] for judge in judges}
        self.usages: dict[str, list[Usage]] = {judge: [] for judge in judges}
        self.reason = ""
        self.useless = ""

    def ask(
        self,
        arena: Arena,
        judges: Sequence[LlmJudge],
        pairs: PairChooser,
        store: Store,
        budget: Budget,
        progress: Progress | None,
    ) -> None:
        """Ask all judges, round after round."""
        rounds = pairs.rounds()
        outcome: Verdicts | None = None
        while True:
            try:
                next_pairs = next(rounds) if outcome is None else rounds.send(outcome)
            except StopIteration as end:
                self.reason = str(end.value)
                return
            self.useless = self.reason = self._why_stop()
            if self.useless:
                return
            awaited = AwaitedReplies()
            for member in judges:
                n_before = sum(usage.prompts for usage in self.usages[member.judge])
                round_progress = _counted_on(progress, n_before, pairs.n_planned)
                with awaited.gathered():
                    part, usage = ask_judge(
                        arena, member, next_pairs, store, budget, round_progress
                    )
                    self.parts[member.judge].append(part)
                    self.usages[member.judge].append(usage)
            awaited.require_none()
            self.rounds.append(next_pairs)
            # The chooser learns from this round's verdicts before it yields the next one.
            outcome = stacked_verdicts([parts[-1] for parts in self.parts.values()])

    def _why_stop(self) -> str:
        # A judge that is any use has shown it by then.
        most_verdicts = 100
        for judge, parts in self.parts.items():
            if sum(len(part.judgments) for part in parts) > most_verdicts:
                continue
            reason = _why_useless(judge, self.outcome_of(judge))
            if reason:
                return reason
        return ""

    def outcome_of(self, judge: str) -> Verdicts:
        """Return the verdicts and failures of a judge in all rounds."""
        return stacked_verdicts(self.parts[judge])


def _why_useless(judge: str, verdicts: Verdicts) -> str:
    """Say why asking further is no use; empty if it may be."""
    fewest = 30
    failures = verdicts.failures
    judgments = without_identical(verdicts.judgments)
    n_verdicts = len(judgments)
    if n_verdicts == 0:
        is_answered = ~failures["reason"].isin([*PASSING, OVER_BUDGET]) & (failures["key"] != "")
        n_answered = int(is_answered.sum())
        if n_answered < fewest:
            return ""
        reasons = ", ".join(sorted(set(failures.loc[is_answered, "reason"])))
        return f"{judge} gave no verdict on the {n_answered} pairs that it was asked ({reasons})"
    constant = same_verdict(judgments["winner"])
    if n_verdicts < fewest or constant is None:
        return ""
    winner, count = constant
    n_systems = len({*judgments["system_a"], *judgments["system_b"]})
    if winner == "tie" and n_systems == 2:
        return ""
    shown = "a tie" if winner == "tie" else f"side {winner.upper()}"
    return (
        f"{count} of {n_verdicts} verdicts of {judge} are {shown}, whatever the answers are: try "
        "another model or prompt"
    )


def _counted_on(progress: Progress | None, n_before: int, n_planned: int | None) -> Progress | None:
    if progress is None:
        return None

    def of_all(name: str, done: int, size: int) -> None:
        # A plan is about right: an audit draws pairs, and marks are asked answer by answer.
        n_all = max(n_planned or 0, n_before + size)
        progress(name, n_before + done, n_all)

    return of_all


def stacked_verdicts(parts: Sequence[Verdicts]) -> Verdicts:
    """Join the outcomes of several judges, or rounds."""
    return Verdicts(
        judgments=_joined_rows([part.judgments for part in parts], VERDICT_COLUMNS),
        failures=_joined_rows([part.failures for part in parts], FAILURE_COLUMNS),
        records=tuple(chain.from_iterable(part.records for part in parts)),
        remarks=tuple(chain.from_iterable(part.remarks for part in parts)),
    )


def joined_first_votes(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Join judgments, without second votes in the same order."""
    votes = [table[table[REPEAT].isna()] if REPEAT in table else table for table in tables]
    return _joined_rows(votes, list(JUDGMENTS.columns))


def _joined_rows(tables: Sequence[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    """Join tables that have rows: empty ones change columns' types."""
    filled = [table[list(columns)] for table in tables if len(table)]
    if not filled:
        return pd.DataFrame(columns=list(columns), dtype=object)
    return pd.concat(filled, ignore_index=True)
