"""Ratings of an answer by an LLM, from 1 to 5.

Overlap is that of the part after ``##Answer:``, without citations, with the reference answer.
Fluency is that of the whole output, reason and citations included, as in MIRAGE-Bench (figure 12);
``part=answer`` rates the answer as overlap sees it. The model is one at an
OpenAI-compatible endpoint (see ``features.models.llm_scorer``). With ``score=integer``, the rating
is the number that the model wrote; with ``score=expected``, it is the mean over 1 to 5, weighted
by the probabilities that the model gave them, where the endpoint tells these.
"""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np

from arena.data.errors import MissingDependencyError
from arena.text.prompts import PACKAGED
from features.declare.asked import FLUENCY, OVERLAP, fluency_item, overlap_item
from features.declare.feature import (
    Item,
    Reading,
    Scores,
    Value,
    choice,
    declared,
    model,
    template,
)
from features.declare.sample import (
    EMPTY_ANSWER,
    EMPTY_REFERENCE,
    NO_REFERENCE_ANSWER,
    NO_REFERENCE_SYSTEM,
    Missing,
    Part,
    Sample,
    passage_texts,
)

RATER = "meta-llama/Meta-Llama-3-8B-Instruct"
"""The model of MIRAGE-Bench."""

NO_RATING = Missing("no rating by the LLM")

PACKAGES = ("openai", "aiohttp")

_DIGITS = 6
_SCORE = choice("score", "integer", "expected")
_PART = choice("part", "output", "answer")


def require_llm(**_: object) -> None:
    """Check that an LLM could be asked.

    Raises:
        MissingDependencyError: If a package is not installed.
    """
    for package in PACKAGES:
        if find_spec(package) is None:
            raise MissingDependencyError("a rating by an LLM", package, "llm")


def overlap_items(
    sample: Sample, score: str, template: str = PACKAGED
) -> tuple[Item, ...] | Missing:
    """Return the answer, the question and the reference answer, or why there is none."""
    question, reference = sample.question, sample.question.reference_text
    if isinstance(reference, Missing):
        return reference
    if not reference.strip():
        return EMPTY_REFERENCE
    if not sample.text.strip():
        return EMPTY_ANSWER
    rated = (question.language, question.query, reference, sample.text)
    return (overlap_item(score, *rated, template),)


def fluency_items(
    sample: Sample, score: str, part: Part, template: str = PACKAGED
) -> tuple[Item, ...] | Missing:
    """Return the output or its answer, the question and the passages, if any."""
    question = sample.question
    text = sample.text if part == "answer" else sample.part(part)
    if not text.strip():
        return EMPTY_ANSWER
    passages = passage_texts(question, question.passage_ids)
    return (fluency_item(score, question.language, question.query, passages, text, template),)


@declared(
    "MIRAGE-Bench, section 4.1, answer overlap (LLM-measured), figure 11",
    ("answer", "reference answer", "LLM"),
    (NO_REFERENCE_SYSTEM, NO_REFERENCE_ANSWER, EMPTY_REFERENCE, EMPTY_ANSWER, NO_RATING),
    model(RATER),
    _SCORE,
    template(OVERLAP),
    requirement=require_llm,
    reading=Reading("llm", overlap_items),
    name="llm_overlap",
    summary="An LLM's rating, 1 to 5, of how well the answer agrees with the reference answer",
)
@declared(
    "MIRAGE-Bench, section 4.1, fluency (LLM-measured), figure 12",
    ("answer", "passages", "LLM"),
    (EMPTY_ANSWER, NO_RATING),
    model(RATER),
    _SCORE,
    _PART,
    template(FLUENCY),
    requirement=require_llm,
    reading=Reading("llm", fluency_items),
    name="llm_fluency",
    summary="An LLM's rating, 1 to 5, of the fluency of the whole output",
)
def llm_rating(_sample: Sample, scores: Scores, **_: object) -> Value:
    """Return the rating, or that there is none: a refusal, no number, one beyond 1 to 5."""
    rating = float(scores[0, 0])
    return NO_RATING if np.isnan(rating) else round(rating, _DIGITS)
