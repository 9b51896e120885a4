"""Keeping some languages, systems or judges of an arena's tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd

from arena.data.cells import is_null
from arena.data.errors import UsageError, argument
from arena.data.schema import CRITERION
from arena.data.types import Flags
from arena.data.wording import did_you_mean, first_of


def dropped_names(
    noun: str, chosen: Collection[str] | None, names: Collection[str]
) -> frozenset[str]:
    """Return the names to drop: those that are not chosen, or none if nothing is chosen.

    Args:
        noun: Their kind, such as ``language``, for the message.
        chosen: The names to keep, or a single one; None for all.
        names: All names.

    Raises:
        UsageError: If a chosen name is none of them.
    """
    if chosen is None:
        return frozenset()
    if isinstance(chosen, str):
        chosen = [chosen]
    for name in chosen:
        if name not in names:
            available = f"available: {first_of(tuple(names)) or 'none'}"
            hint = f"{did_you_mean(name, names)} {available}".lstrip()
            raise UsageError(f"no {noun} {name!r} here ({argument(f'{noun}s')}); {hint}")
    return frozenset(names) - frozenset(chosen)


def without_names(names: tuple[str, ...], dropped: Collection[str]) -> tuple[str, ...]:
    """Return the names that are not dropped, in their order."""
    return tuple(name for name in names if name not in dropped)


def are_in(table: pd.DataFrame, others: pd.DataFrame, key: Sequence[str]) -> Flags:
    """Flag the rows of a table whose key a row of another table has, shape (N,)."""
    columns = list(key)
    keys = pd.MultiIndex.from_frame(others[columns])
    return np.asarray(pd.MultiIndex.from_frame(table[columns]).isin(keys))


def without_rows(table: pd.DataFrame, dropped: Mapping[str, Collection[str]]) -> pd.DataFrame:
    """Drop the rows that hold a dropped name in its column."""
    is_dropped = np.zeros(len(table), np.bool_)
    for column, names in dropped.items():
        if names and column in table:
            is_dropped |= table[column].isin(names).to_numpy()
    if is_dropped.any():
        table = table[~is_dropped]
    return table.reset_index(drop=True)


def named_by_criterion(judgments: pd.DataFrame) -> pd.DataFrame:
    """Append the criterion to the names of judges, where judgments have one: ``gpt-4o:fluency``."""
    if CRITERION not in judgments:
        return judgments
    names = []
    for judge, criterion in zip(judgments["judge"], judgments[CRITERION], strict=True):
        is_named = is_null(criterion) or judge.endswith(f":{criterion}")
        names.append(judge if is_named else f"{judge}:{criterion}")
    return judgments.assign(judge=pd.Series(names, judgments.index, judgments["judge"].dtype))
