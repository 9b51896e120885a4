"""What a model is to rate, written down as texts; the prompts are in ``rating_prompt``."""

from __future__ import annotations

from features.models.scorer import Item

OVERLAP = "overlap"
FLUENCY = "fluency"
RATING_PROMPTS = (OVERLAP, FLUENCY)


def overlap_item(mode: str, language: str, question: str, reference: str, answer: str) -> Item:
    """Write down what is to be rated against a reference.

    Args:
        mode: ``integer`` or ``expected``.
        language: Code of the language.
        question: The question.
        reference: The answer that counts as right.
        answer: The answer to rate.
    """
    return OVERLAP, mode, language, question, answer, reference


def fluency_item(
    mode: str, language: str, question: str, passages: tuple[str, ...], answer: str
) -> Item:
    """Write down what is to be rated for fluency; ``passages`` may be empty."""
    return FLUENCY, mode, language, question, answer, *passages
