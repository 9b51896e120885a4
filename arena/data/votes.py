"""Votes of people as they are cast: ``votes.jsonl`` of an arena folder, which is only appended to.

Each line is a judgment. It counts once its line has ended: whoever reads the arena finds it among
the judgments, where it replaces one of the same judge on the same sides.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO

import numpy as np
import pandas as pd

from arena.data.errors import DataError, UsageError
from arena.data.files import small_file
from arena.data.frames import empty_rows, keys_of_rows, row_problems, with_columns
from arena.data.json_rows import line_records
from arena.data.rows import Rows, plain_table, rows_of_records
from arena.data.safe_writes import locked_folder, synchronize
from arena.data.schema import JUDGMENT_KEY, JUDGMENTS

VOTES_FILE = "votes.jsonl"


def append_vote(folder: Path, judgment: Mapping[str, str]) -> int:
    """Write a vote at the end of the file; once this returns, no crash loses it.

    Args:
        folder: Arena folder.
        judgment: The columns of ``judgments``.

    Returns:
        Size of the file in bytes.

    Raises:
        UsageError: If something that is no file is in its place.
    """
    path = folder / VOTES_FILE
    line = json.dumps(dict(judgment), ensure_ascii=False) + "\n"
    with locked_folder(folder):
        is_new = not os.path.lexists(path)
        if not is_new and not path.is_file():
            raise UsageError(f"{path} is no file; move it away, so that votes can be written")
        with path.open("ab+") as stream:
            _cut_torn_line(stream)
            stream.write(line.encode())
            stream.flush()
            os.fsync(stream.fileno())
            size = stream.tell()
        if is_new:
            synchronize(path)
    return size


def _cut_torn_line(stream: IO[bytes]) -> None:
    """Remove a last line that has no end: its writer was killed before it counted."""
    stream.seek(0)
    content = stream.read()
    end = content.rfind(b"\n") + 1
    if end < len(content):
        stream.truncate(end)


def read_votes(folder: Path) -> Rows | None:
    """Read the votes of an arena folder; None if it has none.

    Returns:
        The last vote of each judge on the same sides.

    Raises:
        DataError: If the file is damaged; a last line without an end is left out.
    """
    path = folder / VOTES_FILE
    if not os.path.lexists(path):
        return None
    content = small_file(path).decode("utf-8", "surrogateescape")
    complete = content[: content.rfind("\n") + 1]
    numbered = enumerate(complete.split("\n"), start=1)
    rows = rows_of_records(line_records(numbered, VOTES_FILE), VOTES_FILE)
    if rows.table.empty and not rows.problems:
        return None
    problems = row_problems(rows, JUDGMENTS)
    if problems:
        raise DataError(problems)
    is_last = ~keys_of_rows(rows.table, JUDGMENT_KEY).duplicated(keep="last")
    return replace(rows, table=rows.table[is_last], lines=rows.lines[is_last])


def with_votes(judgments: Rows | None, votes: Rows) -> Rows:
    """Add votes to judgments, of which they replace those of the same judge on the same sides."""
    judgments = with_columns(judgments or empty_rows(JUDGMENTS), JUDGMENTS)
    if row_problems(judgments, JUDGMENTS):
        return judgments  # the checks of the arena report them
    keys = keys_of_rows(judgments.table, JUDGMENT_KEY)
    is_left = ~keys.isin(keys_of_rows(votes.table, JUDGMENT_KEY))
    table = pd.concat([judgments.table[is_left], votes.table], ignore_index=True)
    lines = pd.concat([judgments.lines[is_left], votes.lines], ignore_index=True)
    sources = np.repeat([judgments.source, votes.source], [is_left.sum(), len(votes.table)])
    return replace(
        judgments, table=plain_table(table), lines=lines, sources=pd.Series(sources, dtype=object)
    )
