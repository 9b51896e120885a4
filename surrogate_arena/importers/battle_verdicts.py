"""Winners of battles: by a column of winners, counts of wins, or probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from arena.data.schema import BOTH_BAD, PROBABILITIES, WEIGHT
from arena.data.types import Flags, Indices
from arena.data.wording import count_of
from arena.judging.verdict_parsing import likeliest_winner
from surrogate_arena.importers.battle_rows import BattleRows
from surrogate_arena.importers.columnar import Column
from surrogate_arena.importers.contract import bare_column, paired_columns
from surrogate_arena.importers.values import is_missing_cell, number_of, truth_of
from surrogate_arena.importers.verdict_values import (
    NO_VERDICT,
    ReadValues,
    StatedValues,
    UnclearValuesError,
    read_values,
    side_named,
    stated_values,
    two_meanings,
)

WINNERS = ("a", "b", "tie")
_OUTCOMES = MappingProxyType({"a": 0, "b": 1, "tie": 2, "none": -1})
"""Code of each winner; -1 where there is none."""
_NO_WINNER = "it has no winner"


def are_counts(rows: BattleRows) -> bool:
    """Return whether a row counts two systems' wins; LMArena's ``winner_model_a`` does not."""
    return rows.has("wins_a", "wins_b") and not _are_flags(rows)


def _are_flags(rows: BattleRows) -> bool:
    return bare_column(rows.names["wins_a"]).startswith("winner")


def read_verdicts(
    rows: BattleRows, sides: Mapping[str, pd.Series], stated: Mapping[str, StatedValues]
) -> pd.DataFrame:
    """Read the rows with a verdict: ``row``, ``winner`` and further columns of ``judgments``."""
    if not rows.has("system_a"):
        verdicts = pd.DataFrame({"row": np.arange(len(rows)), "winner": "a"})
        verdicts["winner"] = pd.Categorical(verdicts["winner"], categories=WINNERS)
    elif rows.has("wins_a", "wins_b"):
        verdicts = _by_wins(rows, sides)
    elif rows.has("winner"):
        verdicts = _by_winner(rows, sides, stated)
    else:
        verdicts = _by_probabilities(rows)
    if rows.has(WEIGHT):
        hint = "write a finite number above 0"
        weights = rows.numbers(WEIGHT, "is not a weight", hint)
        column = rows.column(WEIGHT)
        is_other = column.where(_is_no_mark)
        rows.fault(~(weights > 0) & ~is_other, column, "is not a weight", hint)
        count = verdicts[WEIGHT].to_numpy() if WEIGHT in verdicts else 1
        verdicts[WEIGHT] = count * weights[verdicts["row"].to_numpy()]
    return verdicts


def _verdicts(outcomes: Indices) -> pd.DataFrame:
    rows = np.flatnonzero(outcomes >= 0)
    winners = pd.Categorical.from_codes(outcomes[rows], categories=WINNERS)
    return pd.DataFrame({"row": rows, "winner": winners}, copy=False)


def one_row_each(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Write one row per battle counted, unless counts are fractions or many."""
    most_rows = 2_000_000
    counts = verdicts[WEIGHT]
    if (counts % 1 != 0).any() or counts.sum() > most_rows:
        return verdicts
    return verdicts.loc[verdicts.index.repeat(counts.astype(np.intp))].drop(columns=WEIGHT)


# By a column of winners


