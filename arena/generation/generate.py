"""Generating one RAG system's answers to the questions of an arena."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from arena.generation.prompt import AnswerPrompt
from arena.generation.questions import (
    TIME_DEPENDENT,
    UNDETERMINED,
    GivenQuestion,
    TimeDependence,
    TimeFilter,
    given_questions,
    question_keys,
    time_dependence,
)
from arena.generation.summary import (
    ANSWER_COLUMNS,
    FAILURE_COLUMNS,
    SKIPPED_COLUMNS,
    Generated,
    LlmSystem,
    summarize_generation,
)
from arena.judging.pairs import QuestionKey
from arena.llm.ask import Asked, Llm, Progress, ask_table
from arena.llm.replies import OVER_BUDGET, Completion
from arena.llm.settings import Prompt
from arena.llm.usage import Budget, DryRun, dry_run

if TYPE_CHECKING:
    from arena.llm.store import Store


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


def generate_answers(
    queries: pd.DataFrame,
    system: LlmSystem,
    store: Store,
    *,
    answers: pd.DataFrame | None = None,
    time_filter: TimeFilter | None = None,
    budget: Budget | None = None,
    progress: Progress | None = None,
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
        budget: Most prompts to send, the filter's included; the rest fails as ``over_budget``.
            None asks all.
        progress: Called with the stage, the questions done, and all.

    Raises:
        UsageError: If the settings or the template cannot be used.
        MissingDependencyError: If the extra ``llm`` is not installed.
    """
    left = _unanswered(queries, system, answers)
    budget = budget or Budget()
    told = None
    if time_filter is not None:
        told = time_dependence(left, time_filter, store, budget=budget, progress=progress)
    chosen = left if told is None else _rows_in(left, told.keys("no"))
    prompts = _Prompts(system.prompt)
    asked = ask_table(
        list(given_questions(chosen, system.prompt.only_relevant)),
        prompts.of,
        _read_answer,
        Llm(system.settings, store, budget),
        stage=system.system,
        progress=progress,
    )
    tables = (
        _answers(asked, system),
        _failures(asked, told, system),
        _skipped(left, told, system, time_filter),
    )
    summary = summarize_generation(
        system, queries, left, asked, tables, told, answers, prompts.fitted
    )
    return Generated(*tables, summary)


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
        rows = left[["language", "query"]].itertuples(index=False, name=None)
        filtering = dry_run(map(time_filter.ask, rows), time_filter.settings, store)
        if store is not None:
            known = time_dependence(left, time_filter, store, budget=Budget(0))
            left = _rows_in(left, set(question_keys(left)) - known.keys("yes"))
    given = given_questions(left, system.prompt.only_relevant)
    prompts = map(system.prompt.ask, given)
    return GenerationDryRun(dry_run(prompts, system.settings, store), filtering)


class _Prompts:
    """Makes prompts, and counts those whose passages were trimmed to fit the context."""

    def __init__(self, prompt: AnswerPrompt) -> None:
        self._prompt = prompt
        self.fitted = 0

    def of(self, given: GivenQuestion) -> Prompt:
        prompt, is_fitted = self._prompt.fit(given)
        self.fitted += is_fitted
        return prompt


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


def _read_answer(completion: Completion) -> tuple[str, str]:
    """Return the answer, and why the model stopped."""
    return completion.text or "", completion.finish_reason or ""


def _answers(asked: Asked[GivenQuestion, tuple[str, str]], system: LlmSystem) -> pd.DataFrame:
    version = system.prompt.version
    rows = [
        (query_id, language, system.system, answer, version, finish_reason)
        for (language, query_id), (answer, finish_reason) in (
            (question.key, reply.value) for question, reply in asked if reply.value is not None
        )
    ]
    return pd.DataFrame(rows, columns=ANSWER_COLUMNS, dtype=object).astype("str")


def _failures(
    asked: Asked[GivenQuestion, tuple[str, str]], told: TimeDependence | None, system: LlmSystem
) -> pd.DataFrame:
    """List the questions without an answer: those of which the filter told nothing come first."""
    version = system.prompt.version
    rows = [
        (query_id, language, system.system, reply.reason, reply.detail, version, reply.key)
        for (language, query_id), reply in ((question.key, reply) for question, reply in asked)
        if reply.reason is not None
    ]
    failed = pd.DataFrame(rows, columns=FAILURE_COLUMNS, dtype=object)
    if told is None:
        return failed
    untold = told.labels[told.labels["label"].isna()]
    reasons = [
        reason if reason == OVER_BUDGET else f"{UNDETERMINED}{reason}"
        for reason in untold["reason"]
    ]
    untold = untold.assign(system=system.system, reason=reasons, prompt=version)
    return pd.concat([untold[FAILURE_COLUMNS], failed], ignore_index=True)


def _skipped(
    queries: pd.DataFrame,
    told: TimeDependence | None,
    system: LlmSystem,
    time_filter: TimeFilter | None,
) -> pd.DataFrame:
    """List the questions left out, with the filter's reasons."""
    if told is None or time_filter is None:
        return pd.DataFrame(columns=SKIPPED_COLUMNS, dtype=object)
    table = told.labels.assign(
        system=system.system,
        reason=TIME_DEPENDENT,
        prompt=time_filter.version,
        query=queries["query"],
    )
    return table.loc[table["label"] == "yes", SKIPPED_COLUMNS].reset_index(drop=True)
