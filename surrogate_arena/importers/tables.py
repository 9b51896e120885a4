"""Tables of any program: CSV, JSON, JSONL, Parquet and Excel, by a file's ending."""

from __future__ import annotations

import codecs
import csv
import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from shlex import quote
from typing import Any, TextIO, cast

import pandas as pd

from arena.data.errors import DataError, MissingDependencyError, Problem, UsageError
from arena.data.files import (
    MOST_EXPANDED,
    line_end,
    most_expanded,
    open_bytes,
    parsed_json,
    refuse_beyond,
)
from arena.data.parquet import read_parts
from arena.data.rows import Numbered, Rows, plain_table, rows_of_records
from arena.data.tables import readable
from arena.data.types import Record
from arena.data.wording import first_of, repeated
from surrogate_arena.importers.contract import bare_column, field_names
from surrogate_arena.importers.values import path_step

PACKED = ("", ".gz", ".zst")
JSON = tuple(f".json{packed}" for packed in PACKED)
LINES = tuple(f"{ending}{packed}" for ending in (".jsonl", ".ndjson") for packed in PACKED)
DELIMITED = tuple(f"{ending}{packed}" for ending in (".csv", ".tsv", ".txt") for packed in PACKED)
WORKBOOKS = (".xlsx", ".xlsm", ".xls")
PARQUET = ".parquet"
TABLE_SUFFIXES = (*LINES, *DELIMITED[:6], PARQUET, *WORKBOOKS)
"""Endings of files that are read in folders; others may hold anything."""
READ_SUFFIXES = (*TABLE_SUFFIXES, *DELIMITED[6:], *JSON)
"""Endings of files that are read where they are named."""
SHEET = "sheet"
"""Column with the name of the sheet of a row, where a workbook has several with rows."""
DELIMITER_LINE = "sep="
"""Beginning of a line above the header that names the delimiter for Excel, as in ``sep=;``."""
_NOT_UTF8 = "save the file as UTF-8, as 'CSV UTF-8' in Excel or by iconv -f CP1252 -t UTF-8"
_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_table(path: Path, source: str | None = None) -> Rows:
    """Read a table, with lines of rows; of a workbook, all sheets.

    Empty cells of CSV are missing; names of columns are stripped.
    """
    source = path.name if source is None else source
    name = path.name.lower()
    if path.is_dir() and any(path.glob("*.parquet")):
        return read_parts(path, source, None)
    if not path.is_file():
        raise UsageError(f"there is no file {path}")
    with readable(path, source):
        if name.endswith(PARQUET):
            return read_parts(path, source, None)
        if name.endswith(WORKBOOKS):
            return _workbook(path, source)
        if name.endswith(DELIMITED):
            return _delimited(path, source)
        if name.endswith(LINES):
            with text_of_file(path, source) as stream:
                return rows_of_records(jsonl_records(stream, source), source)
        if name.endswith(JSON):
            return _json(path, source)
    raise UsageError(
        f"{path.name}: unknown format; use one of {first_of(list(READ_SUFFIXES), 12)}; unpack "
        "archives, as with unzip, and name the folder"
    )


@contextmanager
def text_of_file(path: Path, source: str) -> Iterator[TextIO]:
    """Open a text file: UTF-8, or UTF-16 by its first bytes."""
    with open_bytes(path) as stream:
        start = cast(io.BufferedReader, stream).peek(2)[:2]
        encoding = "utf-16" if start in _MARKS else "utf-8-sig"
        with io.TextIOWrapper(stream, encoding, newline=line_end(path)) as text:
            try:
                yield text
            except UnicodeDecodeError as error:
                raise DataError.of_file(source, f"is not UTF-8 ({error})", _NOT_UTF8) from error


