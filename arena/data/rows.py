"""Reading and writing rows: JSONL, CSV and Parquet, plain or compressed (.gz, .zst)."""

from __future__ import annotations

import csv
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn, TextIO

import pandas as pd
import pyarrow as pa

from arena.data.errors import (
    HALF_SURROGATE,
    HALF_SURROGATE_HINT,
    DataError,
    Problem,
    UsageError,
    counted_problems,
    place_of,
)
from arena.data.files import (
    Bounds,
    atomic_path,
    bounds,
    lenient_text,
    open_text,
    parsed_json,
    read_parquet,
)

JSONL = ".jsonl"
TEXT_SUFFIXES = (JSONL, ".csv")
COMPRESSION_SUFFIXES = ("", ".gz", ".zst")
CSV_SUFFIXES = tuple(f".csv{packed}" for packed in COMPRESSION_SUFFIXES)
SUFFIXES = (
    *(text + packed for text in TEXT_SUFFIXES for packed in COMPRESSION_SUFFIXES),
    ".parquet",
)

_DELIMITERS = (",", ";", "\t")
_NOT_UTF8 = re.compile("[\udc80-\udcff]")
_JSON_NAMES = {
    list: "array",
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    type(None): "null",
}
_ONE_OBJECT_A_LINE = "write one JSON object a line"
_ONE_ARRAY = "write one JSON array of objects"

MOST_JSON_BYTES = 2**30
"""A file that is one JSON value is read in one piece: a larger one is refused."""
MOST_BAD_LINES = 100_000
"""After so many lines that are no record, the others are not looked at."""


@dataclass(frozen=True)
class Rows:
    """Rows of a file as read.

    Attributes:
        table: One row a record, every column of type object, missing values None.
        lines: Line in the file of each row, where it begins (the row number, from 1, for Parquet).
        source: Name of the file.
        problems: Lines that are no record at all (broken JSON, wrong encoding).
        is_frame: Whether they are those of a table in memory; lines then count from 0.
        sources: File of each row, where they are of several.
    """

    table: pd.DataFrame
    lines: pd.Series
    source: str
    problems: tuple[Problem, ...] = ()
    is_frame: bool = False
    sources: pd.Series | None = None

    def problem(self, row: object, field: str, value: object, fault: str, hint: str) -> Problem:
        """Say what is wrong in a row, which its label in ``table`` names."""
        line = int(self.lines.loc[row])
        return Problem(self.source_of(row), line, field, value, fault, hint, self.is_frame)

    def source_of(self, row: object) -> str:
        """Return the file of a row."""
        return self.source if self.sources is None else str(self.sources.loc[row])

    def place(self, row: object, other: object) -> str:
        """Say where another row stands, to one who reads of a row."""
        source, line = self.source_of(other), int(self.lines.loc[other])
        if self.is_frame or source != self.source_of(row):
            return f"at {place_of(source, line, self.is_frame)}"
        return f"on line {line}"


class _BadRowError(Exception):
    """A row that is no record; holds the fault and the hint."""

    def __init__(self, fault: str, hint: str) -> None:
        self.fault = fault
        self.hint = hint


def row_suffix(path: Path) -> str:
    """Return the suffix that tells a file's format, such as ``.jsonl.gz``.

    Raises:
        UsageError: If the format is none of ``SUFFIXES``.
    """
    for suffix in SUFFIXES:
        if path.name.endswith(suffix):
            return suffix
    raise UsageError(f"{path.name}: unknown format; use one of {', '.join(SUFFIXES)}")


