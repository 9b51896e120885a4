"""What models are asked to score, and how their scores are read: known to measures and models."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from arena.text.prompts import PACKAGED
from features.declare.feature import Item, Scores
from features.declare.sample import Missing

OVERLAP, FLUENCY = "overlap", "fluency"
STATEMENTS, VERDICTS, QUESTION, SENTENCES = "statements", "verdicts", "question", "sentences"
"""Names of prompts."""

OUTPUTS = ("entailment", "neutral", "contradiction")
"""What an NLI model gives, in this order."""

FAITHFULNESS = "faithfulness"
ANSWER_RELEVANCE = "answer_relevance"
CONTEXT_RELEVANCE = "context_relevance"

EMBEDDER = "intfloat/multilingual-e5-small"
"""Embeds questions unless another is named; the same as that of the similarity features."""

_WITH = " with "


def overlap_item(
    mode: str,
    language: str,
    question: str,
    reference: str,
    answer: str,
    template: str = PACKAGED,
) -> Item:
    """Write down what is to be rated against a reference.

    Args:
        mode: ``integer`` or ``expected``.
        language: Code of the language.
        question: The question.
        reference: The answer that counts as right.
        answer: The answer to rate.
        template: The template in the prompt's place, as ``Templates.stated`` names it.
    """
    return OVERLAP, mode, template, language, question, answer, reference


def fluency_item(
    mode: str,
    language: str,
    question: str,
    passages: tuple[str, ...],
    answer: str,
    template: str = PACKAGED,
) -> Item:
    """Write down what is to be rated for fluency; ``passages`` may be empty."""
    return FLUENCY, mode, template, language, question, answer, *passages


def faithfulness_item(
    question: str, answer: str, passages: tuple[str, ...], template: str = PACKAGED
) -> Item:
    """Write down an answer that is held against passages.

    ``template`` names what stands in the place of prompts, as ``Templates.stated`` does.
    """
    return FAITHFULNESS, template, question, answer, *passages


def context_item(
    language: str, question: str, passages: tuple[str, ...], template: str = PACKAGED
) -> Item:
    """Write down passages that are held against a question; the language cuts sentences."""
    return CONTEXT_RELEVANCE, template, language, question, *passages


def answer_item(
    count: int, prefix: str, question: str, answer: str, template: str = PACKAGED
) -> Item:
    """Write down an answer that is held against its question.

    Args:
        count: Questions that are made of the answer.
        prefix: ``query`` or ``none``: what is written before questions that are embedded.
        question: The question.
        answer: The answer.
        template: What stands in the prompt's place, as ``Templates.stated`` names it.
    """
    before = "" if prefix == "none" else f"{prefix}: "
    return ANSWER_RELEVANCE, template, str(count), before, question, answer


def named_models(model: str) -> tuple[str, str]:
    """Return the LLM and the embedding model of a name such as ``gpt-4o with my/embedder``.

    A name without `` with `` is that of the LLM; questions are embedded by ``EMBEDDER`` then.
    """
    llm, _, embedder = model.partition(_WITH)
    return llm.strip(), embedder.strip() or EMBEDDER


NO_STATEMENTS_FOUND = Missing("the LLM finds no statement in the answer")
NO_USABLE_REPLY = Missing("no usable reply by the LLM")
NOT_REACHED = Missing("the LLM was not reached")

REASONS = (NO_STATEMENTS_FOUND, NO_USABLE_REPLY, NOT_REACHED)

Measured = float | Missing


def as_scores(found: list[Measured]) -> Scores:
    """Write values as rows of value and number of the reason, 0 for none; shape (items, 2)."""
    rows = [
        (np.nan, 1 + REASONS.index(each)) if isinstance(each, Missing) else (each, 0)
        for each in found
    ]
    return np.array(rows, dtype=np.float32).reshape(len(rows), 2)


def from_scores(row: Scores) -> Measured:
    """Read one row of ``as_scores``."""
    value, reason = float(row[0]), int(row[1])
    return REASONS[reason - 1] if reason else value


def cosines(vectors: Scores) -> npt.NDArray[np.float64]:
    """Return the cosine of the first vector with each of the others, shape (vectors - 1,)."""
    exact = vectors.astype(np.float64)
    lengths = np.sqrt((exact**2).sum(axis=1))
    products = (exact[1:] * exact[0]).sum(axis=1)
    near: npt.NDArray[np.float64] = np.clip(products / (lengths[1:] * lengths[0]), -1.0, 1.0)
    return near
