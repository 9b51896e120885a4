"""Numbers as readers of the terminal and of pages see them; what is missing is a dash."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, SupportsFloat

from arena.data.wording import percent_of
from surrogate.board.ranks import NARROW

MISSING = "–"
MINUS = "−"
PREDICTED = "about"
"""Stands before the places of a system that verdicts do not rank."""
Number = SupportsFloat | None


def finite(value: Number) -> float | None:
    """Return a number as float, or None if it is missing or infinite."""
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def decimal(value: Number, digits: int = 2) -> str:
    """Show a number with fixed decimals; one that rounds to zero has no sign."""
    number = finite(value)
    if number is None:
        return MISSING
    return f"{number:z,.{digits}f}".replace("-", MINUS)


def whole(value: Number) -> str:
    """Show a count, with commas between thousands."""
    return decimal(value, 0)


def percent(value: Number, digits: int = 0) -> str:
    """Show a share in percent."""
    number = finite(value)
    return MISSING if number is None else percent_of(number, digits).replace("-", MINUS)


def rank_interval(low: Number, high: Number) -> str:
    """Show ranks from best to worst, such as ``2–5``."""
    if finite(low) is None or finite(high) is None:
        return MISSING
    return whole(low) if finite(low) == finite(high) else f"{whole(low)}–{whole(high)}"


def group_of(row: Mapping[str, Number]) -> Literal["judged", "predicted", "absent"]:
    """Return where a system stands on a board: ranked, placed, or neither."""
    if finite(row["rank"]) is not None:
        return "judged"
    return "absent" if finite(row["place_low"]) is None else "predicted"


def open_ranks(row: Mapping[str, Number]) -> str:
    """Show the ranks that are open to a system, such as ``2–5``, or its rank alone."""
    if finite(row["rank_low"]) is None:
        return whole(row["rank"])
    return rank_interval(row["rank_low"], row["rank_high"])


def place(row: Mapping[str, Number]) -> str:
    """Show a system's place: the ranks that are open to it, or where it is predicted."""
    if finite(row["rank"]) is not None:
        return open_ranks(row)
    span = rank_interval(row["place_low"], row["place_high"])
    return span if span == MISSING else f"{PREDICTED} {span}"


def wins(row: Mapping[str, Number]) -> str:
    """Show the share of comparisons won in percent, as precisely as its interval is narrow."""
    return percent(row["wins"], _digits_of_wins(row))


def wins_interval(row: Mapping[str, Number]) -> str:
    """Show the interval of the share of comparisons won, in percent; empty if it is not known."""
    low, high = finite(row["wins_low"]), finite(row["wins_high"])
    if low is None or high is None:
        return ""
    digits = _digits_of_wins(row)
    return f"{decimal(100 * low, digits)} to {decimal(100 * high, digits)}"


def _digits_of_wins(row: Mapping[str, Number]) -> int:
    low, high = finite(row["wins_low"]), finite(row["wins_high"])
    return int(low is not None and high is not None and high - low < NARROW)
