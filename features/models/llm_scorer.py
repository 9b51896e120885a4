"""Ratings of an answer by an LLM: prompts, how ratings are read, and the scorer that asks."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from arena.data.errors import UsageError
from arena.data.languages import named_language
from arena.llm.ask import Asked, Llm, Progress, ask_table
from arena.llm.replies import (
    RATINGS,
    Completion,
    RatingForm,
    UnparsableError,
    expected_score,
    find_rating,
)
from arena.llm.settings import LlmSettings, Prompt
from arena.llm.store import open_store
from arena.llm.usage import Budget
from arena.text.prompts import (
    NO_TEMPLATES,
    ReplaceablePrompt,
    Templates,
    Variable,
    delimiter_code,
)
from arena.text.trimming import ByteTrimmer
from features.declare.asked import FLUENCY, OVERLAP
from features.declare.feature import Item, Scores
from features.models.scorer import AT_ENDPOINT, ModelOptions

_CODE = Variable("code for delimiters; stands in none of the texts", "samplecode")
_LANGUAGE = Variable("English name of the language", "English")
_QUESTION = Variable("the question", "samplequestion", also=("Question",))

OVERLAP_PROMPT = ReplaceablePrompt(
    OVERLAP,
    "How well an answer agrees with the reference answer (MIRAGE-Bench, figure 11)",
    "the last [[4]], or Rating: 4; 1 to 5",
    {
        "question": _QUESTION,
        "language": _LANGUAGE,
        "reference": Variable("the reference answer", "samplereference", True, ("Label",)),
        "answer": Variable("the answer to rate", "sampleanswer", True, ("Response",)),
        "code": _CODE,
    },
    "features.models",
    "overlap.v1",
)
FLUENCY_PROMPT = ReplaceablePrompt(
    FLUENCY,
    "How fluent an output is (MIRAGE-Bench, figure 12)",
    "the last ##Rating: 4, or Rating: 4; 1 to 5",
    {
        "question": _QUESTION,
        "language": _LANGUAGE,
        "passages": Variable("list of the passages' texts, trimmed; may be empty", ("samplepart",)),
        "documents": Variable(
            "the same as one text, one a line", "samplepart", also=("Documents",)
        ),
        "answer": Variable("the output to rate", "sampleanswer", True, ("Summary",)),
        "code": _CODE,
    },
    "features.models",
    "fluency.v1",
)
RATING_PROMPTS = (OVERLAP_PROMPT, FLUENCY_PROMPT)


PASSAGE_TOKENS = 800
"""Tokens of a document that are shown, as for the systems that answered."""


def rating_prompt(item: Item, templates: Templates = NO_TEMPLATES) -> Prompt:
    """Make the prompt for an item of ``overlap_item`` or ``fluency_item``.

    Raises:
        UsageError: If the item names a template that is not given.
    """
    name, _, stated, language, question, answer, *others = item
    values: dict[str, Any] = {
        "code": delimiter_code(question, answer, *others),
        "language": named_language(language),
        "question": question,
        "answer": answer,
    }
    if name == OVERLAP:
        values["reference"] = others[0]
    else:
        values["passages"] = [ByteTrimmer().trim(text, PASSAGE_TOKENS) for text in others]
        values["documents"] = "\n".join(values["passages"])
    asked = OVERLAP_PROMPT if name == OVERLAP else FLUENCY_PROMPT
    template = templates.stating(stated).of(asked)
    return Prompt.of(template.fill(values), version=template.version)


def prompt_versions() -> str:
    """Return what the texts of all packaged prompts depend on; items name other templates."""
    names = "+".join(prompt.packaged().version for prompt in RATING_PROMPTS)
    return f"{names}|passages:{PASSAGE_TOKENS}({ByteTrimmer().name})"


RATING_FORMS = MappingProxyType[str, RatingForm]({OVERLAP: "brackets", FLUENCY: "heading"})
"""The format that each prompt asks for."""


def integer_rating(completion: Completion, prompt: str) -> float:
    """Read the rating that the model wrote.

    Raises:
        UnparsableError: As ``find_rating``.
    """
    return float(find_rating(completion.text or "", RATING_FORMS[prompt])[0])


def expected_rating(completion: Completion, prompt: str) -> float:
    """Average the ratings by the probabilities that the model gave them where it wrote its own.

    Raises:
        UnparsableError: As ``find_rating``; and if there are no log-probabilities, or the number
            is no token of its own.
    """
    tokens = completion.logprobs
    if not tokens:
        raise UnparsableError("the reply has no log-probabilities; rate by score=integer")
    ends = list(accumulate(len(token.token) for token in tokens))
    _, start = find_rating("".join(token.token for token in tokens), RATING_FORMS[prompt])
    place = next(index for index, end in enumerate(ends) if end > start)
    return expected_score(tokens[place], {str(value): float(value) for value in RATINGS})


R = TypeVar("R")
T = TypeVar("T")

STORE_VARIABLE = "SURROGATE_ARENA_STORE"
"""Environment variable that says where replies are kept, unless the options do."""

URL_VARIABLE = "OPENAI_BASE_URL"
"""Environment variable that says where models are asked, unless the options do."""

MAX_TOKENS = 512
"""Most tokens of a reply; the rating comes first, then its explanation."""

ALTERNATIVES = 20
"""Log-probabilities asked for: the most that OpenAI gives."""

READERS = MappingProxyType({"integer": integer_rating, "expected": expected_rating})
"""How a rating is read from a reply."""


@dataclass(frozen=True)
class EndpointModel:
    """An LLM, and the file that keeps its replies.

    Attributes:
        settings: How it is asked.
        store: Path of the file.
        templates: Files in the place of prompts.
        budget: Most prompts to send; and what was used.
        stage: Name that is passed to ``progress``.
        progress: Called with the stage, the prompts done, and all of them.
    """

    settings: LlmSettings
    store: str
    budget: Budget = field(default_factory=Budget, repr=False, compare=False)
    templates: Templates = NO_TEMPLATES
    stage: str = field(default="", compare=False)
    progress: Progress | None = field(default=None, repr=False, compare=False)

    @property
    def device(self) -> str:
        """``endpoint``: the calls are made by one process, many at a time."""
        return AT_ENDPOINT

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


@dataclass(frozen=True)
class LlmScorer(EndpointModel):
    """Rates items of ``overlap_item`` and ``fluency_item``, shape (items, 1); NaN where it failed.

    Log-probabilities are asked for where ratings are read from them.
    """

    @property
    def signature(self) -> str:
        """Model, prompts, settings; as in the store's keys, not where the model is asked."""
        settings = self.settings
        return (
            f"llm:{settings.model}|{prompt_versions()}|temperature:{settings.temperature}"
            f"|max_tokens:{settings.max_tokens}|logprobs:{ALTERNATIVES}"
        )

    def score(self, items: Sequence[Item]) -> Scores:
        """Rate items, shape (items, 1); NaN for a rating that failed.

        What failed in passing is asked again when it is scored again; what the model refused, or
        rated in no readable way, is not.

        Raises:
            UsageError: If the endpoint or the store cannot be used.
            MissingDependencyError: If the extra ``llm`` is not installed.
        """
        scores = np.full((len(items), 1), np.nan, dtype=np.float32)
        for name, mode in sorted({item[:2] for item in items}):
            places = [place for place, item in enumerate(items) if item[:2] == (name, mode)]
            settings = self.settings
            if mode == "expected":
                settings = settings.sending(logprobs=True, top_logprobs=ALTERNATIVES)
            read = partial(READERS[mode], prompt=name)
            prompt = partial(rating_prompt, templates=self.templates)
            asked = self.ask([items[place] for place in places], prompt, read, settings)
            scores[places, 0] = [np.nan if value is None else value for value in asked.values]
        return scores


def load_llm(model: str, options: ModelOptions) -> LlmScorer:
    """Make ready to ask a model; nothing is asked yet.

    Args:
        model: Its name at the endpoint.
        options: Its ``llm`` says how; where it states no address or store, the environment
            variables ``OPENAI_BASE_URL`` and ``SURROGATE_ARENA_STORE`` do.

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
    url = os.environ.get(URL_VARIABLE)
    stated = given.model_dump(include=set(LlmSettings.model_fields), exclude_unset=True)
    asked = {"model": model, "temperature": 0.0, "max_tokens": MAX_TOKENS}
    settings = LlmSettings(**({"base_url": url} if url else {}) | stated | asked)
    return LlmScorer(settings, store, templates=options.templates)
