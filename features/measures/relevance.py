"""Do the passages cited answer the question, and does the answer mean what other texts mean?"""

from __future__ import annotations

import numpy as np

from features.declare.asked import EMBEDDER, cosines
from features.declare.feature import Item, Reading, Scores, Value, choice, declared, model
from features.declare.sample import (
    EMPTY_ANSWER,
    EMPTY_PASSAGES,
    EMPTY_REFERENCE,
    NO_CITED_PASSAGES,
    NO_PASSAGES,
    NO_REFERENCE_ANSWER,
    NO_REFERENCE_SYSTEM,
    Missing,
    Part,
    Sample,
    passage_texts,
)
from features.models.model_folder import require_model

RERANKER = "BAAI/bge-reranker-v2-m3"
"""The model of MIRAGE-Bench."""


def query_pairs(sample: Sample, part: Part) -> tuple[Item, ...] | Missing:
    """Return (query, passage) for each distinct passage cited, or why there are none."""
    if not sample.question.passages:
        return NO_PASSAGES
    cited = sample.citations(part).known
    if not cited:
        return NO_CITED_PASSAGES
    texts = passage_texts(sample.question, cited)
    return tuple((sample.question.query, text) for text in texts) or EMPTY_PASSAGES


@declared(
    "MIRAGE-Bench, section 4.1, reranker score",
    ("answer", "passages", "reranker"),
    (NO_PASSAGES, NO_CITED_PASSAGES, EMPTY_PASSAGES),
    model(RERANKER),
    choice("part", "output", "answer"),
    requirement=require_model,
    reading=Reading("reranker", query_pairs),
)
def reranker_score(_sample: Sample, scores: Scores, **_: object) -> Value:
    """Relevance of the passages cited to the question, averaged; a logit.

    It is a logit, not bounded by 0 and 1. Citations are read from the whole output;
    ``part=answer`` reads those after ``##Answer:`` only.
    """
    return float(scores[:, 0].mean(dtype=np.float64))


NO_EMBEDDING = Missing("no embedding by the endpoint")

_PREFIX = choice("prefix", "query", "none")
_POOL = choice("pool", "max", "mean")


def reference_items(sample: Sample, prefix: str) -> tuple[Item, ...] | Missing:
    """Return the answer and the reference answer, or why there is none."""
    reference = sample.question.reference_text
    if isinstance(reference, Missing):
        return reference
    if not reference.strip():
        return EMPTY_REFERENCE
    return _with_answer(sample, (reference,), prefix)


def question_items(sample: Sample, prefix: str) -> tuple[Item, ...] | Missing:
    """Return the answer and the question."""
    return _with_answer(sample, (sample.question.query,), prefix)


def passage_items(sample: Sample, prefix: str, **_: object) -> tuple[Item, ...] | Missing:
    """Return the answer and the passages, or why there are none."""
    if not sample.question.passages:
        return NO_PASSAGES
    texts = passage_texts(sample.question, sample.question.passage_ids)
    return _with_answer(sample, texts, prefix) if texts else EMPTY_PASSAGES


@declared(
    "surrogate-arena",
    ("answer", "reference answer", "embedding model"),
    (
        *(NO_REFERENCE_SYSTEM, NO_REFERENCE_ANSWER, EMPTY_REFERENCE, EMPTY_ANSWER),
        NO_EMBEDDING,
    ),
    model(EMBEDDER),
    _PREFIX,
    requirement=require_model,
    reading=Reading("embedder", reference_items),
    name="similarity_reference",
    summary="Cosine of the embeddings of the answer and the reference answer",
)
@declared(
    "surrogate-arena",
    ("answer", "embedding model"),
    (EMPTY_ANSWER, NO_EMBEDDING),
    model(EMBEDDER),
    _PREFIX,
    requirement=require_model,
    reading=Reading("embedder", question_items),
    name="similarity_question",
    summary="Cosine of the embeddings of the answer and the question",
)
def similarity(_sample: Sample, scores: Scores, **_: object) -> Value:
    """Return the cosine of the answer's embedding and that of the other text."""
    return _embedded(float(cosines(scores)[0]))


@declared(
    "surrogate-arena",
    ("answer", "passages", "embedding model"),
    (NO_PASSAGES, EMPTY_PASSAGES, EMPTY_ANSWER, NO_EMBEDDING),
    model(EMBEDDER),
    _PREFIX,
    _POOL,
    requirement=require_model,
    reading=Reading("embedder", passage_items),
)
def similarity_passages(_sample: Sample, scores: Scores, pool: str, **_: object) -> Value:
    """Cosine of the embeddings of the answer and the passage nearest to it."""
    near = cosines(scores)
    return _embedded(float(near.max() if pool == "max" else near.mean()))


def _embedded(cosine: float) -> Value:
    return NO_EMBEDDING if np.isnan(cosine) else cosine


def _with_answer(
    sample: Sample, others: tuple[str, ...], prefix: str
) -> tuple[Item, ...] | Missing:
    answer = sample.text.strip()
    if not answer:
        return EMPTY_ANSWER
    before = "" if prefix == "none" else f"{prefix}: "
    return tuple((before + text,) for text in (answer, *others))
