"""A board as a Parquet file."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from arena.streams import atomic_path
from surrogate.exports.board_rows import ExportedBoard


def write_parquet(board: ExportedBoard, path: Path | str) -> None:
    """Write a board atomically; its arena, judge and signature are in the file's metadata.

    Args:
        board: What to write.
        path: Target; its folder must exist.

    Raises:
        UsageError: If the folder does not exist.
    """
    table = pa.Table.from_pandas(board.table, preserve_index=False)
    about = {
        name: str(getattr(board, name)) for name in ("arena", "judge", "language", "signature")
    }
    named = table.replace_schema_metadata({**(table.schema.metadata or {}), **about})
    with atomic_path(Path(path)) as temporary:
        pq.write_table(named, temporary)
