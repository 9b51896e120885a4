"""Tables and records in files: reading and writing any format by the ending of a file's name."""

from __future__ import annotations

import csv
import json
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import pandas as pd
import pyarrow as pa
from pydantic import BaseModel, ValidationError

from arena.data.checks import validation_problems
from arena.data.errors import (
    CONVERT,
    HALF_SURROGATE,
    HALF_SURROGATE_HINT,
    DataError,
    Problem,
    UsageError,
)
from arena.data.files import MOST_EXPANDED, PACKED, open_text, parsed_json, small_file
from arena.data.parquet import read_parts
from arena.data.rows import Numbered, Rows, is_unstorable, plain_table, rows_of_records
from arena.data.schema import HISTORY, OWN_PASSAGES
from arena.data.types import Record
from arena.data.wording import repeated
from arena.data.writing import atomic_path

CSV_SUFFIXES = (".csv", ".csv.gz", ".csv.zst")
SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.zst", *CSV_SUFFIXES, ".parquet")
"""Endings of files that are written, and that an arena's folder may hold."""
NESTED = (OWN_PASSAGES, HISTORY)
"""Columns of lists, which CSV holds as JSON."""
_NOT_UTF8 = "is not UTF-8 text; nothing after it was read"

# The apostrophe is among them, so that one that readers strip is always ours.
_FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "'", "\t", "\r", "\n")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"JSON has no {name}: write null")


_STRICT_JSON = json.JSONDecoder(parse_constant=_refuse_constant)


def row_suffix(path: Path) -> str:
    """Return a file's suffix, one of ``SUFFIXES``, else UsageError."""
    for suffix in SUFFIXES:
        if path.name.endswith(suffix):
            return suffix
    raise UsageError(f"{path.name}: unknown format; use one of {', '.join(SUFFIXES)}; {CONVERT}")


def read_rows(path: Path, queries: Collection[str] | None = None) -> Rows:
    """Read a table that ``write_rows`` wrote, with lines of rows.

    CSV is UTF-8 with a header and commas; cells are texts, those of ``NESTED`` JSON, empty ones
    missing. Of Parquet, rows of some ``queries`` alone.
    """
    suffix = ".parquet" if path.is_dir() and not path.suffix else row_suffix(path)
    if not path.is_file() and not (suffix == ".parquet" and path.is_dir()):
        raise UsageError(f"there is no file {path}")
    source = path.name
    with readable(path, source):
        if suffix == ".parquet":
            return read_parts(path, source, queries)
        # Bytes that are not UTF-8 become halves of surrogate pairs, so that a line can be named.
        with open_text(path, errors="surrogateescape") as stream:
            if suffix in CSV_SUFFIXES:
                return _csv_rows(stream, source)
            return rows_of_records(json_records(stream, source), source)


@contextmanager
def readable(path: Path, source: str) -> Iterator[None]:
    """Turn errors of a damaged file into a DataError."""
    try:
        # An empty compressed file is cut short: even nothing compresses to some bytes.
        if path.name.endswith(PACKED) and path.stat().st_size == 0:
            raise EOFError("it holds no bytes")
        yield
    except (EOFError, OSError, zlib.error, pa.ArrowException, UnicodeDecodeError) as error:
        # With a number it is an error of the system, such as a disk that fails, not of the data.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        fault = f"cannot be read ({error})"
        raise DataError.of_file(source, fault, "write the file again; it is damaged") from error


def json_records(lines: Iterable[str], source: str) -> Numbered:
    """Yield each line's number and object, or its fault."""
    hint = f"write one JSON object per line; {CONVERT}"
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if is_unstorable(line):
            yield number, Problem(source, number, None, None, _NOT_UTF8, CONVERT)
            return
        try:
            record = parsed_json(line.rstrip(), _STRICT_JSON)
        except ValueError as error:
            yield number, Problem(source, number, None, None, f"is not JSON ({error})", hint)
            continue
        if isinstance(record, dict):
            yield number, record
        else:
            yield number, Problem(source, number, None, None, "is not a JSON object", hint)


