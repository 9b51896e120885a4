"""Do the passages cited answer the question?"""

from __future__ import annotations

import numpy as np

from features.measures.feature import Feature, Reading, Value, choice, model
from features.measures.sample import (
    EMPTY_PASSAGES,
    NO_CITED_PASSAGES,
    NO_PASSAGES,
    Missing,
    Part,
    Sample,
    passage_texts,
)
from features.models.model_folder import Item, Scores, require_model

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
