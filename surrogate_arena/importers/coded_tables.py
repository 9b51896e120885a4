"""Tables whose columns are read as codes, each when it is needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from arena.data.files import most_expanded, refuse_beyond
from arena.data.parquet import bounded_groups, objects_of
from arena.data.rows import Rows
from arena.data.types import Indices
from surrogate_arena.importers.coded_columns import CodedColumn

_ROWS_AT_ONCE = 100_000
_WHOLE_ROWS_AT_ONCE = 10_000
_SIMPLE = (
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_boolean,
    pa.types.is_string,
    pa.types.is_large_string,
)
"""Types whose values have a hash, and are the cells of rows."""


class CodedTable(Protocol):
    """A table whose columns are read as codes.

    Attributes:
        source: Name of the file.
        names: Names of its columns.
        n_rows: Number of rows N.
    """

    source: str
    names: tuple[str, ...]
    n_rows: int

    def column(self, name: str) -> CodedColumn:
        """Return a column."""

    def smallest_first(self, names: Iterable[str]) -> list[str]:
        """Sort columns by how much there is to read of each."""

    def cells(self, name: str, rows: Indices) -> list[Any]:
        """Return the cells of a column in some rows, in ascending order."""


class CodedRows:
    """Rows that are in memory, as codes; see ``CodedTable``."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.source = rows.source
        self.names = tuple(map(str, rows.table))
        self.n_rows = len(rows.table)
        self._columns: dict[str, CodedColumn] = {}

    def column(self, name: str) -> CodedColumn:
        """Return a column."""
        if name not in self._columns:
            self._columns[name] = CodedColumn.of_cells(self.rows.table[name])
        return self._columns[name]

    def smallest_first(self, names: Iterable[str]) -> list[str]:
        """Return columns as they are, as all are in memory."""
        return list(names)

    def cells(self, name: str, rows: Indices) -> list[Any]:
        """Return the cells of a column in some rows."""
        return list(self.rows.table[name].iloc[rows])


class CodedParquet:
    """A Parquet file, of which nothing is read but the columns that are needed.

    See ``CodedTable``.

    Raises:
        DataError: If it holds more than is read.
        pyarrow.ArrowException, OSError: If it is damaged.
    """

    def __init__(self, path: Path, source: str) -> None:
        schema = pq.read_schema(path)
        texts = [field.name for field in schema if _is_text(field.type)]
        # Texts that repeat are stored once in each part, and read so.
        self._file = pq.ParquetFile(path, read_dictionary=texts)
        self._path = path
        self._most = most_expanded(path.stat().st_size)
        bounded_groups(self._file, source, self._most)
        self.source = source
        self.names = tuple(schema.names)
        self.n_rows = self._file.metadata.num_rows
        self._columns: dict[str, CodedColumn] = {}

    def column(self, name: str) -> CodedColumn:
        """Return a column."""
        if name not in self._columns:
            self._columns[name] = self._read(name)
        return self._columns[name]

    def _read(self, name: str) -> CodedColumn:
        chunks = []
        n_bytes = 0
        for batch in self._file.iter_batches(_ROWS_AT_ONCE, columns=[name], use_threads=False):
            n_bytes += batch.nbytes
            refuse_beyond(self.source, n_bytes, self._most, "bytes when expanded")
            chunks.append(batch.column(0))
        kind = self._file.schema_arrow.field(name).type
        return _coded(pa.chunked_array(chunks, chunks[0].type if chunks else kind))

    def smallest_first(self, names: Iterable[str]) -> list[str]:
        """Sort columns by their bytes in the file."""
        sizes = Counter[str]()
        for index in range(self._file.metadata.num_row_groups):
            group = self._file.metadata.row_group(index)
            for place in range(group.num_columns):
                chunk = group.column(place)
                # The parts of a nested column have its name before a point.
                sizes[chunk.path_in_schema.partition(".")[0]] += chunk.total_compressed_size
        return sorted(names, key=lambda name: sizes[name])

    def cells(self, name: str, rows: Indices) -> list[Any]:
        """Return the cells of a column in some rows, in ascending order."""
        # Texts that differ in most rows are read faster as they are.
        file = pq.ParquetFile(self._path)
        cells: list[Any] = []
        start = 0
        for batch in file.iter_batches(_WHOLE_ROWS_AT_ONCE, columns=[name], use_threads=False):
            refuse_beyond(self.source, batch.nbytes, self._most, "bytes when expanded")
            first, last = np.searchsorted(rows, [start, start + len(batch)])
            taken = batch.column(0).take(pa.array(rows[first:last] - start))
            cells += objects_of(_plain_texts(pa.chunked_array([taken])))
            start += len(batch)
        return cells


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _plain_texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column without the codes of its texts."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _coded(column: pa.ChunkedArray) -> CodedColumn:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not any(test(kind) for test in _SIMPLE):
        return CodedColumn.of_cells(objects_of(_plain_texts(column)))
    encoded = column.dictionary_encode().unify_dictionaries()
    values = encoded.chunk(0).dictionary if encoded.num_chunks else pa.array([], kind)
    cells = values.to_pylist() if _is_text(kind) else objects_of(pa.chunked_array([values]))
    chunks = [chunk.indices.fill_null(-1).to_numpy() for chunk in encoded.chunks]
    codes = np.concatenate([np.empty(0, dtype=np.int32), *chunks]).astype(np.intp)
    column_of_codes = CodedColumn(codes, cells)
    # NaN is a missing cell, and a file may list a text twice.
    if None in cells or pc.count_distinct(values).as_py() < len(cells):
        return column_of_codes.mapped(cells)
    return column_of_codes
