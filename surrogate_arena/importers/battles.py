"""Battles: tables of who met, who won, and who says so.

A row is a comparison of two systems: with sides (``system_a, system_b, winner``), without
(``winner, loser``, or counts of wins). ``names.toml`` has names of columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from arena.data.errors import DataError, UsageError, counted_problems
from arena.data.judges import UNKNOWN_JUDGE
from arena.data.languages import UNDETERMINED, language_code
from arena.data.schema import (
    CHOSEN,
    CRITERION,
    DIGESTS,
    PROBABILITIES,
    REPEAT,
    SIDES,
    SIDES_SHOWN,
    VERDICT_FLAGS,
    VOTER,
)
from arena.data.types import Indices
from arena.data.wording import count_of
from arena.rating.biases import TRAIT
from arena.rating.judgments import sideless_by_name
from surrogate_arena.importers.battle_rows import BattleRows
from surrogate_arena.importers.battle_traits import trait_lines, with_trait_columns
from surrogate_arena.importers.battle_verdicts import are_counts, one_row_each, read_verdicts
from surrogate_arena.importers.collected import question_id
from surrogate_arena.importers.columnar import ColumnTable, column_table
from surrogate_arena.importers.contract import (
    Columns,
    are_numbers,
    are_texts,
    cells_of,
    chosen_columns,
    root_of,
    with_paths,
)
from surrogate_arena.importers.refused_battles import refuse_battles
from surrogate_arena.importers.repeated_votes import with_repeats, without_replaced_votes
from surrogate_arena.importers.values import name_text, option
from surrogate_arena.importers.verdict_values import StatedValues

_OUR_COLUMNS = (CHOSEN, REPEAT, SIDES, VERDICT_FLAGS)
"""Columns of our own tables that stay as they are."""
_OUR_DETAILS = (*DIGESTS, "probability", "prompt", "reason")
"""Columns of our own tables that say nothing of who won."""
HUMAN = "human"
"""The judge where voters are named and no judge is."""
_SIDES = ("system_a", "system_b")
_FIELDS_OF_SIDES = ("system", "answer", "conversation", "wins", "probability")
"""Fields that both sides of a battle have."""
_NO_NAMES: Mapping[str, str] = MappingProxyType({})
_NO_VALUES: Mapping[str, StatedValues] = MappingProxyType({})


@dataclass(frozen=True)
class BattleOptions:
    """Options of reading battles.

    Attributes:
        columns: Field to column, where ``names.toml`` lacks its name.
        values: Meanings of values by column; see ``stated_values``.
        judge: Judge of all battles; None reads it from the file.
        languages: Question's id to its language, for files without this column.
        no_sides: Whether columns do not tell sides.
        traits: Counts of the answers to read, see ``with_trait_columns``.
        further: Columns, or paths in their cells, to keep as they are.
    """

    columns: Mapping[str, str] = field(default_factory=lambda: _NO_NAMES)
    values: Mapping[str, StatedValues] = field(default_factory=lambda: _NO_VALUES)
    judge: str | None = None
    language: str = UNDETERMINED
    languages: Mapping[str, str] = field(default_factory=lambda: _NO_NAMES)
    no_sides: bool = False
    traits: tuple[str, ...] = ()
    further: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReadBattles:
    """Battles that were read.

    Attributes:
        table: An arena's ``judgments``, names and ids as categories, in the order of the file.
        rows: Row of the file of each judgment, shape (N,).
        names: Field to the column it was read from.
        frame: The file's rows, with a column for each path that was named.
        unread: Columns that nothing was read from.
    """

    table: pd.DataFrame
    rows: Indices
    names: Mapping[str, str]
    understood: tuple[str, ...]
    skipped: Mapping[str, int]
    frame: pd.DataFrame
    unread: tuple[str, ...] = ()


def read_battles_file(path: Path, options: BattleOptions, source: str | None = None) -> ReadBattles:
    """Read the battles of one file; see ``battles_of``."""
    return battles_of(column_table(path, source), options)


def battles_of(table: ColumnTable, options: BattleOptions) -> ReadBattles:
    """Read the battles of a table.

    Rows without a verdict are left out, and votes that their voter replaced.
    """
    if table.problems:
        raise DataError(list(table.problems))
    further = {name: name for name in options.further}
    table = replace(table, frame=with_paths(table.frame, {**options.columns, **further}))
    columns = _columns_of_battles(table, options.columns)
    table, columns_of_traits = with_trait_columns(table, options.traits)
    rows = BattleRows(table, columns.names, columns.unread)
    rows.understood += columns.notes()
    rows.understood += trait_lines(columns_of_traits)
    judgments = _judged(rows, options)
    read = [*options.further, *chain.from_iterable(columns_of_traits.values())]
    ours = {*_OUR_COLUMNS, *_OUR_DETAILS, *read, *map(root_of, read)}
    return ReadBattles(
        table=judgments.reset_index(drop=True),
        rows=judgments.index.to_numpy(),
        names=columns.names,
        understood=tuple(rows.understood),
        skipped={reason: count for reason, count in rows.skipped.items() if count},
        frame=table.frame,
        unread=tuple(name for name in columns.unread if name not in ours),
    )


def _judged(rows: BattleRows, options: BattleOptions) -> pd.DataFrame:
    sides = _sides(rows)
    has_sides = _has_sides(rows) and not options.no_sides
    verdicts = read_verdicts(rows, sides, options.values)
    judgments = _judgments(rows, sides, verdicts, options)
    if rows.problems:
        raise DataError(counted_problems(rows.problems))
    if not has_sides:
        judgments = judgments.assign(**{SIDES: SIDES_SHOWN[1]})
    judgments = sideless_by_name(judgments)
    judgments = without_replaced_votes(rows, judgments)
    if options.judge is None:
        judgments = with_repeats(rows, judgments)
    if judgments.empty:
        reasons = "; ".join(f"{reason}: {count}" for reason, count in rows.skipped.items() if count)
        raise UsageError(f"{rows.table.source}: there is no judgment in it ({reasons})")
    return judgments


def _judgments(
    rows: BattleRows,
    sides: Mapping[str, pd.Series],
    verdicts: pd.DataFrame,
    options: BattleOptions,
) -> pd.DataFrame:
    columns: dict[str, pd.Series] = {
        "query_id": _questions(rows),
        "language": _languages(rows, options),
        **sides,
        **_judges(rows, options),
    }
    if rows.has(CRITERION):
        columns[CRITERION] = rows.texts(CRITERION)
    traits = [f"{TRAIT}{name}" for name in options.traits]
    for name in (*_OUR_COLUMNS, *options.further, *traits):
        if name in rows.table.frame and name not in columns:
            columns[name] = rows.table.frame[name].astype(object)
    is_anywhere = are_counts(rows) and not rows.has_questions
    if is_anywhere:
        # Battles that are counted together are not known to be on one question.
        verdicts = one_row_each(verdicts)
    table = pd.DataFrame(columns, copy=False)
    if not np.array_equal(verdicts["row"], np.arange(len(table))):
        table = table.iloc[verdicts["row"]]
    if is_anywhere:
        table["query_id"] = _numbered_battles(len(table)).array
    table.insert(4, "winner", verdicts["winner"].array)
    for name in verdicts.columns.difference(["row", "winner"]):
        table[name] = verdicts[name].array
    return table


def _columns_of_battles(table: ColumnTable, chosen: Mapping[str, str]) -> Columns:
    columns = chosen_columns([table.frame], "battles", chosen)
    columns = _with_both_sides(columns, chosen)
    columns = _with_counts_of_ties(table, columns)
    names = columns.names
    if {"winner", "loser"} <= names.keys() and "system_a" not in names:
        return columns
    missing = [name for name in ("system_a", "system_b") if name not in names]
    has_winner = "winner" in names or "wins_a" in names or PROBABILITIES[0] in names
    if not has_winner:
        missing.append("winner")
    if missing:
        refuse_battles(table, columns, missing)
    return columns


def _with_both_sides(columns: Columns, chosen: Mapping[str, str]) -> Columns:
    names = dict(columns.names)
    unread = list(columns.unread)
    for name in _FIELDS_OF_SIDES:
        sides = [f"{name}_a", f"{name}_b"]
        known = [side for side in sides if side in names]
        if len(known) == 1 and known[0] not in chosen:
            unread.append(names.pop(known[0]))
    return replace(columns, names=names, unread=tuple(unread))


def _with_counts_of_ties(table: ColumnTable, columns: Columns) -> Columns:
    names = dict(columns.names)
    if "wins_a" not in names or "tie" not in names or "ties" in names:
        return columns
    if are_numbers(table.column(names["tie"]).cells):
        names["ties"] = names.pop("tie")
    return replace(columns, names=names)


# Who met


def _sides(rows: BattleRows) -> dict[str, pd.Series]:
    fields = _SIDES if rows.has("system_a") else ("winner", "loser")
    sides = {}
    for side, name in zip(_SIDES, fields, strict=True):
        systems = rows.texts(name)
        is_missing = systems.isna().to_numpy()
        rows.fault(is_missing, rows.column(name), "is no name", "write the name of the system")
        sides[side] = systems
    names = sorted({name for systems in sides.values() for name in systems.cat.categories})
    for side, systems in sides.items():
        sides[side] = systems.cat.set_categories(names)
    code_a, code_b = (systems.cat.codes.to_numpy() for systems in sides.values())
    is_same = (code_a == code_b) & (code_a >= 0)
    rows.fault(is_same, rows.column(fields[1]), "is compared with itself", "leave the row out")
    return sides


def _has_sides(rows: BattleRows) -> bool:
    """Return whether columns tell who was shown first, and note if not."""
    if not rows.has("system_a"):
        rows.understood.append("winner and loser do not say who was shown first")
        return False
    if are_counts(rows):
        rows.understood.append("counts of wins do not say who was shown first")
        return False
    return True


# On what question, in what language, by whom


def _questions(rows: BattleRows) -> pd.Series:
    for name in ("query_id", "question"):
        if not rows.has(name):
            continue
        ids = rows.texts(name)
        if ids.isna().any():
            continue
        n_questions = count_of(int(ids.cat.codes.nunique()), "question")
        rows.understood.append(f"{n_questions}, identified by {rows.names[name]!r}")
        if name == "query_id":
            return ids
        return ids.cat.rename_categories([question_id(text) for text in ids.cat.categories])
    rows.understood.append(
        "each battle is a question of its own; if a column identifies questions: "
        f"{option('column', _suggested_question(rows))}"
    )
    return _numbered_battles(len(rows))


def _numbered_battles(n_battles: int) -> pd.Series:
    numbers = pc.cast(pa.array(np.arange(1, n_battles + 1)), pa.string())
    ids = pd.Index(pd.array(pc.binary_join_element_wise("battle", numbers, "-"), dtype="str"))
    return pd.Series(pd.Categorical.from_codes(np.arange(n_battles), categories=ids))


def _suggested_question(rows: BattleRows) -> str:
    texts = []
    for name in rows.unread:
        values = rows.table.frame[name]
        if are_texts(cells_of([rows.table.frame], name)) and values.nunique() < len(rows):
            texts.append(name)
    return f"question={texts[0]}" if len(texts) == 1 else "query_id=NAME"


def _languages(rows: BattleRows, options: BattleOptions) -> pd.Series:
    default = options.language
    if rows.has("language"):
        column = rows.column("language")
        is_unknown = column.where(lambda cell: _language_of(cell) is None)
        reason = f"{column.name!r} holds no known language: read as {UNDETERMINED}"
        rows.skipped[reason] += int(is_unknown.sum())
        languages = column.texts(lambda cell: _language_of(cell) or UNDETERMINED)
        return _filled(languages, default)
    if options.languages and rows.has("query_id"):
        known = options.languages
        column = rows.column("query_id")
        return column.texts(lambda cell: known.get(str(name_text(cell)), default))
    return _constant(rows, default)


def _language_of(cell: object) -> str | None:
    return language_code(cell) if isinstance(cell, str) else None


def _judges(rows: BattleRows, options: BattleOptions) -> dict[str, pd.Series]:
    columns: dict[str, pd.Series] = {}
    default = UNKNOWN_JUDGE
    if rows.has(VOTER):
        columns[VOTER] = rows.texts(VOTER)
        default = HUMAN
    if options.judge is None and rows.has("judge"):
        columns["judge"] = _filled(rows.texts("judge"), default)
    else:
        columns["judge"] = _constant(rows, options.judge or default)
    return columns


def _filled(texts: pd.Series, default: str) -> pd.Series:
    if texts.notna().all():
        return texts
    if default not in texts.cat.categories:
        texts = texts.cat.add_categories([default])
    return texts.fillna(default)


def _constant(rows: BattleRows, text: str) -> pd.Series:
    codes = np.zeros(len(rows), dtype=np.intp)
    return pd.Series(pd.Categorical.from_codes(codes, [text]))
