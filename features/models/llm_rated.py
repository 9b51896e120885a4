"""Features by an LLM at an OpenAI-compatible endpoint: ratings, and those of Ragas.

Overlap compares the part after ``##Answer:``, without citations, with the reference answer. Fluency
rates the whole output, reason and citations included, as in MIRAGE-Bench (figure 12). Ragas reads
the answer part without citations and all passages. Answer relevance names two models,
``ragas_answer_relevance@3(model=gpt-4o-mini with my/embedder)``; its cutoff is the number of
questions that the LLM makes of the answer. The paper on Ragas has three qualities, its package
more: those here say something of retrieval and facts that the paper's do not.
"""

from __future__ import annotations

import numpy as np

from arena.llm.prompts import PACKAGED
from features.declare.feature import (
    Items,
    Reading,
    Scores,
    Value,
    choice,
    cutoff,
    declared,
    model,
)
from features.declare.sample import (
    EMPTY_ANSWER,
    EMPTY_PASSAGES,
    EMPTY_REFERENCE,
    NO_PASSAGES,
    Missing,
    Sample,
    passage_texts,
)
from features.models import scorer
from features.models.llm_items import (
    AnswerRelevanceItem,
    ContextRelevanceItem,
    EvasionItem,
    FaithfulnessItem,
    FluencyItem,
    OverlapItem,
    UseItem,
)
from features.models.model_folder import ENDPOINT, require_model
from features.models.templates import template

RATER = "meta-llama/Meta-Llama-3-8B-Instruct"
"""The model of MIRAGE-Bench."""
QUESTIONS = 3
"""Number of questions that an LLM makes of an answer."""

_DIGITS = 6
_RAGAS = "Ragas (Es et al., 2023), section 3"
_LLM = model(RATER)
_STATEMENT_PROMPTS = template("statements", "verdicts")


def _require_llm(**_: object) -> None:
    require_model(ENDPOINT)


def _require_llm_and_embedder(model: str, **_: object) -> None:
    require_model(ENDPOINT)
    require_model(scorer.named_models(model)[1])


def _overlap_items(sample: Sample, template: str = PACKAGED) -> Items:
    reference = _reference(sample)
    if isinstance(reference, Missing):
        return reference
    answer = _answer(sample)
    if isinstance(answer, Missing):
        return answer
    question = sample.question
    item = OverlapItem(template, question.language, question.query, answer, reference)
    return (item.item,)


@declared(
    source="MIRAGE-Bench, section 4.1, answer overlap (LLM-measured), figure 11",
    needs=("answer", "reference answer", "LLM"),
    parameters=(_LLM, template(OverlapItem.kind)),
    requirement=_require_llm,
    reading=Reading("llm", _overlap_items),
)
def llm_overlap(_sample: Sample, scores: Scores, **_: object) -> Value:
    """An LLM's rating, 1 to 5, of how well the answer agrees with the reference answer."""
    return _only_value(scores)


def _fluency_items(sample: Sample, template: str = PACKAGED) -> Items:
    """Return the output, the question and its passages, each after the id that it is cited by."""
    question = sample.question
    output = sample.part("output")
    if not output.strip():
        return EMPTY_ANSWER
    passages: list[str] = []
    for passage_id in question.passage_ids:
        # One by one, since passages without words are left out and their ids with them.
        texts = passage_texts(question, [passage_id])
        passages += [f"[{passage_id}] {text}" for text in texts]
    item = FluencyItem(template, question.language, question.query, output, tuple(passages))
    return (item.item,)


@declared(
    source="MIRAGE-Bench, section 4.1, fluency (LLM-measured), figure 12",
    needs=("answer", "passages", "LLM"),
    parameters=(_LLM, template(FluencyItem.kind)),
    requirement=_require_llm,
    reading=Reading("llm", _fluency_items),
)
def llm_fluency(_sample: Sample, scores: Scores, **_: object) -> Value:
    """An LLM's rating, 1 to 5, of the fluency of the whole output."""
    return _only_value(scores)


def _faithfulness_items(sample: Sample, template: str = PACKAGED) -> Items:
    return _with_passages(sample, _answer(sample), template)


@declared(
    source=_RAGAS,
    needs=("answer", "query", "passages", "LLM"),
    parameters=(_LLM, _STATEMENT_PROMPTS),
    requirement=_require_llm,
    reading=Reading("ragas", _faithfulness_items),
)
def ragas_faithfulness(_sample: Sample, scores: Scores, **_: object) -> Value:
    """Share of the answer's statements that the passages support, by an LLM."""
    return _only_value(scores)


def _recall_items(sample: Sample, template: str = PACKAGED) -> Items:
    return _with_passages(sample, _reference(sample), template)


@declared(
    source="Ragas, its package, context recall",
    needs=("query", "passages", "reference answer", "LLM"),
    parameters=(_LLM, _STATEMENT_PROMPTS),
    requirement=_require_llm,
    reading=Reading("ragas", _recall_items),
)
def ragas_context_recall(_sample: Sample, scores: Scores, **_: object) -> Value:
    """Share of the reference answer's statements that the passages support, by an LLM."""
    return _only_value(scores)


def _context_items(sample: Sample, template: str = PACKAGED) -> Items:
    """Return the question and all the passages; the answer does not matter."""
    passages = _passages(sample)
    if isinstance(passages, Missing):
        return passages
    question = sample.question
    item = ContextRelevanceItem(template, question.language, question.query, passages)
    return (item.item,)


