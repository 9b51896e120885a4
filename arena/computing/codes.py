"""Integer codes of a table's values, to compare and count millions of rows fast."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.schema import CRITERION, JUDGMENTS, SIDES, VOTER
from arena.data.types import Codes, Flags, Floats, Indices

Number = TypeVar("Number", bound=np.number)

CODED = (*JUDGMENTS.columns, CRITERION, SIDES, VOTER)
"""Columns of judgments with few distinct texts in many rows."""
_MOST_KEYS = 2**62
"""Keys stay below this number, which 64 bits hold."""
DENSE = 4
"""A table of all possible codes is used up to this many cells per code."""


class Distinct(NamedTuple):
    """Sorted distinct numbers, (D,), and each number's index, (N,)."""

    values: Indices
    codes: Indices

    @property
    def first_rows(self) -> Indices:
        """Return the first row of each distinct number, shape (D,)."""
        rows = np.empty(len(self.values), dtype=np.intp)
        # Where an index is repeated, the last value assigned stays.
        rows[self.codes[::-1]] = np.arange(len(self.codes), dtype=np.intp)[::-1]
        return rows

    def sums(self, weights: Floats | None) -> Floats:
        """Add weights, (N,), by distinct number, (D,); None counts them."""
        return np.bincount(self.codes, weights, len(self.values)).astype(np.float64)


def summable(values: Floats, largest_sum: npt.ArrayLike) -> Floats:
    """Round values so that no sum up to ``largest_sum`` depends on their order in any bit.

    Adding and subtracting a large number leaves multiples of one unit. Doubles hold sums of up to
    2^51 units exactly, and halves of units for ties (Demmel and Nguyen, 2013, "Fast reproducible
    floating-point summation").
    """
    _, exponent = np.frexp(largest_sum)
    large = np.ldexp(3.0, exponent)
    return np.asarray((values + large) - large)


def coded_judgments(judgments: pd.DataFrame) -> pd.DataFrame:
    """Turn names and ids into sorted categories unless they are categories already."""
    coded: dict[str, pd.Series] = {}
    for name in CODED:
        if name in judgments and not isinstance(judgments[name].dtype, pd.CategoricalDtype):
            codes, values = pd.factorize(judgments[name], sort=True)
            categories = pd.Categorical.from_codes(codes, values)
            coded[name] = pd.Series(categories, judgments.index)
    return judgments.assign(**coded)


def without_categories(judgments: pd.DataFrame) -> pd.DataFrame:
    """Turn categories into their values."""
    kinds = {
        name: kind.categories.dtype
        for name, kind in judgments.dtypes.items()
        if isinstance(kind, pd.CategoricalDtype)
    }
    return judgments.astype(kinds) if kinds else judgments


def value_codes(values: pd.Series) -> tuple[Codes, pd.Index]:
    """Number a column's values, (N,), -1 where missing; also return the values."""
    column = values.array
    if not isinstance(column, pd.Categorical):
        codes, distinct_values = pd.factorize(values)
        return codes, pd.Index(distinct_values)
    codes = column.codes
    categories = column.categories
    if len(codes) and not codes.any():
        return codes, categories[:1]
    is_used = np.zeros(len(categories) + 1, dtype=np.bool_)
    # A missing value has the code -1, which is the last place.
    is_used[codes] = True
    is_used = is_used[:-1]
    if is_used.all():
        return codes, categories
    numbers = (np.cumsum(is_used) - 1).astype(codes.dtype)
    return looked_up(numbers, codes), categories[is_used]


def are_among(values: pd.Series, names: Collection[str]) -> Flags:
    """Return what pandas' ``isin`` returns, (N,); faster for columns with few distinct names."""
    return value_flags(values, set(names).__contains__)


def value_flags(values: pd.Series, holds: Callable[[str], bool]) -> Flags:
    """Return for which values a test holds, (N,); each distinct value is tested once."""
    codes, distinct_values = value_codes(values)
    # A missing value has the code -1, which is the last place.
    flags = [*map(holds, distinct_values.tolist()), False]
    return np.array(flags, dtype=np.bool_)[codes]


def text_codes(values: pd.Series) -> tuple[Codes, list[str]]:
    """Number the values of a column as texts."""
    codes, distinct_values = value_codes(values)
    # Numbers and texts may be written alike.
    merged, texts = pd.factorize(np.array([str(value) for value in distinct_values], dtype=object))
    return looked_up(merged, codes), list(texts)


def looked_up(numbers: npt.NDArray[Number], codes: Codes) -> npt.NDArray[Number]:
    """Return the number of each code, shape (N,); -1 of a missing value."""
    if np.array_equal(numbers, np.arange(len(numbers))):
        return codes.astype(numbers.dtype, copy=False)
    with_missing = np.append(numbers, numbers.dtype.type(-1))
    values = np.empty(len(codes), dtype=numbers.dtype)
    for rows in blocks(len(codes)):
        values[rows] = with_missing[codes[rows]]
    return values


