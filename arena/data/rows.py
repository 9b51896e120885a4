"""Reading and writing rows: JSONL, CSV and Parquet, plain or compressed (.gz, .zst)."""

from __future__ import annotations

import csv
import json
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn, TextIO

import numpy as np
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
    LINE,
    MOST_CELLS,
    MOST_EXPANDED,
    MOST_LINES,
    atomic_path,
    lenient_text,
    open_text,
    parsed_json,
    part_files,
    read_parquet,
    refuse_beyond,
    with_partition,
)
from arena.data.wording import repeated

CSV_SUFFIXES = (".csv", ".csv.gz", ".csv.zst")
SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.zst", *CSV_SUFFIXES, ".parquet")
MOST_JSON_BYTES = 2**30
"""A file that is one JSON value is read in one piece: a larger one is refused."""
MOST_BAD_LINES = 100_000
"""After so many lines that are no record, the others are not looked at."""

_DELIMITERS = (",", ";", "\t")
"""What parts cells: spreadsheets write semicolons where commas part decimals."""
_NOT_UTF8 = re.compile("[\udc80-\udcff]")
JSON_NAMES = {dict: "object", list: "array", str: "string", int: "number", float: "number"}
JSON_NAMES |= {bool: "boolean", type(None): "null"}
_ONE_OBJECT_A_LINE = "write one JSON object a line"

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


def row_suffix(path: Path) -> str:
    """Return the one of ``SUFFIXES`` that a file's name ends in; a UsageError if there is none."""
    for suffix in SUFFIXES:
        if path.name.endswith(suffix):
            return suffix
    raise UsageError(f"{path.name}: unknown format; use one of {', '.join(SUFFIXES)}")


def read_rows(
    path: Path, source: str | None = None, queries: Collection[str] | None = None
) -> Rows:
    """Read a JSONL, CSV or Parquet file, or a folder of Parquet files, keeping every row's line.

    Text is UTF-8, with or without a byte order mark. CSV knows neither null nor nested values:
    an empty cell reads as missing, every other cell as a string. Semicolons or tabs part its cells
    where the header holds no comma.

    Problems call the file by ``source``, or its name. Of Parquet, only rows whose ``query_id``
    is among ``queries`` are taken, if these are given.

    Raises:
        UsageError: If the format is unknown or there is no such file.
        DataError: If the file is damaged, or holds more than ``arena.data.files`` reads.
    """
    suffix = ".parquet" if path.is_dir() and not path.suffix else row_suffix(path)
    if not path.is_file() and not (suffix == ".parquet" and path.is_dir()):
        raise UsageError(f"there is no file {path}")
    source = path.name if source is None else source
    try:
        if suffix == ".parquet":
            return _read_parts(path, source, queries)
        if path.stat().st_size == 0 and suffix not in (".jsonl", ".csv"):
            raise EOFError("it holds no bytes")
        if suffix in CSV_SUFFIXES:
            return _read_csv(path, source)
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


def _read_csv(path: Path, source: str) -> Rows:
    csv.field_size_limit(MOST_EXPANDED)
    with lenient_text(path) as stream:
        texts = _bounded_lines(stream, source)
        first = next(texts, "")
        mark = next((mark for mark in _DELIMITERS if mark in first), _DELIMITERS[0])
        reader = csv.reader(chain([first], texts), delimiter=mark, strict=True)
        line, header = next(_csv_rows(reader, source), (1, []))
        fault, hint = "appears several times in the header", "keep one of the columns"
        wrong = [header] if isinstance(header, Problem) else []
        twice = repeated(() if wrong else header)
        wrong += [Problem(source, line, name, None, fault, hint) for name in twice]
        if wrong:
            return rows_of_records([(line, problem) for problem in wrong], source)
        return rows_of_records(_csv_rows(reader, source, header), source, header)


def _csv_rows(reader: Any, source: str, header: Sequence[str] = ()) -> Iterator[tuple[int, Any]]:  # noqa: ANN401
    """Yield each row with the line it begins on: its cells, or a record where a header is given.

    Of a row that is at fault a problem; nothing follows one that is not CSV.
    """
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
            if cells is None:
                return
            _check_encoding("".join(cells))
            if header and cells and len(cells) != len(header):
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
            if cells:
                named = zip(header, cells, strict=False)
                yield line, {name: cell or None for name, cell in named} if header else cells


def _bounded_lines(stream: TextIO, source: str) -> Iterator[str]:
    for number, line in enumerate(stream, start=1):
        refuse_beyond(source, number, MOST_LINES, "lines")
        yield line


def json_records(path: Path, source: str) -> Numbered:
    """Yield each line of a JSONL file with its number: the object it holds, or what is wrong."""
    with lenient_text(path) as stream:
        for number, line in enumerate(_bounded_lines(stream, source), start=1):
            if line.strip():
                try:
                    value = _json_value(line.rstrip(), _ONE_OBJECT_A_LINE)
                    yield number, json_object(value, source, number)
                except _BadRowError as bad:
                    yield number, bad.problem(source, number)


def rows_of_records(numbered: Numbered, source: str, columns: Iterable[str] = ()) -> Rows:
    """Make rows of numbered lines, as ``json_records`` yields them; columns come as they come."""
    cells: dict[str, list[Any]] = {name: [] for name in columns}
    lines, problems = list[int](), list[Problem]()
    texts: dict[str, str] = {}  # each once, however many rows hold it
    for number, found in numbered:
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
    told, index = tuple(counted_problems(problems)), range(len(lines))
    return Rows(pd.DataFrame(table, index), pd.Series(lines, dtype=int), source, told)


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


def _refuse_constant(name: str) -> NoReturn:
    raise _BadRowError(f"holds {name}, which is not JSON", "write null for a missing number")


@cache
def _strict() -> json.JSONDecoder:
    return json.JSONDecoder(object_pairs_hook=_distinct_keys, parse_constant=_refuse_constant)


def _check_encoding(text: str) -> None:
    if wrong := None if text.isascii() else _NOT_UTF8.search(text):
        byte = ord(wrong.group()) - 0xDC00
        fault = f"is not UTF-8 text (byte 0x{byte:02x} at character {wrong.start() + 1})"
        raise _BadRowError(fault, "save the file as UTF-8")


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
