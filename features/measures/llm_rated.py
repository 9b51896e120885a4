"""Features by an LLM at an OpenAI-compatible endpoint: ratings, and those of Ragas.

Overlap is that of the part after ``##Answer:``, without citations, with the reference answer.
Fluency is that of the whole output, reason and citations included, as in MIRAGE-Bench (figure 12).
Ragas looks at the answer part without citations and at all the passages; answer relevance names two
models, ``ragas_answer_relevance@3(model=gpt-4o-mini with my/embedder)``, and its cutoff is the
number of questions that are made of the answer. Its paper has three qualities, its package more:
here are those that say of retrieval and of facts what the paper's do not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from arena.text.prompts import PACKAGED
from features.declare.feature import (
    Items,
    Measurement,
    Parameter,
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
from features.models import scorer
from features.models.model_folder import ENDPOINT, require_model

RATER = "meta-llama/Meta-Llama-3-8B-Instruct"
"""The model of MIRAGE-Bench."""
QUESTIONS = 3
"""Questions that are made of an answer."""

_DIGITS = 6
_RAGAS, _PACKAGE = "Ragas (Es et al., 2023), section 3", "Ragas, its package"
_LLM, _LLM_AND_EMBEDDER = model(RATER), model(f"{RATER} with {scorer.EMBEDDER}")
_CHECKED = template("statements", "verdicts")


def require_llm(**_: object) -> None:
    """Check that an LLM could be asked; a ``MissingDependencyError`` where it could not."""
    require_model(ENDPOINT)


def require_llm_and_embedder(model: str, **_: object) -> None:
    """Check that an LLM could be asked, and that questions could be embedded."""
    require_model(ENDPOINT)
    require_model(scorer.named_models(model)[1])


def overlap_items(sample: Sample, template: str = PACKAGED) -> Items:
    """Return the answer, the question and the reference answer, or why there is none."""
    question, found = sample.question, _all(_told(sample, "reference"), _told(sample, "answer"))
    if isinstance(found, Missing):
        return found
    reference, answer = found
    return ((scorer.OVERLAP, template, question.language, question.query, answer, reference),)


def fluency_items(sample: Sample, template: str = PACKAGED) -> Items:
    """Return the output, the question and the passages, if any, with the ids that it cites."""
    question, output = sample.question, sample.part("output")
    if not output.strip():
        return EMPTY_ANSWER
    ids = question.passage_ids
    passages = [f"[{each}] {text}" for each in ids for text in passage_texts(question, (each,))]
    return ((scorer.FLUENCY, template, question.language, question.query, output, *passages),)


def grounded(by: str, sample: Sample, template: str = PACKAGED) -> Items:
    """Return the answer, or the reference answer, and all the passages, or why there are none."""
    found = _all(_passages(sample), _told(sample, by))
    if isinstance(found, Missing):
        return found
    return ((scorer.FAITHFULNESS, template, sample.question.query, found[1], *found[0]),)


def asked_context(sample: Sample, template: str = PACKAGED) -> Items:
    """Return the question and all the passages; what systems answered does not matter."""
    passages, question = _passages(sample), sample.question
    if isinstance(passages, Missing):
        return passages
    return ((scorer.CONTEXT_RELEVANCE, template, question.language, question.query, *passages),)


def asked_answer(
    sample: Sample, k: int, prefix: str, evasive: str, template: str = PACKAGED
) -> Items:
    """Return the answer and its question; once more, where an evasive answer is to count 0."""
    if not sample.text.strip():
        return EMPTY_ANSWER
    before, asked = "" if prefix == "none" else f"{prefix}: ", (sample.question.query, sample.text)
    relevance = (scorer.ANSWER_RELEVANCE, template, str(k), before, *asked)
    return (relevance, (scorer.EVASION, template, *asked)) if evasive == "zero" else (relevance,)


def useful_passages(sample: Sample, by: str, template: str = PACKAGED) -> Items:
    """Return each passage, in order, with the question and the answer it may have helped to."""
    found = _all(_passages(sample), _told(sample, by))
    if isinstance(found, Missing):
        return found
    passages, answer = found
    return tuple((scorer.USE, template, sample.question.query, answer, each) for each in passages)


def compared_facts(sample: Sample, template: str = PACKAGED) -> Items:
    """Return the answer to be checked by the reference answer, and the other way around."""
    found = _all(_told(sample, "answer"), _told(sample, "reference"))
    if isinstance(found, Missing):
        return found
    asked = (scorer.FAITHFULNESS, template, sample.question.query)
    return ((*asked, *found), (*asked, *found[::-1]))


def _passages(sample: Sample) -> Items | tuple[str, ...]:
    if not sample.question.passages:
        return NO_PASSAGES
    return passage_texts(sample.question, sample.question.passage_ids) or EMPTY_PASSAGES


def _told(sample: Sample, by: str) -> str | Missing:
    """Return the answer or the reference answer, or why there is none."""
    text = sample.text if by == "answer" else sample.question.reference_text
    if isinstance(text, Missing) or text.strip():
        return text
    return EMPTY_ANSWER if by == "answer" else EMPTY_REFERENCE


def _all(*values: Any) -> tuple[Any, ...] | Missing:  # noqa: ANN401 - what features look at
    """Return the values, or why the first one that is missing is so."""
    return next((each for each in values if isinstance(each, Missing)), values)


def _by_llm(
    name: str, summary: str, source: str, needs: str, reading: Reading, *parameters: Parameter
) -> Callable[[Measurement], Measurement]:
    """Declare a feature that an LLM is asked for; some need an embedding model, too."""
    looked_at = (*needs.split(", "), "LLM")
    requirement = require_llm_and_embedder if "embedding model" in looked_at else require_llm
    declare = partial(declared, requirement=requirement, reading=reading)
    return declare(source, looked_at, *parameters, name=name, summary=summary)


@_by_llm(
    "llm_overlap",
    "An LLM's rating, 1 to 5, of how well the answer agrees with the reference answer",
    "MIRAGE-Bench, section 4.1, answer overlap (LLM-measured), figure 11",
    *("answer, reference answer", Reading("llm", overlap_items), _LLM, template(scorer.OVERLAP)),
)
@_by_llm(
    "llm_fluency",
    "An LLM's rating, 1 to 5, of the fluency of the whole output",
    "MIRAGE-Bench, section 4.1, fluency (LLM-measured), figure 12",
    *("answer, passages", Reading("llm", fluency_items), _LLM, template(scorer.FLUENCY)),
)
@_by_llm(
    "ragas_faithfulness",
    "Share of the answer's statements that the passages support, by an LLM",
    *(_RAGAS, "answer, query, passages", Reading("ragas", partial(grounded, "answer"))),
    *(_LLM, _CHECKED),
)
@_by_llm(
    "ragas_context_recall",
    "Share of the reference answer's statements that the passages support, by an LLM",
    f"{_PACKAGE}, context recall",
    "query, passages, reference answer",
    Reading("ragas", partial(grounded, "reference")),
    *(_LLM, _CHECKED),
)
@_by_llm(
    "ragas_context_relevance",
    "Share of the passages' sentences that it takes to answer the question, by an LLM",
    *(_RAGAS, "query, passages, sentences", Reading("ragas", asked_context)),
    *(_LLM, template("sentences")),
)
@_by_llm(
    "ragas_answer_relevance",
    "Cosine of the question and questions that an LLM makes of the answer, averaged",
    *(_RAGAS, "answer, query, embedding model", Reading("ragas", asked_answer)),
    *(cutoff(QUESTIONS), _LLM_AND_EMBEDDER, choice("prefix", "query", "none")),
    *(choice("evasive", "as-is", "zero"), template("question", "evasive")),
)
def quality(_sample: Sample, scores: Scores, **_: object) -> Value:
    """Return the value there is, or the reason why there is none; of evasive answers 0."""
    return _put_together(scores, lambda value, *evasive: 0.0 if evasive == (1.0,) else value)


@_by_llm(
    "ragas_context_precision",
    "Average precision of the passages, of which an LLM says which are of use",
    *(f"{_PACKAGE}, context precision", "query, passages, reference answer"),
    *(Reading("ragas", useful_passages), choice("by", "reference", "answer")),
    *(_LLM, template("useful")),
)
def average_precision(_sample: Sample, scores: Scores, **_: object) -> Value:
    """Return the mean of the precision at each passage that is of use; 0 where none is."""

    def mean(*useful: float) -> float:
        precisions = np.cumsum(useful) / np.arange(1, len(useful) + 1)
        return float(np.array(useful) @ precisions) / max(float(np.sum(useful)), 1.0)

    return _put_together(scores, mean)


@_by_llm(
    "ragas_factual_correctness",
    "F1 of the answer's statements and the reference answer's, by an LLM",
    f"{_PACKAGE}, factual correctness",
    "answer, query, reference answer",
    Reading("ragas", compared_facts),
    *(_LLM, _CHECKED),
)
def f1(_sample: Sample, scores: Scores, **_: object) -> Value:
    """Return the harmonic mean of the shares of statements that the other answer supports."""
    return _put_together(scores, lambda a, b: 2.0 * a * b / (a + b) if a + b else 0.0)


def _put_together(scores: Scores, combine: Callable[..., float]) -> Value:
    """Put together what the LLM brought, or return why one of it is missing."""
    found = _all(*map(scorer.told, scores))
    return found if isinstance(found, Missing) else round(combine(*found), _DIGITS)