def blocks(n_rows: int) -> list[slice]:
    """Split rows into parts whose intermediate numbers are held at a time."""
    rows_at_once = 500_000
    return [slice(at, at + rows_at_once) for at in range(0, n_rows, rows_at_once)]


def repeated_rows(table: pd.DataFrame, keep: Literal["first", "last", False] = "first") -> Flags:
    """Return what pandas' ``duplicated`` returns, faster, (N,): which rows equal an earlier row."""
    keys, _ = row_keys(table)
    is_repeated = np.zeros(len(keys), dtype=np.bool_)
    # Few rows equal another, and only those are compared in order.
    candidates = np.flatnonzero(_are_shared(keys))
    is_repeated[candidates] = pd.Series(keys[candidates]).duplicated(keep)
    return is_repeated


def _are_shared(keys: Indices) -> Flags:
    """Return which keys equal another one, shape (N,), in half the time of sorting them."""
    are_shared = np.zeros(len(keys), dtype=np.bool_)
    random = np.random.default_rng(0)
    rows = np.arange(len(keys), dtype=np.uint32)
    remaining = keys.view(np.uint64)
    while len(rows):
        # Multiplicative hashing (Knuth): by the high bits of a product with an odd number.
        n_bits = len(rows).bit_length() + 1
        factor = np.uint64(2 * int(random.integers(2**63)) + 1)
        shift = np.uint64(64 - n_bits)
        holders = np.empty(2**n_bits, dtype=rows.dtype)
        for block in blocks(len(rows)):
            holders[((remaining[block] * factor) >> shift).view(np.intp)] = rows[block]
        unequal = []
        for block in blocks(len(rows)):
            holder = holders[((remaining[block] * factor) >> shift).view(np.intp)]
            is_other = holder != rows[block]
            row, holder = rows[block][is_other], holder[is_other]
            is_equal = keys[row] == keys[holder]
            are_shared[row[is_equal]] = True
            are_shared[holder[is_equal]] = True
            unequal.append(row[~is_equal])
        # Those that share a slot with another key are compared again, in slots by another factor.
        rows = np.concatenate(unequal)
        remaining = keys[rows].view(np.uint64)
    return are_shared


def row_keys(table: pd.DataFrame, *, is_sorted: bool = False) -> tuple[Indices, int]:
    """Number rows, equal ones alike, (N,); also count possible keys."""
    keys = np.zeros(len(table), dtype=np.intp)
    n_possible = 1
    for name in table:
        try:
            codes, values = value_codes(table[name])
        except TypeError:
            codes, values = value_codes(table[name].astype(str))
        if len(values) == 1 and (codes == 0).all():
            continue
        if is_sorted:
            order, _ = pd.factorize(values, sort=True)
            codes = looked_up(order, codes)
        if n_possible > _MOST_KEYS // (len(values) + 1):
            compact = distinct(keys, n_possible)
            keys = compact.codes
            n_possible = len(compact.values)
        keys *= len(values) + 1
        keys += codes
        keys += 1
        n_possible *= len(values) + 1
    return keys, n_possible


def distinct(numbers: npt.NDArray[np.intp], n_possible: int) -> Distinct:
    """Return the distinct numbers, each below ``n_possible``, faster than ``numpy.unique``."""
    if n_possible <= DENSE * len(numbers):
        is_present = np.zeros(n_possible, dtype=np.bool_)
        is_present[numbers] = True
        values = np.flatnonzero(is_present)
        codes = np.empty(n_possible, dtype=np.intp)
        codes[values] = np.arange(len(values), dtype=np.intp)
        return Distinct(values, codes[numbers])
    order = stable_order(numbers, n_possible)
    in_order = numbers[order]
    is_first = np.ones(len(numbers), dtype=np.bool_)
    np.not_equal(in_order[1:], in_order[:-1], out=is_first[1:])
    codes = np.empty(len(numbers), dtype=np.intp)
    codes[order] = np.cumsum(is_first) - 1
    return Distinct(in_order[is_first], codes)


def stable_order(numbers: npt.NDArray[np.intp], n_possible: int) -> Indices:
    """Return the stable sorting order, faster than ``argsort``."""
    n_bits = len(numbers).bit_length()
    if n_possible > _MOST_KEYS >> n_bits:
        return np.argsort(numbers, kind="stable")
    # Sorting numbers that have their row number in the low bits takes half the time of argsort.
    with_rows = (numbers << n_bits) | np.arange(len(numbers))
    with_rows.sort()
    return with_rows & ((1 << n_bits) - 1)