def _by_winner(
    rows: BattleRows, sides: Mapping[str, pd.Series], stated: Mapping[str, StatedValues]
) -> pd.DataFrame:
    column = rows.column("winner")
    values = _values_of(rows, column, sides, stated)
    if values is None:
        return _verdicts(np.full(len(rows), _OUTCOMES["none"]))
    verdicts_of_cells = [values.verdicts.get(cell, NO_VERDICT) for cell in column.cells]
    # The last is that of a missing cell, whose code is -1.
    by_cell = pd.DataFrame([*verdicts_of_cells, NO_VERDICT])
    outcomes = by_cell["winner"].map(_OUTCOMES).to_numpy(np.int8)[column.codes]
    outcomes = _with_named_systems(rows, column, sides, values, outcomes)
    is_both_bad = by_cell["is_both_bad"].to_numpy()[column.codes]
    outcomes, is_both_bad = _with_tie_columns(rows, outcomes, is_both_bad)
    verdicts = _verdicts(outcomes)
    judged = verdicts["row"].to_numpy()
    rows.skipped[_NO_WINNER] += len(rows) - len(judged)
    if is_both_bad[judged].any():
        verdicts[BOTH_BAD] = is_both_bad[judged]
    shares = by_cell["probability_a"].to_numpy(dtype=np.float64)
    if not np.isnan(shares).all():
        probability_a = shares[column.codes[judged]]
        verdicts[PROBABILITIES[0]], verdicts[PROBABILITIES[1]] = probability_a, 1 - probability_a
    if rows.has(*PROBABILITIES):
        probabilities = _probabilities(rows)
        for name in PROBABILITIES:
            verdicts[name] = probabilities[name].to_numpy()[judged]
    weights = by_cell["weight"].to_numpy()
    if (weights != 1).any():
        verdicts[WEIGHT] = weights[column.codes[judged]]
    n_strong = int(by_cell["is_strong"].to_numpy()[column.codes].sum())
    if n_strong:
        rows.understood.append(
            f"{count_of(n_strong, 'strong verdict')} (>>) count once; to count them three "
            f"times: --values '{column.name}:A>>B=a*3,B>>A=b*3,A>B=a,B>A=b,A=B=tie'"
        )
    return verdicts


def _values_of(
    rows: BattleRows,
    column: Column,
    sides: Mapping[str, pd.Series],
    stated: Mapping[str, StatedValues],
) -> ReadValues | None:
    """Return what the values of winners mean; None, and a fault, if ambiguous."""
    stated_of_column = stated.get(column.name) or stated.get("winner")
    if stated_of_column is None:
        stated_of_column = _numbered_sides(rows, column)
    systems = list(map(str, sides["system_a"].cat.categories))
    try:
        values = read_values(column.cells, column.name, systems, stated_of_column)
    except UnclearValuesError as error:
        rows.fault_value(column, error)
        return None
    if values.assumed:
        rows.understood.append(values.assumed)
    return values


def _numbered_sides(rows: BattleRows, column: Column) -> StatedValues | None:
    sides = [rows.names["system_a"], rows.names["system_b"]]
    if {number_of(cell) for cell in column.cells} - {0.0, 1.0, None}:
        return None
    if not any(paired_columns(sides, "places")):
        return None
    rows.understood.append(f"0 is read as a win of {sides[0]!r}, 1 of {sides[1]!r}")
    return stated_values(["winner:0=a,1=b"])["winner"]


def _with_named_systems(
    rows: BattleRows,
    column: Column,
    sides: Mapping[str, pd.Series],
    values: ReadValues,
    outcomes: Indices,
) -> Indices:
    may_name = np.array([cell in values.names for cell in column.cells] + [False])
    named_rows = np.flatnonzero(may_name[column.codes])
    if not len(named_rows):
        return outcomes
    named = _sides_named(column, sides, named_rows)
    is_side_word = outcomes[named_rows] >= 0
    if (is_side_word & (named < 0)).any():
        # A cell that names neither side of its row shows that words are sides.
        named_rows, named = named_rows[~is_side_word], named[~is_side_word]
    else:
        differing = named_rows[is_side_word & (named != outcomes[named_rows])]
        if len(differing):
            cell = column.cells[column.codes[differing[0]]]
            rows.fault_value(column, two_meanings(cell, column.name))
    outcomes = outcomes.copy()
    outcomes[named_rows] = named
    is_bad = np.zeros(len(outcomes), dtype=np.bool_)
    is_bad[named_rows] = named < 0
    hint = "write the name of one of the two systems of the row, a, b or tie"
    rows.fault(is_bad, column, "is neither system of its row", hint)
    return outcomes


def _sides_named(column: Column, sides: Mapping[str, pd.Series], rows: Indices) -> Indices:
    """Return the outcome that a cell names in some rows, -1 if neither side."""
    codes = {"cell": column.codes[rows]}
    for side, systems in sides.items():
        codes[side] = systems.cat.codes.to_numpy()[rows]
    keys, distinct = pd.factorize(pd.MultiIndex.from_frame(pd.DataFrame(codes)))
    # The last is that of a missing name, whose code is -1.
    names = [*map(str, sides["system_a"].cat.categories), ""]
    outcomes = []
    for cell, code_a, code_b in distinct:
        winner = side_named(column.cells[cell], names[code_a], names[code_b])
        outcomes.append(_OUTCOMES[winner or "none"])
    return np.asarray(np.array(outcomes, dtype=np.intp)[keys])


