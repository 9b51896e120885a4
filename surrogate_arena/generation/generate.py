"""A RAG system, and generating its answers to the questions of an arena."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from arena.data.languages import named_language
from arena.data.rows import are_in
from arena.data.schema import OWN_PASSAGES, QUESTION_KEY
from arena.data.types import Progress
from arena.data.wording import Remark, count_of
from arena.judging.answer_pairs import ShownPassage
from arena.llm.ask import Asked, Llm, ask_table
from arena.llm.dry_runs import DryRun, dry_run
from arena.llm.prompts import NO_TEMPLATES, PromptTemplate, Templates
from arena.llm.replies import CUT, OVER_BUDGET, Completion
from arena.llm.requests import Message, Prompt
from arena.llm.trimming import Trimmer, read_tokenizer
from arena.llm.usage import Budget, Usage
from arena.statistics.bootstrap import generator
from arena.text.thoughts import has_thoughts
from surrogate_arena.generation.functions import FunctionSystem
from surrogate_arena.generation.generation_settings import SHUFFLED, GenerationSettings
from surrogate_arena.generation.questions import (
    TIME_DEPENDENT,
    UNDETERMINED,
    GivenQuestion,
    TimeFilter,
    given_questions,
    time_dependence,
)

if TYPE_CHECKING:
    from arena.llm.store import Store

ANSWER_COLUMNS = ["query_id", "language", "system", "answer", "prompt", "finish_reason"]
FAILURE_COLUMNS = ["query_id", "language", "system", "reason", "detail", "prompt", "key"]
SKIPPED_COLUMNS = [*FAILURE_COLUMNS, "query"]


@dataclass(frozen=True)
class LlmSystem:
    """A RAG system: an LLM, and its prompt."""

    settings: GenerationSettings
    template: PromptTemplate
    trimmer: Trimmer
    is_shuffled: bool

    @classmethod
    def of(cls, settings: GenerationSettings, templates: Templates = NO_TEMPLATES) -> LlmSystem:
        """Return the system of settings, with templates in the packaged one's place."""
        tokenizer = settings.tokenizer
        return cls(
            settings=settings.as_published(),
            template=templates.of(settings.answer_prompt),
            trimmer=Trimmer() if tokenizer is None else read_tokenizer(tokenizer),
            is_shuffled=settings.prompt in SHUFFLED,
        )

    @property
    def name(self) -> str:
        """Name in the ``system`` column."""
        return self.settings.name or self.settings.model

    @property
    def version(self) -> str:
        """The template, and which passages it gets."""
        settings = self.settings
        parts = [self.template.version]
        if settings.passage_tokens is not None:
            parts.append(f"passages:{settings.passage_tokens}({self.trimmer.name})")
        if self.is_shuffled:
            parts.append(f"shuffled:{settings.seed}")
        if settings.context_tokens is not None:
            parts.append(f"context:{settings.context_tokens}({self.trimmer.name})")
        if settings.relevant_passages:
            parts.append("relevant")
        return "|".join(parts)

    def prompt_for(self, question: GivenQuestion) -> Prompt:
        """Return the prompt for a question, after earlier turns as messages.

        Where it is too long, passages are trimmed to the same number of tokens.
        """
        passages = self._in_order(question)
        tokens = self.settings.passage_tokens
        text = self._text(question, passages, tokens)
        excess = self._excess(text, question)
        if excess > 0 and passages:
            longest = max(self.trimmer.count(passage.text) for passage in passages)
            tokens = longest if tokens is None else min(tokens, longest)
            # Short passages lose less than the others, so one step may not be enough.
            while excess > 0 and tokens > 0:
                tokens = max(0, tokens - math.ceil(excess / len(passages)))
                text = self._text(question, passages, tokens)
                excess = self._excess(text, question)
        turns = [Message(turn.role, turn.text) for turn in question.history]
        return Prompt((*turns, Message("user", text)), self.version)

    def read(self, completion: Completion) -> dict[str, Any]:
        """Return the columns of an answer."""
        return {"answer": completion.text or "", "finish_reason": completion.finish_reason or ""}

    def _excess(self, text: str, question: GivenQuestion) -> int:
        if self.settings.context_tokens is None:
            return 0
        n_tokens = self.trimmer.count(text)
        for turn in question.history:
            n_tokens += self.trimmer.count(turn.text)
        return n_tokens - self.settings.context_tokens

    def _text(
        self, question: GivenQuestion, passages: list[ShownPassage], tokens: int | None
    ) -> str:
        language, _ = question.key
        if tokens is not None:
            passages = [
                replace(passage, text=self.trimmer.trim(passage.text, tokens) if tokens else "")
                for passage in passages
            ]
        values = {
            "question": question.question,
            "passages": passages,
            "language": named_language(language),
            "language_code": language,
        }
        return self.template.fill(values)

    def _in_order(self, question: GivenQuestion) -> list[ShownPassage]:
        if not self.is_shuffled:
            return list(question.passages)
        # Sorted first, so that the order drawn does not depend on the order of the table.
        passages = sorted(question.passages, key=lambda passage: passage.passage_id)
        random = generator(self.settings.seed, "generation", "passages", *question.key)
        return [passages[index] for index in random.permutation(len(passages))]


