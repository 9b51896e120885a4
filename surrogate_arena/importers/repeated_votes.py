"""Repeated votes on a pair: copies, replacements, and repeats."""

from __future__ import annotations

import numpy as np
import pandas as pd

from arena.computing.codes import repeated_rows, row_keys
from arena.data.judges import names_one_judge
from arena.data.schema import CRITERION, REPEAT, VOTER, WEIGHT
from arena.data.types import Flags
from surrogate_arena.importers.battle_rows import BattleRows

REPLACED = "a later vote of the same person on the same pair replaces it"
COPY = "the row is a copy of another"


def without_replaced_votes(rows: BattleRows, table: pd.DataFrame) -> pd.DataFrame:
    """Keep the last of a person's votes on a pair."""
    # Counts of one row are no votes that replace each other.
    if VOTER not in table or WEIGHT in table or not rows.has_questions:
        return table
    side_a = table["system_a"].cat.codes
    side_b = table["system_b"].cat.codes
    identity = {"low": np.minimum(side_a, side_b), "high": np.maximum(side_a, side_b)}
    for name in ("query_id", "language", "judge", VOTER, CRITERION):
        if name in table:
            identity[name] = table[name].cat.codes
    has_later = repeated_rows(pd.DataFrame(identity), keep="last")
    is_replaced = has_later & _names_one(table[VOTER])
    rows.skipped[REPLACED] += int(is_replaced.sum())
    return table[~is_replaced]


def with_repeats(rows: BattleRows, table: pd.DataFrame) -> pd.DataFrame:
    """Drop copies of rows; number a judge's votes that differ in an unread column."""
    is_judge = _names_one(table["judge"])
    if not rows.has_questions or not is_judge.any():
        return table
    alike = np.flatnonzero(repeated_rows(table, keep=False) & is_judge)
    if not len(alike):
        return table
    judged, _ = row_keys(table.iloc[alike])
    cells, _ = row_keys(rows.table.frame.iloc[table.index[alike]])
    # Counts of one row are several judgments, which differ.
    is_copy = repeated_rows(pd.DataFrame({"judged": judged, "cells": cells}))
    rows.skipped[COPY] += int(is_copy.sum())
    others = pd.Series(judged[~is_copy])
    number = others.groupby(others).cumcount().to_numpy() + 1
    is_repeat = number > 1
    if is_repeat.any():
        repeats = np.full(len(table), None, dtype=object)
        repeats[alike[~is_copy][is_repeat]] = number[is_repeat].astype(str)
        table = table.assign(**{REPEAT: repeats})
    is_kept = np.ones(len(table), dtype=np.bool_)
    is_kept[alike[is_copy]] = False
    return table[is_kept]


def _names_one(names: pd.Series) -> Flags:
    of_categories = [names_one_judge(str(name)) for name in names.cat.categories]
    # The last is that of a missing name, whose code is -1.
    return np.asarray(np.array([*of_categories, False])[names.cat.codes.to_numpy()])
