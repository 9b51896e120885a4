"""Words of any language, for retrieval by BM25.

Scripts that do not mark where words end (Han, kana, Thai, Lao, Khmer, Burmese), and Korean, which
writes particles onto nouns, are cut into pairs of neighbouring characters, as is customary for
them. In all others a run of letters, marks and digits is a word. Case, full-width forms, and the
vowel marks and stretching of Arabic do not count. There are neither stemming nor stop words.
"""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import regex

_DENSE = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー"
_WORD = r"\p{L}\p{M}\p{N}"
_RUNS = regex.compile(
    rf"(?P<dense>[[{_DENSE}]&&[{_WORD}]]\p{{M}}*+)++|(?P<spaced>[[{_WORD}]--[{_DENSE}]]++)",
    regex.V1,
)
_CHARACTERS = regex.compile(r"\X")
_SILENT = regex.compile("[\u0610-\u061a\u0640\u064b-\u065f\u0670\\p{Cf}]")


def context_words(text: str) -> list[str]:
    """Cut a text into the words that BM25 counts."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words: list[str] = [
        word
        for run in _RUNS.finditer(_SILENT.sub("", folded))
        for word in ([run[0]] if run["spaced"] else _pairs(run[0]))
    ]
    return words


def _pairs(run: str) -> list[str]:
    """Return the pairs of neighbouring characters; a single character as it is."""
    characters: list[str] = _CHARACTERS.findall(run)
    if len(characters) < 2:
        return characters
    return [one + other for one, other in pairwise(characters)]
