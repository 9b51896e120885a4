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

import unicodedata

import regex

_SINGLE = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}ーｰ"
_GRAPHEME = r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_RUN = rf"[[\p{{L}}\p{{M}}\p{{N}}]--[{_SINGLE}{_GRAPHEME}]]"
_WORD = (
    rf"[[{_SINGLE}]--\p{{P}}]\p{{M}}*+"
    rf"|(?=[[{_GRAPHEME}]&&[\p{{L}}\p{{M}}\p{{N}}]])\X"
    rf"|{_RUN}++(?:(?:['’](?=\p{{L}})|(?<=\p{{N}})[.,](?=\p{{N}})){_RUN}++)*+"
)
_WORDS = regex.compile(_WORD, regex.V1)
_TOKENS = regex.compile(rf"{_WORD}|[[\p{{P}}\p{{S}}]]", regex.V1)
_FORMAT = regex.compile(r"\p{Cf}+")
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}


def words(text: str) -> list[str]:
    """Cut a text into words, leaving punctuation and symbols out."""
    return list(_WORDS.findall(_normalized(text)))


def words_and_marks(text: str) -> list[str]:
    """Cut a text into words and single punctuation marks and symbols."""
    return list(_TOKENS.findall(_normalized(text)))


def _normalized(text: str) -> str:
    """Compose characters, fold full-width forms, drop joiners and direction marks."""
    if text.isascii():
        return text
    composed = unicodedata.normalize("NFC", text).translate(_FULL_WIDTH)
    return str(_FORMAT.sub("", composed))
