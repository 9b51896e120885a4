"""Words, n-grams and scripts of a text in any language."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import chain, islice
from operator import itemgetter
from types import MappingProxyType

import numpy as np
import regex

TEXTS_CACHED = 2**14
"""Texts whose words a process remembers."""

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
"""Characters that take ``regex``: Thai, Lao, Khmer, Myanmar, and those past U+FFFF."""
_FORMAT = regex.compile(r"\p{Cf}")
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_IS_FULL_WIDTH = re.compile("[\uff01-\uff5e]")
_SURROGATE = re.compile("[\ud800-\udfff]")

SCRIPTS = MappingProxyType(
    {
        **dict.fromkeys(
            ("be", "bg", "kk", "ky", "mk", "mn", "ru", "sr", "tg", "uk"), ("Cyrillic",)
        ),
        **dict.fromkeys(("ar", "ckb", "fa", "ps", "sd", "ug", "ur"), ("Arabic",)),
        **dict.fromkeys(("hi", "mr", "ne", "sa"), ("Devanagari",)),
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
"""Scripts of a language besides Latin; languages not listed have none."""

_NAMES = tuple(sorted(set(chain.from_iterable(SCRIPTS.values()))))


class _Pattern:
    """A pattern of sets of characters, searched for by ``re`` or ``regex``, which is slower."""

    def __init__(self, pattern: str, sets: Mapping[str, str], cluster: str = "") -> None:
        self._pattern = pattern
        self._sets = sets
        self._cluster = cluster

    @cached_property
    def _slow(self) -> regex.Pattern[str]:
        return regex.compile(self._cluster + self._pattern.format_map(self._sets), regex.V1)

    @cached_property
    def _quick(self) -> re.Pattern[str]:
        lists = {name: _listed(characters) for name, characters in self._sets.items()}
        return re.compile(self._pattern.format_map(lists))

    def for_text(self, text: str) -> re.Pattern[str]:
        needs_regex = not text.isascii() and _SLOW.search(text)
        return self._slow if needs_regex else self._quick

    def findall(self, text: str) -> list[str]:
        return list(self.for_text(text).findall(text))


@cache
def _listed(characters: str) -> str:
    """Write a set of ``regex`` as one of ``re``, by its characters up to U+FFFF."""
    ranges: list[str] = []
    for run in regex.findall(f"{characters}+", _plane(), regex.V1):
        ranges.append(f"{re.escape(run[0])}-{re.escape(run[-1])}")
    return f"[{''.join(ranges)}]"


@cache
def _plane() -> str:
    return np.arange(0x10000, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")


_WORDS = _Pattern(_WORD, _SETS, _CLUSTER)
_WORDS_AND_MARKS = _Pattern(_WORD + "|{mark}", _SETS, _CLUSTER)
_LETTERS = _Pattern("{letter}++", {"letter": r"\p{L}"})
_PARTS = _Pattern("{part}++", {"part": f"[{_SINGLE}{_GRAPHEME}]"})


def without_surrogates(text: str) -> str:
    """Replace halves of surrogate pairs, which libraries refuse, by U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)


def words(text: str) -> list[str]:
    """Cut a text into words, leaving punctuation and symbols out."""
    return _WORDS.findall(_normalized(text))


def first_words(text: str, count: int) -> list[str]:
    """Cut a text into words, up to a number of them."""
    text = _normalized(text)
    return [match[0] for match in islice(_WORDS.for_text(text).finditer(text), count)]


def folded_words(text: str) -> list[str]:
    """Return the words of a text, case-folded."""
    if text.isascii():  # quicker at once, which other letters' folding would not survive
        return words(text.lower())
    # Quicker for all words together; no letter's folding has a space.
    return " ".join(words(text)).casefold().split()


@lru_cache(maxsize=TEXTS_CACHED)
def folded_line(text: str) -> str:
    """Return a text's case-folded words in one line, remembered."""
    return " ".join(folded_words(text))


def words_and_marks(text: str) -> list[str]:
    """Cut a text into words and single punctuation marks and symbols."""
    return _WORDS_AND_MARKS.findall(_normalized(text))


def tokens_per_word(tokens: Sequence[str]) -> int:
    """Return 2 where most tokens are parts of words, else 1.

    Parts are the characters of Chinese and Japanese, syllables of Korean, graphemes of Thai.
    """
    first_characters = "".join(map(itemgetter(0), tokens))
    n_parts = sum(map(len, _PARTS.findall(first_characters)))
    return 2 if 2 * n_parts > len(tokens) else 1


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
    """Yield the runs of ``order`` words."""
    return zip(*[words[start:] for start in range(order)], strict=False)


def expected_scripts(language: str, question: str) -> frozenset[str]:
    """Return the scripts besides Latin: the language's and the question's."""
    scripts = set(SCRIPTS.get(language, ()))
    if not question.isascii():
        scripts.update(name for name in _NAMES if _script(name).search(question))
    return frozenset(scripts)


def foreign_share(text: str, scripts: frozenset[str]) -> float:
    """Return which share of the letters is neither Latin nor of these or shared scripts."""
    foreign = [] if text.isascii() else _outside(scripts).findall(text)
    if not foreign:  # as in most texts: their letters need not be counted
        return 0.0
    return sum(map(len, foreign)) / sum(map(len, _LETTERS.findall(text)))


@lru_cache(maxsize=len(_NAMES))
def _script(name: str) -> regex.Pattern[str]:
    return regex.compile(rf"\p{{{name}}}")


@lru_cache(maxsize=256)
def _outside(scripts: frozenset[str]) -> _Pattern:
    allowed = ("Latin", "Common", "Inherited", *sorted(scripts))
    classes = "".join(rf"\p{{Script={name}}}" for name in allowed)
    return _Pattern("{letter}++", {"letter": rf"[\p{{L}}--[{classes}]]"})
