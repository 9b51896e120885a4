"""Arena folders that may be replaced: those that hold nothing but what an import writes."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

import pandas as pd

from arena.data.errors import UsageError
from arena.data.folder import find_table_file, table_files
from arena.data.rows import are_in
from arena.data.schema import DIGESTS, INFO_FILE, JUDGMENTS
from arena.data.tables import read_rows
from arena.data.wording import count_of, first_of
from arena.data.writing import LOCK_FILE

FEATURES_FILE = "published_features.parquet"
APART_FILE = "apart_answers.jsonl.gz"
_IMPORTED = (INFO_FILE, LOCK_FILE, FEATURES_FILE, APART_FILE, *table_files())
"""What an import writes, so that another one can write it again, and what holds nothing."""


def check_arena_target(
    folder: Path | str, is_replaced: bool = False, source: Path | None = None
) -> None:
    """Make sure, before anything is read, that an arena can be written to a folder.

    Args:
        folder: Where to.
        is_replaced: Whether to replace an arena there.
        source: Arena folder that the new one is made from; its verdicts are not lost.

    Raises:
        UsageError: If the folder holds an arena that is not to be replaced, or anything else, such
            as votes or the replies of judges.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; name a folder to write to")
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    if not (folder / INFO_FILE).is_file():
        raise UsageError(f"{folder} holds something that is not an arena; name another folder")
    further = sorted(path.name for path in folder.iterdir() if path.name not in _IMPORTED)
    n_lost = _n_lost_verdicts(folder, source)
    if n_lost:
        further.append(count_of(n_lost, "verdict"))
    if further:
        place = quote(str(folder))
        raise UsageError(
            f"{folder} holds an arena, and {first_of(further, 3)}, which would be lost; name "
            f"another folder, or keep this one: mv {place} {place}.before"
        )
    if not is_replaced:
        raise UsageError(f"{folder} holds an arena; name another folder, or add --replace")


def _n_lost_verdicts(folder: Path, source: Path | None) -> int:
    added = _added_verdicts(folder)
    if added.empty or source is None:
        return len(added)
    return int((~are_in(added, _added_verdicts(source), list(added))).sum())


def _added_verdicts(folder: Path) -> pd.DataFrame:
    """Return verdicts by ``vote`` and ``judge``, which alone note which texts were judged."""
    columns = [*JUDGMENTS.columns, *DIGESTS]
    path = find_table_file(folder, JUDGMENTS.name)
    table = pd.DataFrame() if path is None else read_rows(path).table
    return table.reindex(columns=columns).dropna(subset=DIGESTS)
