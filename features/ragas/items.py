"""What is to be measured, written down as texts; and the two models in one name."""

from __future__ import annotations

from features.models.scorer import Item

FAITHFULNESS = "faithfulness"
ANSWER_RELEVANCE = "answer_relevance"
CONTEXT_RELEVANCE = "context_relevance"

EMBEDDER = "intfloat/multilingual-e5-small"
"""Embeds questions unless another is named; the same as that of the similarity features."""

_WITH = " with "


def faithfulness_item(question: str, answer: str, passages: tuple[str, ...]) -> Item:
    """Write down an answer that is held against passages."""
    return FAITHFULNESS, question, answer, *passages


def context_item(language: str, question: str, passages: tuple[str, ...]) -> Item:
    """Write down passages that are held against a question; the language cuts sentences."""
    return CONTEXT_RELEVANCE, language, question, *passages


def answer_item(count: int, prefix: str, question: str, answer: str) -> Item:
    """Write down an answer that is held against its question.

    Args:
        count: Questions that are made of the answer.
        prefix: ``query`` or ``none``: what is written before questions that are embedded.
        question: The question.
        answer: The answer.
    """
    before = "" if prefix == "none" else f"{prefix}: "
    return ANSWER_RELEVANCE, str(count), before, question, answer


def named_models(model: str) -> tuple[str, str]:
    """Return the LLM and the embedding model of a name such as ``gpt-4o with my/embedder``.

    A name without `` with `` is that of the LLM; questions are embedded by ``EMBEDDER`` then.
    """
    llm, _, embedder = model.partition(_WITH)
    return llm.strip(), embedder.strip() or EMBEDDER
