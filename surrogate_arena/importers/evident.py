"""Of which kind a file evidently is, so that an error can name it."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from arena.data.errors import ArenaError
from arena.data.files import parsed_json
from surrogate_arena.importers.field_maps import evident_kinds
from surrogate_arena.importers.files import JSON, files_below
from surrogate_arena.importers.record_values import at
from surrogate_arena.importers.tables import TABLE_SUFFIXES, text_of_file

MOST_READ = 16 * 2**20
"""Characters of a file that are looked at."""

_DELIMITED = re.compile(r"\.(csv|tsv|txt)(\.gz|\.zst)?$", re.IGNORECASE)
_DELIMITERS = (",", ";", "\t")
_PARQUET = ".parquet"


def evident_kind(paths: Sequence[Path | str]) -> tuple[str, str] | None:
    """Return the kind of source that files evidently are of, and what to call such a file.

    Args:
        paths: Files, or folders of them, of which the first is looked at.

    Returns:
        None if no kind, or nothing, is evident.
    """
    try:
        record = _beginning(files_below(paths, (JSON, *TABLE_SUFFIXES))[0])
    # This only adds a hint to another error, which says what is wrong with the files.
    except (ArenaError, OSError, ValueError):
        return None
    for name, kind in evident_kinds().items():
        for sign in kind.signs:
            if all(at(record, path) is not None for path in sign):
                return name, kind.title
    return None


def _beginning(path: Path) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the first record of a file, or the object that it is; of a table, its columns."""
    if path.name.endswith(_PARQUET):
        import pyarrow.parquet as pq

        return dict.fromkeys(pq.read_schema(path).names, True)
    with text_of_file(path, path.name) as stream:
        if _DELIMITED.search(path.name):
            header = stream.readline(MOST_READ)
            mark = max(_DELIMITERS, key=header.count)
            names = next(csv.reader([header], delimiter=mark), [])
            return {name.strip(): True for name in names}
        # Of a table of lines, the first says what all are.
        if path.name.endswith(JSON):
            value = parsed_json(stream.read(MOST_READ))
        else:
            value = parsed_json(stream.readline(MOST_READ))
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        return value[0]
    return value
