"""Embeddings and rerankers as judges of WikiEval's pairs: baselines without an LLM.

Both look at texts sentence by sentence where these may be long. Faithfulness is how near each
sentence of the answer is to the context, answer relevance how near the answer is to the question,
and context relevance how near each sentence of the context is to the question; each is averaged,
so that sentences that are beside the point lower it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from arena.metaevaluation.wikieval import Pair, Preference, Score, higher
from arena.metaevaluation.wikieval.criteria import ANSWER_RELEVANCE, FAITHFULNESS
from features.models import Item, ModelOptions, Scores, load_scorer
from features.sentences import split_sentences

LANGUAGE = "en"

_NO_SENTENCES = "no_sentences"


@dataclass(frozen=True)
class EmbedderJudge:
    """Prefers the text that is nearer by the cosine of embeddings.

    A sentence of an answer is as near to the context as to the context's nearest sentence.

    Attributes:
        model: Folder of the embedding model, or its name on the Hugging Face hub.
        options: How to run it.
    """

    model: str
    options: ModelOptions = field(default_factory=ModelOptions)

    @property
    def name(self) -> str:
        """``embedder:`` and the model."""
        return f"embedder:{short_name(self.model)}"

    @property
    def prompt(self) -> str:
        """How scores are made of cosines."""
        return f"mean cosine of sentences|prefix:{prefix_for(self.model)}"

    def judge(self, pairs: Sequence[Pair]) -> list[Preference]:
        """Judge pairs; each distinct sentence is embedded once.

        Raises:
            UsageError: See ``features.models.load_scorer``.
            MissingDependencyError: If a package that the model needs is not installed.
        """
        texts = list(dict.fromkeys(text for pair in pairs for text in _embedded(pair)))
        prefix = prefix_for(self.model)
        before = "" if prefix == "none" else f"{prefix}: "
        scorer = load_scorer("embedder", self.model, self.options)
        vectors = scorer.score([(before + text,) for text in texts])
        known = dict(zip(texts, vectors, strict=True))
        return [
            higher(_cosine(pair, pair.first, known), _cosine(pair, pair.second, known))
            for pair in pairs
        ]


@dataclass(frozen=True)
class RerankerJudge:
    """Prefers the text that a reranker scores higher.

    A sentence of an answer is the query, and the context the passage, in windows where it is long.

    Attributes:
        model: Folder of the reranker, or its name on the Hugging Face hub.
        options: How to run it.
    """

    model: str
    options: ModelOptions = field(default_factory=ModelOptions)

    @property
    def name(self) -> str:
        """``reranker:`` and the model."""
        return f"reranker:{short_name(self.model)}"

    @property
    def prompt(self) -> str:
        """How scores are made of the reranker's."""
        return "mean score of sentences"

    def judge(self, pairs: Sequence[Pair]) -> list[Preference]:
        """Judge pairs; each distinct query and passage is scored once.

        Raises:
            UsageError: See ``features.models.load_scorer``.
            MissingDependencyError: If a package that the model needs is not installed.
        """
        wanted = [(_reranked(pair, pair.first), _reranked(pair, pair.second)) for pair in pairs]
        items = list(dict.fromkeys(item for two in wanted for one in two for item in one))
        scores = load_scorer("reranker", self.model, self.options).score(items)
        known = {item: float(row[0]) for item, row in zip(items, scores, strict=True)}
        return [higher(_mean(known, first), _mean(known, second)) for first, second in wanted]


def prefix_for(model: str) -> str:
    """Return what stands before texts of one kind: ``query`` for E5 models, ``none`` for others."""
    return "query" if "e5" in Path(model).name.casefold().split("-") else "none"


def short_name(model: str) -> str:
    """Return a model's name on the hub, or the last two folders of its path."""
    return "/".join(Path(model).parts[-2:])


def _sentences(text: str) -> list[str]:
    return split_sentences(text, LANGUAGE)


def _embedded(pair: Pair) -> Iterable[str]:
    """Yield all that must be embedded to judge a pair."""
    texts = (pair.first, pair.second)
    if pair.criterion == FAITHFULNESS:
        yield from _sentences(pair.context or "")
        yield from (sentence for text in texts for sentence in _sentences(text))
        return
    yield pair.question
    if pair.criterion == ANSWER_RELEVANCE:
        yield from texts
    else:
        yield from (sentence for text in texts for sentence in _sentences(text))


def _cosine(pair: Pair, text: str, known: Mapping[str, Scores]) -> Score:
    if pair.criterion == ANSWER_RELEVANCE:
        return Score(float(known[text] @ known[pair.question]))
    targets = _sentences(pair.context or "") if pair.criterion == FAITHFULNESS else [pair.question]
    sentences = _sentences(text)
    if not sentences or not targets:
        return Score(None, _NO_SENTENCES)
    cosines = (
        np.stack([known[each] for each in sentences])
        @ np.stack([known[each] for each in targets]).T
    )
    return Score(float(cosines.max(axis=1).mean(dtype=np.float64)))


def _reranked(pair: Pair, text: str) -> list[Item]:
    """Return the queries and passages that a text's score is the mean of."""
    if pair.criterion == FAITHFULNESS:
        return [(sentence, pair.context or "") for sentence in _sentences(text)]
    if pair.criterion == ANSWER_RELEVANCE:
        return [(pair.question, text)]
    return [(pair.question, sentence) for sentence in _sentences(text)]


def _mean(known: Mapping[Item, float], items: Sequence[Item]) -> Score:
    if not items:
        return Score(None, _NO_SENTENCES)
    return Score(float(np.mean([known[item] for item in items])))
