"""Workbooks of Excel: their first sheet with data, as rows."""

from __future__ import annotations

import datetime as dt
import re
import zipfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.data.delimited import repeated_columns
from arena.data.errors import DataError, MissingDependencyError, Problem
from arena.data.files import MIB, most_expanded, refuse_beyond
from arena.data.rows import Rows, rows_of_records

if TYPE_CHECKING:
    from python_calamine import CalamineSheet

from dataclasses import replace

import pandas as pd

from arena.data.delimited import (
    clean_header,
    fitted,
)

WORKBOOKS = (".xlsx", ".xlsm", ".xls")
MOST_SHEET_CELLS = 20_000_000
"""Cells of the smallest rectangle that holds a sheet; all of them take memory, empty or not."""
MOST_CHARACTERS_OF_CELL = 32_767
"""Excel stores no more in a cell, and cuts what is longer."""
_CELL_REFERENCE = re.compile(rb"""\sr=["']([A-Z]{0,3})([0-9]{1,7})["']""")
_WORKBOOK_SIGNS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""First bytes of a zip archive, and of the old binary form."""
_LONGEST_SIGN = 512
_READ_AT_ONCE, _OVERLAP = MIB, 32


@dataclass(frozen=True)
class Sheet:
    """A sheet of a workbook.

    Attributes:
        rows: Cells as text, number or truth value; None where a cell is empty. The first row is
            the header.
        first_line: Row number of the header, from 1.
        notes: What a user should know of the reading.
    """

    rows: list[list[Any]]
    first_line: int
    notes: tuple[str, ...]


def read_workbook(path: Path, source: str) -> Sheet:
    """Read the first sheet with a header and rows of several columns, else the first with data.

    Raises:
        MissingDependencyError: If the package that reads workbooks is not installed.
        DataError: If the file is damaged or protected, or holds more than is read.
    """
    if find_spec("python_calamine") is None:
        raise MissingDependencyError("reading workbooks", "python-calamine", "excel")
    from python_calamine import CalamineError, CalamineWorkbook

    _check_is_workbook(path, source)
    try:
        _check_size(path, source)
        with CalamineWorkbook.from_path(path) as workbook:
            sheets = [(name, workbook.get_sheet_by_name(name)) for name in workbook.sheet_names]
            used = [(name, sheet) for name, sheet in sheets if sheet.height and sheet.width]
            # A cover sheet has a header at most, or lines of one cell.
            tables = [(name, sheet) for name, sheet in used if _is_table(sheet)]
            filled = [*tables, *(each for each in used if each not in tables)]
            if not filled:
                return Sheet([], 1, ())
            name, sheet = filled[0]
            first_line = sheet.start[0] + 1 if sheet.start else 1
            rows = [[_plain(cell) for cell in row] for row in sheet.to_python()]
    except (CalamineError, zipfile.BadZipFile) as error:
        fault, hint = f"cannot be read ({error})", "save it again without a password, or as CSV"
        raise DataError([Problem(source, None, None, None, fault, hint)]) from error
    notes = []
    if len(filled) > 1:
        others = ", ".join(repr(other) for other, _ in filled[1:])
        notes.append(f"{source}: the sheet {name!r} was read; not read: {others}")
    cut = sum(_may_be_cut(cell) for row in rows for cell in row)
    if cut:
        limit = f"{MOST_CHARACTERS_OF_CELL:,} characters, the most that Excel stores"
        notes.append(f"{source}: {cut} cells hold {limit}; their texts may be cut")
    return Sheet(rows, first_line, tuple(notes))


def _is_table(sheet: CalamineSheet) -> bool:
    """Tell whether a sheet has a header and rows, of several columns."""
    return sheet.width > 1 and sheet.height > 1


def _check_is_workbook(path: Path, source: str) -> None:
    """Refuse text that has the name of a workbook, which Excel opens all the same.

    Raises:
        DataError: If the file begins with no sign of a workbook.
    """
    with path.open("rb") as stream:
        start = stream.read(_LONGEST_SIGN).lstrip(b"\xef\xbb\xbf \r\n\t")
    if start.startswith(_WORKBOOK_SIGNS) or not start:
        return
    is_markup = start.startswith(b"<")
    fault = f"is {'HTML or XML' if is_markup else 'plain text'}, not a workbook"
    hint = "open it in Excel and save it as .xlsx" if is_markup else "name it .csv or .tsv"
    if b"\x00" in start:
        return
    raise DataError([Problem(source, None, None, None, fault, hint)])


def _check_size(path: Path, source: str) -> None:
    """Refuse a workbook that would expand beyond what is read, before anything is taken of it."""
    if not zipfile.is_zipfile(path):
        return  # of the old binary form, whose sheets are small
    with zipfile.ZipFile(path) as archive:
        parts = archive.infolist()
        expanded = sum(part.file_size for part in parts)
        refuse_beyond(source, expanded, most_expanded(path.stat().st_size), "bytes when expanded")
        for part in parts:
            if "worksheets/" in part.filename:
                cells = _cells_of_sheet(archive, part)
                refuse_beyond(source, cells, MOST_SHEET_CELLS, "cells in a sheet")


def _cells_of_sheet(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> int:
    """Return the number of cells from the first one to the last that a sheet names."""
    last_row, last_column, overlap = 0, 0, b""
    with archive.open(part) as stream:
        while chunk := stream.read(_READ_AT_ONCE):
            for letters, digits in _CELL_REFERENCE.findall(overlap + chunk):
                last_row = max(last_row, int(digits))
                last_column = max(last_column, _column_number(letters))
            overlap = chunk[-_OVERLAP:]
    return last_row * last_column


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - ord("A") + 1
    return number


def _plain(cell: object) -> object:
    """Return a cell as JSON could hold it."""
    if isinstance(cell, str):
        return cell or None
    if isinstance(cell, dt.datetime) and cell.time() == dt.time():
        return cell.date().isoformat()
    if isinstance(cell, dt.date | dt.time):
        return cell.isoformat()
    if isinstance(cell, dt.timedelta):
        return str(cell)
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    return cell


def _may_be_cut(cell: object) -> bool:
    return isinstance(cell, str) and len(cell) >= MOST_CHARACTERS_OF_CELL


def workbook_rows(path: Path, source: str) -> Rows:
    """Read a workbook's first sheet with data as rows."""
    sheet = read_workbook(path, source)
    if not sheet.rows:
        return Rows(pd.DataFrame(), pd.Series(dtype=int), source)
    header = clean_header(sheet.rows[0])
    if twice := repeated_columns(header, source, sheet.first_line):
        raise DataError(twice)
    numbered: list[tuple[int, Any]] = []
    for line, cells in enumerate(sheet.rows[1:], start=sheet.first_line + 1):
        row = fitted(cells, len(header))
        if row is None:
            fault, hint = "has a cell beyond the header", "give its column a name, or empty it"
            numbered.append((line, Problem(source, line, None, None, fault, hint)))
        elif any(cell is not None for cell in row):
            numbered.append((line, dict(zip(header, row, strict=True))))
    return replace(rows_of_records(numbered, source, header), notes=sheet.notes)