@declared(
    source=_RAGAS,
    needs=("query", "passages", "sentences", "LLM"),
    parameters=(_LLM, template("sentences")),
    requirement=_require_llm,
    reading=Reading("ragas", _context_items),
)
def ragas_context_relevance(_sample: Sample, scores: Scores, **_: object) -> Value:
    """Share of the passages' sentences that it takes to answer the question, by an LLM."""
    return _only_value(scores)


def _relevance_items(
    sample: Sample, k: int, prefix: str, evasive: str, template: str = PACKAGED
) -> Items:
    """Return the answer and its question; once more, where an evasive answer is to count 0."""
    if not sample.text.strip():
        return EMPTY_ANSWER
    query = sample.question.query
    label = "" if prefix == "none" else f"{prefix}: "
    relevance = AnswerRelevanceItem(template, k, label, query, sample.text)
    if evasive != "zero":
        return (relevance.item,)
    return (relevance.item, EvasionItem(template, query, sample.text).item)


@declared(
    source=_RAGAS,
    needs=("answer", "query", "embedding model", "LLM"),
    parameters=(
        cutoff(QUESTIONS),
        model(f"{RATER} with {scorer.EMBEDDER}"),
        choice("prefix", "query", "none"),
        choice("evasive", "as-is", "zero"),
        template("question", "evasive"),
    ),
    requirement=_require_llm_and_embedder,
    reading=Reading("ragas", _relevance_items),
)
def ragas_answer_relevance(_sample: Sample, scores: Scores, **_: object) -> Value:
    """Cosine of the question and questions that an LLM makes of the answer, averaged."""
    values = _values(scores)
    if isinstance(values, Missing):
        return values
    relevance, *is_evasive = values
    if is_evasive == [1.0]:
        return 0.0
    return round(relevance, _DIGITS)


def _precision_items(sample: Sample, by: str, template: str = PACKAGED) -> Items:
    """Return each passage, in order, with the question and the answer it may have helped to."""
    passages = _passages(sample)
    if isinstance(passages, Missing):
        return passages
    answer = _answer(sample) if by == "answer" else _reference(sample)
    if isinstance(answer, Missing):
        return answer
    query = sample.question.query
    return tuple(UseItem(template, query, answer, passage).item for passage in passages)


@declared(
    source="Ragas, its package, context precision",
    needs=("query", "passages", "reference answer", "LLM"),
    parameters=(choice("by", "reference", "answer"), _LLM, template("useful")),
    requirement=_require_llm,
    reading=Reading("ragas", _precision_items),
)
def ragas_context_precision(_sample: Sample, scores: Scores, **_: object) -> Value:
    """Average precision of the passages, of which an LLM says which are of use.

    The mean of the precision at each useful passage; 0 where none is useful.
    """
    values = _values(scores)
    if isinstance(values, Missing):
        return values
    is_useful = np.array(values)
    precisions = np.cumsum(is_useful) / np.arange(1, len(is_useful) + 1)
    n_useful = max(float(is_useful.sum()), 1.0)  # without any, the sum of precisions is 0, too
    return round(float(is_useful @ precisions) / n_useful, _DIGITS)


def _correctness_items(sample: Sample, template: str = PACKAGED) -> Items:
    """Return the answer to be checked by the reference answer, and the other way around."""
    answer = _answer(sample)
    if isinstance(answer, Missing):
        return answer
    reference = _reference(sample)
    if isinstance(reference, Missing):
        return reference
    query = sample.question.query
    return (
        FaithfulnessItem(template, query, answer, (reference,)).item,
        FaithfulnessItem(template, query, reference, (answer,)).item,
    )


@declared(
    source="Ragas, its package, factual correctness",
    needs=("answer", "query", "reference answer", "LLM"),
    parameters=(_LLM, _STATEMENT_PROMPTS),
    requirement=_require_llm,
    reading=Reading("ragas", _correctness_items),
)
def ragas_factual_correctness(_sample: Sample, scores: Scores, **_: object) -> Value:
    """F1 of the answer's statements and the reference answer's, by an LLM."""
    values = _values(scores)
    if isinstance(values, Missing):
        return values
    precision, recall = values
    if not precision + recall:
        return 0.0
    return round(2.0 * precision * recall / (precision + recall), _DIGITS)


def _answer(sample: Sample) -> str | Missing:
    return sample.text if sample.text.strip() else EMPTY_ANSWER


def _reference(sample: Sample) -> str | Missing:
    text = sample.question.reference_text
    if isinstance(text, Missing) or text.strip():
        return text
    return EMPTY_REFERENCE


def _passages(sample: Sample) -> tuple[str, ...] | Missing:
    question = sample.question
    if not question.passages:
        return NO_PASSAGES
    return passage_texts(question, question.passage_ids) or EMPTY_PASSAGES


def _with_passages(sample: Sample, text: str | Missing, template: str) -> Items:
    passages = _passages(sample)
    if isinstance(passages, Missing):  # this reason comes before the text's
        return passages
    if isinstance(text, Missing):
        return text
    return (FaithfulnessItem(template, sample.question.query, text, passages).item,)


def _only_value(scores: Scores) -> Value:
    value = scorer.value_of_scores(scores[0])
    return value if isinstance(value, Missing) else round(value, _DIGITS)


def _values(scores: Scores) -> list[float] | Missing:
    values: list[float] = []
    for row in scores:
        value = scorer.value_of_scores(row)
        if isinstance(value, Missing):
            return value
        values.append(value)
    return values
