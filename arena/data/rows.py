"""Reading and writing rows: JSONL, CSV and Parquet, plain or compressed (.gz, .zst).

Tables of others are read in further forms: JSON, tab-separated text, and workbooks of Excel.
"""

from __future__ import annotations

import csv
import json
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pandas as pd
import pyarrow as pa

from arena.data.delimited import (
    COMMA,
    LOOKED_AT,
    TAB,
    Dialect,
    clean_header,
    dialect_of,
    fitted,
    lines_above_header,
    stated_delimiter,
)
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
    LINE,
    MOST_CELLS,
    MOST_EXPANDED,
    MOST_LINES,
    PACKED,
    atomic_path,
    lenient_text,
    open_text,
    parsed_json,
    part_files,
    read_parquet,
    refuse_beyond,
    with_partition,
)
from arena.data.json_shapes import json_items
from arena.data.wording import count_of, repeated
from arena.data.workbooks import WORKBOOKS, read_workbook

CSV_SUFFIXES = (".csv", ".csv.gz", ".csv.zst")
SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.zst", *CSV_SUFFIXES, ".parquet")
"""Endings of files that are written, and that an arena's folder may hold."""
TABLE_SUFFIXES = (
    *SUFFIXES,
    *(f"{name}{packed}" for name in (".ndjson", ".tsv") for packed in ("", *PACKED)),
    *WORKBOOKS,
)
"""Endings of files that hold a table, whatever wrote it."""
READ_SUFFIXES = (
    *TABLE_SUFFIXES,
    *(f"{name}{packed}" for name in (".json", ".txt") for packed in ("", *PACKED)),
)
"""Endings of files that are read as tables where they are named; others may hold anything."""
MOST_JSON_BYTES = 2**30
"""A file that is one JSON value is read in one piece: a larger one is refused."""
MOST_BAD_LINES = 100_000
"""After so many lines that are no record, the others are not looked at."""

_NOT_UTF8 = re.compile("[\udc80-\udcff]")
JSON_NAMES = {dict: "object", list: "array", str: "string", int: "number", float: "number"}
JSON_NAMES |= {bool: "boolean", type(None): "null"}
_ONE_OBJECT_A_LINE = "write one JSON object a line"
_ONE_ARRAY = "write one JSON array of objects"
_SAVE_AS_UTF8 = "save the file as UTF-8, as 'CSV UTF-8' in Excel or by iconv -f CP1252 -t UTF-8"

Numbered = Iterable[tuple[int, dict[str, Any] | Problem]]
"""Lines with their numbers: what each holds, or what is wrong with it."""


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
        notes: What a user should know of how the file was read.
    """

    table: pd.DataFrame
    lines: pd.Series
    source: str
    problems: tuple[Problem, ...] = ()
    is_frame: bool = False
    sources: pd.Series | None = None
    notes: tuple[str, ...] = ()

    def problem(self, row: object, field: str, value: object, fault: str, hint: str) -> Problem:
        """Say what is wrong in a row, which its label in ``table`` names."""
        line = int(self.lines.loc[row])
        return Problem(self.source_of(row), line, field, value, fault, hint, self.is_frame)

    def problems_of(
        self,
        wrong: pd.Series,
        fields: Sequence[str],
        fault: tuple[str, str] | Callable[[object, Any], tuple[str, str]],
    ) -> list[Problem]:
        """Say of some rows, with their values of some fields, what is wrong and what to do."""
        found = self.table.loc[wrong, list(fields)]
        rows = found.itertuples(name=None)
        items = [(row, tuple(key) if len(key) > 1 else key[0]) for row, *key in rows]

        def tell(item: tuple[object, Any]) -> Problem:
            said = fault(*item) if callable(fault) else fault
            return self.problem(item[0], "+".join(fields), item[1], *said)

        return counted_problems(items, tell)

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
    """A row that is no record."""

    def __init__(self, fault: str, hint: str) -> None:
        self.fault = fault
        self.hint = hint

    def problem(self, source: str, line: int | None) -> Problem:
        return Problem(source, line, None, None, self.fault, self.hint)


@dataclass(frozen=True)
class _NotUtf8(Problem):
    """A line that is not UTF-8; a file's are told as one problem."""


class _NotUtf8Error(_BadRowError):
    """A row that is not UTF-8, mostly one of many."""

    def problem(self, source: str, line: int | None) -> Problem:
        return _NotUtf8(source, line, None, None, self.fault, self.hint)


