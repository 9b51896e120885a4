"""Answers damaged on purpose: what the integrity check learns to tell from real ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from features.text.tokens import words_and_marks

OTHER_QUESTIONS, SHUFFLED, WRONG_NUMBERS = "other questions", "words shuffled", "wrong numbers"
QUESTION_REPEATED, REPEATED, EMPTIED = "question repeated", "repeated", "empty"
CUT, PASTED, STUFFED = "cut", "passages pasted", "citations stuffed"

TIMES_QUESTION, TIMES = 20, 3
PASSAGES_PASTED, PASSAGES_CITED = 3, 10
_DIGITS = re.compile(r"(?<![\[\d])\d++(?!\])")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？।])(?=\s|$)|(?<=[。！？])")


@dataclass(frozen=True)
class Original:
    """Answers of one system before they are damaged.

    Attributes:
        texts: N answers, to different questions.
        questions: What was asked, N texts.
        passages: Texts of the passages of each question.
        random: Where randomness comes from.
    """

    texts: Sequence[str]
    questions: Sequence[str]
    passages: Sequence[Sequence[str]]
    random: np.random.Generator


def other_questions(original: Original) -> list[str]:
    """Give each answer to another question."""
    size = len(original.texts)
    step = max(size // 3, 1)
    return [original.texts[(place + step) % size] for place in range(size)]


def shuffled(original: Original) -> list[str]:
    """Put the words of each answer in random order; in scripts without spaces, the characters."""
    return [_shuffled(text, original.random) for text in original.texts]


def _shuffled(text: str, random: np.random.Generator) -> str:
    parts, words = text.split(), words_and_marks(text)
    is_spaced = len(parts) * 3 > len(words)
    mixed = parts if is_spaced else words
    return (" " if is_spaced else "").join(mixed[place] for place in random.permutation(len(mixed)))


def wrong_numbers(original: Original) -> list[str]:
    """Replace every number outside brackets by another of as many digits."""
    random = original.random

    def other(match: re.Match[str]) -> str:
        digits = random.integers(10, size=len(match[0]))
        digits[0] = max(digits[0], 1)
        return "".join(map(str, digits.tolist()))

    return [_DIGITS.sub(other, text) for text in original.texts]


def _question_repeated(original: Original) -> list[str]:
    return [" ".join([question] * TIMES_QUESTION) for question in original.questions]


def _repeated(original: Original) -> list[str]:
    return [" ".join([text] * TIMES) for text in original.texts]


def _emptied(original: Original) -> list[str]:
    return [""] * len(original.texts)


def _cut(original: Original) -> list[str]:
    return [text[: len(text) // 2] for text in original.texts]


def _pasted(original: Original) -> list[str]:
    return ["\n".join(texts[:PASSAGES_PASTED]) for texts in original.passages]


def _stuffed(original: Original) -> list[str]:
    marks = [
        "".join(f"[{number + 1}]" for number in range(min(len(texts), PASSAGES_CITED)))
        for texts in original.passages
    ]
    return [
        _SENTENCE_END.sub(f" {mark}", text) + f" {mark}"
        for text, mark in zip(original.texts, marks, strict=True)
    ]


DAMAGES: Mapping[str, Callable[[Original], list[str]]] = MappingProxyType(
    {
        OTHER_QUESTIONS: other_questions,
        SHUFFLED: shuffled,
        QUESTION_REPEATED: _question_repeated,
        REPEATED: _repeated,
        EMPTIED: _emptied,
        CUT: _cut,
        PASTED: _pasted,
        WRONG_NUMBERS: wrong_numbers,
        STUFFED: _stuffed,
    }
)
"""The kinds of damage that the check is calibrated by."""
