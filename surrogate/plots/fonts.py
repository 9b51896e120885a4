"""Fonts for names in any script.

matplotlib comes with DejaVu Sans, which has Latin, Greek, Cyrillic, Arabic and Hebrew letters, but
none of the scripts of South and East Asia. The families below fill in where they are installed; a
character that none of them has is drawn as a box, and said.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

FONT_FAMILIES = (
    "DejaVu Sans",
    "Noto Sans",
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans CJK KR", "Source Han Sans SC"),
    *("PingFang SC", "Hiragino Sans", "Apple SD Gothic Neo", "Microsoft YaHei", "Yu Gothic"),
    *("Malgun Gothic", "WenQuanYi Micro Hei", "IPAGothic", "NanumGothic"),
    *("Noto Sans Devanagari", "Noto Sans Bengali", "Noto Sans Telugu", "Nirmala UI", "Lohit Hindi"),
    *("Noto Sans Thai", "Noto Sans Arabic", "Noto Sans Symbols2", "Noto Emoji"),
)
"""Families asked for a character one after the other, of those that are installed."""

_MISSING = re.compile(r"Glyph (\d+) .*missing from")


class MissingGlyphWarning(UserWarning):
    """Characters of a figure that no installed font has."""


def installed_families() -> list[str]:
    """Return those of ``FONT_FAMILIES`` that matplotlib finds."""
    from matplotlib.font_manager import fontManager

    installed = {font.name for font in fontManager.ttflist}
    return [family for family in FONT_FAMILIES if family in installed]


@contextmanager
def missing_glyphs_said_once() -> Iterator[None]:
    """Put matplotlib's warnings, one a character and font, together to one; keep all others."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    missing: dict[str, None] = {}
    for warning in caught:
        found = _MISSING.match(str(warning.message))
        if found:
            missing[chr(int(found[1]))] = None
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    if missing:
        warnings.warn(_message("".join(missing)), MissingGlyphWarning, stacklevel=4)


def _message(characters: str) -> str:
    return (
        f"no installed font has {characters!r}: drawn as boxes; install a font such as Noto Sans "
        "of that script (families that are looked for: surrogate.plots.fonts.FONT_FAMILIES)"
    )
