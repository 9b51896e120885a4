"""Do the passages cited say what the answer says, and do they answer the question?

The first by natural-language inference on sentences, of the whole output or one ``part``, the
second by a reranker. A passage is read with its title.
"""

from __future__ import annotations

import numpy as np

from features.declare.feature import (
    SENTENCES,
    Item,
    Items,
    Reading,
    Scores,
    Value,
    choice,
    declared,
    model,
)
from features.declare.sample import (
    EMPTY_PASSAGES,
    NO_CITED_PASSAGES,
    NO_PASSAGES,
    NO_REASON,
    NO_STATEMENTS,
    Part,
    Sample,
)
from features.models.model_folder import require_model
from features.models.scorer import OUTPUTS

NLI_MODEL = "MoritzLaurer/mDeBERTa-v3-base-xnli-multilingual-nli-2mil7"
"""The model of MIRAGE-Bench, as ``RERANKER`` is."""
RERANKER = "BAAI/bge-reranker-v2-m3"


def _cited_pairs(sample: Sample, part: Part) -> Items:
    if not sample.question.passages:
        return NO_PASSAGES
    if part == "reason" and sample.parsed.reason is None:
        return NO_REASON
    statements = sample.statements(part)
    if not statements:
        return NO_STATEMENTS
    if not any(statement.cited for statement in statements):
        return NO_CITED_PASSAGES
    pairs: list[Item] = []
    for statement in statements:
        texts = sample.question.texts_of(statement.cited)
        pairs += [(text, statement.text) for text in texts]
    return tuple(pairs) or EMPTY_PASSAGES


_by_nli = declared(
    source="MIRAGE-Bench, section 4.1, support",
    needs=("answer", SENTENCES, "passages", "NLI model"),
    parameters=(model(NLI_MODEL), choice("part", "output", "answer", "reason")),
    requirement=require_model,
    reading=Reading("nli", _cited_pairs),
)


@_by_nli
def nli_entailment(_sample: Sample, scores: Scores, **_: object) -> Value:
    """Probability that the passages cited entail the sentences that cite them."""
    return _mean_of(scores, "entailment")


@_by_nli
def nli_neutral(_sample: Sample, scores: Scores, **_: object) -> Value:
    """Probability that the passages cited neither entail nor contradict the citing sentences."""
    return _mean_of(scores, "neutral")


@_by_nli
def nli_contradiction(_sample: Sample, scores: Scores, **_: object) -> Value:
    """Probability that the passages cited contradict the sentences that cite them."""
    return _mean_of(scores, "contradiction")


def _mean_of(scores: Scores, output: str) -> float:
    return float(scores[:, OUTPUTS.index(output)].mean(dtype=np.float64))


def _query_pairs(sample: Sample) -> Items:
    if not sample.question.passages:
        return NO_PASSAGES
    if not sample.citations.matched:
        return NO_CITED_PASSAGES
    texts = sample.question.texts_of(sample.citations.matched)
    return tuple((sample.question.query, text) for text in texts) or EMPTY_PASSAGES


@declared(
    source="MIRAGE-Bench, section 4.1, reranker score",
    needs=("answer", "passages", "reranker"),
    parameters=(model(RERANKER),),
    requirement=require_model,
    reading=Reading("reranker", _query_pairs),
)
def reranker_score(_sample: Sample, scores: Scores) -> Value:
    """Mean relevance of the passages cited to the question, in logits."""
    return float(scores[:, 0].mean(dtype=np.float64))
