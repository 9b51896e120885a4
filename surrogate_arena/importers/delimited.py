"""Tables of delimited text as spreadsheets and programs write them: delimiters and headers."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from arena.data.errors import DataError, Problem
from arena.data.files import MOST_EXPANDED
from arena.data.rows import (
    Numbered,
    Rows,
    rows_of_records,
)
from arena.data.wording import repeated
from surrogate_arena.importers.text_files import NotUtf8Error, check_encoding, lenient_text

COMMA = ","
TAB = "\t"
_DELIMITERS = (COMMA, ";", TAB, "|")
"""Spreadsheets write semicolons where a comma separates decimals."""
_STATED_DELIMITER = re.compile(r'\A"?sep=(?P<mark>.)"?\s*\Z', re.IGNORECASE | re.DOTALL)
_LINES_FOR_DIALECT = 50
"""Number of first lines that tell a file's delimiter and header."""


def read_delimited(path: Path, source: str, usual: str) -> Rows:
    """Read delimited text.

    Args:
        path: The file.
        source: What problems call it.
        usual: The delimiter where the first lines do not show another.

    Raises:
        DataError: If there is other text above the header.
    """
    csv.field_size_limit(MOST_EXPANDED)
    with lenient_text(path) as stream:
        first_lines = list(islice(stream, _LINES_FOR_DIALECT))
        n_skipped = 0
        stated = stated_delimiter(first_lines[0]) if first_lines else None
        if stated is not None:
            n_skipped = 1
            first_lines = first_lines[1:]
        _refuse_text_above_header(first_lines, source, n_skipped)
        dialect = dialect_of(first_lines, usual) if stated is None else Dialect(stated)
        reader = csv.reader(
            chain(first_lines, stream),
            delimiter=dialect.delimiter,
            skipinitialspace=dialect.skips_spaces,
            strict=True,
        )
        rows: Iterator[tuple[int, list[str] | Problem]] = _csv_rows(reader, source, n_skipped)
        line, cells = next(rows, (1, []))
        if isinstance(cells, Problem):
            return rows_of_records([(line, cells)], source)
        second = next(rows, None)
        joined = None
        notes: tuple[str, ...] = ()
        if second is not None and not isinstance(second[1], Problem):
            joined = joined_header(cells, second[1])
        if joined is not None:
            cells = joined
            notes = (f"{source}: {note_on_joined_header(joined)}",)
        elif second is not None:
            rows = chain([second], rows)
        header = clean_header(cells)
        problems = repeated_columns(header, source, line)
        if problems:
            return rows_of_records([(line, problem) for problem in problems], source)
        table = rows_of_records(_csv_records(rows, header, source), source, header)
        return replace(table, notes=(*table.notes, *notes))


def _refuse_text_above_header(first_lines: Sequence[str], source: str, n_skipped: int) -> None:
    """Raise DataError if the header is not the first line, but for those skipped."""
    n_above = lines_above_header(first_lines)
    if n_above:
        fault = f"the header seems to be line {n_skipped + n_above + 1}, below other text"
        raise DataError.of_file(source, fault, "delete the lines above the header", line=1)


def _csv_rows(
    reader: Any,  # noqa: ANN401 - of the csv module, which does not name its type
    source: str,
    n_skipped: int,
) -> Iterator[tuple[int, list[str] | Problem]]:
    """Yield the cells of each row that is not empty, or its problem, with the line it begins on.

    Nothing follows a row that is not CSV. ``n_skipped`` counts the lines before the reader's.
    """
    while True:
        line = n_skipped + reader.line_num + 1
        try:
            cells = next(reader, None)
            if cells is None:
                return
            check_encoding("".join(cells))
        except csv.Error as error:
            fault = f"is not CSV ({error}); nothing after it was read"
            hint = "put cells that hold quotes in quotes, and double the quotes inside"
            yield line, Problem(source, line, None, None, fault, hint)
            return
        except NotUtf8Error as bad:
            yield line, bad.problem(source, line)
            return
        if any(cells):
            yield line, cells


def _csv_records(
    rows: Iterable[tuple[int, list[str] | Problem]], header: Sequence[str], source: str
) -> Numbered:
    for line, cells in rows:
        if isinstance(cells, Problem):
            yield line, cells
            continue
        row = fitted(cells, len(header))
        if row is None:
            fault = "has more or fewer cells than the header"
            hint = "quote cells that hold commas or line breaks"
            yield line, Problem(source, line, None, None, fault, hint)
        else:
            # CSV has no null: an empty cell is a missing value.
            yield line, {name: cell or None for name, cell in zip(header, row, strict=True)}


def repeated_columns(header: Sequence[str], source: str, line: int) -> list[Problem]:
    """Return a problem for each column name that a header repeats."""
    fault = "appears several times in the header"
    hint = "keep one of the columns, or number them, as in answer_1 and answer_2"
    return [Problem(source, line, name, None, fault, hint) for name in repeated(header)]