def _delimited(path: Path, source: str) -> Rows:
    csv.field_size_limit(MOST_EXPANDED)
    with text_of_file(path, source) as stream:
        first, second = stream.readline(), stream.readline()
        if "--" in second and not second.strip("|-: \r\n"):
            hint = f"sed '2d; s/^| *//; s/ *| *$//; s/ *| */|/g' {quote(str(path))} > table.csv"
            raise DataError.of_file(source, "is a Markdown table, not CSV", hint, line=2)
        lines = chain((first, second), stream)
        reader = csv.reader(lines, delimiter=delimiter_of(first), strict=True)
        try:
            names = next(reader, [])
            if names[:1] == [DELIMITER_LINE]:
                names = next(reader, [])
            header = [name.strip() for name in names]
            problems = _header_problems(header, source)
            if problems:
                raise DataError(problems)
            return rows_of_records(_csv_records(reader, header, source), source, header)
        except csv.Error as error:
            hint = "put cells that hold quotes in quotes, and double the quotes inside"
            fault = f"is not CSV ({error})"
            raise DataError.of_file(source, fault, hint, line=reader.line_num) from error


def delimiter_of(header: str) -> str:
    """Return a header's most frequent delimiter; commas lose a draw, as names may hold them."""
    mark = max((";", "\t", "|"), key=header.count)
    return mark if header.count(mark) >= max(1, header.count(",")) else ","


def _header_problems(header: Sequence[str], source: str) -> list[Problem]:
    return [
        Problem(source, None, name, None, "appears several times in the header", "rename one")
        for name in repeated([name for name in header if name])
    ]


def _csv_records(reader: Any, header: Sequence[str], source: str) -> Numbered:  # noqa: ANN401
    line = reader.line_num + 1
    for cells in reader:
        if len(cells) > len(header) and any(cells[len(header) :]):
            fault = f"has {len(cells)} cells, and the header {len(header)}"
            hint = "put cells with commas in quotes, or delete the lines above the header"
            yield line, Problem(source, line, None, None, fault, hint)
        elif any(cells):
            padded = [*cells, *[""] * (len(header) - len(cells))]
            yield line, {name: cell or None for name, cell in zip(header, padded, strict=False)}
        line = reader.line_num + 1


def jsonl_records(lines: TextIO, source: str) -> Numbered:
    """Yield each line's number and object, or its fault."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = parsed_json(line)
        except ValueError as error:
            fault = f"is not JSON ({error})"
            yield number, Problem(source, number, None, None, fault, "write an object per line")
            continue
        if isinstance(record, dict):
            yield number, _plain(record)
        else:
            fault = "is not a JSON object"
            yield number, Problem(source, number, None, None, fault, "write an object per line")


def _plain(record: Record) -> Record:
    """Return a record with NaN as missing."""
    return {
        name.strip(): None if isinstance(value, float) and value != value else value
        for name, value in record.items()
    }


def read_json(path: Path, source: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Read a JSON file's value; of one object per line, their list."""
    with text_of_file(path, source) as stream:
        text = stream.read(MOST_EXPANDED + 1)
    refuse_beyond(source, len(text), MOST_EXPANDED, "characters")
    try:
        return parsed_json(text)
    except ValueError as error:
        # Some programs write lines of JSON into files called .json.
        records = [record for _, record in jsonl_records(io.StringIO(text), source)]
        if len(records) < 2 or any(isinstance(record, Problem) for record in records):
            fault = f"is not JSON ({error})"
            raise DataError.of_file(source, fault, "write an array of objects") from None
        return records


def _json(path: Path, source: str) -> Rows:
    value = read_json(path, source)
    return rows_of_records(_numbered(_records_of_json(value, source), source), source)


def _numbered(records: Sequence[Any], source: str) -> Numbered:
    for number, record in enumerate(records, start=1):
        if isinstance(record, dict):
            yield number, _plain(record)
        else:
            fault = "is not an object"
            yield number, Problem(source, number, None, record, fault, "write an array of objects")


def _records_of_json(value: object, source: str) -> list[Any]:
    if isinstance(value, list):
        return value
    fault, hint = "holds no records", "write one array of objects"
    if isinstance(value, Mapping):
        names, rows = value.get("columns", ()), value.get("data", ())
        has_rows = _is_list_of(names, str) and _is_list_of(rows, list)
        if has_rows and {len(row) for row in rows} == {len(set(names))}:
            # A table as pandas, MLflow and Weights & Biases write it
            return [dict(zip(names, row, strict=True)) for row in rows]
        lists = {
            name: items
            for name, items in value.items()
            if isinstance(items, list) and items and isinstance(items[0], Mapping)
        }
        if len(lists) == 1:
            return next(iter(lists.values()))
        fault = f"is an object with {first_of(list(value), 10)}, and no array of records"
        hint += ", as pandas' to_json(FILE, orient='records') does"
        if lists:
            fault = f"has several arrays of records ({first_of(list(lists), 10)})"
            first = next(iter(lists))
            into = quote(f"{first}.json")
            hint = f"write a file each, as with jq '.{path_step(first)}' {quote(source)} > {into}"
    raise DataError.of_file(source, fault, hint)


