"""Workbooks of Excel: their first sheet with data, as rows."""

from __future__ import annotations

import datetime as dt
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from arena.data.errors import DataError, MissingDependencyError, Problem
from arena.data.files import MIB, most_expanded, refuse_beyond
from arena.data.rows import Numbered, Rows, rows_of_records
from arena.data.wording import count_of
from surrogate_arena.importers.delimited import (
    clean_header,
    fitted,
    joined_header,
    note_on_joined_header,
    repeated_columns,
)

if TYPE_CHECKING:
    from python_calamine import CalamineSheet

WORKBOOKS = (".xlsx", ".xlsm", ".xls")
MOST_SHEET_CELLS = 20_000_000
"""Cells of the smallest rectangle that holds a sheet; all of them take memory, empty or not."""
MOST_CHARACTERS_OF_CELL = 32_767
"""Excel stores no more in a cell, and cuts longer texts."""
_CELL_REFERENCE = re.compile(rb"""\sr=["']([A-Z]{0,3})([0-9]{1,7})["']""")


@dataclass(frozen=True)
class Sheet:
    """A sheet of a workbook.

    Attributes:
        rows: Cells as text, number or truth value; None if a cell is empty. The first row is
            the header.
        first_line: Row number of the header, from 1.
        notes: Remarks for the user on how it was read.
    """

    rows: list[list[Any]]
    first_line: int
    notes: tuple[str, ...]


def workbook_rows(path: Path, source: str) -> Rows:
    """Read the first sheet with a header and rows of several columns, else the first with data.

    Raises:
        MissingDependencyError: If the package that reads workbooks is not installed.
        DataError: If the file is damaged or protected, holds more than is read, or a header
            repeats a name.
    """
    with _opened_sheets(path, source) as sheets:
        names = list(sheets)
        if not names:
            return Rows(pd.DataFrame(), pd.Series(dtype=int), source)
        sheet = _read_sheet(sheets[names[0]], source)
    unread = _note_on_sheets(source, names)
    return replace(_rows_of_sheet(sheet, source), notes=(*unread, *sheet.notes))


def rows_of_sheets(path: Path, source: str) -> dict[str, Rows]:
    """Read every sheet with a header and rows of several columns, by its name.

    Raises:
        MissingDependencyError: If the package that reads workbooks is not installed.
        DataError: If the file is damaged or protected, holds more than is read, or a header
            repeats a name.
    """
    tables = {}
    with _opened_sheets(path, source) as sheets:
        for name, opened in sheets.items():
            if _is_table(opened):
                place = f"{source}, sheet {name!r}"
                sheet = _read_sheet(opened, place)
                tables[name] = replace(_rows_of_sheet(sheet, place), notes=sheet.notes)
    return tables


def _rows_of_sheet(sheet: Sheet, source: str) -> Rows:
    if not sheet.rows:
        return Rows(pd.DataFrame(), pd.Series(dtype=int), source)
    header = clean_header(sheet.rows[0])
    problems = repeated_columns(header, source, sheet.first_line)
    if problems:
        raise DataError(problems)
    return rows_of_records(_records(sheet, header, source), source, header)


def _records(sheet: Sheet, header: Sequence[str], source: str) -> Numbered:
    for line, cells in enumerate(sheet.rows[1:], start=sheet.first_line + 1):
        row = fitted(cells, len(header))
        if row is None:
            fault = "has a cell beyond the header"
            hint = "give its column a name, or empty it"
            yield line, Problem(source, line, None, None, fault, hint)
        elif any(cell is not None for cell in row):
            yield line, dict(zip(header, row, strict=True))


@contextmanager
def _opened_sheets(path: Path, source: str) -> Iterator[dict[str, CalamineSheet]]:
    """Open the sheets with data by their names; a damaged workbook is a DataError."""
    if find_spec("python_calamine") is None:
        raise MissingDependencyError("reading workbooks", "python-calamine", "excel")
    from python_calamine import CalamineError, CalamineWorkbook

    _check_is_workbook(path, source)
    try:
        _check_size(path, source)
        with CalamineWorkbook.from_path(path) as workbook:
            sheets = {name: workbook.get_sheet_by_name(name) for name in workbook.sheet_names}
            names = [name for name, sheet in sheets.items() if sheet.height and sheet.width]
            # A cover sheet has a header at most, or lines of one cell: tables go first.
            names.sort(key=lambda name: not _is_table(sheets[name]))
            yield {name: sheets[name] for name in names}
    except (CalamineError, zipfile.BadZipFile) as error:
        fault = f"cannot be read ({error})"
        hint = "save it again without a password, or as CSV"
        raise DataError.of_file(source, fault, hint) from error


