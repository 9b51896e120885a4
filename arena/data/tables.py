"""Tables in files: reading and writing any format by the ending of a file's name."""

from __future__ import annotations

import csv
import json
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa

from arena.data.delimited import (
    COMMA,
    TAB,
    read_delimited,
)
from arena.data.errors import (
    HALF_SURROGATE,
    HALF_SURROGATE_HINT,
    DataError,
    Problem,
    UsageError,
)
from arena.data.files import (
    PACKED,
    atomic_path,
    open_text,
)
from arena.data.json_rows import json_records, read_json_rows
from arena.data.parquet import read_parts
from arena.data.rows import Rows, plain_table, rows_of_records
from arena.data.workbooks import WORKBOOKS, workbook_rows

if TYPE_CHECKING:
    import pandas as pd


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

FORMULA_STARTS = frozenset("=+-@＝＋－＠'\t\r\n")
"""How cells begin that spreadsheets run, or that ``guarded`` made."""


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
            return read_parts(path, source, queries)
        if suffix in WORKBOOKS:
            return workbook_rows(path, source)
        is_plain = not suffix.endswith(PACKED)
        if path.stat().st_size == 0 and not is_plain:
            raise EOFError("it holds no bytes")
        if suffix.startswith((".csv", ".tsv", ".txt")):
            return read_delimited(path, source, COMMA if suffix.startswith(".csv") else TAB)
        if suffix.startswith(".json") and not suffix.startswith(".jsonl"):
            return read_json_rows(path, source)
        return rows_of_records(json_records(path, source), source)
    except (EOFError, OSError, zlib.error, pa.ArrowException, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        fault, hint = f"cannot be read ({error})", "write the file again; it is damaged"
        raise DataError([Problem(source, None, None, None, fault, hint)]) from error


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


def guarded(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would run as a formula."""
    runs = text[:1] in FORMULA_STARTS or text.lstrip()[:1] in FORMULA_STARTS
    return f"'{text}" if text and runs else text


def guarded_csv(table: pd.DataFrame) -> str:
    """Return a table as CSV for people: no text in it is run by a spreadsheet."""
    texts = table.select_dtypes(["object", "string"])
    safe = {
        name: texts[name].map(lambda cell: guarded(cell) if isinstance(cell, str) else cell)
        for name in texts
    }
    return str(table.assign(**safe).to_csv(index=False, lineterminator="\n"))
