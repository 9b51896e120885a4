"""Tables as other programs write them, read by the ending of a file's name."""

from __future__ import annotations

from pathlib import Path

from arena.data.errors import UsageError
from arena.data.parquet import read_parts
from arena.data.rows import Rows, rows_of_records
from arena.data.tables import SUFFIXES, readable
from surrogate_arena.importers.delimited import COMMA, TAB, read_delimited
from surrogate_arena.importers.json_rows import jsonl_records, read_json_rows
from surrogate_arena.importers.workbooks import WORKBOOKS, workbook_rows

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


def table_suffix(path: Path) -> str:
    """Return the one of ``READ_SUFFIXES`` that a file's name ends in, in any case.

    Raises:
        UsageError: If there is none.
    """
    for suffix in READ_SUFFIXES:
        if path.name.lower().endswith(suffix):
            return suffix
    raise UsageError(f"{path.name}: unknown format; use one of {', '.join(READ_SUFFIXES)}")


def read_table(path: Path, source: str | None = None) -> Rows:
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

    Raises:
        UsageError: If the format is unknown or there is no such file.
        DataError: If the file is damaged, or holds more than ``arena.data.files`` reads.
    """
    suffix = ".parquet" if path.is_dir() and not path.suffix else table_suffix(path)
    if not path.is_file() and not (suffix == ".parquet" and path.is_dir()):
        raise UsageError(f"there is no file {path}")
    source = path.name if source is None else source
    with readable(path, source):
        if suffix == ".parquet":
            return read_parts(path, source, None)
        if suffix in WORKBOOKS:
            return workbook_rows(path, source)
        if suffix.startswith(".csv"):
            return read_delimited(path, source, usual=COMMA)
        if suffix.startswith((".tsv", ".txt")):
            return read_delimited(path, source, usual=TAB)
        if suffix.startswith(".json") and not suffix.startswith(".jsonl"):
            return read_json_rows(path, source)
        return rows_of_records(jsonl_records(path, source), source)
