"""Votes of people as they are cast: ``votes.jsonl`` of an arena folder, which is only appended to.

Each line is a judgment. It counts once its line has ended: whoever reads the arena finds it among
the judgments, where it replaces one of the same judge on the same sides.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from arena.data.errors import DataError
from arena.data.files import small_file
from arena.data.frames import empty_rows, keys_of_rows, row_problems, with_columns
from arena.data.rows import Rows, plain_table, rows_of_records
from arena.data.schema import JUDGMENT_KEY, JUDGMENTS
from arena.data.tables import json_records

VOTES_FILE = "votes.jsonl"


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
    content = small_file(path)
    complete = content[: content.rfind(b"\n") + 1].decode("utf-8", "surrogateescape")
    rows = rows_of_records(json_records(complete.split("\n"), VOTES_FILE), VOTES_FILE)
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