def read_rows(path: Path, source: str | None = None) -> Rows:
    """Read a JSONL, CSV or Parquet file, keeping the line of every row.

    Text is UTF-8, with or without a byte order mark. CSV knows neither null nor nested values:
    an empty cell reads as missing, every other cell as a string. Semicolons or tabs part its cells
    where the header holds no comma.

    Args:
        path: File whose suffix is one of ``SUFFIXES``.
        source: What problems call the file; its name, if left out.

    Raises:
        UsageError: If the format is unknown or there is no such file.
        DataError: If the file is damaged, or holds more than ``arena.data.files.Bounds``.
    """
    suffix = row_suffix(path)
    if not path.is_file():
        raise UsageError(f"there is no file {path}")
    source = path.name if source is None else source
    try:
        if suffix == ".parquet":
            return _read_parquet(path, source)
        if path.stat().st_size == 0 and suffix not in TEXT_SUFFIXES:
            raise EOFError("it holds no bytes")
        if suffix in CSV_SUFFIXES:
            return _read_csv(path, source)
        return _read_jsonl(path, source)
    except (EOFError, OSError, zlib.error, pa.ArrowException, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        fault = f"cannot be read ({error})"
        hint = "write the file again; it is damaged"
        raise DataError([Problem(source, None, None, None, fault, hint)]) from error


def _read_parquet(path: Path, source: str) -> Rows:
    columns = read_parquet(path, source)
    table = pd.DataFrame(
        {name: _object_column(columns[name].to_pylist()) for name in columns.column_names}
    )
    return _rows(table, range(1, columns.num_rows + 1), source)


def _object_column(values: list[Any]) -> pd.Series:
    return pd.Series(
        [None if isinstance(value, float) and value != value else value for value in values],
        dtype=object,
    )


def _read_csv(path: Path, source: str) -> Rows:
    limits = bounds()
    with lenient_text(path) as stream, _long_cells(limits.line):
        texts = _bounded_lines(stream, source, limits)
        first = next(texts, "")
        reader = csv.reader(chain([first], texts), delimiter=_delimiter(first), strict=True)
        rows = _csv_rows(reader, source)
        line, header = next(rows, (1, []))
        if isinstance(header, Problem):
            return _rows(pd.DataFrame(), [], source, [header])
        limits.check(source, "columns", len(header))
        repeated = sorted(name for name, count in Counter(header).items() if count > 1)
        if repeated:
            return _rows(pd.DataFrame(), [], source, _repeated_columns(repeated, source, line))
        taken = _Taken(source, limits)
        for line, cells in rows:
            if isinstance(cells, list) and len(cells) != len(header):
                cells = _uneven_csv_row(source, line)
            if not taken.add(line, cells, len(header)):
                break
    table = pd.DataFrame(taken.records, columns=header, dtype=object)
    return _rows(table.where(table != "", None), taken.lines, source, taken.told())


def _delimiter(header: str) -> str:
    """Return what parts the cells: spreadsheets write semicolons where commas part decimals."""
    return next((mark for mark in _DELIMITERS if mark in header), _DELIMITERS[0])


def _csv_rows(reader: Any, source: str) -> Iterator[tuple[int, list[str] | Problem]]:  # noqa: ANN401
    """Yield each row with the line it begins on; nothing follows a row that is not CSV."""
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            fault = f"is not CSV ({error}); nothing after it was read"
            hint = "put cells that hold quotes in quotes, and double the quotes inside"
            yield line, Problem(source, line, None, None, fault, hint)
            return
        if cells is None:
            return
        if not cells:
            continue
        try:
            _check_encoding("".join(cells))
        except _BadRowError as bad:
            yield line, Problem(source, line, None, None, bad.fault, bad.hint)
        else:
            yield line, cells


def _repeated_columns(names: list[str], source: str, line: int) -> list[Problem]:
    fault = "stands several times in the header"
    return [Problem(source, line, name, None, fault, "keep one of the columns") for name in names]


def _uneven_csv_row(source: str, line: int) -> Problem:
    fault = "has more or fewer cells than the header"
    return Problem(source, line, None, None, fault, "quote cells that hold commas or line breaks")


@contextmanager
def _long_cells(most: int) -> Iterator[None]:
    before = csv.field_size_limit(min(most, 2**31 - 1))
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _read_jsonl(path: Path, source: str) -> Rows:
    return rows_of_records(json_records(path, source), source)


def rows_of_records(numbered: Iterable[tuple[int, dict[str, Any] | Problem]], source: str) -> Rows:
    """Make rows of numbered lines, as ``json_records`` yields them."""
    taken = _Taken(source, bounds())
    for number, found in numbered:
        if not taken.add(number, found, len(found) if isinstance(found, dict) else 0):
            break
    return _rows(_object_table(taken.records, source), taken.lines, source, taken.told())


class _Taken:
    """The records of a file as they are read, within bounds, and what is wrong with others."""

    def __init__(self, source: str, limits: Bounds) -> None:
        self.records: list[Any] = []
        self.lines: list[int] = []
        self._problems: list[Problem] = []
        self._source = source
        self._limits = limits
        self._cells = 0

    def add(self, line: int, found: object, cells: int) -> bool:
        """Take a record of so many cells, or a problem; False where reading on has no use."""
        if isinstance(found, Problem):
            self._problems.append(found)
            return len(self._problems) < MOST_BAD_LINES
        self.records.append(found)
        self.lines.append(line)
        self._cells += cells
        self._limits.check(self._source, "rows", len(self.records))
        self._limits.check(self._source, "cells", self._cells)
        return True

    def told(self) -> list[Problem]:
        """Return the first problems, and count the others."""
        return list(counted_problems(self._problems))


def _bounded_lines(stream: TextIO, source: str, limits: Bounds) -> Iterator[str]:
    """Yield the lines of a text, none of them longer, and not more of them empty, than bounds."""
    blank = 0
    while line := stream.readline(limits.line + 1):
        if len(line) > limits.line:
            limits.check(source, "line", len(line))
        if line.isspace():
            blank += 1
            if blank > limits.rows:
                limits.check(source, "rows", blank)
        yield line


def json_records(
    path: Path, source: str, is_held: bool = True
) -> Iterator[tuple[int, dict[str, Any] | Problem]]:
    """Yield each line of a JSONL file with its number: the object it holds, or what is wrong.

    For files that are too large to hold; ``read_rows`` reads all others.

    Args:
        path: The file.
        source: What problems call it.
        is_held: Whether the records are all kept, so that together they have a bound.

    Raises:
        DataError: If it holds more than ``arena.data.files.Bounds``.
    """
    limits = bounds()
    nested = 0
    with lenient_text(path) as stream:
        for number, line in enumerate(_bounded_lines(stream, source, limits), start=1):
            if not line.strip():
                continue
            nested += line.count("{") + line.count("[")
            if is_held:
                limits.check(source, "nested", nested)
            try:
                yield number, _json_record(line.rstrip())
            except _BadRowError as bad:
                yield number, Problem(source, number, None, None, bad.fault, bad.hint)


def read_json_value(
    path: Path, source: str | None = None, hint: str = "write one JSON value"
) -> Any:  # noqa: ANN401 - whatever it holds
    """Read a file that is one JSON value.

    Args:
        path: File of at most ``MOST_JSON_BYTES``.
        source: What problems call the file; its name, if left out.
        hint: What the file should hold.

    Raises:
        UsageError: If there is no such file, or it is too large to be read in one piece.
        DataError: If it is no JSON.
    """
    source = path.name if source is None else source
    if not path.is_file():
        raise UsageError(f"there is no file {path}")
    if path.stat().st_size > MOST_JSON_BYTES:
        raise UsageError(f"{path} is larger than {MOST_JSON_BYTES:,} bytes; write it as .jsonl")
    with lenient_text(path) as stream:
        text = stream.read()
    bounds().check(source, "nested", text.count("{") + text.count("["))
    try:
        return _json_value(text, hint)
    except _BadRowError as bad:
        problem = Problem(source, None, None, None, bad.fault, bad.hint)
        raise DataError([problem]) from None


def read_json_array(path: Path, source: str | None = None) -> Rows:
    """Read a JSON file that holds one array of objects; arguments as of ``read_json_value``.

    Returns:
        A row an object; its line is its place in the array, from 1.

    Raises:
        UsageError: If there is no such file, or it is too large to be read in one piece.
        DataError: If it is no JSON array.
    """
    source = path.name if source is None else source
    items = read_json_value(path, source, _ONE_ARRAY)
    if not isinstance(items, list):
        fault = f"holds a JSON {_json_name(items)}, not an array"
        raise DataError([Problem(source, None, None, None, fault, _ONE_ARRAY)])
    hint = "write an array of objects"
    problems = counted_problems(
        Problem(source, number, None, None, f"is a JSON {_json_name(item)}, not an object", hint)
        for number, item in enumerate(items, start=1)
        if not isinstance(item, dict)
    )
    sound = {line: item for line, item in enumerate(items, start=1) if isinstance(item, dict)}
    return _rows(_object_table(list(sound.values()), source), list(sound), source, problems)


def _json_record(line: str) -> dict[str, Any]:
    record = _json_value(line, _ONE_OBJECT_A_LINE)
    if not isinstance(record, dict):
        fault = f"holds a JSON {_json_name(record)}, not an object"
        raise _BadRowError(fault, _ONE_OBJECT_A_LINE)
    return record


def _json_value(text: str, hint: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    _check_encoding(text)
    try:
        return parsed_json(text, object_pairs_hook=_distinct_keys, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        fault = f"is not JSON ({error.msg} at column {error.colno})"
        raise _BadRowError(fault, hint) from error
    except ValueError as error:
        raise _BadRowError(f"is not usable JSON ({error})", hint) from error


def _json_name(value: object) -> str:
    return "object" if isinstance(value, dict) else _JSON_NAMES[type(value)]


def _distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        repeated = sorted(key for key, count in counts.items() if count > 1)
        raise _BadRowError(f"holds the key {repeated[0]!r} several times", "keep one of them")
    return record


def _refuse_constant(name: str) -> NoReturn:
    raise _BadRowError(f"holds {name}, which is not JSON", "write null for a missing number")


def _check_encoding(text: str) -> None:
    wrong = _NOT_UTF8.search(text)
    if wrong:
        byte = ord(wrong.group()) - 0xDC00
        fault = f"is not UTF-8 text (byte 0x{byte:02x} at character {wrong.start() + 1})"
        raise _BadRowError(fault, "save the file as UTF-8")


def _object_table(records: list[dict[str, Any]], source: str) -> pd.DataFrame:
    columns = list(dict.fromkeys(key for record in records for key in record))
    limits = bounds()
    limits.check(source, "columns", len(columns))
    limits.check(source, "cells", len(columns) * len(records))
    return pd.DataFrame(
        {
            column: pd.Series([record.get(column) for record in records], dtype=object)
            for column in columns
        }
    )


def _rows(
    table: pd.DataFrame, lines: Iterable[int], source: str, problems: Iterable[Problem] = ()
) -> Rows:
    return Rows(table, pd.Series(list(lines), dtype=int), source, tuple(problems))


def write_rows(table: pd.DataFrame, path: Path) -> None:
    """Write a table atomically in the format its suffix names.

    The same table gives the same bytes. Missing values are written as null (JSONL, Parquet) or
    as empty cells (CSV).

    Args:
        table: Rows to write; the index is left out.
        path: Target; its folder must exist.

    Raises:
        UsageError: If the format is unknown, the folder absent or a CSV cell would hold a list.
        DataError: If a text holds half a surrogate pair, which no file can store.
    """
    suffix = row_suffix(path)
    with atomic_path(path) as temporary:
        try:
            if suffix == ".parquet":
                table.to_parquet(temporary, index=False)
            elif suffix in CSV_SUFFIXES:
                _write_csv(table, temporary)
            else:
                _write_jsonl(table, temporary)
        except UnicodeEncodeError as error:
            fault = f"a text {HALF_SURROGATE}"
            problem = Problem(path.name, None, None, None, fault, HALF_SURROGATE_HINT)
            raise DataError([problem]) from error


def _write_jsonl(table: pd.DataFrame, path: Path) -> None:
    with open_text(path, "wt") as stream:
        stream.writelines(json_lines(table))


def json_lines(table: pd.DataFrame) -> Iterator[str]:
    """Yield a table's rows as lines of JSON, missing values as null."""
    for record in plain_records(table):
        yield json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"


def plain_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of Python objects, missing values as None."""
    return table.astype(object).where(table.notna(), None)


def plain_records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a table's rows as JSON can hold them, missing values as None."""
    return list(plain_table(table).to_dict(orient="records"))


def _write_csv(table: pd.DataFrame, path: Path) -> None:
    texts = table.select_dtypes(["object", "string"])
    nests = (list, tuple, dict, set)
    nested = [name for name in texts if any(isinstance(value, nests) for value in texts[name])]
    if nested:
        raise UsageError(
            f"{path.name}: CSV cannot hold the nested values of {nested[0]!r}; "
            "use .jsonl or .parquet"
        )
    # The csv module leaves a lone carriage return unquoted, and then reads it as a line end.
    quote_all = any(isinstance(v, str) and "\r" in v for name in texts for v in texts[name])
    quoting = csv.QUOTE_NONNUMERIC if quote_all else csv.QUOTE_MINIMAL
    with open_text(path, "wt") as stream:
        table.to_csv(stream, index=False, lineterminator="\n", quoting=quoting)
