"""LLMs at an endpoint: calls, their values as scores, and ratings from 1 to 5."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import numpy as np

from arena.data.errors import UsageError
from arena.data.languages import named_language
from arena.data.types import Progress
from arena.llm.ask import Asked, Llm, ask_table
from arena.llm.batches.awaiting import AwaitedReplies
from arena.llm.llm_settings import URL_VARIABLE, LlmSettings
from arena.llm.prompts import NO_TEMPLATES, ReplaceablePrompt, Templates, Variable, delimiter_code
from arena.llm.ratings import RatingForm, find_rating
from arena.llm.replies import Completion, Reply, UnparsableError
from arena.llm.requests import Prompt
from arena.llm.store import open_store
from arena.llm.trimming import PASSAGE_TOKENS, Trimmer
from arena.llm.usage import Budget
from features.declare.feature import Item, Scores, Value
from features.declare.sample import Missing
from features.models.llm_items import FluencyItem, LlmItem, OverlapItem, RatingItem
from features.models.options import ModelOptions
from features.models.scorer import NO_USABLE_REPLY, NOT_REACHED, REASONS

R = TypeVar("R")
T = TypeVar("T")

MAX_TOKENS = 512
"""Maximum tokens of a reply; the rating comes first, then its explanation."""
STORE_VARIABLE = "SURROGATE_ARENA_STORE"
"""Environment variable with the path of the store, unless the options state it."""

QUESTION_VARIABLE = Variable("the question", "samplequestion", also=("Question",))
LANGUAGE_VARIABLE = Variable("English name of the language", "English")
CODE_VARIABLE = Variable("code for delimiters; found in none of the texts", "samplecode")

OVERLAP_PROMPT = ReplaceablePrompt(
    name=OverlapItem.kind,
    asks="How well an answer agrees with the reference answer (MIRAGE-Bench, figure 11)",
    reply="the last [[4]], or Rating: 4; 1 to 5",
    variables={
        "question": QUESTION_VARIABLE,
        "language": LANGUAGE_VARIABLE,
        "reference": Variable("the reference answer", "samplereference", True, ("Label",)),
        "answer": Variable("the answer to rate", "sampleanswer", True, ("Response",)),
        "code": CODE_VARIABLE,
    },
    package="features.models",
    packaged_name="overlap.v1",
)
FLUENCY_PROMPT = ReplaceablePrompt(
    name=FluencyItem.kind,
    asks="How fluent an output is (MIRAGE-Bench, figure 12)",
    reply="the last ##Rating: 4, or Rating: 4; 1 to 5",
    variables={
        "question": QUESTION_VARIABLE,
        "language": LANGUAGE_VARIABLE,
        "passages": Variable("list of the passages' texts, trimmed; may be empty", ("samplepart",)),
        "documents": Variable(
            "the same as one text, one per line", "samplepart", also=("Documents",)
        ),
        "answer": Variable("the output to rate", "sampleanswer", True, ("Summary",)),
        "code": CODE_VARIABLE,
    },
    package="features.models",
    packaged_name="fluency.v1",
)
RATING_PROMPTS = (OVERLAP_PROMPT, FLUENCY_PROMPT)


@dataclass(frozen=True)
class EndpointModel:
    """A model at an endpoint, its replies' file, and the user's settings."""

    settings: LlmSettings
    store: str
    templates: Templates
    user_settings: frozenset[str]
    budget: Budget = field(default_factory=Budget, repr=False, compare=False)
    stage: str = field(default="", compare=False)
    progress: Progress | None = field(default=None, repr=False, compare=False)

    def ask(
        self,
        rows: Sequence[R],
        prompt: Callable[[R], Prompt],
        parse: Callable[[Completion], T],
        settings: LlmSettings | None = None,
    ) -> Asked[R, T]:
        """Ask about rows, as ``ask_table`` does."""
        with open_store(self.store) as store:
            llm = Llm(settings or self.settings, store, self.budget)
            return ask_table(rows, prompt, parse, llm, stage=self.stage, progress=self.progress)


def endpoint_model(
    model: str, options: ModelOptions, max_tokens: int = MAX_TOKENS
) -> EndpointModel:
    """Prepare calls to a model; none is sent yet."""
    user_settings = options.llm or LlmSettings()
    store = user_settings.store or os.environ.get(STORE_VARIABLE)
    if not store:
        raise UsageError(
            "ratings by an LLM need a place that keeps the replies: name an SQLite file "
            f"by ModelOptions(llm=LlmSettings(store=...)) or by the variable {STORE_VARIABLE}"
        )
    values: dict[str, Any] = {"temperature": 0.0, "max_tokens": max_tokens}
    url = os.environ.get(URL_VARIABLE)
    if url:
        values["base_url"] = url
    stated_values = user_settings.model_dump(
        include=set(LlmSettings.model_fields), exclude_unset=True
    )
    values.update(stated_values)
    values["model"] = model
    return EndpointModel(
        settings=LlmSettings(**values),
        store=store,
        templates=options.templates,
        user_settings=frozenset(stated_values),
        budget=Budget(user_settings.max_calls) if options.budget is None else options.budget,
    )


Measure = Callable[[EndpointModel, Sequence[Any]], Sequence[Value]]
"""Asks a model about items of one kind and returns one value per item."""


@dataclass(frozen=True)
class LlmScorer:
    """Asks an LLM, shape (items, 2): value, number of a reason.

    Only passing failures are asked again.
    """

    llm: EndpointModel
    measures: Mapping[type[LlmItem], Measure]
    signature: str | None = None

    def score(self, items: Sequence[Item]) -> Scores:
        """Measure items."""
        scores = np.empty((len(items), 2), dtype=np.float32)
        awaited = AwaitedReplies()
        for kind, measure in self.measures.items():
            indices = [index for index, item in enumerate(items) if item[0] == kind.kind]
            if not indices:
                continue
            with awaited.gathered():
                values = measure(self.llm, [kind.of(items[index]) for index in indices])
                for index, value in zip(indices, values, strict=True):
                    if isinstance(value, Missing):
                        scores[index] = (np.nan, 1 + REASONS.index(value))
                    else:
                        scores[index] = (value, 0)
        awaited.require_none()
        return scores


def reason_for(reply: Reply[Any]) -> Missing:
    """Return the reason why a reply has no value."""
    return NO_USABLE_REPLY if reply.was_asked else NOT_REACHED


def load_llm(model: str, options: ModelOptions) -> LlmScorer:
    """Prepare ratings by a model; none is asked for yet."""
    measures: dict[type[LlmItem], Measure] = {
        OverlapItem: partial(ratings, "brackets"),
        FluencyItem: partial(ratings, "heading"),
    }
    return LlmScorer(endpoint_model(model, options), measures)


def ratings(form: RatingForm, llm: EndpointModel, items: Sequence[RatingItem]) -> list[Value]:
    """Return the ratings of items."""
    answered = llm.ask(
        items,
        lambda item: rating_prompt(item, llm.templates),
        partial(_read_rating, form),
    )
    return [reason_for(reply) if reply.value is None else reply.value for reply in answered.replies]


def _read_rating(form: RatingForm, completion: Completion) -> float:
    text = completion.text or ""
    rating, position = find_rating(text, form, completion.is_cut)
    # A cut reply that ends in its rating may have gone on to "4 of 10".
    if completion.finish_reason == "length" and not text[position + 1 :].strip(" \t\r\n.,"):
        raise UnparsableError("the reply was cut off within the rating")
    return float(rating)


def rating_prompt(item: RatingItem, templates: Templates = NO_TEMPLATES) -> Prompt:
    """Make the prompt for an item."""
    further = (item.reference,) if isinstance(item, OverlapItem) else item.passages
    values: dict[str, Any] = {
        "code": delimiter_code(item.question, item.answer, *further),
        "language": named_language(item.language),
        "question": item.question,
        "answer": item.answer,
    }
    if isinstance(item, OverlapItem):
        prompt = OVERLAP_PROMPT
        values["reference"] = item.reference
    else:
        prompt = FLUENCY_PROMPT
        # As the systems that answered were shown them.
        passages = [Trimmer().trim(text, PASSAGE_TOKENS) for text in item.passages]
        values["passages"] = passages
        values["documents"] = "\n".join(passages)
    template = templates.for_signature(item.template).of(prompt)
    return Prompt.of(template.fill(values), version=template.version)
