"""LLMs and embedding models at an endpoint: how they are asked, and ratings from 1 to 5 by one."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from arena.data.errors import UsageError
from arena.data.languages import named_language
from arena.data.types import Progress
from arena.llm.ask import Asked, Llm, ask_table
from arena.llm.llm_settings import EmbeddingSettings, LlmSettings, Prompt
from arena.llm.replies import (
    Completion,
    RatingForm,
    Reply,
    UnparsableError,
    find_rating,
    read_vector,
)
from arena.llm.store import open_store
from arena.llm.usage import Budget
from arena.text.prompts import NO_TEMPLATES, ReplaceablePrompt, Templates, Variable, delimiter_code
from arena.text.trimming import Trimmer
from features.declare.feature import Item, Scores, Value
from features.declare.sample import Missing
from features.models.model_folder import ENDPOINT
from features.models.scorer import (
    FLUENCY,
    NO_USABLE_REPLY,
    NOT_REACHED,
    OVERLAP,
    REASONS,
    ModelOptions,
)
from features.models.sentence_models import single_texts

R = TypeVar("R")
T = TypeVar("T")

PASSAGE_TOKENS = 800
"""Tokens of a document that are shown, as for the systems that answered."""
MAX_TOKENS = 512
"""Most tokens of a reply; the rating comes first, then its explanation."""
STORE_VARIABLE = "SURROGATE_ARENA_STORE"
"""Environment variable that says where replies are kept, unless the options do."""
URL_VARIABLE = "OPENAI_BASE_URL"
"""Environment variable that says where models are asked, unless the options do."""

_SHARED = {
    "question": Variable("the question", "samplequestion", also=("Question",)),
    "language": Variable("English name of the language", "English"),
}
_CODE = {"code": Variable("code for delimiters; found in none of the texts", "samplecode")}
OVERLAP_PROMPT = ReplaceablePrompt(
    OVERLAP,
    "How well an answer agrees with the reference answer (MIRAGE-Bench, figure 11)",
    "the last [[4]], or Rating: 4; 1 to 5",
    {
        **_SHARED,
        "reference": Variable("the reference answer", "samplereference", True, ("Label",)),
        "answer": Variable("the answer to rate", "sampleanswer", True, ("Response",)),
        **_CODE,
    },
    "features.models",
    "overlap.v1",
)
FLUENCY_PROMPT = ReplaceablePrompt(
    FLUENCY,
    "How fluent an output is (MIRAGE-Bench, figure 12)",
    "the last ##Rating: 4, or Rating: 4; 1 to 5",
    {
        **_SHARED,
        "passages": Variable("list of the passages' texts, trimmed; may be empty", ("samplepart",)),
        "documents": Variable(
            "the same as one text, one a line", "samplepart", also=("Documents",)
        ),
        "answer": Variable("the output to rate", "sampleanswer", True, ("Summary",)),
        **_CODE,
    },
    "features.models",
    "fluency.v1",
)
RATING_PROMPTS = (OVERLAP_PROMPT, FLUENCY_PROMPT)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge, such as an LLM, says of an item.

    Attributes:
        value: A label, which text is the better one, or a score. None where there is a failure;
            without one, the judge says that there is nothing to score (null in GroUSE).
        failure: Why there is no value.
        was_asked: False where the judge could not be reached: the item is left out of the
            results, and counted. A judge that was asked and gave no verdict is wrong.
        detail: More about the failure: the server's words, or what the reply says.
    """

    value: str | int | float | None
    failure: str | None = None
    was_asked: bool = True
    detail: str = ""

    @classmethod
    def of(cls, reply: Reply[Any]) -> Verdict:
        """Return the verdict of a model's reply."""
        return cls(reply.value, reply.reason, reply.was_asked, reply.detail)


@dataclass(frozen=True)
class EndpointModel:
    """A model at an endpoint, and the file that keeps its replies.

    Attributes:
        settings: How it is asked.
        store: Path of the file.
        templates: Files in the place of prompts.
        stated: Names of the settings that a user stated; the others are defaults.
        budget: Most prompts to send; and what was used.
        stage: Name that is passed to ``progress``.
        progress: Called with the stage, the prompts done, and all of them.
    """

    settings: LlmSettings
    store: str
    templates: Templates = NO_TEMPLATES
    stated: frozenset[str] = frozenset()
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
        """Ask about rows; see ``arena.llm.ask_table``."""
        with open_store(self.store) as store:
            llm = Llm(settings or self.settings, store, self.budget)
            return ask_table(rows, prompt, parse, llm, stage=self.stage, progress=self.progress)


def endpoint_model(
    model: str, options: ModelOptions, max_tokens: int = MAX_TOKENS
) -> EndpointModel:
    """Make ready to ask a model; nothing is asked yet.

    Args:
        model: Its name at the endpoint.
        options: Its ``llm`` says how; where it states no address or store, the environment
            variables ``OPENAI_BASE_URL`` and ``SURROGATE_ARENA_STORE`` do.
        max_tokens: Most tokens of a reply, unless the options state another number.

    Raises:
        UsageError: If nothing says where replies are to be kept, or the address is none.
    """
    given = options.llm or LlmSettings()
    store = given.store or os.environ.get(STORE_VARIABLE)
    if not store:
        raise UsageError(
            "ratings by an LLM need a place that keeps the replies: name an SQLite file "
            f"by ModelOptions(llm=LlmSettings(store=...)) or by the variable {STORE_VARIABLE}"
        )
    defaults: dict[str, Any] = {"temperature": 0.0, "max_tokens": max_tokens}
    url = os.environ.get(URL_VARIABLE)
    if url:
        defaults["base_url"] = url
    stated = given.model_dump(include=set(LlmSettings.model_fields), exclude_unset=True)
    settings = LlmSettings(**{**defaults, **stated, "model": model})
    budget = Budget(given.max_calls) if options.budget is None else options.budget
    return EndpointModel(settings, store, options.templates, frozenset(stated), budget)


