"""Workbooks with a sheet for each system, which are read where the sheets can be nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from arena.data.errors import DataError
from arena.data.rows import Rows
from surrogate_arena.importers.cells import is_missing_cell
from surrogate_arena.importers.files import files_below, shown_path
from surrogate_arena.importers.system_columns import is_system
from surrogate_arena.importers.table_columns import SINGLE, TableLayout, table_layout
from surrogate_arena.importers.tables import table_suffix
from surrogate_arena.importers.workbooks import WORKBOOKS, rows_of_sheets

_UNNAMED = re.compile(r"(?:sheet|tabelle|feuille?|hoja|foglio|planilha)\s*\d*", re.IGNORECASE)
"""Names that programs give to sheets."""


def sheets_of_systems(
    paths: Sequence[Path | str], columns: Mapping[str, str]
) -> tuple[list[Rows], TableLayout] | None:
    """Return the sheets of a workbook with their names as systems, and their layout.

    None unless that is certain: all sheets have the same columns and the same questions, no two
    have the same answers, and their names may be those of systems.

    Args:
        paths: Files, of which there must be one; more may be systems themselves.
        columns: Field to the column that the user chose.
    """
    files = files_below(paths)
    if len(files) != 1 or table_suffix(files[0]) not in WORKBOOKS or "system" in columns:
        return None
    try:
        sheets = rows_of_sheets(files[0], shown_path(files[0], paths))
    except DataError:
        # A sheet that was not needed so far, with a column twice.
        return None
    if len(sheets) < 2 or not all(map(_names_a_system, sheets)):
        return None
    tables = []
    for name, rows in sheets.items():
        if rows.problems or "system" in rows.table:
            return None
        tables.append(replace(rows, table=rows.table.assign(system=name).astype(object)))
    if len({tuple(rows.table) for rows in tables}) > 1:
        return None
    layout = table_layout(tables, columns, is_broken=False)
    if layout is None or layout.sides != SINGLE or layout.columns.names["system"] != "system":
        return None
    questions, answers = (layout.columns.names[field] for field in ("question", "answer"))
    if len({frozenset(_texts_in(rows, questions)) for rows in tables}) > 1:
        return None
    all_answers = {tuple(_texts_in(rows, answers)) for rows in tables}
    return (tables, layout) if len(all_answers) == len(tables) else None


def _names_a_system(sheet: str) -> bool:
    return is_system(sheet) and _UNNAMED.fullmatch(sheet.strip()) is None


def _texts_in(rows: Rows, column: str) -> list[str]:
    return [str(cell).strip() for cell in rows.table[column] if not is_missing_cell(cell)]
