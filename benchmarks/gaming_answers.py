"""Answers made of a system's own, other systems' and passages, for ``gaming_forms.py``."""

from __future__ import annotations

from collections import Counter
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

from arena.data.seeds import generator

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
        own: Its answers.
        others: The answers of the other systems, the best first.
        questions: What was asked.
        passages: Texts of the passages.
    """

    own: Sequence[str]
    others: Sequence[Sequence[str]]
    questions: Sequence[str]
    passages: Sequence[Sequence[str]]

    @property
    def best(self) -> Sequence[str]:
        """Answers of the best other system."""
        return self.others[0]


Change = Callable[[Material], Sequence[str]]


def each(change: Callable[[str], str]) -> Change:
    """Change each of a system's answers."""
    return lambda material: [change(text) for text in material.own]


def of_best(change: Callable[[str], str]) -> Change:
    """Change each of the best other system's answers."""
    return lambda material: [change(text) for text in material.best]


def with_best(change: Callable[[str, str], str]) -> Change:
    """Make an answer of a system's and the best other's."""
    return lambda material: [
        change(text, best) for text, best in zip(material.own, material.best, strict=True)
    ]


def with_passages(change: Callable[[str, Sequence[str]], str]) -> Change:
    """Make an answer of a system's and the passages."""
    return lambda material: [
        change(text, passages)
        for text, passages in zip(material.own, material.passages, strict=True)
    ]


def on_share(change: Change, share: float) -> Change:
    """Make a change on a share of the questions."""

    def changed(material: Material) -> list[str]:
        pairs = zip(material.own, change(material), strict=True)
        return [new if place % 20 < 20 * share else text for place, (text, new) in enumerate(pairs)]

    return changed


def first_words(count: int) -> Change:
    return each(lambda text: joined(words(text)[:count], text))


def up_to(material: Material, place: int, parts: Sequence[str]) -> str:
    """Pad an answer with parts until it is longer than the others' by ``TARGET_LENGTH``."""
    texts = [material.own[place]]
    target = TARGET_LENGTH * float(np.median([len(other[place]) for other in material.others]))
    for part in parts:
        if sum(map(len, texts)) >= target:
            break
        texts.append(part)
    return " ".join(texts)


def padded(source: Callable[[Material, int], Sequence[str]]) -> Change:
    return lambda material: [
        up_to(material, place, source(material, place)) for place in range(len(material.own))
    ]


def others_sentences(material: Material, place: int) -> list[str]:
    """Sentences of the third and fourth of the others, one of each in turn."""
    third = sentences(material.others[min(2, len(material.others) - 1)][place])
    fourth = sentences(material.others[min(3, len(material.others) - 1)][place])
    return interleaved(third, fourth)


def filler(material: Material) -> list[str]:
    random = generator(0, "filler", *material.own)
    return [" ".join([text, *random.permutation(FILLERS)[:4]]) for text in material.own]


def templates(material: Material) -> list[str]:
    """Fill a template with the question's longest words."""
    made = []
    for text, question in zip(material.own, material.questions, strict=True):
        subjects = longest_words(question, 2).split() or [question]
        sentence = TEMPLATE.format(subjects[0], subjects[-1])
        made.append(f"{sentence} {text} {sentence}")
    return made


def of_all(material: Material) -> list[str]:
    """One sentence of each of eight others, as they come."""
    made = []
    for texts in zip(*material.others[:8], strict=True):
        parts = [sentences(text) for text in texts]
        made.append(" ".join(part[place % len(part)] for place, part in enumerate(parts)))
    return made


def of_three(material: Material) -> list[str]:
    """Sentences of the best three in turn: the first of the best, the second of the second ..."""
    made = []
    for texts in zip(*material.others[:3], strict=True):
        parts = [sentences(text) for text in texts]
        rounds = max(map(len, parts))
        chosen = [
            parts[place % len(parts)][place] if place < len(parts[place % len(parts)]) else ""
            for place in range(rounds)
        ]
        made.append(" ".join(filter(None, chosen)))
    return made


def most_common_sentences(material: Material) -> list[str]:
    """Sentences of all others whose words most of the others have, as many as usual."""
    made = []
    for texts in zip(*material.others, strict=True):
        counts = Counter(word for text in texts for word in set(words(text.lower())))
        parts = [part for text in texts for part in sentences(text)]
        sizes = [len(sentences(text)) for text in texts]
        weights = [
            float(np.mean([counts[word] for word in words(part.lower())] or [0])) for part in parts
        ]
        order = np.argsort(-np.array(weights), kind="stable")[: int(np.median(sizes))]
        made.append(" ".join(parts[place] for place in sorted(order)))
    return made


def chain(material: Material) -> list[str]:
    """A Markov chain of the others' answers to the same question."""
    random = generator(0, "chain", *material.own)
    made = []
    for texts in zip(*material.others, strict=True):
        follows: dict[tuple[str, ...], list[str]] = {}
        answers = [words(text) for text in texts if len(words(text)) > ORDER]
        for parts in answers:
            for place in range(len(parts) - ORDER):
                key = tuple(parts[place : place + ORDER])
                follows.setdefault(key, []).append(parts[place + ORDER])
        text = list(answers[0][:ORDER]) if answers else []
        while tuple(text[-ORDER:]) in follows and len(text) < len(answers[0]):
            text.append(str(random.choice(follows[tuple(text[-ORDER:])])))
        made.append(joined(text, texts[0]))
    return made


def passages_like_best(material: Material) -> list[str]:
    return [
        words_of_passages(best, passages)
        for best, passages in zip(material.best, material.passages, strict=True)
    ]


def cited(material: Material) -> list[str]:
    made = []
    for text, passages in zip(material.own, material.passages, strict=True):
        mark = "".join(f"[{place + 1}]" for place in range(min(len(passages), 10)))
        made.append(" ".join(f"{part} {mark}" for part in sentences(text)))
    return made


def of_other_questions(material: Material, texts: Sequence[str]) -> list[str]:
    """Put behind each answer another question's text."""
    moved = list(np.roll(np.array(texts, dtype=object), 1))
    return [f"{text} {other}" for text, other in zip(material.own, moved, strict=True)]
