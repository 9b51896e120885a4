"""A RAG system, and generating its answers to the questions of an arena."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from arena.data.languages import named_language
from arena.data.schema import OWN_PASSAGES, QUESTION_KEY
from arena.data.seeds import generator
from arena.data.types import Progress
from arena.data.wording import count_of
from arena.generation.functions import FunctionSystem
from arena.generation.generation_settings import SHUFFLED, GenerationSettings
from arena.generation.questions import (
    TIME_DEPENDENT,
    UNDETERMINED,
    GivenQuestion,
    TimeFilter,
    given_questions,
    question_keys,
    time_dependence,
)
from arena.judging.answer_pairs import ShownPassage
from arena.llm.ask import Asked, Llm, ask_table
from arena.llm.llm_settings import Message, Prompt
from arena.llm.replies import CUT, OVER_BUDGET, Completion, UnparsableError
from arena.llm.usage import Budget, DryRun, Usage, dry_run
from arena.text.prompts import NO_TEMPLATES, PromptTemplate, Templates
from arena.text.thoughts import has_thoughts
from arena.text.trimming import Trimmer, read_tokenizer

if TYPE_CHECKING:
    from arena.llm.store import Store

ANSWER_COLUMNS = ["query_id", "language", "system", "answer", "prompt", "finish_reason"]
FAILURE_COLUMNS = ["query_id", "language", "system", "reason", "detail", "prompt", "key"]
SKIPPED_COLUMNS = [*FAILURE_COLUMNS, "query"]


@dataclass(frozen=True)
class LlmSystem:
    """A RAG system: an LLM, and what it is asked.

    Attributes:
        settings: The paper's numbers included.
        template: What is asked.
        trimmer: Counts tokens.
        is_shuffled: Whether passages are shown in an order drawn, or in that of the table.
    """

    settings: GenerationSettings
    template: PromptTemplate
    trimmer: Trimmer
    is_shuffled: bool

    @classmethod
    def of(cls, settings: GenerationSettings, templates: Templates = NO_TEMPLATES) -> LlmSystem:
        """Return the system that settings describe; templates take the packaged one's place.

        Raises:
            UsageError: If there is no such prompt or model, or the tokenizer cannot be read.
        """
        template, file = templates.of(settings.asked), settings.tokenizer
        trimmer = Trimmer() if file is None else read_tokenizer(file)
        return cls(settings.as_published(), template, trimmer, settings.prompt in SHUFFLED)

    @property
    def name(self) -> str:
        """Name in the ``system`` column."""
        return self.settings.name or self.settings.model

    @property
    def version(self) -> str:
        """The template's name and digest, how passages are trimmed, and their order."""
        asked, parts = self.settings, [self.template.version]
        if asked.passage_tokens is not None:
            parts.append(f"passages:{asked.passage_tokens}({self.trimmer.name})")
        if self.is_shuffled:
            parts.append(f"shuffled:{asked.seed}")
        if asked.context_tokens is not None:
            parts.append(f"context:{asked.context_tokens}({self.trimmer.name})")
        return "|".join([*parts, "relevant"] if asked.relevant_passages else parts)

    def ask(self, given: GivenQuestion) -> Prompt:
        """Make the prompt for a question, after the turns before it as messages of their own.

        Passages of one that is too long are trimmed further, all to the same number of tokens. One
        that is too long without any passage text is sent as it is: what the endpoint says of it is
        a counted failure.
        """
        passages, tokens = self._in_order(given), self.settings.passage_tokens
        text = self._text(given, passages, tokens)
        excess = self._excess(text, given)
        if excess > 0 and passages:
            longest = max(self.trimmer.count(passage.text) for passage in passages)
            tokens = longest if tokens is None else min(tokens, longest)
            while excess > 0 and tokens > 0:
                tokens = max(0, tokens - -(-excess // len(passages)))
                text = self._text(given, passages, tokens)
                excess = self._excess(text, given)
        before = tuple(Message(turn.role, turn.text) for turn in given.history)
        return Prompt((*before, Message("user", text)), self.version)

    def read(self, completion: Completion) -> dict[str, Any]:
        """Return the columns of an answer: its text, and why the model stopped.

        Raises:
            UnparsableError: If the reply is thoughts alone.
        """
        text = completion.text or ""
        if not completion.answer.strip():
            raise UnparsableError("the reply is thoughts alone; allow for more tokens")
        return {"answer": text, "finish_reason": completion.finish_reason or ""}

    def _excess(self, text: str, given: GivenQuestion) -> int:
        most, texts = self.settings.context_tokens, [text, *(turn.text for turn in given.history)]
        return 0 if most is None else sum(map(self.trimmer.count, texts)) - most

    def _text(self, given: GivenQuestion, passages: list[ShownPassage], tokens: int | None) -> str:
        language, _ = given.key
        shown = passages
        if tokens is not None:
            shown = [
                replace(passage, text=self.trimmer.trim(passage.text, tokens) if tokens else "")
                for passage in passages
            ]
        named = {"language": named_language(language), "language_code": language}
        return self.template.fill({"question": given.question, "passages": shown, **named})

    def _in_order(self, given: GivenQuestion) -> list[ShownPassage]:
        passages = list(given.passages)
        if self.is_shuffled:
            order = generator(self.settings.seed, "generation", "passages", *given.key)
            # Sorted first: the order drawn does not tell the order of the table.
            passages.sort(key=lambda passage: passage.passage_id)
            passages = [passages[place] for place in order.permutation(len(passages))]
        return passages


RagSystem = LlmSystem | FunctionSystem


@dataclass(frozen=True)
class Generated:
    """The answers of one system, and what was counted.

    Attributes:
        answers: ``ANSWER_COLUMNS``: ``finish_reason`` is why the model stopped; and ``passages``
            where a function returned some.
        failures: Questions without an answer, ``FAILURE_COLUMNS``.
        skipped: Questions left out as time-dependent, ``SKIPPED_COLUMNS``.
        system: Its name.
        prompt: Version of its prompt.
        questions: Questions chosen.
        already_answered: Those of them that had an answer of this system.
        usage: For the answers.
        filter_usage: To tell whether questions are time-dependent, or None.
        warnings: What limits the answers.
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
    warnings: tuple[str, ...]

    def counts(self) -> dict[str, Any]:
        """Return what was counted as plain values for JSON, failures by reason."""
        names = ("system", "prompt", "questions", "already_answered", "warnings")
        return self.usage.as_json() | {
            **{name: getattr(self, name) for name in names},
            "answered": len(self.answers),
            "time_dependent": len(self.skipped),
            "failures": {str(k): int(n) for k, n in self.failures["reason"].value_counts().items()},
            "filter_usage": None if self.filter_usage is None else self.filter_usage.as_json(),
        }


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
    """Let a RAG system answer questions.

    A question that the system has an answer to is not asked again; a reply that is in the store
    is not asked for again. A question without an answer is a counted failure, never an empty
    answer.

    Args:
        queries: Questions; see ``choose_questions``.
        system: Who answers.
        store: See ``arena.llm.open_store``.
        answers: Answers there are, of this and other systems.
        time_filter: Who tells which questions are time-dependent, to leave these out; None asks
            all. A question of which it tells nothing is a counted failure.
        budget: Most calls, the filter's included; the rest fails as ``over_budget``.
        progress: Called with the stage, the questions done, and all.

    Raises:
        UsageError: If the settings or the template cannot be used.
        MissingDependencyError: If the extra ``llm`` is not installed.
    """
    left = _unanswered(queries, system, answers)
    budget = budget or Budget()
    labels, filter_usage, chosen = None, None, left
    if time_filter is not None:
        labels, filter_usage = time_dependence(
            left, time_filter, store, budget=budget, progress=progress
        )
        chosen = left[(labels["label"] == "no").to_numpy()].reset_index(drop=True)
    asked = ask_table(
        list(given_questions(chosen, system.settings.relevant_passages)),
        system.ask,
        system.read,
        Llm(system.settings, store, budget),
        stage=system.name,
        progress=progress,
    )
    said, failed = _answers_and_failures(asked, system)
    skipped = pd.DataFrame(columns=SKIPPED_COLUMNS, dtype=object)
    if labels is not None and time_filter is not None:
        skipped, untold = _left_out(left, labels, system, time_filter.template.version)
        failed = pd.concat([untold, failed], ignore_index=True)
    return Generated(
        *(said, failed, skipped, system.name, system.version),
        *(len(queries), len(queries) - len(left), asked.usage, filter_usage),
        tuple(_warnings(system, said, answers)),
    )


def dry_run_generate(
    queries: pd.DataFrame,
    system: RagSystem,
    store: Store | None = None,
    *,
    answers: pd.DataFrame | None = None,
    time_filter: TimeFilter | None = None,
) -> dict[str, DryRun | None]:
    """Count what ``generate_answers`` would ask; nothing is sent.

    Returns:
        ``answers``: with a filter, of all questions that the store does not tell to be
        time-dependent; and ``time_filter``, None without one.

    Raises:
        UsageError: If the settings or the template cannot be used.
    """
    left = _unanswered(queries, system, answers)
    filtering = None
    if time_filter is not None:
        rows = left[["language", "query"]].itertuples(index=False, name=None)
        filtering = dry_run(map(time_filter.ask, rows), time_filter.settings, store)
        if store is not None:
            labels, _ = time_dependence(left, time_filter, store, budget=Budget(0))
            left = left[(labels["label"] != "yes").to_numpy()]
    given = given_questions(left, system.settings.relevant_passages)
    prompts = map(system.ask, given)
    return {"answers": dry_run(prompts, system.settings, store), "time_filter": filtering}


def _unanswered(
    queries: pd.DataFrame, system: RagSystem, answers: pd.DataFrame | None
) -> pd.DataFrame:
    if answers is None:
        return queries.reset_index(drop=True)
    done = set(question_keys(answers[answers["system"] == system.name]))
    is_left = np.array([key not in done for key in question_keys(queries)], np.bool_)
    return queries[is_left].reset_index(drop=True)


def _answers_and_failures(
    asked: Asked[GivenQuestion, dict[str, Any]], system: RagSystem
) -> tuple[pd.DataFrame, pd.DataFrame]:
    keys = pd.DataFrame([question.key for question in asked.rows], columns=QUESTION_KEY)
    table = (
        keys.astype(object).join(asked.table()).assign(system=system.name, prompt=system.version)
    )
    answered = table[table["reason"].isna()].reset_index(drop=True)
    columns = ["answer", "finish_reason", OWN_PASSAGES]
    said = pd.DataFrame(answered["value"].tolist(), columns=columns, dtype=object)
    answers = answered.join(said)[ANSWER_COLUMNS].astype("str")
    if said[OWN_PASSAGES].notna().any():
        answers[OWN_PASSAGES] = said[OWN_PASSAGES].where(said[OWN_PASSAGES].notna(), None)
    return answers, table.loc[table["reason"].notna(), FAILURE_COLUMNS].reset_index(drop=True)


def _left_out(
    queries: pd.DataFrame, labels: pd.DataFrame, system: RagSystem, version: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """List the questions left out, with reasons; and those of which the filter told nothing."""
    table = labels.assign(system=system.name, query=queries["query"])
    skipped = table[table["label"] == "yes"].assign(reason=TIME_DEPENDENT, prompt=version)
    untold = table[table["label"].isna()].assign(prompt=system.version)
    known = untold["reason"] == OVER_BUDGET
    untold["reason"] = untold["reason"].where(known, UNDETERMINED + untold["reason"])
    return skipped[SKIPPED_COLUMNS].reset_index(drop=True), untold[FAILURE_COLUMNS]


def _warnings(
    system: RagSystem, answers: pd.DataFrame, there: pd.DataFrame | None
) -> Iterator[str]:
    cut_off = int((answers["finish_reason"] == CUT).sum())
    if cut_off:
        cut = count_of(cut_off, "answer")
        yield f"{cut} cut off at the most tokens of an answer; allow for more"
    thinking = sum(has_thoughts(text) for text in answers["answer"])
    if thinking:
        yield (
            f"{count_of(thinking, 'answer')} with thoughts of a reasoning model; have the server "
            "keep them apart"
        )
    if there is not None and "prompt" in there:
        now = system.version
        own = there.loc[there["system"] == system.name, "prompt"].dropna()
        others = sorted({str(version) for version in own if version != now})
        if others:
            yield (
                f"there are answers of {system.name} to another prompt ({others[0]}, now {now}); "
                "give this system a name of its own to keep them apart"
            )
