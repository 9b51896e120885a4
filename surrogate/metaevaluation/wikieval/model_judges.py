"""Judges of WikiEval's pairs that need a model: embeddings, rerankers, Ragas."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from arena.llm import Budget, Usage
from arena.llm.ask import Progress
from features.declare.sample import Missing
from features.measures.ragas import QUESTIONS
from features.models import Item, ModelOptions, Scores
from features.models.ragas import (
    NOT_REACHED,
    QuestionSimilarity,
    TextQualities,
    answer_item,
    context_item,
    endpoint_model,
    faithfulness_item,
    from_scores,
    named_models,
)
from features.models.ragas_prompts import (
    QUESTION,
    RAGAS_PROMPTS,
    SENTENCES,
    STATEMENTS,
    VERDICTS,
    versions,
)
from features.text.sentences import split_sentences
from surrogate.metaevaluation.judges import ModelJudge, Verdict
from surrogate.metaevaluation.wikieval.judges import (
    ANSWER_RELEVANCE,
    FAITHFULNESS,
    Pair,
    higher,
)

LANGUAGE = "en"

_NO_SENTENCES = "no_sentences"
_NO_EMBEDDING = "no_embedding"


class SentenceJudge(ModelJudge[Pair]):
    """Prefers the text with the higher mean score of its sentences."""

    @property
    def name(self) -> str:
        """The kind of model, and its short name."""
        return f"{self.kind}:{short_name(self.model)}"

    def verdict(self, item: Pair, scores: Mapping[Item, Scores]) -> Verdict:
        """Prefer the text with the higher score."""
        return higher(*(self.score(item, text, scores) for text in (item.first, item.second)))

    @abstractmethod
    def score(self, pair: Pair, text: str, scores: Mapping[Item, Scores]) -> Verdict:
        """Score a text of a pair; there is no value where it has no sentence."""


class EmbedderJudge(SentenceJudge):
    """Prefers the text that is nearer by the cosine of embeddings.

    A sentence of an answer is as near to the context as to the context's nearest sentence.
    """

    kind = "embedder"

    @property
    def prompt(self) -> str:
        """How scores are made of cosines."""
        return f"mean cosine of sentences|prefix:{prefix_for(self.model)}"

    def reads(self, item: Pair) -> list[Item]:
        """Return the sentences of both texts, and those they should be near to."""
        both = (self._compared(item, text) for text in (item.first, item.second))
        return [sentence for sides in both for side in sides for sentence in side]

    def score(self, pair: Pair, text: str, scores: Mapping[Item, Scores]) -> Verdict:
        """Return the mean, over the text's sentences, of the cosine of the nearest."""
        sides = self._compared(pair, text)
        if not all(sides):
            return Verdict(None, _NO_SENTENCES)
        vectors, others = (np.stack([scores[sentence] for sentence in side]) for side in sides)
        near = float((vectors @ others.T).max(axis=1).mean(dtype=np.float64))
        return Verdict(None, _NO_EMBEDDING, was_asked=False) if np.isnan(near) else Verdict(near)

    def _compared(self, pair: Pair, text: str) -> tuple[list[Item], list[Item]]:
        """Return what is compared of a text of a pair, and what it should be near to."""
        texts = [text] if pair.criterion == ANSWER_RELEVANCE else _sentences(text)
        is_held_to_context = pair.criterion == FAITHFULNESS
        targets = _sentences(pair.context or "") if is_held_to_context else [pair.question]
        prefix = prefix_for(self.model)
        before = "" if prefix == "none" else f"{prefix}: "
        return [(before + part,) for part in texts], [(before + part,) for part in targets]


class RerankerJudge(SentenceJudge):
    """Prefers the text that a reranker scores higher.

    A sentence of an answer is the query, and the context the passage, in windows where it is long.
    """

    kind = "reranker"

    @property
    def prompt(self) -> str:
        """How scores are made of the reranker's."""
        return "mean score of sentences"

    def reads(self, item: Pair) -> list[Item]:
        """Return the queries and passages of both texts."""
        return [read for text in (item.first, item.second) for read in _reranked(item, text)]

    def score(self, pair: Pair, text: str, scores: Mapping[Item, Scores]) -> Verdict:
        """Return the mean of the logits."""
        items = _reranked(pair, text)
        if not items:
            return Verdict(None, _NO_SENTENCES)
        return Verdict(float(np.mean([float(scores[item][0]) for item in items])))


