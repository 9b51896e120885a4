"""Do the passages cited answer the question, and does the answer mean what other texts mean?"""

from __future__ import annotations

import numpy as np

from features.declare.feature import Feature, Item, Reading, Scores, Value, choice, model
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
from features.models.embedder import cosines
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


def reranker_score(_sample: Sample, scores: Scores, **_: object) -> Value:
    """Return the reranker's score of query and passage, averaged over the passages cited.

    It is a logit, not bounded by 0 and 1. Citations are read from the whole output;
    ``part=answer`` reads those after ``##Answer:`` only.
    """
    return float(scores[:, 0].mean(dtype=np.float64))


RERANKER_SCORE = Feature(
    name="reranker_score",
    summary="Relevance of the passages cited to the question, averaged; a logit",
    source="MIRAGE-Bench, section 4.1, reranker score",
    needs=("answer", "passages", "reranker"),
    measurement=reranker_score,
    parameters=(model(RERANKER), choice("part", "output", "answer")),
    missing=(NO_PASSAGES, NO_CITED_PASSAGES, EMPTY_PASSAGES),
    requirement=require_model,
    reading=Reading("reranker", query_pairs),
)

RELEVANCE_FEATURES = (RERANKER_SCORE,)


EMBEDDER = "intfloat/multilingual-e5-small"
"""94 languages, all of MIRAGE-Bench's but Yoruba."""

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


def similarity(_sample: Sample, scores: Scores, **_: object) -> Value:
    """Return the cosine of the answer's embedding and that of the other text."""
    return _embedded(float(cosines(scores)[0]))


def similarity_passages(_sample: Sample, scores: Scores, pool: str, **_: object) -> Value:
    """Return the cosine of the answer and the passage nearest to it, or the mean over passages."""
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


SIMILARITY_REFERENCE = Feature(
    name="similarity_reference",
    summary="Cosine of the embeddings of the answer and the reference answer",
    source="surrogate-arena",
    needs=("answer", "reference answer", "embedding model"),
    measurement=similarity,
    parameters=(model(EMBEDDER), _PREFIX),
    missing=(
        *(NO_REFERENCE_SYSTEM, NO_REFERENCE_ANSWER, EMPTY_REFERENCE, EMPTY_ANSWER),
        NO_EMBEDDING,
    ),
    requirement=require_model,
    reading=Reading("embedder", reference_items),
)
SIMILARITY_QUESTION = Feature(
    name="similarity_question",
    summary="Cosine of the embeddings of the answer and the question",
    source="surrogate-arena",
    needs=("answer", "embedding model"),
    measurement=similarity,
    parameters=(model(EMBEDDER), _PREFIX),
    missing=(EMPTY_ANSWER, NO_EMBEDDING),
    requirement=require_model,
    reading=Reading("embedder", question_items),
)
SIMILARITY_PASSAGES = Feature(
    name="similarity_passages",
    summary="Cosine of the embeddings of the answer and the passage nearest to it",
    source="surrogate-arena",
    needs=("answer", "passages", "embedding model"),
    measurement=similarity_passages,
    parameters=(model(EMBEDDER), _PREFIX, _POOL),
    missing=(NO_PASSAGES, EMPTY_PASSAGES, EMPTY_ANSWER, NO_EMBEDDING),
    requirement=require_model,
    reading=Reading("embedder", passage_items),
)

SIMILARITY_FEATURES = (SIMILARITY_REFERENCE, SIMILARITY_QUESTION, SIMILARITY_PASSAGES)
