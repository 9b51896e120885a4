"""Features by an LLM at an OpenAI-compatible endpoint: ratings, those of Ragas, and of GroUSE.

Overlap is that of the part after ``##Answer:``, without citations, with the reference answer.
Fluency is that of the whole output, reason and citations included, as in MIRAGE-Bench (figure 12).
Ragas looks at the answer part without citations and at all the passages; answer relevance names two
models, ``ragas_answer_relevance@3(model=gpt-4o-mini with my/embedder)``, and its cutoff is the
number of questions that are made of the answer. Its paper has three qualities, its package more:
here are those that say of retrieval and of facts what the paper's do not. GroUSE holds the answer
part beside the reference answer, with citations in both, written as numbers of passages.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from arena.data.errors import MissingDependencyError
from arena.text.answers import parse_answer
from arena.text.citations import find_citations
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
    passage_text,
    passage_texts,
)
from features.models.llm_scorer import FLUENCY, OVERLAP
from features.models.model_folder import require_model
from features.models.ragas import (
    ANSWER_RELEVANCE,
    CONTEXT_RELEVANCE,
    EVASION,
    EVASIVE,
    FAITHFULNESS,
    PACKAGE,
    QUESTION,
    SENTENCES,
    STATEMENTS,
    USE,
    USEFUL,
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
_GROUSE = {
    "answer_relevancy": "how far the answer speaks to the question, 1 to 5",
    "completeness": "whether all that the passages answer is in the answer, 1 to 5",
    "usefulness": "whether what a refusal adds has to do with the question, 0 or 1",
    "faithfulness": "whether each sentence cites a passage that says so, 0 or 1",
    "positive_acceptance": "whether a refusal is right, since no passage answers, 0 or 1",
    "negative_rejection": "whether the answer refuses where no passage answers, 0 or 1",
}
"""The metrics by name; the first four have a prompt each."""


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
    question, found = sample.question, _all(_told(sample, "reference"), _told(sample, "answer"))
    if isinstance(found, Missing):
        return found
    reference, answer = found
    return ((OVERLAP, template, question.language, question.query, answer, reference),)


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


def grounded(by: str, sample: Sample, template: str = PACKAGED) -> Items:
    """Return the answer, or the reference answer, and all the passages, or why there are none."""
    found = _all(_passages(sample), _told(sample, by))
    if isinstance(found, Missing):
        return found
    return ((FAITHFULNESS, template, sample.question.query, found[1], *found[0]),)


def asked_context(sample: Sample, template: str = PACKAGED) -> Items:
    """Return the question and all the passages; what systems answered does not matter."""
    passages, question = _passages(sample), sample.question
    if isinstance(passages, Missing):
        return passages
    return ((CONTEXT_RELEVANCE, template, question.language, question.query, *passages),)


def asked_answer(
    sample: Sample, k: int, prefix: str, evasive: str, template: str = PACKAGED
) -> Items:
    """Return the answer and its question; once more, where an evasive answer is to count 0."""
    if not sample.text.strip():
        return EMPTY_ANSWER
    before, asked = "" if prefix == "none" else f"{prefix}: ", (sample.question.query, sample.text)
    relevance = (ANSWER_RELEVANCE, template, str(k), before, *asked)
    return (relevance, (EVASION, template, *asked)) if evasive == "zero" else (relevance,)


def useful_passages(sample: Sample, by: str, template: str = PACKAGED) -> Items:
    """Return each passage, in order, with the question and the answer it may have helped to."""
    found = _all(_passages(sample), _told(sample, by))
    if isinstance(found, Missing):
        return found
    passages, answer = found
    return tuple((USE, template, sample.question.query, answer, each) for each in passages)


def compared_facts(sample: Sample, template: str = PACKAGED) -> Items:
    """Return the answer to be checked by the reference answer, and the other way around."""
    found = _all(_told(sample, "answer"), _told(sample, "reference"))
    if isinstance(found, Missing):
        return found
    asked = (FAITHFULNESS, template, sample.question.query)
    return ((*asked, *found), (*asked, *found[::-1]))


@declared(
    _RAGAS,
    ("answer", "query", "passages", "LLM"),
    *(model(RATER), template(STATEMENTS.name, VERDICTS.name)),
    requirement=require_llm,
    reading=Reading("ragas", partial(grounded, "answer")),
    name="ragas_faithfulness",
    summary="Share of the answer's statements that the passages support, by an LLM",
)
@declared(
    f"{PACKAGE}, context recall",
    ("query", "passages", "reference answer", "LLM"),
    *(model(RATER), template(STATEMENTS.name, VERDICTS.name)),
    requirement=require_llm,
    reading=Reading("ragas", partial(grounded, "reference")),
    name="ragas_context_recall",
    summary="Share of the reference answer's statements that the passages support, by an LLM",
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
    *(choice("prefix", "query", "none"), choice("evasive", "as-is", "zero")),
    template(QUESTION.name, EVASIVE.name),
    requirement=require_llm_and_embedder,
    reading=Reading("ragas", asked_answer),
    name="ragas_answer_relevance",
    summary="Cosine of the question and questions that an LLM makes of the answer, averaged",
)
def quality(_sample: Sample, scores: Scores, **_: object) -> Value:
    """Return the value there is, or the reason why there is none; of evasive answers 0."""
    found = _all(*map(ragas_value, scores))
    if isinstance(found, Missing):
        return found
    return 0.0 if found[1:] == (1.0,) else round(float(scores[0, 0]), _DIGITS)


@declared(
    f"{PACKAGE}, context precision",
    ("query", "passages", "reference answer", "LLM"),
    *(choice("by", "reference", "answer"), model(RATER), template(USEFUL.name)),
    requirement=require_llm,
    reading=Reading("ragas", useful_passages),
    name="ragas_context_precision",
    summary="Average precision of the passages, of which an LLM says which are of use",
)
def average_precision(_sample: Sample, scores: Scores, **_: object) -> Value:
    """Return the mean of the precision at each passage that is of use; 0 where none is."""
    found = _all(*map(ragas_value, scores))
    if isinstance(found, Missing):
        return found
    useful = np.array(found)
    precisions = useful.cumsum() / np.arange(1, len(useful) + 1)
    return round(float(useful @ precisions) / max(float(useful.sum()), 1.0), _DIGITS)


@declared(
    f"{PACKAGE}, factual correctness",
    ("answer", "query", "reference answer", "LLM"),
    *(model(RATER), template(STATEMENTS.name, VERDICTS.name)),
    requirement=require_llm,
    reading=Reading("ragas", compared_facts),
    name="ragas_factual_correctness",
    summary="F1 of the answer's statements and the reference answer's, by an LLM",
)
def f1(_sample: Sample, scores: Scores, **_: object) -> Value:
    """Return the harmonic mean of the shares of statements that the other answer supports."""
    found = _all(*map(ragas_value, scores))
    if isinstance(found, Missing):
        return found
    return round(2.0 * found[0] * found[1] / sum(found), _DIGITS) if sum(found) else 0.0


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


def numbered(text: str, numbers: Mapping[str, int]) -> str:
    """Write citations of passages by the numbers that these have as references."""
    parts: list[str] = []
    position = 0
    for marker in find_citations(text, list(numbers)):
        cited = [str(numbers.get(each, each)) for each in marker.ids]
        parts += [text[position : marker.start], *(f"[{each}]" for each in cited)]
        position = marker.end
    return "".join([*parts, text[position:]])


def scored_answer(metric: str, sample: Sample, template: str = PACKAGED) -> Items:
    """Return the question, the reference answer, the answer and the passages."""
    question = sample.question
    known = _all(question.reference, _passages(sample), _told(sample, "answer"))
    if isinstance(known, Missing):
        return known
    numbers = {name: place for place, name in enumerate(question.passage_ids, start=1)}
    texts = (parse_answer(known[0]).text, sample.parsed.text)
    expected, answer = (numbered(text, numbers) for text in texts)
    references = map(passage_text, question.passages)
    return ((metric, template, question.query, expected, answer, *references),)


for _metric, _asked in _GROUSE.items():
    declared(
        "GroUSE (Muller et al., 2024), section 4.4",
        ("answer", "query", "passages", "reference answer", "LLM"),
        *(model(RATER), template(*tuple(_GROUSE)[:4])),
        requirement=require_llm,
        reading=Reading("grouse", partial(scored_answer, _metric)),
        name=f"grouse_{_metric}",
        summary=f"An LLM's score of {_metric.replace('_', ' ')}: {_asked}",
    )(quality)
