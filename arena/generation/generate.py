"""Generating one RAG system's answers to the questions of an arena."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from arena.generation.questions import (
    TIME_DEPENDENT,
    UNDETERMINED,
    GivenQuestion,
    TimeDependence,
    TimeFilter,
    given_questions,
    question_keys,
    time_dependence,
    time_prompts,
)
from arena.generation.summary import (
    ANSWER_COLUMNS,
    FAILURE_COLUMNS,
    SKIPPED_COLUMNS,
    Generated,
    LlmSystem,
    summarize,
)
from arena.judging.pairs import QuestionKey
from arena.llm.client import complete
from arena.llm.replies import OVER_BUDGET, Outcome
from arena.llm.settings import Prompt
from arena.llm.usage import DryRun, Usage, dry_run

if TYPE_CHECKING:
    from arena.llm.store import Store

Stage = Callable[[str, int, int], None]
Row = tuple[object, ...]


@dataclass(frozen=True)
class GenerationDryRun:
    """What generating would ask.

    Attributes:
        answers: Prompts for answers; with a filter, of all questions that the store does not
            tell to be time-dependent.
        time_filter: Prompts of the filter, or None.
    """

    answers: DryRun
    time_filter: DryRun | None


class _Asked:
    """Prompts for questions, made as they are taken; each question waits for its answer."""

    def __init__(self, system: LlmSystem, questions: Iterable[GivenQuestion]) -> None:
        self._system = system
        self._questions = questions
        self._waiting: deque[QuestionKey] = deque()

    def prompts(self) -> Iterator[Prompt]:
        for question in self._questions:
            self._waiting.append(question.key)
            yield self._system.prompt.ask(question)

    def next_answered(self) -> QuestionKey:
        """Return the question of the next answer; answers come in the order asked."""
        return self._waiting.popleft()


def generate_answers(
    queries: pd.DataFrame,
    system: LlmSystem,
    store: Store,
    *,
    answers: pd.DataFrame | None = None,
    time_filter: TimeFilter | None = None,
    max_calls: int | None = None,
    progress: Stage | None = None,
) -> Generated:
    """Let a RAG system answer questions.

    A question that the system has an answer to is not asked again; a reply that is in the store
    is not asked for again. Prompts are made as they are sent. A question without an answer is a
    counted failure, never an empty answer.

    Args:
        queries: Questions; see ``choose_questions``.
        system: Who answers.
        store: Where replies are and go; see ``arena.llm.open_store``.
        answers: Answers there are, of this and other systems.
        time_filter: Who tells which questions are time-dependent, to leave these out; None asks
            all. A question of which it tells nothing is a counted failure.
        max_calls: Most prompts to send, the filter's included; the rest fails as ``over_budget``.
        progress: Called with the stage, the questions done, and all.

    Raises:
        UsageError: If the endpoint, the settings or the template cannot be used.
        MissingDependencyError: If the extra ``llm`` is not installed.
    """
    left = _unanswered(queries, system, answers)
    told = None
    if time_filter is not None:
        shown = _shown("time-dependence", len(left), progress)
        told = time_dependence(left, time_filter, store, max_calls=max_calls, progress=shown)
        max_calls = None if max_calls is None else max(max_calls - _sent(told.usage), 0)
    asked = left if told is None else _rows_in(left, told.keys("no"))
    found, failures, usage = _answered(asked, system, store, max_calls, progress)
    failures = [*_untold(told, system), *failures]
    tables = (
        _answers(found),
        pd.DataFrame(failures, columns=FAILURE_COLUMNS, dtype=object),
        _skipped(left, told, system),
    )
    return Generated(*tables, summarize(system, queries, left, asked, tables, usage, told, answers))


def dry_run_generate(
    queries: pd.DataFrame,
    system: LlmSystem,
    store: Store | None = None,
    *,
    answers: pd.DataFrame | None = None,
    time_filter: TimeFilter | None = None,
) -> GenerationDryRun:
    """Count what ``generate_answers`` would ask; nothing is sent.

    Raises:
        UsageError: If the settings or the template cannot be used.
    """
    left = _unanswered(queries, system, answers)
    filtering = None
    if time_filter is not None:
        filtering = dry_run(time_prompts(left), time_filter.settings, store)
        if store is not None:
            known = time_dependence(left, time_filter, store, max_calls=0)
            left = _rows_in(left, set(question_keys(left)) - known.keys("yes"))
    prompts = map(system.prompt.ask, given_questions(left))
    return GenerationDryRun(dry_run(prompts, system.settings, store), filtering)


def _answered(
    queries: pd.DataFrame,
    system: LlmSystem,
    store: Store,
    max_calls: int | None,
    progress: Stage | None,
) -> tuple[list[Row], list[Row], Usage]:
    """Ask the questions; returns rows of answers, rows of failures, and what was used."""
    asked = _Asked(system, given_questions(queries))
    run = complete(
        asked.prompts(),
        system.settings,
        endpoint=system.endpoint,
        store=store,
        max_calls=max_calls,
        progress=_shown(system.system, len(queries), progress),
    )
    found: list[Row] = []
    failures: list[Row] = []
    with run:
        for outcome in run:
            key = asked.next_answered()
            if outcome.value is None:
                failures.append(_failure(key, system, outcome))
            else:
                found.append(_answer(key, system, outcome))
    return found, failures, run.usage


def _unanswered(
    queries: pd.DataFrame, system: LlmSystem, answers: pd.DataFrame | None
) -> pd.DataFrame:
    if answers is None:
        return queries.reset_index(drop=True)
    done = set(question_keys(answers[answers["system"] == system.system]))
    return _rows_in(queries, set(question_keys(queries)) - done)


def _rows_in(queries: pd.DataFrame, keys: Collection[QuestionKey]) -> pd.DataFrame:
    is_in = np.array([key in keys for key in question_keys(queries)], np.bool_)
    return queries[is_in].reset_index(drop=True)


def _shown(stage: str, total: int, progress: Stage | None) -> Callable[[Usage], None] | None:
    return None if progress is None else lambda usage: progress(stage, usage.prompts, total)


def _sent(usage: Usage) -> int:
    return usage.calls - usage.retries


def _answer(key: QuestionKey, system: LlmSystem, outcome: Outcome[str]) -> Row:
    language, query_id = key
    reason = None if outcome.completion is None else outcome.completion.finish_reason
    version = system.prompt.version
    return query_id, language, system.system, outcome.value, version, reason or ""


def _failure(key: QuestionKey, system: LlmSystem, outcome: Outcome[str]) -> Row:
    language, query_id = key
    where = (query_id, language, system.system)
    return (*where, outcome.failure, outcome.detail, system.prompt.version, outcome.key)


def _untold(told: TimeDependence | None, system: LlmSystem) -> Iterator[Row]:
    """Yield the failures of questions of which the filter told nothing."""
    if told is None:
        return
    for row in told.labels[told.labels["label"].isna()].itertuples(index=False):
        reason = OVER_BUDGET if row.failure == OVER_BUDGET else f"{UNDETERMINED}{row.failure}"
        where = (row.query_id, row.language, system.system)
        yield (*where, reason, row.detail, system.prompt.version, row.key)


def _skipped(queries: pd.DataFrame, told: TimeDependence | None, system: LlmSystem) -> pd.DataFrame:
    """List the questions left out, with the filter's reasons."""
    if told is None:
        return pd.DataFrame(columns=SKIPPED_COLUMNS, dtype=object)
    joined = told.labels.assign(system=system.system, query=queries["query"], reason=TIME_DEPENDENT)
    return joined.loc[joined["label"] == "yes", SKIPPED_COLUMNS].reset_index(drop=True)


def _answers(rows: list[Row]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=ANSWER_COLUMNS, dtype=object).astype("str")