def row_suffix(path: Path) -> str:
    """Return the one of ``SUFFIXES`` that a file's name ends in; a UsageError if there is none."""
    for suffix in SUFFIXES:
        if path.name.endswith(suffix):
            return suffix
    raise UsageError(f"{path.name}: unknown format; use one of {', '.join(SUFFIXES)}")


def table_suffix(path: Path) -> str:
    """Return the one of ``READ_SUFFIXES`` that a file's name ends in, in any case.

    Raises:
        UsageError: If there is none.
    """
    for suffix in READ_SUFFIXES:
        if path.name.lower().endswith(suffix):
            return suffix
    raise UsageError(f"{path.name}: unknown format; use one of {', '.join(READ_SUFFIXES)}")


def read_rows(
    path: Path, source: str | None = None, queries: Collection[str] | None = None
) -> Rows:
    """Read a table, keeping every row's line.

    JSONL, CSV, tab-separated text, a JSON array (or an object around one), a workbook of Excel,
    Parquet, or a folder of Parquet files. Text is UTF-8, or UTF-16 with a byte order mark. CSV
    knows neither null nor nested values: an empty cell reads as missing, every other cell as a
    string. Its delimiter is the one by which rows fit the header, or that a line ``sep=;`` states.
    Names of columns lose spaces at their edges; empty rows, and columns at the end that have
    neither a name nor a value, are none. NaN and infinite numbers are missing values.

    Problems call the file by ``source``, or its name. Of Parquet, only rows whose ``query_id``
    is among ``queries`` are taken, if these are given.

    Raises:
        UsageError: If the format is unknown or there is no such file.
        DataError: If the file is damaged, or holds more than ``arena.data.files`` reads.
    """
    suffix = ".parquet" if path.is_dir() and not path.suffix else table_suffix(path)
    if not path.is_file() and not (suffix == ".parquet" and path.is_dir()):
        raise UsageError(f"there is no file {path}")
    source = path.name if source is None else source
    try:
        if suffix == ".parquet":
            return _read_parts(path, source, queries)
        if suffix in WORKBOOKS:
            return _read_workbook(path, source)
        is_plain = not suffix.endswith(PACKED)
        if path.stat().st_size == 0 and not is_plain:
            raise EOFError("it holds no bytes")
        if suffix.startswith((".csv", ".tsv", ".txt")):
            return _read_csv(path, source, COMMA if suffix.startswith(".csv") else TAB)
        if suffix.startswith(".json") and not suffix.startswith(".jsonl"):
            return _read_json(path, source)
        return rows_of_records(json_records(path, source), source)
    except (EOFError, OSError, zlib.error, pa.ArrowException, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        fault, hint = f"cannot be read ({error})", "write the file again; it is damaged"
        raise DataError([Problem(source, None, None, None, fault, hint)]) from error


def _read_parts(path: Path, source: str, queries: Collection[str] | None) -> Rows:
    parts = []
    for file in part_files(path):
        name = source if file == path else f"{source}/{file.relative_to(path).as_posix()}"
        table = with_partition(read_parquet(file, name, queries), file, path)
        lines = list(range(1, len(table) + 1))
        if LINE in table.column_names:
            lines, table = table[LINE].to_pylist(), table.drop_columns(LINE)
        cells = {column: _objects(table[column]) for column in table.column_names}
        found = pd.DataFrame(cells, range(len(table)), dtype=object)
        parts.append(Rows(found, pd.Series(lines, dtype=int), name))
    if len(parts) == 1:
        return parts[0]
    tables = [part.table for part in parts] or [pd.DataFrame()]
    whole = plain_table(pd.concat(tables, ignore_index=True).astype(object))
    lines = pd.Series([line for part in parts for line in part.lines], dtype=int)
    sources = [part.source for part in parts for _ in part.lines]
    return Rows(whole, lines, source, sources=pd.Series(sources, dtype=object))


def _objects(column: pa.ChunkedArray) -> list[Any]:
    """Return a column as Python objects, a text once, however many rows hold it."""
    if not pa.types.is_string(column.type) and not pa.types.is_large_string(column.type):
        held: list[Any] = column.to_pylist()
        is_number = pa.types.is_floating(column.type)
        return [None if value != value else value for value in held] if is_number else held
    encoded = column.cast(pa.large_string()).dictionary_encode().combine_chunks()
    texts = np.array([*encoded.dictionary.to_pylist(), None], dtype=object)
    return list(texts[encoded.indices.fill_null(-1).to_numpy()])


def _read_csv(path: Path, source: str, usual: str) -> Rows:
    csv.field_size_limit(MOST_EXPANDED)
    with lenient_text(path) as stream:
        texts = _bounded_lines(stream, source)
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
        if twice := _repeated_columns(header, source, line):
            return rows_of_records(((line, problem) for problem in twice), source)
        return rows_of_records(_csv_rows(reader, source, before, header), source, header)


def _repeated_columns(header: Sequence[str], source: str, line: int) -> list[Problem]:
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
            _check_encoding("".join(cells))
            if not any(cells):
                continue
            row = fitted(cells, len(header)) if header else cells
            if row is None:
                hint = "quote cells that hold commas or line breaks"
                raise _BadRowError("has more or fewer cells than the header", hint)
        except csv.Error as error:
            fault = f"is not CSV ({error}); nothing after it was read"
            hint = "put cells that hold quotes in quotes, and double the quotes inside"
            yield line, Problem(source, line, None, None, fault, hint)
            return
        except _BadRowError as bad:
            yield line, bad.problem(source, line)
        else:
            named = zip(header, row, strict=False)
            yield line, {name: cell or None for name, cell in named} if header else row


def _read_workbook(path: Path, source: str) -> Rows:
    sheet = read_workbook(path, source)
    if not sheet.rows:
        return Rows(pd.DataFrame(), pd.Series(dtype=int), source)
    header = clean_header(sheet.rows[0])
    if twice := _repeated_columns(header, source, sheet.first_line):
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


def _read_json(path: Path, source: str) -> Rows:
    """Read a file that holds one JSON value, or an object a line whatever its name says."""
    try:
        return rows_of_items(read_json_value(path, source, _ONE_ARRAY), source)
    except DataError:
        rows = rows_of_records(json_records(path, source), source)
        if rows.table.empty or len(rows.lines) + len(rows.problems) < 2:
            raise
        return rows


def rows_of_items(value: object, source: str) -> Rows:
    """Make rows of a JSON value that ``json_items`` reads, by the places of its items.

    Raises:
        DataError: If it holds no items.
    """
    numbered = enumerate(_items(value, source), start=1)
    return rows_of_records(
        ((place, json_object(item, source, place)) for place, item in numbered), source
    )


def _items(value: object, source: str) -> list[Any]:
    try:
        return json_items(value)
    except ValueError as error:
        raise DataError([Problem(source, None, None, None, str(error), _ONE_ARRAY)]) from None


def _bounded_lines(stream: TextIO, source: str) -> Iterator[str]:
    for number, line in enumerate(stream, start=1):
        refuse_beyond(source, number, MOST_LINES, "lines")
        yield line


def json_records(path: Path, source: str) -> Numbered:
    """Yield each line of a JSONL file with its number: the object it holds, or what is wrong.

    Of a file that is one JSON array, in spite of its name, the items with their places.
    """
    with lenient_text(path) as stream:
        numbered = enumerate(_bounded_lines(stream, source), start=1)
        first = next(((number, line) for number, line in numbered if line.strip()), None)
        if first is None:
            return
        if _opens_array(first[1]):
            yield from _records_of_array(path, source)
            return
        for number, line in chain([first], numbered):
            if line.strip():
                try:
                    value = _json_value(line.rstrip(), _ONE_OBJECT_A_LINE)
                    yield number, json_object(value, source, number)
                except _BadRowError as bad:
                    yield number, bad.problem(source, number)


def _opens_array(line: str) -> bool:
    """Tell whether a file's first line is that of an array that goes on, or of a whole table."""
    text = line.strip()
    if text in ("[", "{"):
        return True
    return text.startswith("[{") and not text.startswith("[{}")


def _records_of_array(path: Path, source: str) -> Numbered:
    items = _items(read_json_value(path, source, _ONE_OBJECT_A_LINE), source)
    for place, item in enumerate(items, start=1):
        yield place, json_object(item, source, place)


def rows_of_records(numbered: Numbered, source: str, columns: Iterable[str] = ()) -> Rows:
    """Make rows of numbered lines, as ``json_records`` yields them; columns come as they come."""
    cells: dict[str, list[Any]] = {name: [] for name in columns}
    lines, problems = list[int](), list[Problem]()
    texts: dict[str, str] = {}  # each once, however many rows hold it
    not_utf8 = list[_NotUtf8]()
    for number, found in numbered:
        if isinstance(found, _NotUtf8):
            not_utf8.append(found)
            continue
        if isinstance(found, Problem):
            problems.append(found)
            if len(problems) == MOST_BAD_LINES:
                break
            continue
        new = [name for name in found if name not in cells]
        refuse_beyond(source, (len(cells) + len(new)) * (len(lines) + 1), MOST_CELLS, "cells")
        cells |= {name: [None] * len(lines) for name in new}
        for name, held in cells.items():
            value = found.get(name)
            held.append(texts.setdefault(value, value) if isinstance(value, str) else value)
        lines.append(number)
    table = {name: pd.Series(held, dtype=object) for name, held in cells.items()}
    if not_utf8:
        problems = sorted([*problems, _first_of(not_utf8)], key=lambda each: each.line or 0)
    told, index = tuple(counted_problems(problems)), range(len(lines))
    return Rows(pd.DataFrame(table, index), pd.Series(lines, dtype=int), source, told)


def _first_of(lines: Sequence[_NotUtf8]) -> Problem:
    """Tell of lines that are not UTF-8 as one problem, which one save corrects."""
    first = lines[0]
    more = len(lines) - 1
    fault = f"{first.fault}, nor {'is' if more == 1 else 'are'} {count_of(more, 'further line')}"
    fault = fault if more else first.fault
    return Problem(first.source, first.line, None, None, fault, first.hint)


def json_object(value: object, source: str, line: int) -> dict[str, Any] | Problem:
    """Return a value of JSON if it is an object, else say what stands there."""
    if isinstance(value, dict):
        return value
    fault = f"holds a JSON {JSON_NAMES[type(value)]}, not an object"
    return Problem(source, line, None, None, fault, _ONE_OBJECT_A_LINE)


def read_json_value(path: Path, source: str, hint: str = "write one JSON value") -> Any:  # noqa: ANN401
    """Read a file that is one JSON value, of at most ``MOST_JSON_BYTES``.

    Raises:
        UsageError: If it is too large to be read in one piece.
        DataError: If it is no JSON.
    """
    if path.stat().st_size > MOST_JSON_BYTES:
        raise UsageError(f"{path} is larger than {MOST_JSON_BYTES:,} bytes; write it as .jsonl")
    with lenient_text(path) as stream:
        text = stream.read()
    try:
        return _json_value(text, hint)
    except _BadRowError as bad:
        raise DataError([bad.problem(source, None)]) from None


def _json_value(text: str, hint: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    _check_encoding(text)
    try:
        return parsed_json(text, cls=_strict)
    except json.JSONDecodeError as error:
        fault = f"is not JSON ({error.msg} at column {error.colno})"
        raise _BadRowError(fault, hint) from error
    except ValueError as error:
        raise _BadRowError(f"is not usable JSON ({error})", hint) from error


def _distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        twice = repeated(key for key, _ in pairs)[0]
        raise _BadRowError(f"holds the key {twice!r} several times", "keep one of them")
    return record


def _missing_constant(_name: str) -> None:
    """Read NaN and infinities, which programs write for missing numbers, as such."""


@cache
def _strict() -> json.JSONDecoder:
    return json.JSONDecoder(object_pairs_hook=_distinct_keys, parse_constant=_missing_constant)


def _check_encoding(text: str) -> None:
    if wrong := None if text.isascii() else _NOT_UTF8.search(text):
        byte = ord(wrong.group()) - 0xDC00
        fault = f"is not UTF-8 text (byte 0x{byte:02x} at character {wrong.start() + 1})"
        raise _NotUtf8Error(fault, _SAVE_AS_UTF8)


def write_rows(table: pd.DataFrame, path: Path) -> None:
    """Write a table atomically in the format its suffix names.

    The same table gives the same bytes; the index is left out. Missing values are written as null
    (JSONL, Parquet) or as empty cells (CSV).

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
                with open_text(temporary, "wt") as stream:
                    stream.writelines(json_lines(table))
        except UnicodeEncodeError as error:
            told = (f"a text {HALF_SURROGATE}", HALF_SURROGATE_HINT)
            raise DataError([Problem(path.name, None, None, None, *told)]) from error


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
    for name in texts:
        if any(isinstance(value, list | tuple | dict | set) for value in texts[name]):
            fault = f"CSV cannot hold the nested values of {name!r}; use .jsonl or .parquet"
            raise UsageError(f"{path.name}: {fault}")
    # The csv module leaves a lone carriage return unquoted, and then reads it as a line end.
    quote_all = any(isinstance(v, str) and "\r" in v for name in texts for v in texts[name])
    quoting = csv.QUOTE_NONNUMERIC if quote_all else csv.QUOTE_MINIMAL
    with open_text(path, "wt") as stream:
        table.to_csv(stream, index=False, lineterminator="\n", quoting=quoting)
