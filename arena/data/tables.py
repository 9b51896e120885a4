"""Tables in files: reading and writing any format by the ending of a file's name."""

from __future__ import annotations

import csv
import json
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from arena.data.delimited import COMMA, TAB, read_delimited
from arena.data.errors import HALF_SURROGATE, HALF_SURROGATE_HINT, DataError, UsageError
from arena.data.files import open_text
from arena.data.json_rows import json_records, read_json_rows
from arena.data.parquet import read_parts
from arena.data.rows import Rows, plain_table, rows_of_records
from arena.data.safe_writes import atomic_path
from arena.data.types import Record
from arena.data.workbooks import WORKBOOKS, workbook_rows

CSV_SUFFIXES = (".csv", ".csv.gz", ".csv.zst")
SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.zst", *CSV_SUFFIXES, ".parquet")
"""Endings of files that are written, and that an arena's folder may hold."""
TABLE_SUFFIXES = (
    *SUFFIXES,
    ".ndjson",
    ".ndjson.gz",
    ".ndjson.zst",
    ".tsv",
    ".tsv.gz",
    ".tsv.zst",
    *WORKBOOKS,
)
"""Endings of files that hold a table, whatever wrote it."""
READ_SUFFIXES = (
    *TABLE_SUFFIXES,
    ".json",
    ".json.gz",
    ".json.zst",
    ".txt",
    ".txt.gz",
    ".txt.zst",
)
"""Endings of files that are read as tables where they are named; others may hold anything."""

# The apostrophe is among them, so that one that readers strip is always ours.
_FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "'", "\t", "\r", "\n")


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
    """Read a table, with the line of each row.

    It may be JSONL, CSV, tab-separated text, a JSON array (or an object around one), a workbook
    of Excel, Parquet, or a folder of Parquet files. Text is UTF-8, or UTF-16. CSV has neither null
    nor nested values: an empty cell is missing, every other cell is a text. Its delimiter is the
    one by which rows fit the header, or that a line ``sep=;`` states. Names of columns lose spaces
    at their edges; empty rows are left out, and so are columns at the end that have neither a name
    nor a value. NaN and infinite numbers are missing values. Decimals, times and bytes of Parquet
    become texts.

    Args:
        path: The table.
        source: What problems call it; by default its name.
        queries: Of Parquet, keep only rows whose ``query_id`` is one of these.

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
        # An empty compressed file is cut short: even nothing compresses to some bytes.
        if path.stat().st_size == 0 and suffix.endswith((".gz", ".zst")):
            raise EOFError("it holds no bytes")
        if suffix.startswith(".csv"):
            return read_delimited(path, source, usual=COMMA)
        if suffix.startswith((".tsv", ".txt")):
            return read_delimited(path, source, usual=TAB)
        if suffix.startswith(".json") and not suffix.startswith(".jsonl"):
            return read_json_rows(path, source)
        return rows_of_records(json_records(path, source), source)
    except (EOFError, OSError, zlib.error, pa.ArrowException, UnicodeDecodeError) as error:
        # With a number it is an error of the system, such as a disk that fails, not of the data.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        fault = f"cannot be read ({error})"
        raise DataError.of_file(source, fault, "write the file again; it is damaged") from error


def write_rows(table: pd.DataFrame, path: Path) -> None:
    """Write a table atomically in the format that its suffix names.

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
            fault = f"a text {HALF_SURROGATE}"
            raise DataError.of_file(path.name, fault, HALF_SURROGATE_HINT) from error


def json_lines(table: pd.DataFrame) -> Iterator[str]:
    """Yield a table's rows as lines of JSON, missing values as null."""
    for record in plain_records(table):
        yield json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"


def plain_records(table: pd.DataFrame) -> list[Record]:
    """Return a table's rows as JSON can hold them, missing values as None."""
    return list(plain_table(table).to_dict(orient="records"))


def _write_csv(table: pd.DataFrame, path: Path) -> None:
    quoting = csv.QUOTE_MINIMAL
    texts = table.select_dtypes(["object", "string"])
    for name in texts:
        for value in texts[name]:
            if isinstance(value, list | tuple | dict | set):
                raise UsageError(
                    f"{path.name}: CSV cannot hold the nested values of {name!r}; "
                    "use .jsonl or .parquet"
                )
            # The csv module leaves a lone carriage return unquoted, and reads it as a line end.
            if isinstance(value, str) and "\r" in value:
                quoting = csv.QUOTE_NONNUMERIC
    with open_text(path, "wt") as stream:
        table.to_csv(stream, index=False, lineterminator="\n", quoting=quoting)


def guarded_csv(table: pd.DataFrame) -> str:
    """Return a table as CSV for people: no text in it is run by a spreadsheet."""
    texts = table.select_dtypes(["object", "string"])
    columns = {name: _guarded_column(texts[name]) for name in texts}
    return str(table.assign(**columns).to_csv(index=False, lineterminator="\n"))


def _guarded_column(column: pd.Series) -> pd.Series:
    if column.dtype == object:
        return column.map(_guarded)
    # A table of pairs of systems has few texts in many rows.
    return column.map({text: _guarded(text) for text in column.unique()})


def _guarded(cell: Any) -> Any:  # noqa: ANN401 - whatever a cell holds
    """Put an apostrophe before a text that a spreadsheet would run as a formula."""
    if not isinstance(cell, str) or not cell:
        return cell
    runs = cell.startswith(_FORMULA_STARTS) or cell.lstrip().startswith(_FORMULA_STARTS)
    return f"'{cell}" if runs else cell
