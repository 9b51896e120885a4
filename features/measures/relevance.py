"""Do the passages cited answer the question, and does the answer mean what other texts mean?"""

from __future__ import annotations

import numpy as np

from features.declare.feature import (
    OWN,
    Items,
    Reading,
    Scores,
    Value,
    choice,
    declared,
    model,
)
from features.declare.sample import (
    EMPTY_ANSWER,
    EMPTY_PASSAGES,
    EMPTY_REFERENCE,
    NO_CITED_PASSAGES,
    NO_PASSAGES,
    Missing,
    Sample,
    passage_texts,
)
from features.models.model_folder import require_model
from features.models.sentence_models import EMBEDDER, cosines

RERANKER = "BAAI/bge-reranker-v2-m3"
"""The model of MIRAGE-Bench."""
NO_EMBEDDING = Missing("no embedding by the endpoint")

_PREFIX = choice("prefix", "query", "none")


def query_pairs(sample: Sample) -> Items:
    """Return (query, passage) for each distinct passage cited, or why there are none."""
    if not sample.question.passages:
        return NO_PASSAGES
    if not sample.citations.known:
        return NO_CITED_PASSAGES
    texts = passage_texts(sample.question, sample.citations.known)
    return tuple((sample.question.query, text) for text in texts) or EMPTY_PASSAGES


@declared(
    "MIRAGE-Bench, section 4.1, reranker score",
    ("answer", "passages", "reranker"),
    model(RERANKER),
    requirement=require_model,
    reading=Reading("reranker", query_pairs),
)
def reranker_score(_sample: Sample, scores: Scores) -> Value:
    """Relevance of the passages cited to the question, averaged; a logit."""
    return float(scores[:, 0].mean(dtype=np.float64))


def reference_items(sample: Sample, prefix: str) -> Items:
    """Return the answer and the reference answer, or why there is none."""
    reference = sample.question.reference_text
    if isinstance(reference, Missing):
        return reference
    return _with_answer(sample, (reference,), prefix) if reference.strip() else EMPTY_REFERENCE


def question_items(sample: Sample, prefix: str) -> Items:
    """Return the answer and the question."""
    return _with_answer(sample, (sample.question.query,), prefix)


def passage_items(sample: Sample, prefix: str) -> Items:
    """Return the answer and the passages, or why there are none."""
    if not sample.question.passages:
        return NO_PASSAGES
    texts = passage_texts(sample.question, sample.question.passage_ids)
    return _with_answer(sample, texts, prefix) if texts else EMPTY_PASSAGES


@declared(
    OWN,
    ("answer", "reference answer", "embedding model"),
    *(model(EMBEDDER), _PREFIX),
    requirement=require_model,
    reading=Reading("embedder", reference_items),
    name="similarity_reference",
    summary="Cosine of the embeddings of the answer and the reference answer",
)
@declared(
    OWN,
    ("answer", "embedding model"),
    *(model(EMBEDDER), _PREFIX),
    requirement=require_model,
    reading=Reading("embedder", question_items),
    name="similarity_question",
    summary="Cosine of the embeddings of the answer and the question",
)
@declared(
    OWN,
    ("answer", "passages", "embedding model"),
    *(model(EMBEDDER), _PREFIX),
    requirement=require_model,
    reading=Reading("embedder", passage_items),
    name="similarity_passages",
    summary="Cosine of the embeddings of the answer and the passage nearest to it",
)
def similarity(_sample: Sample, scores: Scores, **_: object) -> Value:
    """Return the cosine of the answer's embedding and the nearest one of the other texts."""
    cosine = float(cosines(scores).max())
    return NO_EMBEDDING if np.isnan(cosine) else cosine


def _with_answer(sample: Sample, others: tuple[str, ...], prefix: str) -> Items:
    answer = sample.text.strip()
    if not answer:
        return EMPTY_ANSWER
    before = "" if prefix == "none" else f"{prefix}: "
    return tuple((before + text,) for text in (answer, *others))