def _with_tie_columns(
    rows: BattleRows, outcomes: Indices, is_both_bad: Flags
) -> tuple[Indices, Flags]:
    outcomes, is_both_bad = outcomes.copy(), is_both_bad.copy()
    for name in ("tie", "both_bad"):
        if not rows.has(name):
            continue
        column, is_open = rows.column(name), outcomes < 0
        is_unclear = column.where(
            lambda cell: not is_missing_cell(cell) and truth_of(cell) not in (0, 1)
        )
        rows.fault(is_unclear & is_open, column, "is neither true nor false", "write one of these")
        is_tie = column.where(lambda cell: truth_of(cell) == 1) & is_open
        outcomes[is_tie] = _OUTCOMES["tie"]
        is_both_bad |= is_tie & (name == "both_bad")
    return outcomes, is_both_bad


def _is_no_mark(cell: object) -> bool:
    return truth_of(cell) is None and not is_missing_cell(cell)


# By counts of wins, and by probabilities


def _by_wins(rows: BattleRows, sides: Mapping[str, pd.Series]) -> pd.DataFrame:
    hint = "write a number of 0 or more"
    _refuse_mirrored_counts(rows, sides)
    parts = []
    for name, winner in zip(("wins_a", "wins_b", "ties"), WINNERS, strict=True):
        if not rows.has(name):
            continue
        counts = rows.numbers(name, "is no count", hint)
        rows.fault(counts < 0, rows.column(name), "is no count", hint)
        part = _verdicts(np.where(counts > 0, _OUTCOMES[winner], _OUTCOMES["none"]))
        part[WEIGHT] = counts[part["row"].to_numpy()]
        parts.append(part)
    verdicts = pd.concat(parts).sort_values("row", kind="stable", ignore_index=True)
    if not _are_flags(rows):
        return verdicts
    has_several = verdicts["row"].duplicated(keep=False)
    n_judged = verdicts["row"].nunique()
    rows.skipped["several columns of winners are true"] += verdicts["row"][has_several].nunique()
    rows.skipped[_NO_WINNER] += len(rows) - n_judged
    return verdicts[~has_several].drop(columns=WEIGHT).reset_index(drop=True)


def _refuse_mirrored_counts(rows: BattleRows, sides: Mapping[str, pd.Series]) -> None:
    if rows.has_questions or _are_flags(rows):
        return
    counts = [rows.column(name).mapped(number_of) for name in ("wins_a", "wins_b")]
    names = [systems.astype(object) for systems in sides.values()]
    counted = set(zip(*names, *counts, strict=True))
    mirrored = {(b, a, wins_b, wins_a) for a, b, wins_a, wins_b in counted}
    if counted == mirrored and len(counted) == len(rows):
        side_a, side_b = (rows.names[name] for name in sides)
        raise UsageError(
            f"{rows.table.source}: each pair is counted twice, once from either side; keep one row "
            f"by pandas: table[table[{side_a!r}] < table[{side_b!r}]]. If both rows count, number "
            "them in a column query_id"
        )


def _by_probabilities(rows: BattleRows) -> pd.DataFrame:
    probabilities = _probabilities(rows)
    outcomes = np.full(len(rows), _OUTCOMES["none"])
    for row, first, second in probabilities.dropna().itertuples(name=None):
        outcomes[row] = _OUTCOMES[likeliest_winner(first, second)]
    verdicts = _verdicts(outcomes)
    rows.skipped[_NO_WINNER] += len(rows) - len(verdicts)
    for name in PROBABILITIES:
        verdicts[name] = probabilities[name].to_numpy()[verdicts["row"].to_numpy()]
    return verdicts


def _probabilities(rows: BattleRows) -> pd.DataFrame:
    hint = "write two numbers from 0 to 1 whose sum is at most 1, or nothing"
    first, second = (rows.numbers(name, "is no probability", hint) for name in PROBABILITIES)
    is_missing = np.isnan(first) & np.isnan(second)
    rounding = 1e-6
    is_sound = (first >= 0) & (second >= 0) & (first + second <= 1 + rounding)
    column = rows.column(PROBABILITIES[0])
    rows.fault(~is_sound & ~is_missing, column, "is no probability", hint)
    return pd.DataFrame({PROBABILITIES[0]: first, PROBABILITIES[1]: second})
