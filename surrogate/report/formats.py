"""Numbers as readers see them. Each function shows what is missing as a dash."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import SupportsFloat

MISSING = "–"
MINUS = "−"

Number = SupportsFloat | None


def finite(value: Number) -> float | None:
    """Return a number as float, or None where it is missing or infinite."""
    if value is None:
        return None
    number = float(value) if not _is_na(value) else math.nan
    return number if math.isfinite(number) else None


def _is_na(value: object) -> bool:
    return type(value).__name__ in {"NAType", "NaTType"}


def decimal(value: Number, digits: int = 2) -> str:
    """Show a number with fixed decimals; one that rounds to zero has no sign."""
    number = finite(value)
    if number is None:
        return MISSING
    text = f"{abs(number):,.{digits}f}"
    negative = number < 0 and float(text.replace(",", "")) != 0
    return f"{MINUS}{text}" if negative else text


def significant(value: Number) -> str:
    """Show a number of any size with about three digits."""
    number = finite(value)
    if number is None:
        return MISSING
    size = abs(number)
    if size >= 1e6 or 0 < size < 5e-4:
        return f"{number:.2e}".replace("-", MINUS)
    digits = 3 if size < 1 else 2 if size < 10 else 1 if size < 1000 else 0
    return decimal(number, digits)


def whole(value: Number) -> str:
    """Show a count, with commas between thousands."""
    return decimal(value, 0)


def percent(value: Number, digits: int = 0) -> str:
    """Show a share; what is not quite all never rounds to 100%."""
    number = finite(value)
    if number is None:
        return MISSING
    shown = round(100 * number, digits)
    if shown >= 100 and number < 1:
        shown = 100 - 10.0**-digits
    return f"{decimal(shown, digits)}%"


def interval(low: Number, high: Number, digits: int = 2) -> str:
    """Show an interval in brackets, or a dash where either end is missing."""
    if finite(low) is None or finite(high) is None:
        return MISSING
    return f"[{decimal(low, digits)}, {decimal(high, digits)}]"


def rank_range(low: Number, high: Number) -> str:
    """Show ranks from best to worst, such as ``2–5``; one rank alone where they are the same."""
    if finite(low) is None or finite(high) is None:
        return MISSING
    return whole(low) if finite(low) == finite(high) else f"{whole(low)}–{whole(high)}"


def count_of(count: int, noun: str, plural: str | None = None) -> str:
    """Show a count with its noun, such as ``1 system`` or ``12 systems``."""
    return f"{whole(count)} {noun if count == 1 else plural or noun + 's'}"


def listing(words: Iterable[str]) -> str:
    """Join words by commas; a dash for none."""
    return ", ".join(words) or MISSING
