"""Reading and writing rows: JSONL, CSV and Parquet, plain or compressed (.gz, .zst)."""

from __future__ import annotations

import csv
import gzip
import io
import json
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TextIO, cast

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from arena.errors import DataError, Problem, UsageError

TEXT_SUFFIXES = (".jsonl", ".csv")
COMPRESSION_SUFFIXES = ("", ".gz", ".zst")
SUFFIXES = (
    *(text + packed for text in TEXT_SUFFIXES for packed in COMPRESSION_SUFFIXES),
    ".parquet",
)


@dataclass(frozen=True)
class Rows:
    """Rows of a file as read.

    Attributes:
        table: One row a record, every column of type object, missing values None.
        lines: Line in the file of each row (the row number, from 1, for Parquet).
        source: Name of the file.
        problems: Lines that are no record at all (broken JSON, wrong encoding).
    """

    table: pd.DataFrame
    lines: pd.Series
    source: str
    problems: tuple[Problem, ...] = ()


def row_suffix(path: Path) -> str:
    """Return the suffix that tells a file's format, such as ``.jsonl.gz``.

    Raises:
        UsageError: If the format is none of ``SUFFIXES``.
    """
    for suffix in SUFFIXES:
        if path.name.endswith(suffix):
            return suffix
    raise UsageError(f"{path.name}: unknown format; use one of {', '.join(SUFFIXES)}")


def read_rows(path: Path) -> Rows:
    """Read a JSONL, CSV or Parquet file, keeping the line of every row.

    Args:
        path: File whose suffix is one of ``SUFFIXES``.

    Raises:
        UsageError: If the format is unknown.
        DataError: If the file cannot be decompressed or decoded at all.
    """
    suffix = row_suffix(path)
    try:
        if suffix == ".parquet":
            return _read_parquet(path)
        if suffix.startswith(".csv"):
            return _read_csv(path)
        return _read_jsonl(path)
    except (EOFError, gzip.BadGzipFile, zstandard.ZstdError, pa.ArrowInvalid) as error:
        fault = f"cannot be read ({error})"
        raise DataError(
            [Problem(path.name, None, None, None, fault, "write the file anew; it is damaged")]
        ) from error
    except UnicodeDecodeError as error:
        fault = f"is not UTF-8 text ({error.reason} at byte {error.start})"
        raise DataError(
            [Problem(path.name, None, None, None, fault, "save the file as UTF-8")]
        ) from error


def _read_parquet(path: Path) -> Rows:
    table = pd.DataFrame(pq.read_table(path).to_pylist(), dtype=object)
    return _rows(table, range(1, len(table) + 1), path.name)


def _read_csv(path: Path) -> Rows:
    with open_text(path) as stream:
        reader = csv.DictReader(stream)
        records = []
        lines = []
        problems = []
        for record in reader:
            if None in record or None in record.values():
                problems.append(_uneven_csv_row(path.name, reader.line_num))
                continue
            records.append(record)
            lines.append(reader.line_num)
    table = pd.DataFrame(records, columns=reader.fieldnames, dtype=object)
    return _rows(table.where(table != "", None), lines, path.name, problems)


def _uneven_csv_row(source: str, line: int) -> Problem:
    fault = "has more or fewer cells than the header"
    return Problem(source, line, None, None, fault, "quote cells that hold commas or line breaks")


def _read_jsonl(path: Path) -> Rows:
    records = []
    lines = []
    problems = []
    with open_text(path) as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except json.JSONDecodeError as error:
                fault = f"is not JSON ({error.msg} at column {error.colno})"
                problems.append(
                    Problem(path.name, number, None, None, fault, "write one JSON object a line")
                )
                continue
            if not isinstance(record, dict):
                fault = f"holds a JSON {type(record).__name__}, not an object"
                problems.append(
                    Problem(path.name, number, None, None, fault, "write one JSON object a line")
                )
                continue
            records.append(record)
            lines.append(number)
    return _rows(_object_table(records), lines, path.name, problems)


def _object_table(records: list[dict[str, Any]]) -> pd.DataFrame:
    columns = list(dict.fromkeys(key for record in records for key in record))
    return pd.DataFrame(
        {
            column: pd.Series([record.get(column) for record in records], dtype=object)
            for column in columns
        }
    )


def _rows(
    table: pd.DataFrame, lines: Iterable[int], source: str, problems: Iterable[Problem] = ()
) -> Rows:
    return Rows(table, pd.Series(list(lines), index=table.index), source, tuple(problems))


def write_rows(table: pd.DataFrame, path: Path) -> None:
    """Write a table atomically in the format its suffix names.

    The same table gives the same bytes. Missing values are written as null (JSONL, Parquet) or
    as empty cells (CSV).

    Args:
        table: Rows to write; the index is left out.
        path: Target; its folder must exist.

    Raises:
        UsageError: If the format is unknown.
    """
    suffix = row_suffix(path)
    with atomic_path(path) as temporary:
        if suffix == ".parquet":
            table.to_parquet(temporary, index=False)
            return
        with open_text(temporary, "wt") as stream:
            if suffix.startswith(".csv"):
                table.to_csv(stream, index=False, lineterminator="\n")
            else:
                stream.writelines(_json_lines(table))


def _json_lines(table: pd.DataFrame) -> Iterator[str]:
    plain = table.astype(object).where(table.notna(), None)
    for record in plain.to_dict(orient="records"):
        yield json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside ``path`` that replaces it when the block succeeds."""
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".writing-") as folder:
        temporary = Path(folder) / path.name
        yield temporary
        temporary.replace(path)


@contextmanager
def open_text(path: Path, mode: str = "rt") -> Iterator[TextIO]:
    """Open a UTF-8 text file, compressed where its name ends in ``.gz`` or ``.zst``.

    Args:
        path: File to open.
        mode: ``"rt"`` or ``"wt"``.
    """
    binary = mode.replace("t", "b")
    with cast(IO[bytes], path.open(binary)) as raw:
        packed: IO[bytes] = raw
        if path.suffix == ".gz":
            packed = cast(IO[bytes], gzip.GzipFile(fileobj=raw, mode=binary, mtime=0, filename=""))
        elif path.suffix == ".zst":
            packed = _zstandard_stream(raw, binary)
        newline = "" if path.name.split(".")[-1] == "csv" or ".csv." in path.name else "\n"
        with io.TextIOWrapper(packed, encoding="utf-8", newline=newline) as stream:
            yield stream


def _zstandard_stream(raw: IO[bytes], binary: str) -> IO[bytes]:
    if binary == "rb":
        return cast(IO[bytes], zstandard.ZstdDecompressor().stream_reader(raw))
    return cast(IO[bytes], zstandard.ZstdCompressor().stream_writer(raw, closefd=False))