RagSystem = LlmSystem | FunctionSystem


@dataclass(frozen=True)
class Generated:
    """The answers of one system, and counts of the run.

    Attributes:
        answers: ``ANSWER_COLUMNS``, and ``passages`` of functions.
        failures: Questions without an answer, ``FAILURE_COLUMNS``.
        skipped: Questions left out as time-dependent, ``SKIPPED_COLUMNS``.
        questions: Number of questions chosen.
        already_answered: Questions answered before.
        usage: Calls and tokens of the answers.
        filter_usage: Usage of the time filter, if any.
    """

    answers: pd.DataFrame
    failures: pd.DataFrame
    skipped: pd.DataFrame
    system: str
    prompt: str
    questions: int
    already_answered: int
    usage: Usage
    filter_usage: Usage | None
    remarks: tuple[Remark, ...]

    def counts(self) -> dict[str, Any]:
        """Return the counts as plain values for JSON, failures by reason."""
        counts = self.usage.as_json()
        counts.update(
            system=self.system,
            prompt=self.prompt,
            questions=self.questions,
            already_answered=self.already_answered,
            remarks=self.remarks,
            answered=len(self.answers),
            time_dependent=len(self.skipped),
            # Failures of the time filter too, which the usage of the answers does not count.
            failures=self.failures["reason"].value_counts().to_dict(),
            filter_usage=None if self.filter_usage is None else self.filter_usage.as_json(),
        )
        return counts


def generate_answers(
    queries: pd.DataFrame,
    system: RagSystem,
    store: Store,
    *,
    answers: pd.DataFrame | None = None,
    time_filter: TimeFilter | None = None,
    budget: Budget | None = None,
    progress: Progress | None = None,
) -> Generated:
    """Let a RAG system answer questions, none twice.

    Args:
        queries: See ``choose_questions``.
        system: The system.
        store: See ``arena.llm.open_store``.
        answers: Answers so far, of all systems.
        time_filter: Finds time-dependent questions to leave out.
        budget: Budget of all calls; the rest fails as ``over_budget``.
        progress: Called with the stage, the questions done, and all.

    Returns:
        Answers, failures and usage.

    Raises:
        UsageError: If the settings or the template cannot be used.
        MissingDependencyError: If the extra ``llm`` is not installed.
    """
    unanswered = _unanswered(queries, system, answers)
    budget = budget or Budget()
    chosen = unanswered
    skipped = pd.DataFrame(columns=SKIPPED_COLUMNS, dtype=object)
    unlabeled = pd.DataFrame(columns=FAILURE_COLUMNS, dtype=object)
    filter_usage = None
    if time_filter is not None:
        labels, filter_usage = time_dependence(unanswered, time_filter, store, budget, progress)
        chosen = unanswered[(labels["label"] == "no").to_numpy()].reset_index(drop=True)
        skipped, unlabeled = _left_out(unanswered, labels, system, time_filter.template.version)
    answered = ask_table(
        list(given_questions(chosen, system.settings.relevant_passages)),
        system.prompt_for,
        system.read,
        Llm(system.settings, store, budget),
        stage=system.name,
        progress=progress,
    )
    new_answers, failures = _answers_and_failures(answered, system)
    if time_filter is not None:
        failures = pd.concat([unlabeled, failures], ignore_index=True)
    return Generated(
        answers=new_answers,
        failures=failures,
        skipped=skipped,
        system=system.name,
        prompt=system.version,
        questions=len(queries),
        already_answered=len(queries) - len(unanswered),
        usage=answered.usage,
        filter_usage=filter_usage,
        remarks=tuple(_remarks(system, new_answers, answers)),
    )