@dataclass(frozen=True)
class EndpointEmbedder:
    """A model at an endpoint that embeds texts; replies are kept in the store as an LLM's are.

    Attributes:
        llm: Where it is asked, and the file that keeps replies.
    """

    llm: EndpointModel
    signature: str | None = None

    @classmethod
    def of(cls, llm: EndpointModel, model: str) -> EndpointEmbedder:
        """Return a model at the same endpoint: ``endpoint:text-embedding-ada-002``."""
        stated = llm.settings.model_dump(exclude={"temperature", "max_tokens", "body"})
        stated["model"] = model.removeprefix(ENDPOINT).strip()
        return cls(replace(llm, settings=EmbeddingSettings(**stated)))

    def score(self, items: Sequence[Item]) -> Scores:
        """Embed texts, shape (texts, dimensions), each row of length 1; NaN where it failed.

        Raises:
            UsageError: If an item is no single text, the endpoint or the store cannot be used, or
                vectors differ in length.
            MissingDependencyError: If the extra ``llm`` is not installed.
        """
        asked = self.llm.ask(single_texts(items), Prompt.of, read_vector)
        lengths = {len(vector) for vector in asked.values if vector is not None}
        if len(lengths) > 1:
            raise UsageError(
                f"{self.llm.settings.model} gave vectors of {min(lengths)} and of {max(lengths)} "
                "numbers; embed all texts by one model"
            )
        vectors = np.full((len(items), max(lengths, default=1)), np.nan)
        for row, vector in enumerate(asked.values):
            if vector is not None:
                vectors[row] = np.array(vector) / np.linalg.norm(vector)
        return vectors.astype(np.float32)


Measure = Callable[[EndpointModel, Sequence[Item]], Sequence[Value]]
"""Asks a model about items."""


@dataclass(frozen=True)
class LlmScorer:
    """Asks an LLM about items, shape (items, 2): value, number of a reason (0: none).

    What failed in passing is asked again when it is scored again; what the model refused, or
    replied in no readable way, is not.

    Attributes:
        llm: The LLM.
        measures: What is done with items, by their first texts; in this order.
    """

    llm: EndpointModel
    measures: Mapping[str, Measure]
    signature: str | None = None

    def score(self, items: Sequence[Item]) -> Scores:
        """Measure items.

        Raises:
            UsageError: If the endpoint, the store or an embedding model cannot be used.
            MissingDependencyError: If a package that is needed is not installed.
        """
        scores = np.empty((len(items), 2), dtype=np.float32)
        for name, measure in self.measures.items():
            places = [place for place, item in enumerate(items) if item[0] == name]
            values = measure(self.llm, [items[place] for place in places]) if places else ()
            for place, value in zip(places, values, strict=True):
                scores[place] = (
                    (np.nan, 1 + REASONS.index(value)) if isinstance(value, Missing) else (value, 0)
                )
        return scores


def reason_for(reply: Reply[Any] | Verdict) -> Missing:
    """Return why there is no value, of a reply without one."""
    return NO_USABLE_REPLY if reply.was_asked else NOT_REACHED


def load_llm(model: str, options: ModelOptions) -> LlmScorer:
    """Make ready to have a model rate; see ``endpoint_model``."""
    measures = {OVERLAP: partial(ratings, "brackets"), FLUENCY: partial(ratings, "heading")}
    return LlmScorer(endpoint_model(model, options), measures)


def ratings(form: RatingForm, llm: EndpointModel, items: Sequence[Item]) -> list[Value]:
    """Return the ratings of items: template, language, question, rated text, others follow."""
    asked = llm.ask(
        items,
        lambda item: rating_prompt(item, llm.templates),
        partial(_read_rating, form),
    )
    return [reason_for(each) if each.value is None else each.value for each in asked.replies]


def _read_rating(form: RatingForm, completion: Completion) -> float:
    """Read a rating; an ``UnparsableError`` where the reply was cut off within the number."""
    text = completion.text or ""
    rating, place = find_rating(text, form, completion.is_cut)
    if completion.finish_reason == "length" and not text[place + 1 :].strip(" \t\r\n.,"):
        raise UnparsableError("the reply was cut off within the rating")
    return float(rating)


def rating_prompt(item: Item, templates: Templates = NO_TEMPLATES) -> Prompt:
    """Make the prompt for an item.

    Raises:
        UsageError: If the item names a template that is not given.
    """
    name, stated, language, question, answer, *others = item
    values: dict[str, Any] = {
        "code": delimiter_code(question, answer, *others),
        "language": named_language(language),
        "question": question,
        "answer": answer,
    }
    if name == OVERLAP:
        values["reference"] = others[0]
    else:
        values["passages"] = [Trimmer().trim(text, PASSAGE_TOKENS) for text in others]
        values["documents"] = "\n".join(values["passages"])
    asked = OVERLAP_PROMPT if name == OVERLAP else FLUENCY_PROMPT
    template = templates.for_signature(stated).of(asked)
    return Prompt.of(template.fill(values), version=template.version)
