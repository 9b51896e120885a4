"""Features by an LLM at an OpenAI-compatible endpoint: ratings from 1 to 5, and those of Ragas.

Overlap is that of the part after ``##Answer:``, without citations, with the reference answer.
Fluency is that of the whole output, reason and citations included, as in MIRAGE-Bench (figure 12).
Ragas looks at the answer part without citations and at all the passages; answer relevance names two
models, ``ragas_answer_relevance@3(model=gpt-4o-mini with my/embedder)``, and its cutoff is the
number of questions that are made of the answer.
"""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np

from arena.data.errors import MissingDependencyError
from arena.text.prompts import PACKAGED
from features.declare.feature import (
    Items,
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
    EMPTY_REFERENCE,
    NO_PASSAGES,
    Missing,
    Sample,
    passage_texts,
)
from features.models.llm_scorer import FLUENCY, OVERLAP
from features.models.model_folder import require_model
from features.models.ragas import (
    ANSWER_RELEVANCE,
    CONTEXT_RELEVANCE,
    FAITHFULNESS,
    QUESTION,
    SENTENCES,
    STATEMENTS,
    VERDICTS,
    named_models,
    ragas_value,
)
from features.models.sentence_models import EMBEDDER

RATER = "meta-llama/Meta-Llama-3-8B-Instruct"
"""The model of MIRAGE-Bench."""
QUESTIONS = 3
"""Questions that are made of an answer."""
NO_RATING = Missing("no rating by the LLM")
PACKAGES = ("openai", "aiohttp")

_DIGITS = 6
_RAGAS = "Ragas (Es et al., 2023), section 3"


def require_llm(**_: object) -> None:
    """Check that an LLM could be asked.

    Raises:
        MissingDependencyError: If a package is not installed.
    """
    for package in PACKAGES:
        if find_spec(package) is None:
            raise MissingDependencyError("a rating by an LLM", package, "llm")


def require_llm_and_embedder(model: str, **_: object) -> None:
    """Check that an LLM could be asked, and that questions could be embedded.

    Raises:
        MissingDependencyError: If a package is not installed.
    """
    require_llm()
    require_model(named_models(model)[1])


def overlap_items(sample: Sample, template: str = PACKAGED) -> Items:
    """Return the answer, the question and the reference answer, or why there is none."""
    question, reference = sample.question, sample.question.reference_text
    if isinstance(reference, Missing):
        return reference
    if not reference.strip():
        return EMPTY_REFERENCE
    if not sample.text.strip():
        return EMPTY_ANSWER
    return ((OVERLAP, template, question.language, question.query, sample.text, reference),)


def fluency_items(sample: Sample, template: str = PACKAGED) -> Items:
    """Return the output, the question and the passages, if any, with the ids that it cites."""
    question, output = sample.question, sample.part("output")
    if not output.strip():
        return EMPTY_ANSWER
    ids = question.passage_ids
    passages = [f"[{each}] {text}" for each in ids for text in passage_texts(question, (each,))]
    return ((FLUENCY, template, question.language, question.query, output, *passages),)


@declared(
    "MIRAGE-Bench, section 4.1, answer overlap (LLM-measured), figure 11",
    ("answer", "reference answer", "LLM"),
    *(model(RATER), template(OVERLAP)),
    requirement=require_llm,
    reading=Reading("llm", overlap_items),
    name="llm_overlap",
    summary="An LLM's rating, 1 to 5, of how well the answer agrees with the reference answer",
)
@declared(
    "MIRAGE-Bench, section 4.1, fluency (LLM-measured), figure 12",
    ("answer", "passages", "LLM"),
    *(model(RATER), template(FLUENCY)),
    requirement=require_llm,
    reading=Reading("llm", fluency_items),
    name="llm_fluency",
    summary="An LLM's rating, 1 to 5, of the fluency of the whole output",
)
def llm_rating(_sample: Sample, scores: Scores, **_: object) -> Value:
    """Return the rating, or that there is none: a refusal, no number, one beyond 1 to 5."""
    rating = float(scores[0, 0])
    return NO_RATING if np.isnan(rating) else round(rating, _DIGITS)


def grounded_answer(sample: Sample, template: str = PACKAGED) -> Items:
    """Return the answer and all the passages, or why there are none."""
    passages = _passages(sample)
    if isinstance(passages, Missing):
        return passages
    if not sample.text.strip():
        return EMPTY_ANSWER
    return ((FAITHFULNESS, template, sample.question.query, sample.text, *passages),)


def asked_context(sample: Sample, template: str = PACKAGED) -> Items:
    """Return the question and all the passages; what systems answered does not matter."""
    passages, question = _passages(sample), sample.question
    if isinstance(passages, Missing):
        return passages
    return ((CONTEXT_RELEVANCE, template, question.language, question.query, *passages),)


def asked_answer(sample: Sample, k: int, prefix: str, template: str = PACKAGED) -> Items:
    """Return the answer and its question."""
    if not sample.text.strip():
        return EMPTY_ANSWER
    before = "" if prefix == "none" else f"{prefix}: "
    return ((ANSWER_RELEVANCE, template, str(k), before, sample.question.query, sample.text),)


@declared(
    _RAGAS,
    ("answer", "query", "passages", "LLM"),
    *(model(RATER), template(STATEMENTS.name, VERDICTS.name)),
    requirement=require_llm,
    reading=Reading("ragas", grounded_answer),
    name="ragas_faithfulness",
    summary="Share of the answer's statements that the passages support, by an LLM",
)
@declared(
    _RAGAS,
    ("query", "passages", "sentences", "LLM"),
    *(model(RATER), template(SENTENCES.name)),
    requirement=require_llm,
    reading=Reading("ragas", asked_context),
    name="ragas_context_relevance",
    summary="Share of the passages' sentences that it takes to answer the question, by an LLM",
)
@declared(
    _RAGAS,
    ("answer", "query", "LLM", "embedding model"),
    *(cutoff(QUESTIONS), model(f"{RATER} with {EMBEDDER}")),
    *(choice("prefix", "query", "none"), template(QUESTION.name)),
    requirement=require_llm_and_embedder,
    reading=Reading("ragas", asked_answer),
    name="ragas_answer_relevance",
    summary="Cosine of the question and questions that an LLM makes of the answer, averaged",
)
def quality(_sample: Sample, scores: Scores, **_: object) -> Value:
    """Return the value there is, or the reason why there is none."""
    found = ragas_value(scores[0])
    return found if isinstance(found, Missing) else round(found, _DIGITS)


def _passages(sample: Sample) -> Items | tuple[str, ...]:
    if not sample.question.passages:
        return NO_PASSAGES
    return passage_texts(sample.question, sample.question.passage_ids) or EMPTY_PASSAGES
