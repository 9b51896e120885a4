"""LLMs at an OpenAI-compatible endpoint that measure the qualities of Ragas."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from arena.llm.open_store import open_store
from arena.llm.settings import Endpoint, ModelSettings
from arena.llm.usage import Usage
from features.models.embedder import load_embedder
from features.models.llm_scorer import load_llm
from features.models.options import ModelOptions
from features.models.scorer import Item, Scorer, Scores
from features.ragas.asking import Asker
from features.ragas.items import CONTEXT_RELEVANCE, FAITHFULNESS, named_models
from features.ragas.measures import (
    TEMPERATURE,
    AskedAnswer,
    AskedContext,
    GroundedAnswer,
    answer_relevance,
    context_relevance,
    faithfulness,
)
from features.ragas.prompting import QUESTION, SENTENCES, STATEMENTS, VERDICTS, versions
from features.ragas.reasons import as_scores

MAX_TOKENS = 2048
"""Most tokens of a reply: it may copy much of the context."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class EndpointModel:
    """An LLM, where it is asked, and where its replies are kept.

    Attributes:
        settings: The model.
        endpoint: Where it is asked.
        store: Where replies are kept.
        max_calls: Most prompts to send for one call of ``score``; None for any number.
        progress: Called with the prompts done and all of a stage.
        usages: What was asked and used; grows as the model is at work.
    """

    settings: ModelSettings
    endpoint: Endpoint
    store: str
    max_calls: int | None = None
    progress: Progress | None = field(default=None, repr=False)
    usages: list[Usage] = field(default_factory=list, repr=False, compare=False)

    @contextmanager
    def opened(self) -> Iterator[Asker]:
        """Open the store, and ask."""
        with open_store(self.store) as store:
            yield Asker(
                self.settings, self.endpoint, store, self.max_calls, self.progress, self.usages
            )

    @property
    def signature(self) -> str:
        """What replies depend on beside the prompts; not where the model is asked."""
        settings = self.settings
        return (
            f"{settings.model}|temperature:{settings.temperature}|max_tokens:{settings.max_tokens}"
        )


@dataclass(frozen=True)
class TextQualities:
    """Measures faithfulness and context relevance, shape (items, 2): value, number of a reason.

    Attributes:
        llm: The LLM.
    """

    llm: EndpointModel

    @property
    def device(self) -> str:
        """``endpoint``: the calls are made by one process, many at a time."""
        return "endpoint"

    @property
    def signature(self) -> str:
        """Model, prompts, settings."""
        return f"ragas:{self.llm.signature}|{versions(STATEMENTS, VERDICTS, SENTENCES)}"

    def score(self, items: Sequence[Item]) -> Scores:
        """Measure items of ``features.ragas.items``.

        Raises:
            UsageError: If the endpoint or the store cannot be used.
            MissingDependencyError: If the extra ``llm`` is not installed.
        """
        scores = np.empty((len(items), 2), dtype=np.float32)
        answers = [place for place, item in enumerate(items) if item[0] == FAITHFULNESS]
        contexts = [place for place, item in enumerate(items) if item[0] == CONTEXT_RELEVANCE]
        with self.llm.opened() as asker:
            scores[answers] = as_scores(
                faithfulness(asker, [_grounded(items[place]) for place in answers])
            )
            scores[contexts] = as_scores(
                context_relevance(asker, [_asked(items[place]) for place in contexts])
            )
        return scores


@dataclass(frozen=True)
class QuestionSimilarity:
    """Measures answer relevance, shape (items, 2): value, number of a reason.

    Attributes:
        llm: The LLM that makes questions of answers.
        embedder: Folder or name of the model that embeds questions.
        options: How that is run.
    """

    llm: EndpointModel
    embedder: str
    options: ModelOptions

    @cached_property
    def loaded(self) -> Scorer:
        """The embedding model.

        Raises:
            UsageError: See ``features.models.load_scorer``.
            MissingDependencyError: If a package it needs is not installed.
        """
        return load_embedder(self.embedder, self.options)

    @property
    def device(self) -> str:
        """``endpoint``: the calls are made by one process, many at a time."""
        return "endpoint"

    @property
    def signature(self) -> str:
        """Both models, the prompt, settings."""
        return (
            f"ragas-questions:{self.llm.signature}|several:{TEMPERATURE}|{versions(QUESTION)}"
            f"|{self.loaded.signature}"
        )

    def score(self, items: Sequence[Item]) -> Scores:
        """Measure items of ``features.ragas.items``; see ``TextQualities.score``."""
        with self.llm.opened() as asker:
            found = answer_relevance(asker, [_answered(item) for item in items], self.loaded)
        return as_scores(found)


def load_ragas(model: str, options: ModelOptions) -> TextQualities:
    """Make ready to ask a model about faithfulness and context relevance.

    Args:
        model: Its name at the endpoint.
        options: Endpoint and store; see ``features.models.llm_scorer.load_llm``.

    Raises:
        UsageError: If nothing says where replies are to be kept, or the address is none.
    """
    return TextQualities(endpoint_model(model, options))


def load_ragas_questions(model: str, options: ModelOptions) -> QuestionSimilarity:
    """Make ready to ask a model for questions, and to embed them.

    Args:
        model: ``LLM with EMBEDDER``; see ``features.ragas.items.named_models``.
        options: As ``load_ragas``; how the embedding model is run.

    Raises:
        UsageError: As ``load_ragas``.
    """
    llm, embedder = named_models(model)
    return QuestionSimilarity(endpoint_model(llm, options), embedder, options)


def endpoint_model(model: str, options: ModelOptions) -> EndpointModel:
    """Return an LLM as the options or the environment say; see ``load_ragas``."""
    rater = load_llm(model, options)
    settings = replace(rater.settings, max_tokens=MAX_TOKENS)
    return EndpointModel(settings, rater.endpoint, rater.store)


def _grounded(item: Item) -> GroundedAnswer:
    _, question, answer, *passages = item
    return GroundedAnswer(question, answer, tuple(passages))


def _asked(item: Item) -> AskedContext:
    _, language, question, *passages = item
    return AskedContext(language, question, tuple(passages))


def _answered(item: Item) -> AskedAnswer:
    _, count, prefix, question, answer = item
    return AskedAnswer(question, answer, int(count), prefix)
