"""Parquet: one file, or a folder of part files, read no further than they may expand."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from arena.data.files import most_expanded
from arena.data.rows import Rows, plain_table

if TYPE_CHECKING:
    import pyarrow as pa


import numpy as np
import pandas as pd
import pyarrow as pa

from arena.data.files import MOST_CELLS, refuse_beyond

ROWS_AT_ONCE = 10_000

LINE = ".line"
"""Column of the numbers of rows."""


def part_files(table: Path) -> list[Path]:
    """Return the files of a Parquet table: itself, or those of a folder of them, sorted."""
    if table.is_file():
        return [table]
    found = [(path.relative_to(table).parts, path) for path in table.rglob("*.parquet")]
    return [path for names, path in sorted(found) if not any(name[0] in "._" for name in names)]


def with_partition(rows: pa.Table, file: Path, table: Path) -> pa.Table:
    """Add what the folders above a part file say of all its rows, such as ``language=en``."""
    above = file.relative_to(table).parts[:-1] if file != table else ()
    for name, sign, value in (folder.partition("=") for folder in above):
        if sign and name not in rows.column_names:
            rows = rows.append_column(name, [[unquote(value)] * len(rows)])
    return rows


def read_parquet(
    source: Path | bytes, name: str, queries: Collection[str] | None = None
) -> pa.Table:
    """Read a Parquet file, or its bytes, part by part, no further than it may expand.

    Args:
        source: The file.
        name: What messages call it.
        queries: Keep only rows of these questions, with a column ``LINE`` of their numbers.

    Raises:
        DataError: If it holds more.
        pyarrow.ArrowException, OSError: If it is damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    size = len(source) if isinstance(source, bytes) else source.stat().st_size
    file = pq.ParquetFile(pa.BufferReader(source) if isinstance(source, bytes) else source)
    meta, most = file.metadata, most_expanded(size)
    refuse_beyond(name, meta.num_rows * meta.num_columns, MOST_CELLS, "cells")
    groups = [meta.row_group(group) for group in range(meta.num_row_groups)]
    sizes = [group.total_byte_size for group in groups]
    refuse_beyond(name, sum(sizes), most, "bytes when expanded")
    at_once = max(1, min(ROWS_AT_ONCE, most // max([*sizes, 1])))  # a text may stand in every row
    expanded, first, parts = 0, 1, []
    for place, group in enumerate(groups):
        held = None if queries is None else id_range(group)
        may_hold = held is None or any(held[0] <= query <= held[1] for query in queries or ())
        line, chosen = first, [place] if may_hold else []
        for part in file.iter_batches(at_once, chosen, use_threads=False):
            expanded += part.nbytes
            refuse_beyond(name, expanded, most, "bytes when expanded")
            parts.append(part if queries is None else _of_queries(part, queries, line))
            line += len(part)
        first += group.num_rows
    return pa.Table.from_batches(parts, parts[0].schema if parts else file.schema_arrow)


def id_range(group: Any) -> tuple[str, str] | None:  # noqa: ANN401 - of pyarrow, untyped
    """Return the least and largest ``query_id`` that a row group states, None if it does not."""
    held = [group.column(place) for place in range(group.num_columns)]
    told = next((it.statistics for it in held if it.path_in_schema == "query_id"), None)
    return (told.min, told.max) if told and told.has_min_max and isinstance(told.min, str) else None


def _of_queries(part: pa.RecordBatch, queries: Collection[str], line: int) -> pa.RecordBatch:
    import pyarrow as pa
    import pyarrow.compute as pc

    part = part.append_column(LINE, pa.array(range(line, line + len(part))))
    if "query_id" not in part.schema.names:
        return part
    ids = part.column("query_id")
    return part.filter(pc.is_in(ids, pa.array(queries, ids.type)))


def read_parts(path: Path, source: str, queries: Collection[str] | None) -> Rows:
    """Read a Parquet file, or a folder of part files, as rows that know their file."""
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
