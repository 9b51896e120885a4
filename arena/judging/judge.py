"""Judging the chosen pairs of an arena by one LLM."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
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
from arena.llm.client import complete
from arena.llm.replies import UNPARSABLE, Outcome
from arena.llm.settings import Prompt
from arena.llm.usage import DryRun, Price, Usage, dry_run

if TYPE_CHECKING:
    from arena.llm.store import Store

Progress = Callable[[str, int, int], None]
Row = tuple[object, ...]


class _Asked:
    """Prompts for pairs, made as they are taken; what was noted on each waits for its reply."""

    def __init__(self, texts: ArenaTexts, judge: LlmJudge, keys: Iterable[PairKey]) -> None:
        self._texts = texts
        self._prompt = judge.asked_by
        self._keys = keys
        self._waiting: deque[tuple[PairKey, tuple[str, ...]]] = deque()

    def prompts(self) -> Iterator[Prompt]:
        for key in self._keys:
            asked = self._prompt.ask(self._texts.comparison(key))
            self._waiting.append((key, asked.flags))
            yield asked.prompt

    def next_answered(self) -> tuple[PairKey, tuple[str, ...]]:
        """Return the pair of the next reply, and its flags; replies come in the order asked."""
        return self._waiting.popleft()


def judge_arena(
    arena: Arena,
    judge: LlmJudge,
    pairs: ChosenPairs,
    store: Store,
    *,
    max_calls: int | None = None,
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
        max_calls: Most pairs to ask; the rest fails as ``over_budget``.
        prices: Price of each model, for the cost in the summary.
        progress: Called with the judge's name, the pairs done, and all.

    Raises:
        UsageError: If the endpoint, the settings or the template cannot be used.
        MissingDependencyError: If the extra ``llm`` is not installed.
    """
    there = arena.judgments[arena.judgments["judge"] == judge.judge]
    left = pairs.without(set(pair_keys(there)))
    version = judge.asked_by.version
    asked = _Asked(ArenaTexts(arena), judge, pair_keys(left.table))
    run = complete(
        asked.prompts(),
        judge.asked_settings,
        endpoint=judge.endpoint,
        store=store,
        parse=judge.read,
        max_calls=max_calls,
        progress=_progress_of(judge.judge, len(left.table), progress),
    )
    verdicts: list[Row] = [
        (query_id, language, a, b, "tie", judge.judge, None, None, None, IDENTICAL, version)
        for language, query_id, a, b in pair_keys(left.identical)
    ]
    failures: list[Row] = []
    with run:
        for outcome in run:
            key, flags = asked.next_answered()
            if outcome.value is None:
                failures.append(_failure(key, judge.judge, outcome, flags, version))
            else:
                verdicts.append(_verdict(key, judge.judge, outcome.value, flags, version))
    judgments = _judgments(verdicts)
    failed = pd.DataFrame(failures, columns=FAILURE_COLUMNS, dtype=object)
    summary = summarize(judge, pairs, left, judgments, failed, there, run.usage, prices)
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
    asked = _Asked(ArenaTexts(arena), judge, pair_keys(left.table))
    prompts = (prompt for prompt in asked.prompts() if asked.next_answered())
    return dry_run(prompts, judge.asked_settings, store, prices)


def _progress_of(name: str, total: int, progress: Progress | None) -> Callable[[Usage], None]:
    def show(usage: Usage) -> None:
        if progress is not None:
            progress(name, usage.prompts, total)

    return show


def _verdict(
    key: PairKey, judge: str, read: StoredVerdict, flags: tuple[str, ...], version: str
) -> Row:
    language, query_id, system_a, system_b = key
    noted = FLAG_SEPARATOR.join([*flags, *read["flags"]])
    sides = (query_id, language, system_a, system_b)
    return (*sides, read["winner"], judge, *_probabilities(read), noted, version)


def _probabilities(read: StoredVerdict) -> tuple[float | None, ...]:
    shares = read["shares"]
    if shares is None:
        return None, None, None
    return shares[read["winner"]], shares["a"], shares["b"]


def _failure(
    key: PairKey, judge: str, outcome: Outcome[StoredVerdict], flags: tuple[str, ...], version: str
) -> Row:
    language, query_id, system_a, system_b = key
    reason = INVALID if outcome.failure == UNPARSABLE else outcome.failure
    noted = FLAG_SEPARATOR.join(flags)
    sides = (query_id, language, system_a, system_b)
    return (*sides, judge, reason, outcome.detail, noted, version, outcome.key)


def _judgments(rows: list[Row]) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=JUDGMENT_COLUMNS, dtype=object)
    types = {name: "float64" if name in PROBABILITY_COLUMNS else "str" for name in JUDGMENT_COLUMNS}
    return table.astype(types)
