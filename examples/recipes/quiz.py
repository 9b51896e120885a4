"""Replies to the questions of a quiz, with points."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from surrogate_arena.importers.answers import read_tables
from surrogate_arena.importers.foreign_arena import ForeignArena

COLUMNS = {"query_id": "number", "system": "team", "answer": "reply"}


def read_quiz(paths: Sequence[Path | str], *, language: str = "en") -> ForeignArena:
    """Read the replies to a quiz; of two replies, the one with more points wins."""
    tables = {str(path): pd.read_json(path, lines=True) for path in paths}
    return read_tables(tables, columns=COLUMNS, scores=["points"], language=language)
