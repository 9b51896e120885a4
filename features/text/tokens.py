"""Words, n-grams and scripts of a text in any language."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from types import MappingProxyType

import regex

_SINGLE = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}ーｰ"
_GRAPHEME = r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"

_ONE = rf"[[{_SINGLE}]--\p{{P}}]\p{{M}}*+"
_RUN = rf"[[\p{{L}}\p{{M}}\p{{N}}]--[{_SINGLE}{_GRAPHEME}]]++"
_CLUSTER = rf"(?=[[{_GRAPHEME}]&&[\p{{L}}\p{{M}}\p{{N}}]])\X"
_JOINT = r"(?:'(?=\p{L})|(?<=\p{N})[.,](?=\p{N}))"
_PATTERN = rf"{_CLUSTER}|{_ONE}|{_RUN}(?:{_JOINT}{_RUN})*+"
_WORDS = regex.compile(_PATTERN, regex.V1)
_WORDS_AND_MARKS = regex.compile(rf"{_PATTERN}|[\p{{P}}\p{{S}}]", regex.V1)
_PART_OF_WORD = regex.compile(f"[{_SINGLE}{_GRAPHEME}]", regex.V1)
_FORMAT = regex.compile(r"\p{Cf}")
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}

_CYRILLIC, _ARABIC, _DEVANAGARI = ("Cyrillic",), ("Arabic",), ("Devanagari",)

SCRIPTS = MappingProxyType(
    {
        **dict.fromkeys(("be", "bg", "kk", "ky", "mk", "mn", "ru", "sr", "tg", "uk"), _CYRILLIC),
        **dict.fromkeys(("ar", "ckb", "fa", "ps", "sd", "ug", "ur"), _ARABIC),
        **dict.fromkeys(("hi", "mr", "ne", "sa"), _DEVANAGARI),
        **dict.fromkeys(("as", "bn"), ("Bengali",)),
        **dict.fromkeys(("he", "yi"), ("Hebrew",)),
        **dict.fromkeys(("am", "ti"), ("Ethiopic",)),
        "el": ("Greek",),
        "gu": ("Gujarati",),
        "hy": ("Armenian",),
        "ja": ("Han", "Hiragana", "Katakana"),
        "ka": ("Georgian",),
        "km": ("Khmer",),
        "kn": ("Kannada",),
        # Chinese characters are rare in today's Korean, and a slip that models are known for.
        "ko": ("Hangul",),
        "lo": ("Lao",),
        "ml": ("Malayalam",),
        "my": ("Myanmar",),
        "or": ("Oriya",),
        "pa": ("Gurmukhi",),
        "si": ("Sinhala",),
        "ta": ("Tamil",),
        "te": ("Telugu",),
        "th": ("Thai",),
        "zh": ("Han", "Bopomofo"),
    }
)
"""Scripts a language is written in besides Latin letters; none for all others."""

_LETTER = regex.compile(r"\p{L}")
_NAMES = tuple(sorted({script for scripts in SCRIPTS.values() for script in scripts}))


def words(text: str) -> list[str]:
    """Cut a text into words, leaving punctuation and symbols out."""
    return list(_WORDS.findall(_normalized(text)))


def folded_words(text: str) -> list[str]:
    """Return the words of a text, case-folded."""
    return [word.casefold() for word in words(text)]


def words_and_marks(text: str) -> list[str]:
    """Cut a text into words and single punctuation marks and symbols."""
    return list(_WORDS_AND_MARKS.findall(_normalized(text)))


def is_part_of_word(token: str) -> bool:
    """Return whether a word as cut here is less than what a reader calls a word.

    So it is for the characters of Chinese and Japanese, syllables of Korean, graphemes of Thai.
    """
    return _PART_OF_WORD.match(token) is not None


def _normalized(text: str) -> str:
    """Compose characters, fold full-width forms, drop joiners and direction marks.

    A curly apostrophe becomes a straight one: books write ``l’eau``, models ``l'eau``.
    """
    if text.isascii():
        return text
    composed = unicodedata.normalize("NFC", text).replace("’", "'")
    return str(_FORMAT.sub("", composed.translate(_FULL_WIDTH)))


def word_ngrams(words: Sequence[str], order: int) -> Iterator[tuple[str, ...]]:
    """Return an iterator over the runs of so many words, from left to right."""
    return zip(*[words[start:] for start in range(order)], strict=False)


def expected_scripts(language: str, question: str) -> frozenset[str]:
    """Return the scripts an answer may be written in, other than Latin.

    Args:
        language: Language code of the question.
        question: The question: an answer may use any script that it uses.
    """
    used = [name for name in _NAMES if not question.isascii() and _script(name).search(question)]
    return frozenset([*SCRIPTS.get(language, ()), *used])


def foreign_letters(text: str, scripts: frozenset[str]) -> tuple[int, int]:
    """Return how many letters are neither Latin nor of the given scripts, and how many there are.

    Letters that scripts share, such as ``ー``, are at home everywhere.
    """
    if text.isascii():
        return 0, len(_LETTER.findall(text))
    return len(_outside(scripts).findall(text)), len(_LETTER.findall(text))


@lru_cache(maxsize=len(_NAMES))
def _script(name: str) -> regex.Pattern[str]:
    return regex.compile(rf"\p{{{name}}}")


@lru_cache(maxsize=256)
def _outside(scripts: frozenset[str]) -> regex.Pattern[str]:
    allowed = ("Latin", "Common", "Inherited", *sorted(scripts))
    classes = "".join(rf"\p{{Script={name}}}" for name in allowed)
    return regex.compile(rf"[\p{{L}}--[{classes}]]", regex.V1)
