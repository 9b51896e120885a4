"""Judging the chosen pairs of an arena by one LLM."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd

from arena.data.folder import Arena
from arena.judging.llm_judge import LlmJudge, StoredVerdict
from arena.judging.pairs import ArenaTexts, ChosenPairs, PairKey, pair_keys
from arena.judging.summary import (
    FAILURE_COLUMNS,
    FLAG_SEPARATOR,
    IDENTICAL,
    INVALID,
    JUDGMENT_COLUMNS,
    PROBABILITY_COLUMNS,
    Judged,
    summarize,
)
from arena.llm.ask import Llm, Progress, ask_table
from arena.llm.replies import UNPARSABLE, Reply
from arena.llm.settings import Prompt
from arena.llm.usage import Budget, DryRun, Price, dry_run

if TYPE_CHECKING:
    from arena.llm.store import Store

Row = tuple[object, ...]


class _Prompts:
    """Makes the prompts of pairs, and notes what in their answers may steer the judge."""

    def __init__(self, arena: Arena, judge: LlmJudge) -> None:
        self._texts = ArenaTexts(arena)
        self._prompt = judge.asked_by
        self.flags: list[tuple[str, ...]] = []

    def of(self, pair: PairKey) -> Prompt:
        asked = self._prompt.ask(self._texts.comparison(pair))
        self.flags.append(asked.flags)
        return asked.prompt


def judge_arena(
    arena: Arena,
    judge: LlmJudge,
    pairs: ChosenPairs,
    store: Store,
    *,
    budget: Budget | None = None,
    prices: Mapping[str, Price] | None = None,
    progress: Progress | None = None,
) -> Judged:
    """Let an LLM judge pairs of answers.

    A pair that the arena holds this judge's verdict on is not judged again; a reply that is in
    the store is not asked for again. Prompts are made as they are sent, so memory grows with the
    verdicts alone. A pair without a verdict is a counted failure, never a tie.

    Args:
        arena: Questions, answers, and the judgments there are.
        judge: Who judges.
        pairs: What to judge; see ``choose_pairs``.
        store: Where replies are and go; see ``arena.llm.open_store``.
        budget: Most pairs to ask; the rest fails as ``over_budget``. None asks all.
        prices: Price of each model, for the cost in the summary.
        progress: Called with the judge's name, the pairs done, and all.

    Raises:
        UsageError: If the endpoint, the settings or the template cannot be used.
        MissingDependencyError: If the extra ``llm`` is not installed.
    """
    there = arena.judgments[arena.judgments["judge"] == judge.judge]
    left = pairs.without(set(pair_keys(there)))
    version = judge.asked_by.version
    prompts = _Prompts(arena, judge)
    llm = Llm(judge.asked_settings, judge.endpoint, store, budget or Budget())
    asked = ask_table(
        list(pair_keys(left.table)),
        prompts.of,
        judge.read,
        llm,
        stage=judge.judge,
        progress=progress,
    )
    verdicts: list[Row] = [
        (query_id, language, a, b, "tie", judge.judge, None, None, None, IDENTICAL, version)
        for language, query_id, a, b in pair_keys(left.identical)
    ]
    failures: list[Row] = []
    for (pair, reply), flags in zip(asked, prompts.flags, strict=True):
        if reply.value is None:
            failures.append(_failure(pair, judge.judge, reply, flags, version))
        else:
            verdicts.append(_verdict(pair, judge.judge, reply.value, flags, version))
    judgments = _judgments(verdicts)
    failed = pd.DataFrame(failures, columns=FAILURE_COLUMNS, dtype=object)
    summary = summarize(judge, pairs, left, judgments, failed, there, asked.usage, prices)
    return Judged(judgments, failed, summary)


def dry_run_judge(
    arena: Arena,
    judge: LlmJudge,
    pairs: ChosenPairs,
    store: Store | None = None,
    prices: Mapping[str, Price] | None = None,
) -> DryRun:
    """Count what ``judge_arena`` would ask, and what that would cost at most; nothing is sent.

    Raises:
        UsageError: If the settings or the template cannot be used.
    """
    there = arena.judgments[arena.judgments["judge"] == judge.judge]
    left = pairs.without(set(pair_keys(there)))
    prompts = map(_Prompts(arena, judge).of, pair_keys(left.table))
    return dry_run(prompts, judge.asked_settings, store, prices)


def _verdict(
    pair: PairKey, judge: str, read: StoredVerdict, flags: tuple[str, ...], version: str
) -> Row:
    language, query_id, system_a, system_b = pair
    noted = FLAG_SEPARATOR.join([*flags, *read["flags"]])
    sides = (query_id, language, system_a, system_b)
    return (*sides, read["winner"], judge, *_probabilities(read), noted, version)


def _probabilities(read: StoredVerdict) -> tuple[float | None, ...]:
    shares = read["shares"]
    if shares is None:
        return None, None, None
    return shares[read["winner"]], shares["a"], shares["b"]


def _failure(
    pair: PairKey, judge: str, reply: Reply[StoredVerdict], flags: tuple[str, ...], version: str
) -> Row:
    language, query_id, system_a, system_b = pair
    reason = INVALID if reply.reason == UNPARSABLE else reply.reason
    noted = FLAG_SEPARATOR.join(flags)
    sides = (query_id, language, system_a, system_b)
    return (*sides, judge, reason, reply.detail, noted, version, reply.key)


def _judgments(rows: list[Row]) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=JUDGMENT_COLUMNS, dtype=object)
    types = {name: "float64" if name in PROBABILITY_COLUMNS else "str" for name in JUDGMENT_COLUMNS}
    return table.astype(types)
