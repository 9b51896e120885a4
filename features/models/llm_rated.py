"""Features by an LLM at an OpenAI-compatible endpoint: ratings, and those of Ragas.

Overlap and Ragas read the answer part without citations; fluency rates the whole output, as in
MIRAGE-Bench (figure 12). Answer relevance names two models,
``ragas_answer_relevance@3(model=gpt-4o-mini with my/embedder)``, and the number of questions.
"""

from __future__ import annotations

from arena.llm.prompts import PACKAGED
from features.declare.feature import Items, Reading, Scores, Value, choice, cutoff, declared, model
from features.declare.sample import (
    EMPTY_ANSWER,
    EMPTY_PASSAGES,
    EMPTY_REFERENCE,
    NO_PASSAGES,
    Missing,
    Sample,
)
from features.models import scorer
from features.models.llm_items import (
    AnswerRelevanceItem,
    ContextRelevanceItem,
    FaithfulnessItem,
    FluencyItem,
    OverlapItem,
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
    question = sample.question
    output = sample.part("output")
    if not output.strip():
        return EMPTY_ANSWER
    passages: list[str] = []
    for passage_id, text in zip(question.passage_ids, question.passage_texts, strict=True):
        if text:
            passages.append(f"[{passage_id}] {text}")
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
    passages = _passages(sample)
    if isinstance(passages, Missing):  # this reason comes before the answer's
        return passages
    answer = _answer(sample)
    if isinstance(answer, Missing):
        return answer
    return (FaithfulnessItem(template, sample.question.query, answer, passages).item,)


@declared(
    source=_RAGAS,
    needs=("answer", "query", "passages", "LLM"),
    parameters=(_LLM, _STATEMENT_PROMPTS),
    requirement=_require_llm,
    reading=Reading("ragas", _faithfulness_items),
)
def ragas_faithfulness(_sample: Sample, scores: Scores, **_: object) -> Value:
    """Share of the answer's statements that an LLM says the passages support."""
    return _only_value(scores)


def _context_items(sample: Sample, template: str = PACKAGED) -> Items:
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
    """Share of the passages' sentences that an LLM says are needed for the answer."""
    return _only_value(scores)


def _relevance_items(sample: Sample, k: int, prefix: str, template: str = PACKAGED) -> Items:
    if not sample.text.strip():
        return EMPTY_ANSWER
    label = "" if prefix == "none" else f"{prefix}: "
    query = sample.question.query
    return (AnswerRelevanceItem(template, k, label, query, sample.text).item,)


@declared(
    source=_RAGAS,
    needs=("answer", "query", "embedding model", "LLM"),
    parameters=(
        cutoff(QUESTIONS),
        model(f"{RATER} with {scorer.EMBEDDER}"),
        choice("prefix", "query", "none"),
        template("question"),
    ),
    requirement=_require_llm_and_embedder,
    reading=Reading("ragas", _relevance_items),
)
def ragas_answer_relevance(_sample: Sample, scores: Scores, **_: object) -> Value:
    """Mean cosine between the question and questions that an LLM makes from the answer."""
    return _only_value(scores)


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
    return question.texts_of(question.passage_ids) or EMPTY_PASSAGES


def _only_value(scores: Scores) -> Value:
    value = scorer.value_of_scores(scores[0])
    return value if isinstance(value, Missing) else round(value, _DIGITS)
