"""Numbers, names and colors as readers of pages see them; what is missing is a dash.

Colors are the hues of Okabe and Ito, "Color Universal Design" (2008), for any color vision.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from operator import mul
from types import MappingProxyType
from typing import Literal
from urllib.parse import urlsplit

from arena.data.languages import UNDETERMINED, is_language_code, language_name
from arena.data.wording import DIGEST_DIGITS, short_digest
from surrogate_arena.cli.shown_numbers import MINUS, MISSING, Number, decimal, finite

RIGHT_TO_LEFT = frozenset({"ar", "ckb", "dv", "fa", "he", "ks", "ku", "ps", "sd", "ug", "ur", "yi"})
SCRIPTS = MappingProxyType(
    {
        "Arabic script": RIGHT_TO_LEFT - {"he", "yi", "dv"},
        "Cyrillic script": frozenset({"be", "bg", "kk", "ky", "mk", "mn", "ru", "sr", "tg", "uk"}),
        "East Asia": frozenset({"ja", "ko", "zh"}),
        "South Asia": frozenset(
            {"as", "bn", "gu", "hi", "kn", "ml", "mr", "ne", "or", "pa", "sa", "si", "ta", "te"}
        ),
        "Other scripts": frozenset(
            {"am", "dv", "el", "he", "hy", "ka", "km", "lo", "my", "th", "ti", "yi"}
        ),
    }
)
"""Languages by what they are written in; all others are in Latin script."""
LATIN = "Latin script"
LONGEST = 60
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d|conin|conout|index)")
NOT_PLAIN = re.compile(r"[^a-z0-9]+")
BLUE = "#0072B2"
VERMILLION = "#D55E00"
BLUISH_GREEN = "#009E73"
ORANGE = "#E69F00"
SKY_BLUE = "#56B4E9"
BLACK = "#000000"

BOTH = BLACK
"""Ratings of the board: by verdicts and surrogate."""
SURROGATE = BLUE
"""Ratings by the surrogate alone."""
VERDICTS = VERMILLION
"""Ratings by the verdicts alone."""

ON_DARK = MappingProxyType({BLUE: SKY_BLUE, VERMILLION: ORANGE, BLACK: "#FFFFFF"})
"""What to use on a dark ground instead of the colors that are too dark for it."""

SEQUENTIAL = (
    "#08306B",
    "#0B4A8F",
    "#1A65AC",
    "#3A82BE",
    "#5E9FCE",
    "#86BADB",
    "#AED2E6",
    "#D2E4F1",
    "#EFF5FB",
)
"""Best to worst: one hue whose lightness rises step by step, so that it also reads in gray."""


def significant(value: Number) -> str:
    """Show a number of any size with about three digits."""
    number = finite(value)
    if number is None:
        return MISSING
    size = abs(number)
    if size < 1e-9:
        # What rounding leaves, such as the probability of a language that is ruled out.
        return decimal(0, 3)
    if size >= 1e6 or size < 5e-4:
        return f"{number:.2e}".replace("-", MINUS)
    if size < 1:
        return decimal(number, 3)
    if size < 10:
        return decimal(number, 2)
    return decimal(number, 1 if size < 1000 else 0)


def name_parts(text: str, names: Collection[str]) -> list[str]:
    """Cut a text at names of systems: texts and names by turns."""
    if not names:
        return [text]
    # Of two names that begin alike the longer one is meant where it stands.
    longest_first = sorted(names, key=len, reverse=True)
    pattern = "|".join(map(re.escape, longest_first))
    return re.split(rf"(?<!\w)({pattern})(?!\w)", text)


def interval(low: Number, high: Number) -> str:
    """Show an interval in brackets, or a dash where either end is missing."""
    if finite(low) is not None and high == math.inf:
        return f"[{decimal(low)}, ∞)"
    if finite(low) is None or finite(high) is None:
        return MISSING
    return f"[{decimal(low)}, {decimal(high)}]"


def site_name(address: str) -> str:
    """Return the name of the site that an address leads to."""
    return urlsplit(address).netloc or address


def language_groups(codes: Sequence[str]) -> dict[str, list[str]]:
    """Group languages by their script, each by name; one group without a name if they are few."""
    most_without_groups = 8
    named = sorted(codes, key=language_name)
    if len(named) <= most_without_groups:
        return {"": named}
    groups = {script: [code for code in named if code in SCRIPTS[script]] for script in SCRIPTS}
    grouped = {code for members in groups.values() for code in members}
    latin = [code for code in named if code not in grouped]
    return {name: members for name, members in {LATIN: latin, **groups}.items() if members}


def language_tag(code: str) -> str:
    """Return the value of an HTML ``lang`` attribute; ``und`` for what is no language code."""
    return code if is_language_code(code) else UNDETERMINED


def direction(code: str) -> Literal["rtl", "ltr"]:
    """Return the value of an HTML ``dir`` attribute for text in a language."""
    return "rtl" if code in RIGHT_TO_LEFT else "ltr"


def slugs(names: Iterable[str]) -> dict[str, str]:
    """Give every name a slug of lower-case ASCII letters, digits and hyphens.

    It ends in a digest where it would not tell the name from others on every file system; a system
    keeps its address from board to board.
    """
    slug_of: dict[str, str] = {}
    for name in sorted(set(names)):
        stem = NOT_PLAIN.sub("-", name.lower()).strip("-")
        is_plain = stem[:LONGEST] == name and name and not RESERVED.fullmatch(name)
        n_digits = DIGEST_DIGITS
        slug = name
        # A plain name may be another name's slug, and two digests may begin alike.
        while slug in slug_of.values() or not is_plain:
            short_stem = stem[: LONGEST - n_digits - 1].strip("-") or "system"
            slug = f"{short_stem}-{short_digest(name, n_digits)}"
            n_digits += 4
            is_plain = True
        slug_of[name] = slug
    return slug_of


def text_on(ground: str) -> str:
    """Return black or white, whichever reads better on ``#RRGGBB`` (WCAG)."""
    channels = [int(ground[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in channels
    ]
    luminance = sum(map(mul, (0.2126, 0.7152, 0.0722), linear))
    return BLACK if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else "#FFFFFF"
