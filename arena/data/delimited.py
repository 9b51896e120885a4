"""Tables of delimited text as spreadsheets and programs write them: delimiters and headers."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from arena.data.errors import (
    DataError,
    Problem,
)
from arena.data.files import (
    MOST_EXPANDED,
    lenient_text,
)
from arena.data.rows import BadRowError, Rows, bounded_lines, check_encoding, rows_of_records
from arena.data.wording import repeated

COMMA, TAB = ",", "\t"
_DELIMITERS = (COMMA, ";", TAB, "|")
"""Spreadsheets write semicolons where a comma separates decimals."""
_STATED_DELIMITER = re.compile(r'\A"?sep=(?P<mark>.)"?\s*\Z', re.IGNORECASE | re.DOTALL)
UNNAMED = "Unnamed: {}"
"""Name of a column without one, by its number from 0, as pandas has it."""
_NARROW = 2
"""Cells of a row that a text with a comma in it may have."""
LOOKED_AT = 50
"""Lines by which a file's delimiter is known."""


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


def dialect_of(lines: Sequence[str], usual: str = COMMA) -> Dialect:
    """Tell the dialect from a file's first lines.

    Args:
        lines: The header and what follows, with their line ends.
        usual: The delimiter where there is no other sign, and of two that fit equally well.

    Returns:
        The delimiter by which most rows have as many cells as the header, of at least two.
    """
    best, best_fit = usual, (0.0, 1)
    for delimiter in dict.fromkeys((usual, *_DELIMITERS)):
        rows = [row for row in csv.reader(lines, delimiter=delimiter) if any(row)]
        if not rows or len(rows[0]) < 2:
            continue
        body = rows[1:] or rows
        fitting = sum(len(row) == len(rows[0]) for row in body)
        fit = (fitting / len(body), len(rows[0]))
        if fit > best_fit:
            best, best_fit = delimiter, fit
    header = next((row for row in csv.reader(lines, delimiter=best) if any(row)), [])
    further = [cell for cell in header[1:] if cell]
    spaced = best != TAB and bool(further) and all(cell.startswith(" ") for cell in further)
    return Dialect(best, spaced)


def lines_above_header(lines: Sequence[str]) -> int:
    """Return how many lines stand above the header, such as a title; 0 where it is the first.

    They have one cell each, the first by any delimiter, before rows of three or more cells that are
    all of one width.
    """
    title = next((line for line in lines if line.strip()), "")
    if any(delimiter in title for delimiter in _DELIMITERS):
        return 0
    for delimiter in _DELIMITERS:
        widths = [(number, len(row)) for number, row in _numbered_rows(lines, delimiter)]
        first = next((at for at, (_, width) in enumerate(widths) if width > 1), 0)
        below = {width for _, width in widths[first:]}
        if first and len(widths) - first > 1 and len(below) == 1 and min(below) > _NARROW:
            return widths[first][0] - 1
    return 0


def _numbered_rows(lines: Sequence[str], delimiter: str) -> list[tuple[int, list[str]]]:
    """Return the rows that are not empty with the line each begins on, from 1."""
    reader = csv.reader(lines, delimiter=delimiter)
    rows = list[tuple[int, list[str]]]()
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
    return [name or UNNAMED.format(number) for number, name in enumerate(names)]


def fitted(cells: Sequence[object], width: int) -> list[object] | None:
    """Return a row's cells without empty ones beyond the header; None if a row does not fit."""
    row = list(cells)
    while len(row) > width and row[-1] in ("", None):
        row.pop()
    return row if len(row) == width else None


def read_delimited(path: Path, source: str, usual: str) -> Rows:
    """Read delimited text.

    Args:
        path: The file.
        source: What problems call it.
        usual: The delimiter where the first lines do not show another.

    Raises:
        DataError: If the header stands below other text.
    """
    csv.field_size_limit(MOST_EXPANDED)
    with lenient_text(path) as stream:
        texts = bounded_lines(stream, source)
        first_lines = list(islice(texts, LOOKED_AT))
        before = 0
        stated = stated_delimiter(first_lines[0]) if first_lines else None
        if stated is not None:
            before, first_lines = 1, first_lines[1:]
        if above := lines_above_header(first_lines):
            fault = f"the header seems to stand on line {before + above + 1}, below other text"
            hint = "delete the lines above the header"
            raise DataError([Problem(source, 1, None, None, fault, hint)])
        dialect = dialect_of(first_lines, usual) if stated is None else Dialect(stated)
        reader = csv.reader(
            chain(first_lines, texts),
            delimiter=dialect.delimiter,
            skipinitialspace=dialect.skips_spaces,
            strict=True,
        )
        line, cells = next(_csv_rows(reader, source, before), (1, []))
        if isinstance(cells, Problem):
            return rows_of_records([(line, cells)], source)
        header = clean_header(cells)
        if twice := repeated_columns(header, source, line):
            return rows_of_records(((line, problem) for problem in twice), source)
        return rows_of_records(_csv_rows(reader, source, before, header), source, header)


def repeated_columns(header: Sequence[str], source: str, line: int) -> list[Problem]:
    """Tell of each column name that stands several times in a header."""
    fault, hint = "appears several times in the header", "keep one of the columns"
    return [Problem(source, line, name, None, fault, hint) for name in repeated(header)]


def _csv_rows(
    reader: Any,  # noqa: ANN401 - of the csv module, which does not name its type
    source: str,
    before: int,
    header: Sequence[str] = (),
) -> Iterator[tuple[int, Any]]:
    """Yield each row with the line it begins on: its cells, or a record where a header is given.

    Of a row that is at fault a problem; nothing follows one that is not CSV. ``before`` is the
    number of lines that the reader was not given.
    """
    while True:
        line = before + reader.line_num + 1
        try:
            cells = next(reader, None)
            if cells is None:
                return
            check_encoding("".join(cells))
            if not any(cells):
                continue
            row = fitted(cells, len(header)) if header else cells
            if row is None:
                hint = "quote cells that hold commas or line breaks"
                raise BadRowError("has more or fewer cells than the header", hint)
        except csv.Error as error:
            fault = f"is not CSV ({error}); nothing after it was read"
            hint = "put cells that hold quotes in quotes, and double the quotes inside"
            yield line, Problem(source, line, None, None, fault, hint)
            return
        except BadRowError as bad:
            yield line, bad.problem(source, line)
        else:
            named = zip(header, row, strict=False)
            yield line, {name: cell or None for name, cell in named} if header else row
