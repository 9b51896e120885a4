"""Values of cells: missing ones, numbers, ids."""

from __future__ import annotations

import math
import re
from numbers import Integral, Real

import pandas as pd

_TRUE = frozenset({"true", "1", "1.0"})
_SURROGATE = re.compile("[\ud800-\udfff]")


def is_null(value: object) -> bool:
    """Return whether a cell is None or NaN, as tables hold missing values."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def is_true(values: pd.Series) -> pd.Series:
    """Return where a column of truth values, or of texts for them, is true."""
    return values.map(lambda value: str(value).lower() in _TRUE).astype(bool)


def finite_number(value: object) -> float | None:
    """Return the finite number that a cell holds, also as digits; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, Real | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def whole_digits(value: object) -> str | None:
    """Write a whole number as an id; None for anything else.

    1.0 is ``1``: pandas makes floats of ids where a cell of their column is empty.
    """
    if isinstance(value, Integral) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return None


def is_unstorable(value: object) -> bool:
    """Return whether a value holds half a surrogate pair, at any depth."""
    if isinstance(value, str):
        return not value.isascii() and _SURROGATE.search(value) is not None
    if isinstance(value, dict):
        return any(is_unstorable(key) or is_unstorable(part) for key, part in value.items())
    return isinstance(value, list) and any(is_unstorable(part) for part in value)