def _is_list_of(value: object, kind: type) -> bool:
    return isinstance(value, list) and all(isinstance(item, kind) for item in value)


def _workbook(path: Path, source: str) -> Rows:
    if find_spec("python_calamine") is None:
        raise MissingDependencyError("reading Excel", "python-calamine", "excel")
    _refuse_bomb(path, source)
    try:
        sheets = pd.read_excel(path, sheet_name=None, header=None, dtype=object, engine="calamine")
    except Exception as error:
        fault = f"cannot be read as a workbook ({error})"
        raise DataError.of_file(source, fault, "save it as CSV") from error
    notes: list[str] = []
    tables: dict[str, pd.DataFrame] = {}
    for name, cells in sheets.items():
        header = _row_of_header(cells)
        if header is None:
            if cells.notna().any(axis=None):
                notes.append(f"{source}: sheet {name!r} holds no table")
            continue
        if cells.iloc[:header].notna().any(axis=None):
            notes.append(f"{source}: the header is row {header + 1} of sheet {name!r}")
        tables[name] = _sheet(cells, header, source)
    if not tables:
        return Rows(pd.DataFrame(), pd.Series(dtype=int), source)
    if len(tables) > 1:
        _refuse_votes(tables, path, source)
        notes.append(f"{source}: read the sheets {first_of(list(tables))}, one after another")
        tables = {name: table.assign(**{SHEET: name}) for name, table in tables.items()}
    lines = pd.Series([line for table in tables.values() for line in table.index], dtype=int)
    table = plain_table(pd.concat(list(tables.values()), ignore_index=True))
    return Rows(table, lines, source, notes=tuple(notes))


def _refuse_votes(tables: Mapping[str, pd.DataFrame], path: Path, source: str) -> None:
    """Refuse a sheet of verdicts on the answers of the first, with the commands that split them."""
    winners = field_names("battles")["winner"]
    first, *others = tables
    for other in others:
        columns = tables[other].columns.difference(tables[first].columns)
        # A sheet with all columns of the first holds answers, too.
        has_answers = tables[first].columns.isin(tables[other].columns).all()
        if has_answers or set(map(bare_column, columns)).isdisjoint(winners):
            continue
        hint = (
            "write a file of each sheet: python -c 'import pandas, sys; [table.to_csv(name + "
            '".csv", index=False) for name, table in pandas.read_excel(sys.argv[1], '
            f'sheet_name=None, engine="calamine").items()]\' {quote(str(path))}; then: '
            f"import csv {quote(first)}.csv --verdicts {quote(other)}.csv"
        )
        fault = f"has sheets of two kinds: {other!r} holds verdicts, and {first!r} does not"
        raise DataError.of_file(source, fault, hint)


def _row_of_header(cells: pd.DataFrame) -> int | None:
    """Return the place of a sheet's header, below a title, if any."""
    n_filled = cells.notna().sum(axis=1).to_numpy()
    # One name may lack, as above the index that pandas writes
    fewest = max(2, n_filled.max(initial=0) - 1)
    wide_rows = (n_filled >= fewest).nonzero()[0]
    if not len(wide_rows) or not n_filled[wide_rows[0] + 1 :].any():
        return None
    return int(wide_rows[0])


def _sheet(cells: pd.DataFrame, header: int, source: str) -> pd.DataFrame:
    is_named = cells.iloc[header].notna()
    names = [str(name).strip() for name in cells.iloc[header][is_named]]
    problems = _header_problems(names, source)
    if problems:
        raise DataError(problems)
    table = cells.iloc[header + 1 :].loc[:, is_named].set_axis(names, axis="columns")
    # People count rows from 1
    return table.set_axis(table.index + 1).dropna(how="all")


def _refuse_bomb(path: Path, source: str) -> None:
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        refuse_beyond(source, size, most_expanded(path.stat().st_size), "bytes when expanded")
