"""Answers made of a system's own, other systems' and passages, for ``gaming_forms.py``."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from gaming_texts import (
    interleaved,
    joined,
    longest_words,
    sentences,
    words,
    words_of_passages,
)

from arena.statistics.bootstrap import generator

FILLERS = (
    "This subject has been discussed widely, and opinions differ on some of its details.",
    "A closer look shows how the parts of the answer fit together.",
    "Readers who want to know more will find further sources easy to come by.",
    "Taken together, these points give a complete picture of the matter.",
    "Each of these aspects deserves attention in its own right.",
    "The evidence supports this view, and experts generally agree on it.",
)
TEMPLATE = "When we consider {0}, it is worth asking how {0} relates to {1}, and why {1} matters."
ORDER = 2
"""Words that a Markov chain remembers."""
TARGET_LENGTH = 1.4
"""Times the median length of the other systems' answers to which answers are padded."""


@dataclass(frozen=True)
class Material:
    """Answers of one system in one language, with what they can be made from, question by question.

    Attributes:
        answers: Its answers.
        other_answers: The answers of the other systems, the best system first.
        questions: Texts of the questions.
        passages: Texts of the passages.
    """

    answers: Sequence[str]
    other_answers: Sequence[Sequence[str]]
    questions: Sequence[str]
    passages: Sequence[Sequence[str]]

    @property
    def best(self) -> Sequence[str]:
        """Answers of the best other system."""
        return self.other_answers[0]


Change = Callable[[Material], Sequence[str]]


def of_own(change: Callable[[str], str]) -> Change:
    """Change each of a system's own answers."""
    return lambda material: [change(text) for text in material.answers]


def of_best(change: Callable[[str], str]) -> Change:
    """Change each of the best other system's answers."""
    return lambda material: [change(text) for text in material.best]


def with_best(change: Callable[[str, str], str]) -> Change:
    """Make an answer of a system's and the best other's."""
    return lambda material: [
        change(text, best) for text, best in zip(material.answers, material.best, strict=True)
    ]


def with_passages(change: Callable[[str, Sequence[str]], str]) -> Change:
    """Make an answer of a system's and the passages."""
    return lambda material: [
        change(text, passages)
        for text, passages in zip(material.answers, material.passages, strict=True)
    ]


def on_share(change: Change, share: float) -> Change:
    """Make a change on a share of the questions."""

    def partly_changed(material: Material) -> list[str]:
        texts = list(material.answers)
        for index, changed in enumerate(change(material)):
            if index % 20 < 20 * share:
                texts[index] = changed
        return texts

    return partly_changed


def first_words(count: int) -> Change:
    return of_own(lambda text: joined(words(text)[:count], text))


def padded(padding_of: Callable[[Material, int], Sequence[str]]) -> Change:
    """Pad each answer until it is longer than the others' by ``TARGET_LENGTH``."""

    def all_padded(material: Material) -> list[str]:
        texts = []
        for index, text in enumerate(material.answers):
            lengths = [len(answers[index]) for answers in material.other_answers]
            target = TARGET_LENGTH * float(np.median(lengths))
            texts.append(padded_text(text, padding_of(material, index), target))
        return texts

    return all_padded


def padded_text(text: str, padding: Sequence[str], target_length: float) -> str:
    """Append as much of a padding as brings a text to a length."""
    parts = [text]
    for part in padding:
        if sum(map(len, parts)) >= target_length:
            break
        parts.append(part)
    return " ".join(parts)


def sentences_of_others(material: Material, index: int) -> list[str]:
    """Sentences of the third and fourth of the others, one of each in turn."""
    last = len(material.other_answers) - 1
    third = sentences(material.other_answers[min(2, last)][index])
    fourth = sentences(material.other_answers[min(3, last)][index])
    return interleaved(third, fourth)


def filler(material: Material) -> list[str]:
    rng = generator(0, "filler", *material.answers)
    return [" ".join([text, *rng.permutation(FILLERS)[:4]]) for text in material.answers]


def templates(material: Material) -> list[str]:
    """Fill a template with the question's longest words."""
    framed = []
    for text, question in zip(material.answers, material.questions, strict=True):
        subjects = longest_words(question, 2).split() or [question]
        sentence = TEMPLATE.format(subjects[0], subjects[-1])
        framed.append(f"{sentence} {text} {sentence}")
    return framed


def of_all(material: Material) -> list[str]:
    """The first sentence of the best answer, the second of the next, ...: of eight answers."""
    composed = []
    for texts in zip(*material.other_answers[:8], strict=True):
        chosen = []
        for index, text in enumerate(texts):
            parts = sentences(text)
            chosen.append(parts[index % len(parts)])
        composed.append(" ".join(chosen))
    return composed


def of_three(material: Material) -> list[str]:
    """Sentences of the best three in turn: the first of the best, the second of the second ..."""
    composed = []
    for texts in zip(*material.other_answers[:3], strict=True):
        answers = [sentences(text) for text in texts]
        chosen = []
        for index in range(max(map(len, answers))):
            parts = answers[index % len(answers)]
            if index < len(parts) and parts[index]:
                chosen.append(parts[index])
        composed.append(" ".join(chosen))
    return composed


def most_common_sentences(material: Material) -> list[str]:
    """Sentences of all others whose words most of the others have, as many as usual."""
    composed = []
    for texts in zip(*material.other_answers, strict=True):
        counts: Counter[str] = Counter()
        parts = []
        n_sentences = []
        for text in texts:
            counts.update(set(words(text.lower())))
            parts += sentences(text)
            n_sentences.append(len(sentences(text)))
        weights = []
        for part in parts:
            weights.append(np.mean([counts[word] for word in words(part.lower())] or [0]))
        heaviest = np.argsort(-np.array(weights), kind="stable")[: int(np.median(n_sentences))]
        composed.append(" ".join(parts[index] for index in sorted(heaviest)))
    return composed


def chain(material: Material) -> list[str]:
    """A Markov chain of the others' answers to the same question."""
    rng = generator(0, "chain", *material.answers)
    generated = []
    for texts in zip(*material.other_answers, strict=True):
        next_words = defaultdict[tuple[str, ...], list[str]](list)
        answers = [words(text) for text in texts if len(words(text)) > ORDER]
        for answer in answers:
            for start in range(len(answer) - ORDER):
                state = tuple(answer[start : start + ORDER])
                next_words[state].append(answer[start + ORDER])
        generated_words = list(answers[0][:ORDER]) if answers else []
        while (state := tuple(generated_words[-ORDER:])) in next_words:
            if len(generated_words) >= len(answers[0]):
                break
            generated_words.append(str(rng.choice(next_words[state])))
        generated.append(joined(generated_words, texts[0]))
    return generated


def passages_like_best(material: Material) -> list[str]:
    return [
        words_of_passages(best, passages)
        for best, passages in zip(material.best, material.passages, strict=True)
    ]


def cited(material: Material) -> list[str]:
    texts = []
    for text, passages in zip(material.answers, material.passages, strict=True):
        citations = "".join(f"[{number}]" for number in range(1, min(len(passages), 10) + 1))
        texts.append(" ".join(f"{part} {citations}" for part in sentences(text)))
    return texts


def of_other_questions(material: Material, texts: Sequence[str]) -> list[str]:
    """Put behind each answer another question's text."""
    moved = list(np.roll(np.array(texts, dtype=object), 1))
    return [f"{text} {other}" for text, other in zip(material.answers, moved, strict=True)]
