"""Judging an arena folder: what is appended to its judgments, and what failed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from arena.data.errors import DataError, UsageError
from arena.data.files import atomic_path, locked_folder, open_text
from arena.data.folder import Arena, read_info
from arena.data.rows import CSV_SUFFIXES, SUFFIXES, read_rows, row_suffix, write_rows
from arena.data.schema import JUDGMENTS as JUDGMENT_SCHEMA
from arena.data.schema import check_table
from arena.judging.judge import judge_arena
from arena.judging.llm_judge import LlmJudge
from arena.judging.pairs import ChosenPairs, PairKey, pair_keys
from arena.judging.panel import Aggregate, Panel, hold_panel
from arena.judging.summary import FAILURE_COLUMNS, Judged, JudgingSummary
from arena.llm.ask import Progress
from arena.llm.usage import Budget, Price

JUDGMENTS_STEM = "judgments"

_JudgedKey = tuple[str, PairKey]
_Append = Callable[[Path, pd.DataFrame, bool], int]


def append_judgments(
    folder: Path | str, judgments: pd.DataFrame, replacing: bool = False
) -> tuple[Path, int]:
    """Add verdicts to an arena folder, in the format of the judgments that are there.

    The file is replaced in one step, under a lock, so that neither a crash nor another process
    that adds its own loses a row. A verdict of the same judge on the same pair in the same order
    is not written twice.

    Args:
        folder: Arena folder. Without a judgments file it gets one in the format of its answers.
        judgments: Columns ``query_id, language, system_a, system_b, winner, judge`` and others.
        replacing: Write these verdicts in the place of those that are there under the same judge,
            pair and order, as for a panel, which follows from its judges' verdicts.

    Returns:
        The file, and the number of rows added.

    Raises:
        UsageError: If the folder is no arena folder, or holds judgments several times.
        DataError: If the judgments there are damaged.
    """
    folder = Path(folder)
    read_info(folder)
    with locked_folder(folder):
        path = _judgments_file(folder)
        append = _append_of(row_suffix(path))
        return path, append(path, judgments, replacing)


def _judgments_file(folder: Path) -> Path:
    there = _files(folder, JUDGMENTS_STEM)
    if len(there) > 1:
        names = ", ".join(path.name for path in there)
        raise UsageError(f"{folder} holds the same table several times ({names}); keep one")
    if there:
        return there[0]
    answers = _files(folder, "answers")
    suffix = row_suffix(answers[0]) if answers else SUFFIXES[0]
    return folder / f"{JUDGMENTS_STEM}{suffix}"


def _files(folder: Path, name: str) -> list[Path]:
    return [path for suffix in SUFFIXES if (path := folder / f"{name}{suffix}").is_file()]


def _append_of(suffix: str) -> _Append:
    if suffix == ".parquet":
        return _append_parquet
    return _append_csv if suffix in CSV_SUFFIXES else _append_lines


def _append_lines(path: Path, judgments: pd.DataFrame, replacing: bool) -> int:
    """Copy the lines that are there as they are, and add one for each new verdict."""
    there = _keys(_read(path)) if path.is_file() else []
    new, dropped = _sorted_out(there, judgments, replacing)
    with atomic_path(path) as temporary, open_text(temporary, "wt") as stream:
        if path.is_file():
            with open_text(path) as old:
                lines = (line for line in map(_without_mark, old) if line.strip())
                for number, line in enumerate(lines):
                    if number not in dropped:
                        stream.write(line.rstrip("\r\n") + "\n")
        plain = new.astype(object).where(new.notna(), None)
        for record in plain.to_dict(orient="records"):
            stream.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")
    return len(new)


def _append_csv(path: Path, judgments: pd.DataFrame, replacing: bool) -> int:
    if not path.is_file():
        write_rows(judgments, path)
        return len(judgments)
    old = _read(path)
    new, dropped = _sorted_out(_keys(old), judgments, replacing)
    kept = old.drop(index=list(dropped))
    write_rows(pd.concat([kept, new.astype(object)], ignore_index=True), path)
    return len(new)


def _append_parquet(path: Path, judgments: pd.DataFrame, replacing: bool) -> int:
    if not path.is_file():
        write_rows(judgments, path)
        return len(judgments)
    old = pq.read_table(path)
    new, dropped = _sorted_out(_keys(_read(path)), judgments, replacing)
    kept = old.take([row for row in range(old.num_rows) if row not in dropped])
    added = pa.Table.from_pandas(new, preserve_index=False).replace_schema_metadata(None)
    for place, field in enumerate(added.schema):
        if field.name in old.column_names:
            added = added.set_column(
                place, field.name, _cast(added[field.name], old.schema.field(field.name).type)
            )
    with atomic_path(path) as temporary:
        pq.write_table(pa.concat_tables([kept, added], promote_options="default"), temporary)
    return len(new)


def _without_mark(line: str) -> str:
    return line.removeprefix("\ufeff")


def _cast(values: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
    return values if pa.types.is_null(wanted) else values.cast(wanted)


def _read(path: Path) -> pd.DataFrame:
    """Read the judgments that are there; damaged ones stay as they are, and nothing is added."""
    rows = read_rows(path)
    if rows.table.empty and not rows.problems:
        return rows.table
    problems = [*rows.problems, *check_table(rows.table, JUDGMENT_SCHEMA, rows.source, rows.lines)]
    if problems:
        raise DataError(problems)
    return rows.table


def _keys(table: pd.DataFrame) -> list[_JudgedKey]:
    if table.empty:
        return []
    return list(zip(table["judge"].astype(str), pair_keys(table), strict=True))


def _sorted_out(
    there: list[_JudgedKey], judgments: pd.DataFrame, replacing: bool
) -> tuple[pd.DataFrame, set[int]]:
    """Say which verdicts to add, and which of the rows that are there to leave out."""
    keys = _keys(judgments)
    if replacing:
        coming = set(keys)
        return judgments, {row for row, key in enumerate(there) if key in coming}
    known = set(there)
    return judgments[np.array([key not in known for key in keys], dtype=np.bool_)], set()


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
    old = _read_failure_file(path)
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


def _read_failure_file(path: Path) -> pd.DataFrame:
    if not path.is_file():
        return pd.DataFrame(columns=FAILURE_COLUMNS, dtype=object)
    return read_rows(path).table.reindex(columns=FAILURE_COLUMNS).astype(object)


if TYPE_CHECKING:
    from arena.llm.store import Store

_COLUMNS = list(JUDGMENT_SCHEMA.columns)


@dataclass(frozen=True)
class FolderJudging:
    """What judging a folder brought.

    Attributes:
        summaries: Counts, a judge each.
        panel: The panel's verdicts; None with one judge, or where too few verdicts came.
        file: The folder's judgments.
        added: Rows added to it.
        failures_file: Where pairs without a verdict are; None if there are none.
        warnings: Sentences on the panel.
    """

    summaries: tuple[JudgingSummary, ...]
    panel: Panel | None
    file: Path
    added: int
    failures_file: Path | None
    warnings: tuple[str, ...]


def judge_folder(
    folder: Path | str,
    arena: Arena,
    judges: Sequence[LlmJudge],
    pairs: ChosenPairs,
    store: Store,
    *,
    aggregate: Aggregate = "majority",
    max_calls: int | None = None,
    prices: Mapping[str, Price] | None = None,
    progress: Progress | None = None,
) -> FolderJudging:
    """Judge pairs and add the verdicts to the folder.

    Args:
        folder: Arena folder.
        arena: As read from it.
        judges: One judge, or those of a panel.
        pairs: What to judge; see ``choose_pairs``.
        store: Where replies are and go.
        aggregate: How a panel comes to a verdict; see ``hold_panel``.
        max_calls: Most pairs to ask, over all judges.
        prices: Price of each model, or None.
        progress: Called with a judge's name, the pairs done, and all.

    Raises:
        UsageError: If a judge or the folder cannot be used, or two judges have the same name.
            The verdicts of judges before are in the folder; replies that came are in the store.
        DataError: If the judgments there are damaged.
        MissingDependencyError: If the extra ``llm`` is not installed.
    """
    _check_distinct(judges)
    folder, added, budget = Path(folder), 0, Budget(max_calls)
    summaries, tables = [], [arena.judgments[_COLUMNS]]
    file, failures_file = folder, folder
    for judge in judges:
        judged = judge_arena(
            arena, judge, pairs, store, budget=budget, prices=prices, progress=progress
        )
        file, new = append_judgments(folder, judged.judgments)
        failures_file = note_failures(folder, judged)
        added += new
        summaries.append(judged.summary)
        tables.append(judged.judgments[_COLUMNS])
    names = [judge.judge for judge in judges]
    panel, warnings = _panel(pd.concat(tables, ignore_index=True), names, aggregate)
    if panel is not None:
        added += append_judgments(folder, panel.judgments, replacing=True)[1]
    failed = failures_file if failures_file.is_file() else None
    return FolderJudging(tuple(summaries), panel, file, added, failed, warnings)


def _check_distinct(judges: Sequence[LlmJudge]) -> None:
    names = [judge.judge for judge in judges]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated or not names:
        raise UsageError(f"name each judge once: {', '.join(repeated) or 'there is none'}")


def _panel(
    judgments: pd.DataFrame, names: list[str], aggregate: Aggregate
) -> tuple[Panel | None, tuple[str, ...]]:
    if len(names) < 2:
        return None, ()
    try:
        return hold_panel(judgments, names, aggregate), ()
    except UsageError as error:
        return None, (f"there is no verdict of the panel: {error}",)