def prefix_for(model: str) -> str:
    """Return what stands before texts of one kind: ``query`` for E5 models, ``none`` for others."""
    return "query" if "e5" in Path(model).name.casefold().split("-") else "none"


def short_name(model: str) -> str:
    """Return a model's name on the hub, or the last two folders of its path."""
    return "/".join(Path(model).parts[-2:])


def _sentences(text: str) -> list[str]:
    return split_sentences(text, LANGUAGE)


def _reranked(pair: Pair, text: str) -> list[Item]:
    """Return the queries and passages that a text's score is the mean of."""
    if pair.criterion == FAITHFULNESS:
        return [(sentence, pair.context or "") for sentence in _sentences(text)]
    if pair.criterion == ANSWER_RELEVANCE:
        return [(pair.question, text)]
    return [(pair.question, sentence) for sentence in _sentences(text)]


@dataclass(frozen=True)
class RagasJudge:
    """Prefers the text with the higher faithfulness, answer relevance or context relevance.

    Attributes:
        model: ``LLM with EMBEDDER``; see ``features.models.ragas.named_models``.
        options: How it is asked; how the embedding model is run.
        budget: Most prompts to send, and what was asked and used.
        progress: Called with a stage's name, what is done of it, and all of it.
    """

    model: str
    options: ModelOptions
    budget: Budget = field(default_factory=Budget, repr=False, compare=False)
    progress: Progress | None = field(default=None, repr=False)

    @property
    def usages(self) -> Sequence[Usage]:
        """What was asked and used, an entry a stage."""
        return self.budget.usages

    @property
    def name(self) -> str:
        """``ragas:`` and the LLM."""
        return f"ragas:{named_models(self.model)[0]}"

    @property
    def prompt(self) -> str:
        """Names and digests of the templates, the embedding model, the number of questions.

        Raises:
            MissingDependencyError: If Jinja is not installed.
        """
        embedder = short_name(named_models(self.model)[1])
        names = versions(*RAGAS_PROMPTS, templates=self.options.templates)
        return f"{names}|embedder:{embedder}|questions:{QUESTIONS}"

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """Measure both texts of each pair.

        Raises:
            UsageError: If the endpoint, the store or the embedding model cannot be used.
            MissingDependencyError: If a package that is needed is not installed.
        """
        verdicts: dict[int, Verdict] = {}
        for by_questions in (False, True):
            numbers = [
                number
                for number, pair in enumerate(pairs)
                if (pair.criterion == ANSWER_RELEVANCE) == by_questions
            ]
            chosen = [pairs[number] for number in numbers]
            items = [
                self._item(pair, text) for pair in chosen for text in (pair.first, pair.second)
            ]
            scores = [_score(row) for row in self._measured(items, by_questions)]
            verdicts |= zip(numbers, map(higher, scores[::2], scores[1::2]), strict=True)
        return [verdicts[number] for number in range(len(pairs))]

    def _item(self, pair: Pair, text: str) -> Item:
        templates = self.options.templates
        if pair.criterion == FAITHFULNESS:
            stated = templates.stated([STATEMENTS.name, VERDICTS.name])
            return faithfulness_item(pair.question, text, (pair.context or "",), stated)
        if pair.criterion == ANSWER_RELEVANCE:
            prefix = prefix_for(named_models(self.model)[1])
            stated = templates.stated([QUESTION.name])
            return answer_item(QUESTIONS, prefix, pair.question, text, stated)
        return context_item(LANGUAGE, pair.question, (text,), templates.stated([SENTENCES.name]))

    def _measured(self, items: Sequence[Item], by_questions: bool) -> Scores:
        if not items:
            return np.empty((0, 2), np.float32)
        name, embedder = named_models(self.model)
        llm = replace(
            endpoint_model(name, self.options),
            budget=self.budget,
            stage=self.name,
            progress=self.progress,
        )
        if by_questions:
            return QuestionSimilarity(llm, embedder, self.options).score(items)
        return TextQualities(llm).score(items)


def _score(row: Scores) -> Verdict:
    measured = from_scores(row)
    if isinstance(measured, Missing):
        return Verdict(None, measured.reason, measured != NOT_REACHED)
    return Verdict(measured)