def dry_run_generate(
    queries: pd.DataFrame,
    system: RagSystem,
    store: Store | None = None,
    *,
    answers: pd.DataFrame | None = None,
    time_filter: TimeFilter | None = None,
) -> dict[str, DryRun | None]:
    """Count what ``generate_answers`` and the time filter would ask; nothing is sent."""
    chosen = _unanswered(queries, system, answers)
    filtering = None
    if time_filter is not None:
        rows = chosen[["language", "query"]].itertuples(index=False, name=None)
        filtering = dry_run(map(time_filter.prompt_for, rows), time_filter.settings, store)
        if store is not None:
            # Without a budget, only replies in the store label questions.
            labels, _ = time_dependence(chosen, time_filter, store, Budget(0))
            chosen = chosen[(labels["label"] != "yes").to_numpy()]
    questions = given_questions(chosen, system.settings.relevant_passages)
    answering = dry_run(map(system.prompt_for, questions), system.settings, store)
    return {"answers": answering, "time_filter": filtering}


def _unanswered(
    queries: pd.DataFrame, system: RagSystem, answers: pd.DataFrame | None
) -> pd.DataFrame:
    if answers is None:
        return queries.reset_index(drop=True)
    answered = answers[answers["system"] == system.name]
    return queries[~are_in(queries, answered, QUESTION_KEY)].reset_index(drop=True)


def _answers_and_failures(
    replies: Asked[GivenQuestion, dict[str, Any]], system: RagSystem
) -> tuple[pd.DataFrame, pd.DataFrame]:
    keys = pd.DataFrame([question.key for question in replies.rows], columns=QUESTION_KEY)
    table = keys.astype(object).join(replies.table())
    table = table.assign(system=system.name, prompt=system.version)
    is_failed = table["reason"].notna()
    answered = table[~is_failed].reset_index(drop=True)
    columns = ["answer", "finish_reason", OWN_PASSAGES]
    values = pd.DataFrame(answered["value"].tolist(), columns=columns, dtype=object)
    answers = answered.join(values)[ANSWER_COLUMNS].astype("str")
    passages = values[OWN_PASSAGES]
    # Only functions return passages; an LLM's answers have no such column.
    if passages.notna().any():
        answers[OWN_PASSAGES] = passages.where(passages.notna(), None)
    return answers, table.loc[is_failed, FAILURE_COLUMNS].reset_index(drop=True)


def _left_out(
    queries: pd.DataFrame, labels: pd.DataFrame, system: RagSystem, version: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    table = labels.assign(system=system.name, query=queries["query"])
    skipped = table[table["label"] == "yes"].assign(reason=TIME_DEPENDENT, prompt=version)
    unlabeled = table[table["label"].isna()].assign(prompt=system.version)
    # Over budget is over budget, whoever was to be asked; other reasons name the filter.
    is_over_budget = unlabeled["reason"] == OVER_BUDGET
    reasons = unlabeled["reason"].where(is_over_budget, UNDETERMINED + unlabeled["reason"])
    unlabeled["reason"] = reasons
    return skipped[SKIPPED_COLUMNS].reset_index(drop=True), unlabeled[FAILURE_COLUMNS]


def _remarks(
    system: RagSystem, answers: pd.DataFrame, earlier: pd.DataFrame | None
) -> Iterator[Remark]:
    n_cut = int((answers["finish_reason"] == CUT).sum())
    if n_cut:
        sentence = f"{count_of(n_cut, 'answer')} cut off by max_tokens; raise it"
        yield Remark("cut", "warning", sentence, statistic=n_cut)
    n_with_thoughts = sum(has_thoughts(text) for text in answers["answer"])
    if n_with_thoughts:
        sentence = (
            f"{count_of(n_with_thoughts, 'answer')} with thoughts of a reasoning model; have the "
            "server keep them apart"
        )
        yield Remark("thoughts", "warning", sentence, statistic=n_with_thoughts)
    if earlier is not None and "prompt" in earlier:
        versions = earlier.loc[earlier["system"] == system.name, "prompt"].dropna()
        other_versions = sorted({str(name) for name in versions if name != system.version})
        if other_versions:
            sentence = (
                f"earlier answers of {system.name} are to another prompt ({other_versions[0]}, now "
                f"{system.version}); give this system a name of its own to keep them apart"
            )
            yield Remark("prompts", "warning", sentence)
