"""Scripts of languages, and letters that belong to none of those expected."""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType

import regex

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
