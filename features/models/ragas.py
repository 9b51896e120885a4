"""Faithfulness, answer relevance and context relevance by an LLM (Ragas; Es et al., 2023)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from arena.llm.replies import Reply, UnparsableError
from arena.llm.settings import LlmSettings
from features.declare.asked import (
    CONTEXT_RELEVANCE,
    FAITHFULNESS,
    NO_STATEMENTS_FOUND,
    NO_USABLE_REPLY,
    NOT_REACHED,
    Measured,
    as_scores,
    cosines,
    named_models,
)
from features.declare.feature import Item, Scores
from features.declare.sample import Missing
from features.models.embedder import EndpointEmbedder, load_embedder
from features.models.llm_scorer import EndpointModel, load_llm
from features.models.model_folder import ENDPOINT
from features.models.ragas_prompts import (
    QUESTION,
    SENTENCES,
    STATEMENTS,
    VERDICTS,
    count_copied,
    find_verdicts,
    question_prompt,
    read_question,
    read_statements,
    read_whole,
    sentences_prompt,
    statements_prompt,
    verdicts_prompt,
    versions,
)
from features.models.scorer import ModelOptions, Scorer
from features.text.sentences import split_sentences


def reason_for(reply: Reply[Any]) -> Missing:
    """Return why there is no value, of a reply without one."""
    return NO_USABLE_REPLY if reply.was_asked else NOT_REACHED


TEMPERATURE = 0.7
"""Temperature at which several questions are asked for, so that they differ."""


def faithfulness(llm: EndpointModel, items: Sequence[Item]) -> list[Measured]:
    """Return the share of each answer's statements that its passages support.

    ``F = |V| / |S|``: S are the statements that the LLM makes of the answer, V those of them that
    it calls supported by the passages.

    Args:
        llm: The LLM.
        items: Of ``faithfulness_item``.
    """
    stated = llm.ask(
        items,
        lambda item: statements_prompt(item[2], item[3], llm.templates.stating(item[1])),
        read_statements,
    )
    rows = [(item, reply.value) for item, reply in stated if reply.value]
    asked = llm.ask(
        rows,
        lambda row: verdicts_prompt(row[0][4:], row[1], llm.templates.stating(row[0][1])),
        read_whole,
    )
    checked = iter(asked.replies)
    return [
        _share_supported(reply.value, next(checked)) if reply.value else _unstated(reply)
        for reply in stated.replies
    ]


def context_relevance(llm: EndpointModel, items: Sequence[Item]) -> list[Measured]:
    """Return the share of each context's sentences that the LLM extracts as needed.

    ``CR = extracted sentences / sentences``: 0 where the LLM says that the information is
    insufficient.

    Args:
        llm: The LLM.
        items: Of ``context_item``.
    """
    asked = llm.ask(
        items,
        lambda item: sentences_prompt(item[3], item[4:], llm.templates.stating(item[1])),
        read_whole,
    )
    return [_share_copied(item[2], item[4:], reply) for item, reply in asked]


def answer_relevance(llm: EndpointModel, items: Sequence[Item], embedder: Scorer) -> list[Measured]:
    """Return the mean cosine of each question with questions that the LLM makes of its answer.

    ``AR = (1/n) * sum of sim(q, q_i)``. A single question is asked for as the settings say;
    several are asked for at ``TEMPERATURE``, each with a seed of its own. Where one of them fails,
    there is no value.

    Args:
        llm: The LLM.
        items: Of ``answer_item``.
        embedder: Embeds questions.
    """
    made: list[list[Reply[str]]] = [[] for _ in items]
    counts = [int(item[2]) for item in items]
    for number in range(max(counts, default=0)):
        for is_one in (True, False):
            places = [
                place
                for place, count in enumerate(counts)
                if count > number and (count == 1) == is_one
            ]
            settings = None if is_one else _varied(llm.settings, number)
            asked = llm.ask(
                [items[place] for place in places],
                lambda item: question_prompt(item[5], llm.templates.stating(item[1])),
                read_question,
                settings,
            )
            for place, reply in zip(places, asked.replies, strict=True):
                made[place].append(reply)
    texts = [_embedded(item, replies) for item, replies in zip(items, made, strict=True)]
    vectors = embedder.score([(text,) for of_item in texts for text in of_item])
    ends = list(accumulate(map(len, texts)))
    return [
        _similarity(replies, vectors[end - len(of_item) : end])
        for replies, of_item, end in zip(made, texts, ends, strict=True)
    ]


def _unstated(reply: Reply[list[str]]) -> Missing:
    return NO_STATEMENTS_FOUND if reply.reason is None else reason_for(reply)


def _share_supported(statements: Sequence[str], reply: Reply[str]) -> Measured:
    if reply.value is None:
        return reason_for(reply)
    try:
        verdicts = find_verdicts(reply.value, len(statements))
    except UnparsableError:
        return NO_USABLE_REPLY
    return sum(verdicts) / len(verdicts)


def _share_copied(language: str, passages: Sequence[str], reply: Reply[str]) -> Measured:
    if reply.value is None:
        return reason_for(reply)
    sentences = [each for text in passages for each in split_sentences(text, language)]
    try:
        copied = count_copied(reply.value, sentences)
    except UnparsableError:
        return NO_USABLE_REPLY
    return copied / len(sentences) if copied else 0.0


def _varied(settings: LlmSettings, number: int) -> LlmSettings:
    return settings.model_copy(update={"temperature": TEMPERATURE}).sending(seed=number)


def _embedded(item: Item, replies: Sequence[Reply[str]]) -> list[str]:
    """Return the question and those made of its answer, to be embedded; none where one failed."""
    before, question = item[3:5]
    if any(reply.value is None for reply in replies):
        return []
    return [before + text for text in (question, *(reply.value or "" for reply in replies))]


def _similarity(replies: Sequence[Reply[str]], vectors: Scores) -> Measured:
    failed = [reply for reply in replies if reply.value is None]
    if failed:
        return reason_for(failed[0])
    mean = float(cosines(vectors).mean())
    return NOT_REACHED if np.isnan(mean) else mean


MAX_TOKENS = 2048
"""Most tokens of a reply: it may copy much of the context."""


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
        return self.llm.device

    @property
    def signature(self) -> str:
        """Model, prompts, settings."""
        return f"ragas:{_settings(self.llm)}|{versions(STATEMENTS, VERDICTS, SENTENCES)}"

    def score(self, items: Sequence[Item]) -> Scores:
        """Measure items of ``faithfulness_item`` and ``context_item``.

        Raises:
            UsageError: If the endpoint or the store cannot be used.
            MissingDependencyError: If the extra ``llm`` is not installed.
        """
        scores = np.empty((len(items), 2), dtype=np.float32)
        measures = ((FAITHFULNESS, faithfulness), (CONTEXT_RELEVANCE, context_relevance))
        for name, measure in measures:
            places = [place for place, item in enumerate(items) if item[0] == name]
            scores[places] = as_scores(measure(self.llm, [items[place] for place in places]))
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
        if self.embedder.startswith(ENDPOINT):
            return EndpointEmbedder(self.llm).named(self.embedder)
        return load_embedder(self.embedder, self.options)

    @property
    def device(self) -> str:
        """``endpoint``: the calls are made by one process, many at a time."""
        return self.llm.device

    @property
    def signature(self) -> str:
        """Both models, the prompt, settings."""
        return (
            f"ragas-questions:{_settings(self.llm)}|several:{TEMPERATURE}|{versions(QUESTION)}"
            f"|{self.loaded.signature}"
        )

    def score(self, items: Sequence[Item]) -> Scores:
        """Measure items of ``answer_item``; see ``TextQualities.score``."""
        return as_scores(answer_relevance(self.llm, items, self.loaded))


def load_ragas(model: str, options: ModelOptions) -> TextQualities:
    """Make ready to ask a model about faithfulness and context relevance.

    Args:
        model: Its name at the endpoint.
        options: How it is asked; see ``features.models.llm_scorer.load_llm``.

    Raises:
        UsageError: If nothing says where replies are to be kept, or the address is none.
    """
    return TextQualities(endpoint_model(model, options))


def load_ragas_questions(model: str, options: ModelOptions) -> QuestionSimilarity:
    """Make ready to ask a model for questions, and to embed them.

    Args:
        model: ``LLM with EMBEDDER``; see ``named_models``.
        options: As ``load_ragas``; how the embedding model is run.

    Raises:
        UsageError: As ``load_ragas``.
    """
    llm, embedder = named_models(model)
    return QuestionSimilarity(endpoint_model(llm, options), embedder, options)


def endpoint_model(model: str, options: ModelOptions) -> EndpointModel:
    """Return an LLM as the options or the environment say; see ``load_ragas``."""
    rater = load_llm(model, options)
    settings = rater.settings.model_copy(update={"max_tokens": MAX_TOKENS})
    return EndpointModel(settings, rater.store, templates=options.templates)


def _settings(llm: EndpointModel) -> str:
    """Return what replies depend on beside the prompts; not where the model is asked."""
    settings = llm.settings
    return f"{settings.model}|temperature:{settings.temperature}|max_tokens:{settings.max_tokens}"
