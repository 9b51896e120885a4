"""Colors for plots and pages, distinguishable with any color vision.

The hues are those of Okabe and Ito, "Color Universal Design" (2008). Color never stands alone:
what it tells is also told by shape or by text.
"""

from __future__ import annotations

from operator import mul
from types import MappingProxyType

OKABE_ITO = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7"),
    *("#E69F00", "#56B4E9", "#F0E442", "#000000"),
)
"""The eight colors, those that stand out on white first."""
BLUE, VERMILLION, BLUISH_GREEN, _, ORANGE, SKY_BLUE, _, BLACK = OKABE_ITO

BOTH = BLACK
"""Ratings of the board: by verdicts and surrogate."""
SURROGATE = BLUE
"""Ratings by the surrogate alone."""
VERDICTS = VERMILLION
"""Ratings by the verdicts alone."""

ON_DARK = MappingProxyType({BLUE: SKY_BLUE, VERMILLION: ORANGE, BLACK: "#FFFFFF"})
"""What to use on a dark ground instead of the colors that are too dark for it."""

SEQUENTIAL = (
    *("#08306B", "#0B4A8F", "#1A65AC", "#3A82BE", "#5E9FCE"),
    *("#86BADB", "#AED2E6", "#D2E4F1", "#EFF5FB"),
)
"""Best to worst: one hue whose lightness rises step by step, so that it also reads in gray."""


def text_on(ground: str) -> str:
    """Return black or white, whichever reads better on ``#RRGGBB``; never below 4.5 to 1 (WCAG)."""
    channels = [int(ground[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in channels
    ]
    luminance = sum(map(mul, (0.2126, 0.7152, 0.0722), linear))
    return BLACK if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else "#FFFFFF"
