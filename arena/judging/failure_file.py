"""The file beside an arena's judgments that says which pairs have no verdict, and why."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from arena.judging.comparisons import pair_keys
from arena.judging.judged import FAILURE_COLUMNS, Judged
from arena.rows import read_rows, write_rows

FAILURES_FILE = "failed_judgments.jsonl"


def note_failures(folder: Path | str, judged: Judged) -> Path:
    """Write a judge's failures; those that have a verdict by now are no longer there.

    Args:
        folder: Arena folder.
        judged: What judging brought.

    Returns:
        The file; it is removed when nothing is left in it.
    """
    path = Path(folder) / FAILURES_FILE
    old = _read(path)
    seen = set(pair_keys(judged.judgments)) | set(pair_keys(judged.failures))
    is_left = [
        judge != judged.summary.judge or key not in seen
        for judge, key in zip(old["judge"], pair_keys(old), strict=True)
    ]
    kept = old[np.array(is_left, dtype=np.bool_)]
    left = pd.concat([kept, judged.failures], ignore_index=True)
    if len(left):
        write_rows(left, path)
    else:
        path.unlink(missing_ok=True)
    return path


def _read(path: Path) -> pd.DataFrame:
    if not path.is_file():
        return pd.DataFrame(columns=FAILURE_COLUMNS, dtype=object)
    return read_rows(path).table.reindex(columns=FAILURE_COLUMNS).astype(object)
