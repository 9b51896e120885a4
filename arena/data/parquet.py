"""Parquet: one file, or a folder of part files, read no further than they may expand."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from arena.data.errors import DataError, Problem
from arena.data.files import MOST_CELLS, most_expanded, refuse_beyond
from arena.data.rows import Rows, is_null, plain_table
from arena.data.wording import repeated

LINE = ".line"
"""Column of the numbers of rows."""
_KEPT = (
    pa.types.is_nested,
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_boolean,
    pa.types.is_null,
)
"""Types whose values stay what they are; those of others become texts."""


def read_parts(path: Path, source: str, queries: Collection[str] | None) -> Rows:
    """Read a Parquet file or folder; rows know their file."""
    parts = []
    for file in part_files(path):
        name = source if file == path else f"{source}/{file.relative_to(path).as_posix()}"
        table = with_partition(read_parquet(file, name, queries), file, path)
        lines = list(range(1, len(table) + 1))
        if LINE in table.column_names:
            lines = table[LINE].to_pylist()
            table = table.drop_columns(LINE)
        cells = {column: objects_of(table[column]) for column in table.column_names}
        frame = pd.DataFrame(cells, range(len(table)), dtype=object)
        parts.append(Rows(frame, pd.Series(lines, dtype=int), name))
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return Rows(pd.DataFrame(), pd.Series(dtype=int), source)
    table = pd.concat([part.table for part in parts], ignore_index=True)
    sources = np.repeat([part.source for part in parts], [len(part.lines) for part in parts])
    return Rows(
        table=plain_table(table),
        lines=pd.concat([part.lines for part in parts], ignore_index=True),
        source=source,
        sources=pd.Series(sources, dtype=object),
    )


def objects_of(column: pa.ChunkedArray) -> list[Any]:
    """Return Python objects: NaN as None, equal texts as one object."""
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        # A text may repeat in every row, such as a passage: decode each distinct one once.
        encoded = column.cast(pa.large_string()).dictionary_encode().combine_chunks()
        texts = np.array([*encoded.dictionary.to_pylist(), None], dtype=object)
        return list(texts[encoded.indices.fill_null(-1).to_numpy()])
    if not any(test(column.type) for test in _KEPT):
        # Times, decimals, texts that are stored as codes, and bytes, which may be no text.
        with suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return objects_of(column.cast(pa.large_string()))
    values: list[Any] = column.to_pylist()
    if pa.types.is_floating(column.type):
        return [None if is_null(value) else value for value in values]
    return values


def part_files(table: Path) -> list[Path]:
    """Return the sorted files of a Parquet table."""
    if table.is_file():
        return [table]
    files = []
    for path in table.rglob("*.parquet"):
        names = path.relative_to(table).parts
        # Programs keep temporary files and notes under such names.
        if not any(name.startswith((".", "_")) for name in names):
            files.append((names, path))
    return [path for _, path in sorted(files)]


def with_partition(rows: pa.Table, file: Path, table: Path) -> pa.Table:
    """Add columns that folders above a file name, such as ``language=en``."""
    if file == table:
        return rows
    for folder in file.relative_to(table).parts[:-1]:
        name, sign, value = folder.partition("=")
        if sign and name not in rows.column_names:
            rows = rows.append_column(name, [[unquote(value)] * len(rows)])
    return rows


def read_parquet(
    source: Path | bytes, name: str, queries: Collection[str] | None = None
) -> pa.Table:
    """Read a Parquet file part by part, no further than it may expand.

    ``queries`` keeps only their rows, with a column ``LINE`` of numbers.
    """
    size = len(source) if isinstance(source, bytes) else source.stat().st_size
    file = pq.ParquetFile(pa.BufferReader(source) if isinstance(source, bytes) else source)
    parts = list(_parts(file, name, most_expanded(size), queries))
    table = pa.Table.from_batches(parts, parts[0].schema if parts else file.schema_arrow)
    fault = ("names several columns", "keep one of the columns")
    problems = [
        Problem(name, None, column, None, *fault) for column in repeated(table.column_names)
    ]
    if problems:
        raise DataError(problems)
    return table


def _parts(
    file: pq.ParquetFile, name: str, most: int, queries: Collection[str] | None
) -> Iterator[pa.RecordBatch]:
    rows_at_once = 10_000
    groups = _bounded_groups(file, name, most)
    largest = max([group.total_byte_size for group in groups], default=1)
    # A text that is stored once may be in every row: small batches show it before it fills
    # the memory.
    batch_rows = max(1, min(rows_at_once, most // max(largest, 1)))
    n_bytes = 0
    line = 1
    for index, group in enumerate(groups):
        if queries is not None and not _may_hold(group, queries):
            line += group.num_rows
            continue
        for part in file.iter_batches(batch_rows, [index], use_threads=False):
            n_bytes += part.nbytes
            refuse_beyond(name, n_bytes, most, "bytes when expanded")
            yield part if queries is None else _of_queries(part, queries, line)
            line += len(part)


def _bounded_groups(file: pq.ParquetFile, name: str, most: int) -> list[Any]:
    n_cells = file.metadata.num_rows * file.metadata.num_columns
    refuse_beyond(name, n_cells, MOST_CELLS, "cells")
    groups = [file.metadata.row_group(index) for index in range(file.metadata.num_row_groups)]
    n_bytes = sum(group.total_byte_size for group in groups)
    refuse_beyond(name, n_bytes, most, "bytes when expanded")
    return groups


def _may_hold(group: Any, queries: Collection[str]) -> bool:  # noqa: ANN401 - of pyarrow, untyped
    bounds = id_range(group)
    return bounds is None or any(bounds[0] <= query <= bounds[1] for query in queries)


def id_range(group: Any) -> tuple[str, str] | None:  # noqa: ANN401 - of pyarrow, untyped
    """Return a row group's least and largest ``query_id``, if stated."""
    for index in range(group.num_columns):
        column = group.column(index)
        if column.path_in_schema != "query_id":
            continue
        statistics = column.statistics
        if statistics and statistics.has_min_max and isinstance(statistics.min, str):
            return statistics.min, statistics.max
        return None
    return None


def _of_queries(part: pa.RecordBatch, queries: Collection[str], line: int) -> pa.RecordBatch:
    part = part.append_column(LINE, pa.array(range(line, line + len(part))))
    if "query_id" not in part.schema.names:
        return part
    ids = part.column(part.schema.names.index("query_id"))
    return part.filter(pc.is_in(ids, pa.array(queries, ids.type)))
