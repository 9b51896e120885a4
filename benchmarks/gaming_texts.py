"""Changes of one text for ``gaming_forms.py``: words and sentences left out, replaced, shuffled."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest

import numpy as np

from arena.statistics.bootstrap import generator

SENTENCE = re.compile(r"(?<=[.!?।])\s+|(?<=[。！？])\s*|\n+")
SYNONYMS = {
    "important": "significant", "use": "employ", "used": "employed", "make": "create",
    "help": "aid", "people": "individuals", "many": "numerous", "often": "frequently",
    "also": "additionally", "such": "like", "because": "since", "but": "however",
    "can": "may", "good": "fine", "large": "big", "show": "demonstrate", "need": "require",
    "different": "distinct", "provide": "offer", "including": "such as", "various": "several",
    "increase": "raise", "reduce": "lower", "example": "instance", "way": "manner",
    "です": "なのです", "ます": "るのです", "また": "さらに", "など": "等", "ため": "故",
    "こと": "事", "もの": "物", "日本": "我が国", "人々": "人たち", "重要": "大切",
}  # fmt: skip
DICTIONARY = {
    "the": "der", "and": "und", "of": "von", "to": "zu", "in": "in", "is": "ist", "a": "ein",
    "for": "für", "that": "dass", "with": "mit", "are": "sind", "as": "als", "on": "auf",
    "it": "es", "can": "kann", "be": "sein", "by": "durch", "this": "dies", "or": "oder",
    "from": "aus", "not": "nicht", "have": "haben", "has": "hat", "an": "ein", "their": "ihre",
    "の": " of ", "は": " wa ", "を": " wo ", "が": " ga ", "に": " ni ", "と": " to ",
}  # fmt: skip
NEGATIONS = {
    " is ": " is not ", " are ": " are not ", " was ": " was not ", " can ": " cannot ",
    " has ": " has no ", " have ": " have no ", " will ": " will not ", " may ": " may not ",
    "です": "ではありません", "ます": "ません", "である": "ではない", "した": "しなかった",
}  # fmt: skip
LOOK_ALIKE = str.maketrans("aeopcxyi", "аеорсхуі")
"""Latin letters to the Cyrillic ones that look the same."""


def sentences(text: str) -> list[str]:
    return [part for part in SENTENCE.split(text) if part.strip()] or [text]


def is_spaced(text: str) -> bool:
    """Say whether words stand between spaces."""
    return len(text) < 12 * len(text.split())


def words(text: str) -> list[str]:
    """Words; of a text without spaces, its characters."""
    return text.split() if is_spaced(text) else list(text)


def joined(parts: Sequence[str], text: str) -> str:
    """Join words as those of a text are."""
    return (" " if is_spaced(text) else "").join(parts)


def hidden(text: str, between: str = " ") -> str:
    """Return a text without marks and line ends, which would show it where it is to be hidden."""
    return between.join(re.findall(r"\w+", text))


def every_word(period: int, change: Callable[[str], str]) -> Callable[[str], str]:
    """Change every word of a period."""

    def changed(text: str) -> str:
        parts = words(text)
        for index in range(period - 1, len(parts), period):
            parts[index] = change(parts[index])
        return joined([part for part in parts if part], text)

    return changed


def without_every(period: int) -> Callable[[str], str]:
    return every_word(period, lambda _: "")


def replaced(pairs: Mapping[str, str]) -> Callable[[str], str]:
    """Replace words; of a text without spaces, runs of characters."""

    def changed(text: str) -> str:
        if is_spaced(text):
            return " ".join(pairs.get(part.lower(), part) for part in text.split())
        for old, new in pairs.items():
            text = text.replace(old, new)
        return text

    return changed


def negated(text: str) -> str:
    for old, new in NEGATIONS.items():
        text = text.replace(old, new)
    return text


def glued(period: int) -> Callable[[str], str]:
    """Glue every word of a period to the next."""

    def changed(text: str) -> str:
        parts = [f"{part} " for part in text.split()]
        for index in range(period - 1, len(parts), period):
            parts[index] = parts[index].rstrip()
        return "".join(parts)

    return changed


def broken(text: str) -> str:
    return f"{text[: len(text) // 2]} {text[len(text) // 2 :]}"


def shuffled(text: str) -> str:
    return joined(list(generator(0, text).permutation(words(text))), text)


def shuffled_within(text: str) -> str:
    return " ".join(shuffled(part) for part in sentences(text))


def swapped(text: str) -> str:
    """Swap every second pair of neighboring words."""
    parts = words(text)
    for index in range(0, len(parts) - 1, 4):
        parts[index], parts[index + 1] = parts[index + 1], parts[index]
    return joined(parts, text)


def blocks_of(text: str, size: int) -> list[str]:
    """Cut a text into runs of a number of words."""
    parts = words(text)
    return [joined(parts[start : start + size], text) for start in range(0, len(parts), size)]


def tens(text: str) -> list[str]:
    """Cut a text into runs of ten words."""
    return blocks_of(text, 10)


def shuffled_blocks(text: str) -> str:
    """Shuffle runs of four words."""
    return joined(list(generator(0, text).permutation(blocks_of(text, 4))), text)


def some_left_out(text: str) -> str:
    """Leave out three words in ten, at random."""
    rng = generator(0, "left out", text)
    return joined([part for part in words(text) if rng.random() > 0.3], text)


def other_numbers(text: str) -> str:
    return re.sub(r"\d", lambda match: str((int(match[0]) + 3) % 10), text)


def longest_words(text: str, count: int) -> str:
    if not is_spaced(text):
        return text[:count]
    return " ".join(sorted(dict.fromkeys(text.split()), key=len, reverse=True)[:count])


def distinct_words(text: str) -> str:
    return joined(sorted(set(words(text))), text)


def interleaved(first: Sequence[str], second: Sequence[str]) -> list[str]:
    """Take parts of both in turn, and then the rest of the longer one."""
    pairs = zip_longest(first, second, fillvalue="")
    return [part for pair in pairs for part in pair if part]


def nearest_sentences(text: str, best: str) -> str:
    """Replace each sentence by the best's that shares most words with it."""
    best_sentences = sentences(best)
    nearest = []
    for part in sentences(text):
        n_shared = [len(set(words(part)) & set(words(other))) for other in best_sentences]
        nearest.append(best_sentences[int(np.argmax(n_shared))])
    return " ".join(dict.fromkeys(nearest))


def words_of_passages(best: str, passages: Sequence[str]) -> str:
    """Take the passages' sentences that share most words with the best's answer."""
    best_words = set(words(best.lower()))
    parts = []
    shares = []
    for passage in passages:
        for part in sentences(passage):
            n_shared = len(set(words(part.lower())) & best_words)
            parts.append(part)
            shares.append(n_shared / (len(words(part)) + 5))
    chosen: list[str] = []
    for index in np.argsort(-np.array(shares), kind="stable"):
        if sum(map(len, chosen)) >= len(best):
            break
        chosen.append(parts[index])
    return " ".join(chosen)
