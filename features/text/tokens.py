"""Words, n-grams and scripts of a text in any language."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from types import MappingProxyType

import regex

_SINGLE = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}ーｰ"
_GRAPHEME = r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"

_SETS = {
    "one": rf"[[{_SINGLE}]--\p{{P}}]",
    "run": rf"[[\p{{L}}\p{{M}}\p{{N}}]--[{_SINGLE}{_GRAPHEME}]]",
    "mark": r"[\p{P}\p{S}]",
    **{name: rf"\p{{{name}}}" for name in "LMN"},
}
_CLUSTER = rf"(?=[[{_GRAPHEME}]&&[\p{{L}}\p{{M}}\p{{N}}]])\X|"
_WORD = "{one}{M}*+|{run}++(?:(?:'(?={L})|(?<={N})[.,](?={N})){run}++)*+"
_SLOW = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\ua9e0-\ua9ff\uaa60-\uaa7f"
    "\U00010000-\U0010ffff]"
)
"""Characters that ``re`` is not asked to cut: Thai, Lao, Khmer, Myanmar, and those past U+FFFF."""
_FORMAT = regex.compile(r"\p{Cf}")
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_IS_FULL_WIDTH = re.compile("[\uff01-\uff5e]")

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

_NAMES = tuple(sorted({script for scripts in SCRIPTS.values() for script in scripts}))


class _Pattern:
    """A pattern of sets of characters.

    It is sought by ``re``, six times as fast as by ``regex``, where the text allows it: ``re``
    knows no properties and no graphemes, so its sets are lists of characters.
    """

    def __init__(self, pattern: str, sets: Mapping[str, str], cluster: str = "") -> None:
        self._pattern, self._sets = pattern, sets
        self._slow = regex.compile(cluster + pattern.format_map(sets), regex.V1)

    @cached_property
    def _quick(self) -> re.Pattern[str]:
        return re.compile(self._pattern.format_map({k: _listed(v) for k, v in self._sets.items()}))

    def findall(self, text: str) -> list[str]:
        is_slow = not text.isascii() and _SLOW.search(text)
        return list((self._slow if is_slow else self._quick).findall(text))


@cache
def _listed(characters: str) -> str:
    """Write a set of ``regex`` as one of ``re``, by its characters up to U+FFFF."""
    runs = regex.findall(f"{characters}+", _plane(), regex.V1)
    return "[" + "".join("-".join(map(re.escape, (run[0], run[-1]))) for run in runs) + "]"


@cache
def _plane() -> str:
    return "".join(map(chr, range(0x10000)))


_WORDS = _Pattern(_WORD, _SETS, _CLUSTER)
_WORDS_AND_MARKS = _Pattern(_WORD + "|{mark}", _SETS, _CLUSTER)
_LETTERS = _Pattern("{letter}++", {"letter": r"\p{L}"})
_PARTS = _Pattern("{part}++", {"part": f"[{_SINGLE}{_GRAPHEME}]"})


def words(text: str) -> list[str]:
    """Cut a text into words, leaving punctuation and symbols out."""
    return _WORDS.findall(_normalized(text))


def folded_words(text: str) -> list[str]:
    """Return the words of a text, case-folded."""
    return words(text.lower()) if text.isascii() else list(map(str.casefold, words(text)))


def words_and_marks(text: str) -> list[str]:
    """Cut a text into words and single punctuation marks and symbols."""
    return _WORDS_AND_MARKS.findall(_normalized(text))


def parts_of_words(tokens: Sequence[str]) -> int:
    """Count the words as cut here that are less than what a reader calls a word.

    So it is for the characters of Chinese and Japanese, syllables of Korean, graphemes of Thai.
    """
    return sum(map(len, _PARTS.findall("".join(token[0] for token in tokens))))


def _normalized(text: str) -> str:
    """Compose characters, fold full-width forms, drop joiners and direction marks.

    A curly apostrophe becomes a straight one: books write ``l’eau``, models ``l'eau``.
    """
    if text.isascii():
        return text
    composed = unicodedata.normalize("NFC", text).replace("’", "'")
    if _IS_FULL_WIDTH.search(composed):
        composed = composed.translate(_FULL_WIDTH)
    return str(_FORMAT.sub("", composed))


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
    letters = sum(map(len, _LETTERS.findall(text)))
    outside = [] if text.isascii() else _outside(scripts).findall(text)
    return sum(map(len, outside)), letters


@lru_cache(maxsize=len(_NAMES))
def _script(name: str) -> regex.Pattern[str]:
    return regex.compile(rf"\p{{{name}}}")


@lru_cache(maxsize=256)
def _outside(scripts: frozenset[str]) -> _Pattern:
    allowed = ("Latin", "Common", "Inherited", *sorted(scripts))
    classes = "".join(rf"\p{{Script={name}}}" for name in allowed)
    return _Pattern("{letter}++", {"letter": rf"[\p{{L}}--[{classes}]]"})
