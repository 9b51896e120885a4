"""Words of any language, for overlap and length.

The script of a character decides, not the language of the question, so that a Chinese answer to
an English question is cut as Chinese:

* Han and kana: each character is a word, since none marks where words end.
* Thai, Lao, Khmer, Burmese: each grapheme (a consonant with its vowels and tones) is a word.
* Hangul: each syllable is a word. Particles are written onto the noun, so that whole
  space-delimited units hardly ever match.
* All other scripts: a run of letters, marks and digits is a word; marks are never torn off, an
  apostrophe joins letters (``don't``), a point or comma joins digits (``3.14``).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

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
    """Compose characters, fold full-width forms, drop joiners and direction marks."""
    if text.isascii():
        return text
    composed = unicodedata.normalize("NFC", text)
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
    joint = f"(?:['’](?={letter})|(?<={digit})[.,](?={digit}))"
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
