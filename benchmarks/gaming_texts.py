"""Changes of one text for ``gaming_forms.py``: words and sentences left out, replaced, shuffled."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest

import numpy as np

from arena.data.seeds import generator

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


def every_word(period: int, change: Callable[[str], str]) -> Callable[[str], str]:
    """Change every word of a period."""

    def changed(text: str) -> str:
        parts = words(text)
        made = [
            change(part) if place % period == period - 1 else part
            for place, part in enumerate(parts)
        ]
        return joined([part for part in made if part], text)

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
        gaps = ["" if place % period == period - 1 else " " for place in range(len(text.split()))]
        return "".join(f"{part}{gap}" for part, gap in zip(text.split(), gaps, strict=True))

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
    for place in range(0, len(parts) - 1, 4):
        parts[place], parts[place + 1] = parts[place + 1], parts[place]
    return joined(parts, text)


def tens(text: str) -> list[str]:
    """Cut a text into runs of ten words."""
    parts = words(text)
    return [joined(parts[start : start + 10], text) for start in range(0, len(parts), 10)]


def shuffled_blocks(text: str) -> str:
    """Shuffle runs of four words."""
    parts = words(text)
    blocks = [joined(parts[start : start + 4], text) for start in range(0, len(parts), 4)]
    return joined(list(generator(0, text).permutation(blocks)), text)


def some_left_out(text: str) -> str:
    """Leave out three words in ten, at random."""
    random = generator(0, "left out", text)
    return joined([part for part in words(text) if random.random() > 0.3], text)


def other_numbers(text: str) -> str:
    return re.sub(r"\d", lambda match: str((int(match[0]) + 3) % 10), text)


def longest_words(text: str, count: int) -> str:
    if not is_spaced(text):
        return text[:count]
    return " ".join(sorted(dict.fromkeys(text.split()), key=len, reverse=True)[:count])


def distinct_words(text: str) -> str:
    return joined(sorted(set(words(text))), text)


def interleaved(one: Sequence[str], other: Sequence[str]) -> list[str]:
    pairs = zip_longest(one, other, fillvalue="")
    return [part for pair in pairs for part in pair if part]


def nearest_sentences(text: str, best: str) -> str:
    """Replace each sentence by the best's that shares most words with it."""
    theirs = sentences(best)
    made = []
    for part in sentences(text):
        shared = [len(set(words(part)) & set(words(other))) for other in theirs]
        made.append(theirs[int(np.argmax(shared))])
    return " ".join(dict.fromkeys(made))


def words_of_passages(best: str, passages: Sequence[str]) -> str:
    """Take the passages' sentences that share most words with the best's answer."""
    parts = [part for passage in passages for part in sentences(passage)]
    wanted = set(words(best.lower()))
    shared = [len(set(words(part.lower())) & wanted) / (len(words(part)) + 5) for part in parts]
    order = np.argsort(-np.array(shared), kind="stable")
    chosen: list[str] = []
    for place in order:
        if sum(map(len, chosen)) >= len(best):
            break
        chosen.append(parts[place])
    return " ".join(chosen)