@dataclass(frozen=True)
class Dialect:
    """How the cells of a file are written.

    Attributes:
        delimiter: Character between cells.
        skips_spaces: Whether a space after each delimiter is not part of the cell.
    """

    delimiter: str
    skips_spaces: bool = False


def stated_delimiter(line: str) -> str | None:
    """Return the delimiter that a line such as ``sep=;`` states for Excel; None for any other."""
    match = _STATED_DELIMITER.match(line)
    return match["mark"] if match else None


def dialect_of(lines: Sequence[str], usual: str) -> Dialect:
    """Find the dialect of a file from its first lines.

    Args:
        lines: The header and what follows, with their line ends.
        usual: The delimiter where there is no other sign, and of two that fit equally well.

    Returns:
        The delimiter by which most rows have as many cells as the header, of at least two.
    """
    best = usual
    best_fit = (0.0, 1)
    for delimiter in dict.fromkeys((usual, *_DELIMITERS)):
        rows = _rows_by(delimiter, lines)
        if not rows or len(rows[0]) < 2:
            continue
        width = len(rows[0])
        body = rows[1:] or rows
        n_fitting = sum(len(row) == width for row in body)
        fit = (n_fitting / len(body), width)
        if fit > best_fit:
            best = delimiter
            best_fit = fit
    rows = _rows_by(best, lines)
    names = [cell for cell in rows[0][1:] if cell] if rows else []
    # "name, score": a space after every delimiter is not part of the names.
    skips_spaces = best != TAB and bool(names) and all(name.startswith(" ") for name in names)
    return Dialect(best, skips_spaces)


def _rows_by(delimiter: str, lines: Sequence[str]) -> list[list[str]]:
    return [row for row in csv.reader(lines, delimiter=delimiter) if any(row)]


def lines_above_header(lines: Sequence[str]) -> int:
    """Return the number of lines above the header, such as a title.

    They have one cell each, the first by any delimiter, before rows of three or more cells that are
    all of one width.
    """
    title = next((line for line in lines if line.strip()), "")
    if any(delimiter in title for delimiter in _DELIMITERS):
        return 0
    for delimiter in _DELIMITERS:
        rows = _numbered_rows(lines, delimiter)
        widths = [len(cells) for _, cells in rows]
        n_above = next((index for index, width in enumerate(widths) if width > 1), 0)
        table_widths = widths[n_above:]
        # Two cells in a row may be one text with a comma in it.
        is_table = len(table_widths) > 1 and len(set(table_widths)) == 1 and table_widths[0] > 2
        if n_above and is_table:
            header_line, _ = rows[n_above]
            return header_line - 1
    return 0


def _numbered_rows(lines: Sequence[str], delimiter: str) -> list[tuple[int, list[str]]]:
    """Return the rows that are not empty with the line each begins on, from 1."""
    reader = csv.reader(lines, delimiter=delimiter)
    rows = []
    line = 1
    for row in reader:
        if any(row):
            rows.append((line, row))
        line = reader.line_num + 1
    return rows


def clean_header(header: Sequence[object]) -> list[str]:
    """Return the names of columns: without spaces at the edges, numbered where one has no name.

    Empty cells at the end, which spreadsheets leave, are no columns.
    """
    names = ["" if name is None else str(name).strip() for name in header]
    while names and not names[-1]:
        names.pop()
    # As pandas names a column without a name, by its number from 0.
    return [name or f"Unnamed: {number}" for number, name in enumerate(names)]


def joined_header(first: Sequence[object], second: Sequence[object]) -> list[str] | None:
    """Return the names of columns below titles that span several; None if there are none.

    A title stands over its first column alone, as merged cells are saved. It is one where two or
    more titles stand over the same names: ``alpha, , beta, `` over ``answer, score, answer,
    score`` are ``alpha answer``, ``alpha score``, ``beta answer`` and ``beta score``.
    """
    titles = ["" if cell is None else str(cell).strip() for cell in first]
    names = ["" if cell is None else str(cell).strip() for cell in second]
    while names and not names[-1]:
        names.pop()
    titles += [""] * (len(names) - len(titles))
    if len(titles) > len(names) or titles[0] == "" == names[0]:
        return None
    groups: list[tuple[str, list[str]]] = []
    for title, name in zip(titles, names, strict=True):
        if title or not groups:
            groups.append((title, [name]))
        else:
            groups[-1][1].append(name)
    wide = [below for title, below in groups if title and len(below) > 1]
    # A row of data has other cells below each title.
    if len(wide) < 2 or not all(wide[0]) or len(set(wide[0])) < len(wide[0]):
        return None
    if any(below != wide[0] for below in wide):
        return None
    header = []
    for title, below in groups:
        header += [f"{title} {name}".strip() for name in below]
    return header


def note_on_joined_header(header: Sequence[str]) -> str:
    """Say that a header of two rows was read."""
    return f"the header has two rows, read as {', '.join(header)}"


def fitted(cells: Sequence[object], width: int) -> list[object] | None:
    """Return a row's cells without empty ones beyond the header; None if a row does not fit."""
    row = list(cells)
    while len(row) > width and row[-1] in ("", None):
        row.pop()
    return row if len(row) == width else None
