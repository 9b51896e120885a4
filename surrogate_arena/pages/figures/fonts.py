"""Fonts of figures: families by script, fonts that are new, and characters that none has."""

from __future__ import annotations

import logging
import re
import unicodedata
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

FONT_FAMILIES = (
    "DejaVu Sans",
    "Noto Sans",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans CJK KR",
    "Source Han Sans SC",
    "PingFang SC",
    "Hiragino Sans",
    "Apple SD Gothic Neo",
    "Microsoft YaHei",
    "Malgun Gothic",
    "Noto Sans Devanagari",
    "Noto Sans Bengali",
    "Noto Sans Gurmukhi",
    "Noto Sans Gujarati",
    "Noto Sans Oriya",
    "Noto Sans Tamil",
    "Noto Sans Telugu",
    "Noto Sans Kannada",
    "Noto Sans Malayalam",
    "Noto Sans Sinhala",
    "Nirmala UI",
    "Noto Sans Thai",
    "Noto Sans Khmer",
    "Noto Sans Myanmar",
    "Noto Sans Ethiopic",
    "Noto Sans Arabic",
    "Noto Sans Symbols2",
    "Noto Emoji",
)
"""Families asked for a character one after the other, of those that are installed."""
CJK = re.compile("CJK|HIRAGANA|KATAKANA|HANGUL|BOPOMOFO|IDEOGRAPHIC|FULLWIDTH|HALFWIDTH")
"""Starts of the Unicode names of characters of Chinese, Japanese and Korean."""
FONTS = {
    "cjk": "Noto Sans CJK (on Debian fonts-noto-cjk)",
    "letters": "Noto Sans (on Debian fonts-noto-core)",
    "symbols": "Noto Emoji or Noto Sans Symbols 2",
}
"""Kind of characters to the fonts that have them, and their package."""
MISSING_GLYPH = re.compile(r"Glyph (\d+) .*missing from")


class MissingGlyphWarning(UserWarning):
    """Characters of a figure that no installed font has."""


@cache
def find_new_fonts() -> None:
    """Let matplotlib know fonts that were installed since it listed all: it keeps that list."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    wanted = {family.replace(" ", "") for family in FONT_FAMILIES} | {"NotoSansCJK"}
    listed = {font.fname for font in fontManager.ttflist}
    for path in sorted(findSystemFonts()):
        if path not in listed and Path(path).stem.partition("-")[0] in wanted:
            fontManager.addfont(path)


@contextmanager
def quiet_fonts() -> Iterator[None]:
    """Do not say of every font in the list that it has no bold: titles take the next best."""
    logger = logging.getLogger("matplotlib.font_manager")

    def is_worth_saying(record: logging.LogRecord) -> bool:
        return not str(record.msg).startswith("findfont: Failed to find font weight")

    logger.addFilter(is_worth_saying)
    try:
        yield
    finally:
        logger.removeFilter(is_worth_saying)


def missing_glyphs(caught: Iterable[warnings.WarningMessage]) -> str:
    """Return the characters that matplotlib's warnings are about."""
    matches = [MISSING_GLYPH.match(str(warning.message)) for warning in caught]
    return "".join(chr(int(match[1])) for match in matches if match)


def warn_of_others(caught: Iterable[warnings.WarningMessage]) -> None:
    """Warn again of what is no missing character."""
    for warning in caught:
        if not MISSING_GLYPH.match(str(warning.message)):
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )


def warn_of_missing_glyphs(characters: str) -> None:
    """Say once which characters are boxes, and which fonts have them."""
    distinct = "".join(dict.fromkeys(characters))
    if not distinct:
        return
    fonts = dict.fromkeys(FONTS[_kind_of_script(mark)] for mark in distinct)
    message = (
        f"no installed font has {distinct!r}: drawn as boxes; install {', and '.join(fonts)}, "
        "and draw again"
    )
    warnings.warn(message, MissingGlyphWarning, stacklevel=3)


def _kind_of_script(mark: str) -> str:
    """Return which of ``FONTS`` has a character."""
    if CJK.match(unicodedata.name(mark, "")):
        return "cjk"
    return "letters" if unicodedata.category(mark)[0] in "LMN" else "symbols"
