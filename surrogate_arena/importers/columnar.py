"""Tables read by column: the meaning of each distinct cell is looked up once."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from arena.computing.codes import looked_up
from arena.data.errors import Problem, UsageError
from arena.data.parquet import objects_of
from arena.data.rows import is_unstorable
from arena.data.types import Codes, Flags, Indices
from surrogate_arena.importers.clone_files import shown_path
from surrogate_arena.importers.tables import DELIMITER_LINE, delimiter_of, read_table

CSV = ".csv"
PARQUET = ".parquet"
_BLOCK_BYTES = 2**24
_PANDAS_INDEX = "__index_level_"


@dataclass(frozen=True, eq=False)
class Column:
    """A column as codes of its distinct cells.

    Attributes:
        codes: Index in ``cells`` of each row, shape (N,), in few bytes; -1 if missing.
    """

    name: str
    codes: Codes
    cells: tuple[object, ...]

    @classmethod
    def of(cls, name: str, values: pd.Series) -> Column:
        """Number the cells of a column; lists and records become their text."""
        if isinstance(values.dtype, pd.CategoricalDtype):
            return cls(name, values.cat.codes.to_numpy(), tuple(values.cat.categories.tolist()))
        try:
            codes, cells = pd.factorize(values)
        except TypeError:
            # An array of objects: a column of texts cannot hold half a surrogate pair.
            hashable = np.fromiter(map(_hashable, values), dtype=object, count=len(values))
            codes, cells = pd.factorize(hashable)
        return cls(name, codes, tuple(cells.tolist()))

    def mapped(self, meaning: Callable[[object], object], missing: object = None) -> pd.Series:
        """Return what each cell means, shape (N,), as objects."""
        values = np.empty(len(self.cells) + 1, dtype=object)
        for code, cell in enumerate(self.cells):
            values[code] = meaning(cell)
        values[-1] = missing
        return pd.Series(values[self.codes], dtype=object)

    def texts(self, text_of: Callable[[object], str | None]) -> pd.Series:
        """Return the cells as categories of texts, missing where a cell has none."""
        texts = [text_of(cell) for cell in self.cells]
        for text in texts:
            if text is not None and is_unstorable(text):
                raise UsageError(f"column {self.name!r} holds half a surrogate pair, in {text!r}")
        numbers, names = pd.factorize(np.array(texts, dtype=object))
        # Texts are at most as many as cells: their codes are as small.
        codes = looked_up(numbers.astype(self.codes.dtype), self.codes)
        return pd.Series(pd.Categorical.from_codes(codes, categories=names))

    def where(self, has: Callable[[object], bool]) -> Flags:
        """Return which rows have a cell of some kind, shape (N,); missing ones never."""
        flags = np.zeros(len(self.cells) + 1, dtype=np.bool_)
        for code, cell in enumerate(self.cells):
            flags[code] = has(cell)
        if not flags.any():
            return np.zeros(len(self.codes), dtype=np.bool_)
        return np.asarray(flags[self.codes])


def _hashable(cell: object) -> object:
    return repr(cell) if isinstance(cell, list | dict) else cell


@dataclass(frozen=True, eq=False)
class ColumnTable:
    """A table of a file.

    Attributes:
        frame: Texts that repeat in a CSV or Parquet file are categories.
        path: The file, or None for a table in memory.
        known_lines: Line of each row if known, shape (N,).
    """

    frame: pd.DataFrame
    source: str
    path: Path | None = None
    known_lines: Indices | None = None
    problems: tuple[Problem, ...] = ()

    def column(self, name: str) -> Column:
        """Return a column as codes."""
        return Column.of(name, self.frame[name])

    @cached_property
    def lines(self) -> Indices:
        """Line of each row in the file, shape (N,); in Parquet its place."""
        if self.known_lines is not None:
            return self.known_lines
        if self.path is None or self.path.suffix.lower() != CSV:
            return np.arange(1, len(self.frame) + 1)
        return np.fromiter(_lines_of_rows(self.path), dtype=np.intp, count=len(self.frame))

    def problem(self, row: int, column: str, value: object, fault: str, hint: str) -> Problem:
        """Return what is wrong with a cell, with its line."""
        return Problem(self.source, int(self.lines[row]), column, value, fault, hint)


def column_table(path: Path, source: str | None = None) -> ColumnTable:
    """Read a table: CSV and Parquet by column, everything else by row."""
    source = shown_path(path, [path]) if source is None else source
    ending = path.suffix.lower()
    if path.is_file() and ending in (CSV, PARQUET):
        try:
            frame = _frame_of(_csv_columns(path) if ending == CSV else _parquet_columns(path))
        except (pa.ArrowException, OSError, UnicodeDecodeError):
            # Whoever reads by row says on which line the file is damaged,
            return _table_of_rows(path, source)
        # or which column the header has twice, and passes over a line above the header.
        if frame.columns.is_unique and DELIMITER_LINE not in frame:
            return ColumnTable(frame, source, path)
    return _table_of_rows(path, source)


_NamedColumns = Iterator[tuple[str, pa.ChunkedArray]]


def _csv_columns(path: Path) -> _NamedColumns:
    delimiter = _delimiter_in(path)
    with path.open(encoding="utf-8-sig", newline="") as stream:
        header = next(csv.reader(stream, delimiter=delimiter), [])
    text = pa.dictionary(pa.int32(), pa.string())
    table = arrow_csv.read_csv(
        path,
        read_options=arrow_csv.ReadOptions(block_size=_BLOCK_BYTES),
        parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(header, text), strings_can_be_null=True, null_values=[""]
        ),
    )
    yield from zip(table.column_names, table.columns, strict=True)


def _parquet_columns(path: Path) -> _NamedColumns:
    schema = parquet.read_schema(path)
    texts = []
    for column in schema:
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            texts.append(column.name)
    file = parquet.ParquetFile(path, read_dictionary=texts)
    for name in schema.names:
        if not name.startswith(_PANDAS_INDEX):
            # One at a time: all together would take twice the memory. A name also selects those
            # that follow it after a dot.
            selected = file.read([name], use_threads=False)
            yield name, selected.column(selected.column_names.index(name))


def _frame_of(named: _NamedColumns) -> pd.DataFrame:
    names = []
    columns = []
    for name, column in named:
        names.append(name.strip())
        if pa.types.is_nested(column.type):
            columns.append(pd.Series(objects_of(column), dtype=object))
        elif pa.types.is_dictionary(column.type):
            columns.append(_coded(column).to_pandas())
        else:
            columns.append(column.to_pandas())
    frame = pd.DataFrame(dict(enumerate(columns)), copy=False)
    return frame.set_axis(names, axis="columns")


def _coded(texts: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    """Return texts with one dictionary, or without one where few repeat: it is slow to make."""
    n_listed = sum(len(chunk.dictionary) for chunk in texts.chunks)
    if 2 * n_listed > len(texts):
        return texts.cast(pa.large_string())
    return texts.combine_chunks()


def _table_of_rows(path: Path, source: str) -> ColumnTable:
    rows = read_table(path, source)
    lines = rows.lines.to_numpy().astype(np.intp)
    return ColumnTable(rows.table, source, path, lines, tuple(rows.problems))


def _lines_of_rows(path: Path) -> Iterator[int]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.reader(stream, delimiter=_delimiter_in(path))
        next(reader, None)
        first = reader.line_num + 1
        for row in reader:
            if row:
                yield first
            first = reader.line_num + 1


def _delimiter_in(path: Path) -> str:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return delimiter_of(stream.readline())
