"""Words, n-grams and scripts of a text in any language."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from types import MappingProxyType

import regex

_SINGLE = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}ーｰ"
_GRAPHEME = r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"

_ONE = rf"[[{_SINGLE}]--\p{{P}}]"
_RUN = rf"[[\p{{L}}\p{{M}}\p{{N}}]--[{_SINGLE}{_GRAPHEME}]]"
_CLUSTER = rf"(?=[[{_GRAPHEME}]&&[\p{{L}}\p{{M}}\p{{N}}]])\X"
_MARK = r"[\p{P}\p{S}]"

_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_FORMAT = r"\p{Cf}"
_ASTRAL = r"\U00010000-\U0010ffff"


def words(text: str) -> list[str]:
    """Cut a text into words, leaving punctuation and symbols out."""
    return _cut(_normalized(text), with_marks=False)


def folded_words(text: str) -> list[str]:
    """Return the words of a text, case-folded."""
    return [word.casefold() for word in words(text)]


def words_and_marks(text: str) -> list[str]:
    """Cut a text into words and single punctuation marks and symbols."""
    return _cut(_normalized(text), with_marks=True)


def is_part_of_word(token: str) -> bool:
    """Return whether a word as cut here is less than what a reader calls a word.

    So it is for the characters of Chinese and Japanese, syllables of Korean, graphemes of Thai.
    """
    return _unspaced().match(token) is not None


def _cut(text: str, *, with_marks: bool) -> list[str]:
    needs_graphemes = _beyond_tables().search(text) is not None
    pattern = _exact_pattern(with_marks) if needs_graphemes else _quick_pattern(with_marks)
    return list(pattern.findall(text))


def _normalized(text: str) -> str:
    """Compose characters, fold full-width forms, drop joiners and direction marks.

    A curly apostrophe becomes a straight one: books write ``l’eau``, models ``l'eau``.
    """
    if text.isascii():
        return text
    composed = unicodedata.normalize("NFC", text).replace("’", "'")
    if _foldable().search(composed) is None:
        return composed
    return str(regex.sub(_FORMAT, "", composed.translate(_FULL_WIDTH)))


@lru_cache(maxsize=2)
def _exact_pattern(with_marks: bool) -> regex.Pattern[str]:
    pattern = _pattern(_ONE, _RUN, r"\p{M}", r"\p{L}", r"\p{N}")
    return regex.compile(
        f"{_CLUSTER}|{pattern}|{_MARK}" if with_marks else f"{_CLUSTER}|{pattern}", regex.V1
    )


@lru_cache(maxsize=2)
def _quick_pattern(with_marks: bool) -> re.Pattern[str]:
    """Return the pattern for texts within the tables, which ``re`` matches several times faster."""
    pattern = _pattern(*map(_table, (_ONE, _RUN, r"\p{M}", r"\p{L}", r"\p{N}")))
    return re.compile(f"{pattern}|{_table(_MARK)}" if with_marks else pattern)


def _pattern(one: str, run: str, mark: str, letter: str, digit: str) -> str:
    """Return the pattern of a word outside the scripts cut into graphemes."""
    joint = f"(?:'(?={letter})|(?<={digit})[.,](?={digit}))"
    return f"{one}{mark}*+|{run}++(?:{joint}{run}++)*+"


@lru_cache(maxsize=1)
def _unspaced() -> re.Pattern[str]:
    return re.compile(_table(f"[{_SINGLE}{_GRAPHEME}]"))


@lru_cache(maxsize=1)
def _beyond_tables() -> re.Pattern[str]:
    """Return the pattern of a character that only the exact pattern knows how to cut."""
    return re.compile(_table(f"[{_GRAPHEME}]", _ASTRAL))


@lru_cache(maxsize=1)
def _foldable() -> re.Pattern[str]:
    """Return the pattern of a full-width or format character, or of one beyond the tables."""
    return re.compile(_table(_FORMAT, rf"\uff01-\uff5e{_ASTRAL}"))


@lru_cache(maxsize=16)
def _table(characters: str, others: str = "") -> str:
    """Spell a class of ``regex`` out for ``re``, within the Basic Multilingual Plane."""
    plane = "".join(map(chr, range(0x10000)))
    runs = regex.finditer(f"{characters}+", plane, regex.V1)
    ranges = (rf"\u{run.start():04x}-\u{run.end() - 1:04x}" for run in runs)
    return f"[{''.join(ranges)}{others}]"


def word_ngrams(words: Sequence[str], order: int) -> Iterator[tuple[str, ...]]:
    """Return an iterator over the runs of so many words, from left to right."""
    return zip(*[words[start:] for start in range(order)], strict=False)


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
