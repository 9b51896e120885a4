"""Faithfulness, answer relevance and context relevance as features.

The answer is the part after ``##Answer:``, without citations; the context is all the passages. The
LLM is one at an OpenAI-compatible endpoint. Answer relevance names two models:
``ragas_answer_relevance@3(model=gpt-4o-mini with my/embedder)``; its cutoff is the number of
questions that are made of the answer.
"""

from __future__ import annotations

from arena.text.prompts import PACKAGED
from features.declare.asked import (
    EMBEDDER,
    NO_STATEMENTS_FOUND,
    NO_USABLE_REPLY,
    NOT_REACHED,
    QUESTION,
    SENTENCES,
    STATEMENTS,
    VERDICTS,
    answer_item,
    context_item,
    faithfulness_item,
    from_scores,
    named_models,
)
from features.declare.feature import (
    Item,
    Reading,
    Scores,
    Value,
    choice,
    cutoff,
    declared,
    model,
    template,
)
from features.declare.sample import (
    EMPTY_ANSWER,
    EMPTY_PASSAGES,
    NO_PASSAGES,
    Missing,
    Sample,
    passage_texts,
)
from features.measures.llm_rated import RATER, require_llm
from features.models.model_folder import require_model

QUESTIONS = 3

_DIGITS = 6


_SOURCE = "Ragas (Es et al., 2023), section 3"


def require_llm_and_embedder(model: str, **_: object) -> None:
    """Check that an LLM could be asked, and that questions could be embedded.

    Raises:
        MissingDependencyError: If a package is not installed.
    """
    require_llm()
    require_model(named_models(model)[1])


def grounded_answer(sample: Sample, template: str = PACKAGED) -> tuple[Item, ...] | Missing:
    """Return the answer and all the passages, or why there are none."""
    passages = _passages(sample)
    if isinstance(passages, Missing):
        return passages
    if not sample.text.strip():
        return EMPTY_ANSWER
    return (faithfulness_item(sample.question.query, sample.text, passages, template),)


def asked_context(sample: Sample, template: str = PACKAGED) -> tuple[Item, ...] | Missing:
    """Return the question and all the passages; what systems answered does not matter."""
    passages = _passages(sample)
    if isinstance(passages, Missing):
        return passages
    return (context_item(sample.question.language, sample.question.query, passages, template),)


def asked_answer(
    sample: Sample, k: int, prefix: str, template: str = PACKAGED
) -> tuple[Item, ...] | Missing:
    """Return the answer and its question."""
    if not sample.text.strip():
        return EMPTY_ANSWER
    return (answer_item(k, prefix, sample.question.query, sample.text, template),)


@declared(
    _SOURCE,
    ("answer", "query", "passages", "LLM"),
    (
        *(NO_PASSAGES, EMPTY_PASSAGES, EMPTY_ANSWER),
        *(NO_STATEMENTS_FOUND, NO_USABLE_REPLY, NOT_REACHED),
    ),
    model(RATER),
    template(STATEMENTS, VERDICTS),
    requirement=require_llm,
    reading=Reading("ragas", grounded_answer),
    name="ragas_faithfulness",
    summary="Share of the answer's statements that the passages support, by an LLM",
)
@declared(
    _SOURCE,
    ("query", "passages", "sentences", "LLM"),
    (NO_PASSAGES, EMPTY_PASSAGES, NO_USABLE_REPLY, NOT_REACHED),
    model(RATER),
    template(SENTENCES),
    requirement=require_llm,
    reading=Reading("ragas", asked_context),
    name="ragas_context_relevance",
    summary="Share of the passages' sentences that it takes to answer the question, by an LLM",
)
@declared(
    _SOURCE,
    ("answer", "query", "LLM", "embedding model"),
    (EMPTY_ANSWER, NO_USABLE_REPLY, NOT_REACHED),
    cutoff(QUESTIONS),
    model(f"{RATER} with {EMBEDDER}"),
    choice("prefix", "query", "none"),
    template(QUESTION),
    requirement=require_llm_and_embedder,
    reading=Reading("ragas-questions", asked_answer),
    name="ragas_answer_relevance",
    summary="Cosine of the question and questions that an LLM makes of the answer, averaged",
)
def quality(_sample: Sample, scores: Scores, **_: object) -> Value:
    """Return the value there is, or the reason why there is none."""
    found = from_scores(scores[0])
    return found if isinstance(found, Missing) else round(found, _DIGITS)


def _passages(sample: Sample) -> tuple[str, ...] | Missing:
    if not sample.question.passages:
        return NO_PASSAGES
    return passage_texts(sample.question, sample.question.passage_ids) or EMPTY_PASSAGES
