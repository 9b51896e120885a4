"""Questions to answer, as a prompt sees them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from arena.data.errors import UsageError
from arena.data.languages import named_language
from arena.data.rows import selected_columns
from arena.data.schema import HISTORY, QUESTION_KEY
from arena.data.types import Progress
from arena.judging.answer_pairs import QuestionKey, ShownPassage, ShownTurn, shown_turns
from arena.llm.ask import Llm, ask_table
from arena.llm.llm_settings import LlmSettings
from arena.llm.prompts import (
    NO_TEMPLATES,
    PromptTemplate,
    ReplaceablePrompt,
    Templates,
    Variable,
)
from arena.llm.replies import Completion, UnparsableError
from arena.llm.requests import Prompt
from arena.llm.usage import Budget, Usage
from surrogate_arena.generation.generation_settings import GenerationSettings

if TYPE_CHECKING:
    from arena.llm.store import Store

TIME_DEPENDENT = "time_dependent"
UNDETERMINED = "time_dependence_"
"""Begins the reason of a failure if a question could not be labeled."""

TIME_PROMPT = ReplaceablePrompt(
    name="time-dependence",
    asks="Whether a question needs the present date or news (MEMERAG, appendix G.1)",
    reply="the last <label>yes</label> or no, and <rationale>",
    variables={
        "question": Variable("the question", "samplequestion", is_required=True),
        "language": Variable("English name of its language", "English"),
    },
    package="surrogate_arena.generation",
    packaged_name="time-dependent.v1",
)
_LABEL = re.compile(r"<label>([^<]{0,40})</label>", re.IGNORECASE)
_RATIONALE = re.compile(r"<rationale>(.*?)</rationale>", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class GivenQuestion:
    """A question with passages and earlier turns, without labels."""

    key: QuestionKey
    question: str
    passages: tuple[ShownPassage, ...]
    history: tuple[ShownTurn, ...] = ()


def given_questions(queries: pd.DataFrame, only_relevant: bool = False) -> Iterator[GivenQuestion]:
    """Yield the questions of a table, with all passages or the relevant ones."""
    table = selected_columns(queries, [*QUESTION_KEY, "query", "passages"], [HISTORY])
    rows = table.itertuples(index=False, name=None)
    for language, query_id, query, passages, history in rows:
        shown = tuple(
            ShownPassage(passage["passage_id"], passage["text"], passage.get("title"))
            for passage in passages
            if not only_relevant or passage.get("relevance") == 1
        )
        yield GivenQuestion((language, query_id), query, shown, shown_turns(history))


@dataclass(frozen=True)
class TimeFilter:
    """An LLM that labels questions as time-dependent or not; the paper took Llama 3 70B.

    Systems that are to be compared need the same filter.
    """

    settings: LlmSettings
    template: PromptTemplate = field(default_factory=TIME_PROMPT.packaged)

    @classmethod
    def of(
        cls, settings: GenerationSettings, templates: Templates = NO_TEMPLATES
    ) -> TimeFilter | None:
        """Return the filter that settings ask for."""
        if settings.filter_model is None:
            if templates.replacing(TIME_PROMPT) and TIME_PROMPT.name not in templates.from_folder:
                raise UsageError(
                    f"a template for {TIME_PROMPT.name} is given, but nothing is filtered; name a "
                    "filter_model"
                )
            return None
        published = settings.as_published()
        update = {
            "model": settings.filter_model,
            "temperature": 0.0,
            "max_tokens": 512,  # for a label and a rationale of a few sentences
        }
        return cls(settings=published.model_copy(update=update), template=templates.of(TIME_PROMPT))

    def prompt_for(self, row: tuple[str, str]) -> Prompt:
        """Return the prompt that asks whether a question is time-dependent."""
        language, question = row
        text = self.template.fill({"question": question, "language": named_language(language)})
        return Prompt.of(text, version=self.template.version)


def time_dependence(
    queries: pd.DataFrame,
    time_filter: TimeFilter,
    store: Store,
    budget: Budget,
    progress: Progress | None = None,
) -> tuple[pd.DataFrame, Usage]:
    """Ask an LLM which questions need the present date, current affairs or news.

    Returns:
        A row per question with ``label`` (``yes``, ``no`` or missing for a ``reason``); and usage.
    """
    llm = Llm(time_filter.settings, store, budget)
    rows = list(queries[["language", "query"]].itertuples(index=False, name=None))
    answered = ask_table(
        rows, time_filter.prompt_for, read_label, llm, stage="time-dependence", progress=progress
    )
    labels = []
    for reply in answered.replies:
        label, detail = reply.value or (None, reply.detail)
        labels.append((label, detail, reply.reason, reply.key))
    table = pd.DataFrame(labels, columns=["label", "detail", "reason", "key"], dtype=object)
    return queries[QUESTION_KEY].reset_index(drop=True).join(table), answered.usage


def read_label(completion: Completion) -> tuple[str, str]:
    """Read the last ``<label>`` of a reply, and the rationale."""
    text = completion.answer
    labels = _LABEL.findall(text)
    if not labels:
        raise UnparsableError("the reply has no <label>; expected yes or no in it")
    label = labels[-1].strip(" \t\r\n'\".").casefold()
    if label not in ("yes", "no"):
        raise UnparsableError(f"the label is {label!r}; expected yes or no")
    rationales = _RATIONALE.findall(text) or [""]
    return label, rationales[-1].strip()
