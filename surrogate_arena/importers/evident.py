"""Of which kind a file evidently is, so that an error can name it."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from arena.data.errors import ArenaError
from arena.data.files import parsed_json
from surrogate_arena.importers.contract import value_at
from surrogate_arena.importers.files import files_below
from surrogate_arena.importers.opened import opened_record
from surrogate_arena.importers.tables import (
    DELIMITED,
    JSON,
    PARQUET,
    TABLE_SUFFIXES,
    delimiter_of,
    text_of_file,
)
from surrogate_arena.importers.tool_maps import shipped_maps

MOST_READ = 16 * 2**20
"""Characters of a file that are looked at."""


def evident_kind(paths: Sequence[Path | str]) -> tuple[str, str] | None:
    """Return the kind of source that files evidently are of, and what to call such a file."""
    try:
        record = _beginning(files_below(paths, (*JSON, *TABLE_SUFFIXES))[0])
    # This only adds a hint to another error, which says what is wrong with the files.
    except (ArenaError, OSError, ValueError):
        return None
    if not isinstance(record, Mapping):
        return None
    record = opened_record(record)
    for name, tool in shipped_maps().items():
        if any(value_at(record, sign) for sign in tool.signs):
            return name, tool.title
    return None


def _beginning(path: Path) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the first record of a file, or the object that it is; of a table, its columns."""
    if path.name.endswith(PARQUET):
        import pyarrow.parquet as pq

        return dict.fromkeys(pq.read_schema(path).names, True)
    with text_of_file(path, path.name) as stream:
        if path.name.lower().endswith(DELIMITED):
            header = stream.readline(MOST_READ)
            names = next(csv.reader([header], delimiter=delimiter_of(header)), [])
            return {name.strip(): True for name in names}
        # Of a table of lines, the first says what all are.
        is_whole = path.name.endswith(JSON)
        value = parsed_json(stream.read(MOST_READ) if is_whole else stream.readline(MOST_READ))
    return value[0] if isinstance(value, list) and value else value