def _csv_rows(lines: Iterable[str], source: str) -> Rows:
    csv.field_size_limit(MOST_EXPANDED)
    reader = csv.reader(lines, strict=True)
    try:
        header = next(reader, [])
        if is_unstorable(header):
            raise DataError.of_file(source, _NOT_UTF8, CONVERT, line=1)
        problems = [
            Problem(source, 1, name, None, "appears several times in the header", "keep one")
            for name in repeated(header)
        ]
        if problems:
            raise DataError(problems)
        return rows_of_records(_csv_records(reader, header, source), source, header)
    except csv.Error as error:
        fault = f"is not CSV ({error})"
        raise DataError.of_file(source, fault, CONVERT, line=reader.line_num) from error


def _csv_records(reader: Any, header: Sequence[str], source: str) -> Numbered:  # noqa: ANN401
    line = reader.line_num + 1
    for cells in reader:
        if is_unstorable(cells):
            yield line, Problem(source, line, None, None, _NOT_UTF8, CONVERT)
            return
        if len(cells) == len(header):
            record: Record = {}
            for name, cell in zip(header, cells, strict=True):
                # CSV has no null: an empty cell is a missing value.
                record[name] = _nested_value(cell) if name in NESTED else cell or None
            yield line, record
        elif cells:
            fault = "has more or fewer cells than the header"
            yield line, Problem(source, line, None, None, fault, CONVERT)
        line = reader.line_num + 1


def _nested_value(cell: str) -> object:
    try:
        return parsed_json(cell, _STRICT_JSON)
    except ValueError:
        return cell or None


def write_rows(table: pd.DataFrame, path: Path) -> None:
    """Write a table atomically in its suffix's format, without index.

    The same table gives the same bytes. Missing values are null or empty cells, lists JSON in CSV.

    Raises:
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
            fault = f"a text {HALF_SURROGATE}"
            raise DataError.of_file(path.name, fault, HALF_SURROGATE_HINT) from error


def json_lines(table: pd.DataFrame) -> Iterator[str]:
    """Yield rows as lines of JSON, missing values as null."""
    for record in plain_records(table):
        yield json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"


def plain_records(table: pd.DataFrame) -> list[Record]:
    """Return rows as JSON can hold them, missing values as None."""
    return list(plain_table(table).to_dict(orient="records"))


def _write_csv(table: pd.DataFrame, path: Path) -> None:
    quoting = csv.QUOTE_MINIMAL
    nested = {name: table[name].map(_nested_cell) for name in NESTED if name in table}
    table = table.assign(**nested)
    texts = table.select_dtypes(["object", "string"])
    for name in texts:
        for value in texts[name]:
            # The csv module leaves a lone carriage return unquoted, and reads it as a line end.
            if isinstance(value, str) and "\r" in value:
                quoting = csv.QUOTE_NONNUMERIC
    with open_text(path, "wt") as stream:
        table.to_csv(stream, index=False, lineterminator="\n", quoting=quoting)


def _nested_cell(value: object) -> object:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value


def guarded_csv(table: pd.DataFrame) -> str:
    """Return CSV whose texts no spreadsheet runs."""
    texts = table.select_dtypes(["object", "string"])
    columns = {name: _guarded_column(texts[name]) for name in texts}
    return str(table.assign(**columns).to_csv(index=False, lineterminator="\n"))


def _guarded_column(column: pd.Series) -> pd.Series:
    if column.dtype == object:
        return column.map(_guarded)
    # A table of pairs of systems has few texts in many rows, and nearly always none that runs.
    guarded = {text: _guarded(text) for text in column.unique()}
    return column.replace({text: cell for text, cell in guarded.items() if cell is not text})


def _guarded(cell: Any) -> Any:  # noqa: ANN401 - whatever a cell holds
    if not isinstance(cell, str) or not cell:
        return cell
    runs = cell.startswith(_FORMULA_STARTS) or cell.lstrip().startswith(_FORMULA_STARTS)
    return f"'{cell}" if runs else cell


Content = TypeVar("Content", bound=BaseModel)


def read_record(kind: type[Content], path: Path, hint: str) -> Content:
    """Read a record; ``hint`` says what to do where that fails."""
    try:
        return kind.model_validate_json(small_file(path))
    except ValidationError as error:
        problems = validation_problems(error, path.name, None, lambda _: hint)
        raise DataError(problems) from error


def write_record(content: BaseModel, path: Path) -> None:
    """Write a record as JSON."""
    plain = content.model_dump(mode="json")
    text = json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")