def _read_sheet(sheet: CalamineSheet, source: str) -> Sheet:
    first_line = sheet.start[0] + 1 if sheet.start else 1
    rows = [[_plain(cell) for cell in row] for row in sheet.to_python()]
    n_merged = _fill_merged(sheet, rows)
    notes = list(_note_on_cut_cells(source, rows))
    n_above = _rows_above_header(rows)
    if n_above:
        above = count_of(n_above, "row")
        notes.append(f"{source}: the header is row {first_line + n_above}; {above} above not read")
    if n_merged:
        cells = count_of(n_merged, "merged cell")
        notes.append(f"{source}: the value of {cells} counts for every row that it covers")
    table = rows[n_above:]
    first_line += n_above
    joined = joined_header(*table[:2]) if len(table) > 2 else None
    if joined is not None:
        table = [list(joined), *table[2:]]
        first_line += 1
        notes.append(f"{source}: {note_on_joined_header(joined)}")
    return Sheet(table, first_line, tuple(notes))


def _rows_above_header(rows: Sequence[Sequence[object]]) -> int:
    """Return the number of first rows above others that hold a first cell at most, as a title is.

    pandas leaves the first cell of a header empty.
    """
    for number, row in enumerate(rows):
        if any(cell is not None for cell in row[1:]):
            return number
    return 0


def _fill_merged(sheet: CalamineSheet, rows: list[list[Any]]) -> int:
    """Give every row below the header the values of the merged cells that cover it.

    Excel stores the value of a merged cell in its first row and column alone.

    Returns:
        How many merged cells cover rows of data.
    """
    first_row, first_column = sheet.start or (0, 0)
    n_filled = 0
    for (top, left), (bottom, right) in sheet.merged_cell_ranges or ():
        # The header's merged cells are titles above columns, not data.
        if top <= first_row or left < first_column:
            continue
        value = rows[top - first_row][left - first_column] if top - first_row < len(rows) else None
        if value is None:
            continue
        n_filled += 1
        # A file may declare a range beyond its cells.
        for row in rows[top - first_row : bottom - first_row + 1]:
            for column in range(left - first_column, min(right - first_column + 1, len(row))):
                row[column] = value
    return n_filled


def _note_on_sheets(source: str, names: Sequence[str]) -> Iterator[str]:
    if len(names) > 1:
        unread = ", ".join(repr(name) for name in names[1:])
        yield f"{source}: the sheet {names[0]!r} was read; not read: {unread}"


def _note_on_cut_cells(source: str, rows: Sequence[Sequence[object]]) -> Iterator[str]:
    n_cut = 0
    for row in rows:
        for cell in row:
            n_cut += isinstance(cell, str) and len(cell) >= MOST_CHARACTERS_OF_CELL
    if n_cut:
        limit = f"{MOST_CHARACTERS_OF_CELL:,} characters, the most that Excel stores"
        yield f"{source}: {n_cut} cells hold {limit}; their texts may be cut"


def _is_table(sheet: CalamineSheet) -> bool:
    """Return whether a sheet has a header and rows, of several columns."""
    return sheet.width > 1 and sheet.height > 1


def _check_is_workbook(path: Path, source: str) -> None:
    """Refuse text that has the name of a workbook, which Excel opens all the same.

    Raises:
        DataError: If the first bytes are not those of a workbook.
    """
    with path.open("rb") as stream:
        start = stream.read(512).lstrip(b"\xef\xbb\xbf \r\n\t")
    # First bytes of a zip archive, and of the old binary form.
    if start.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")) or not start or b"\x00" in start:
        return
    if start.startswith(b"<"):
        fault = "is HTML or XML, not a workbook"
        raise DataError.of_file(source, fault, "open it in Excel and save it as .xlsx")
    raise DataError.of_file(source, "is plain text, not a workbook", "name it .csv or .tsv")


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
    last_row = 0
    last_column = 0
    overlap = b""
    with archive.open(part) as stream:
        while chunk := stream.read(MIB):
            for letters, digits in _CELL_REFERENCE.findall(overlap + chunk):
                last_row = max(last_row, int(digits))
                last_column = max(last_column, _column_number(letters))
            # A reference, 32 bytes at most, may cross the end of a chunk.
            overlap = chunk[-32:]
    return last_row * last_column


def _column_number(letters: bytes) -> int:
    # Letters are digits to the base of 26, A to Z for 1 to 26: AA is 27.
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
