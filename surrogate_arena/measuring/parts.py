"""Measuring an arena of Parquet files part by part, into a folder of features.

A part is some questions of a language with all answers to them. No process holds more than some
parts, and an answer whose values are in the file of its part is not measured again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from arena.computing.workers import work
from arena.data.errors import UsageError
from arena.data.folder import find_table_file, read_arena, read_info
from arena.data.parquet import id_range, part_files, read_parquet, with_partition
from arena.data.schema import QUESTION_KEY
from arena.data.types import Progress
from arena.data.writing import atomic_path, locked_folder
from features.declare.feature import Feature
from features.declare.models import Models
from features.engine.cache import KEY_BYTES, answer_keys, code_digest, content_key
from features.engine.extraction import (
    FEATURE_KEY,
    KEY,
    STAGE,
    answers_of,
    extract,
    feature_columns,
    is_ours,
    missing_counts,
)
from features.measures.choosing import chosen_features
from features.measures.registry import DEFAULT_FEATURES, models_for

PART = 20_000
"""Maximum number of answers in a part, if every system answers every question."""
CACHE = ".cache"
"""Folder, within a folder of features, of the cache of models' scores."""
NOTE = b"surrogate-arena"
"""Key, in the metadata of a part's file, of its note: scope, key of its answers, missing values."""
COUNTED = ["language", "feature", "reason", "answers"]

Part = tuple[str, pd.DataFrame]
"""Name of a part's file in the folder of features, and its questions' language and id."""


def extract_parts(
    arena: Path | str,
    out: Path | str,
    features: Sequence[Feature | str] | str = DEFAULT_FEATURES,
    n_jobs: int | None = 1,
    progress: Progress | None = None,
    *,
    models: Models | None = None,
) -> dict[str, Any]:
    """Measure features on every answer of an arena of Parquet files, into a folder of such files.

    Args:
        arena: Folder of the arena, with a Parquet file, or a folder of them, per table.
        out: Folder of the features; values of unchanged answers stay.
        features: As for ``extract``.
        n_jobs: Processes; -1 for all cores.
        progress: Called with the stage, the parts done, and all.
        models: How to run models.

    Returns:
        The number of ``answers``, and ``missing``, as ``missing_counts`` returns it.

    Raises:
        UsageError: If files are not Parquet, the folder holds others, or questions are unknown;
            other answers are measured first.
        DataError: For faults of the rows; parts read before the first that has any are written.
    """
    folder = Path(arena)
    target = Path(out)
    info = read_info(folder)
    require_parquet_tables(folder)
    chosen = chosen_features(features)
    models = models_for(chosen) if models is None else models
    chosen = models.configured(chosen)
    reads_models = any(feature.reading is not None for feature in chosen)
    # A power of two, so that a new system rarely changes the questions of a part.
    size = 2 ** (max(1, PART // max(1, len(info.systems))).bit_length() - 1)
    parts = _parts(folder / "queries.parquet", size)
    task = partial(
        _measure,
        arena=folder,
        out=target,
        scope=_scope(chosen, models),
        features=chosen,
        models=models,
    )
    # Where each row group holds answers of many parts, those parts are read at a time.
    # Ten readings of an answer cost as much as measuring it; 16 parts fit into memory.
    together = min(1 + _times_read(folder / "answers.parquet", parts) // 10, 16)
    jobs = [parts[first : first + together] for first in range(0, len(parts), together)]
    target.mkdir(parents=True, exist_ok=True)
    with locked_folder(target):
        _check_parts(target, parts)
        notes: list[dict[str, Any]] = []
        # A model is loaded once, by this process; without one, processes share the work.
        for job_notes in map(task, jobs) if reads_models else work(task, jobs, n_jobs):
            notes += job_notes
            if progress is not None:
                progress(STAGE, len(notes), len(parts))
    return _totals(notes, folder / "answers.parquet")


def require_parquet_tables(folder: Path) -> None:
    """Check that an arena's questions and answers are Parquet files, of which parts can be read."""
    for table in ("answers", "queries"):
        path = find_table_file(folder, table)
        if path is None or path.suffix != ".parquet":
            raise UsageError(
                f"{folder}: features go into a folder of parts only if the arena has "
                "queries.parquet and answers.parquet; name a file, such as features.parquet"
            )


def _check_parts(target: Path, parts: Sequence[Part]) -> None:
    foreign = set(part_files(target)) - {target / name for name, _ in parts}
    if foreign:
        raise UsageError(
            f"{min(foreign)} is no part of these features; remove it, or name another folder"
        )


def _totals(notes: Sequence[dict[str, Any]], answers: Path) -> dict[str, Any]:
    n_measured = sum(note["answers"] for note in notes)
    answer_files = part_files(answers)
    n_answers = sum(pq.read_metadata(file).num_rows for file in answer_files)
    if n_measured < n_answers:
        raise UsageError(
            f"{n_answers - n_measured} rows of answers.parquet are of questions that "
            "queries.parquet does not hold; add these to it, or remove the rows. All others are "
            "measured"
        )
    missing: list[list[Any]] = []
    for note in notes:
        missing += note["missing"]
    counts = pd.DataFrame(missing, columns=COUNTED).groupby(COUNTED[:3], as_index=False).sum()
    return {"answers": n_measured, "missing": counts}


def _scope(features: Sequence[Feature], models: Models) -> str | None:
    signature = models.signature(features)
    if signature is None:
        return None
    if not all(feature.reading or is_ours(feature) for feature in features):
        return None
    return json.dumps([code_digest(), list(map(str, features)), signature])


def _parts(queries: Path, size: int) -> list[Part]:
    # An empty table gives both columns their type, even where no file has any row.
    tables = [pa.table({name: pa.array([], pa.string()) for name in QUESTION_KEY})]
    for file in part_files(queries):
        table = with_partition(read_parquet(file, file.name), file, queries)
        tables.append(table.select([name for name in QUESTION_KEY if name in table.column_names]))
    questions = pa.concat_tables(tables, promote_options="permissive").to_pandas().astype("str")
    parts: list[Part] = []
    for language, rows in questions.sort_values(QUESTION_KEY).groupby("language"):
        for start in range(0, len(rows), size):
            name = f"language={language}/part-{start // size:06}.parquet"
            parts.append((name, rows.iloc[start : start + size]))
    return parts


def _times_read(answers: Path, parts: Sequence[Part]) -> int:
    """Return how often an average row is read, once by each part that its row group may hold."""
    first_ids = np.array([questions["query_id"].min() for _, questions in parts], object)
    last_ids = np.array([questions["query_id"].max() for _, questions in parts], object)
    n_rows = 0
    n_read = 0
    for file in part_files(answers):
        metadata = pq.read_metadata(file)
        for index in range(metadata.num_row_groups):
            group = metadata.row_group(index)
            n_rows += group.num_rows
            ids = id_range(group)
            if ids is None:  # without statistics, it may hold any question
                n_read += group.num_rows * len(parts)
                continue
            first_id, last_id = ids
            overlaps = (first_ids <= last_id) & (first_id <= last_ids)
            n_read += group.num_rows * np.sum(overlaps)
    return int(n_read / max(n_rows, 1))


def _measure(
    parts: Sequence[Part],
    arena: Path,
    out: Path,
    features: Sequence[Feature],
    models: Models,
    scope: str | None,
) -> list[dict[str, Any]]:
    part_arena = read_arena(arena, pd.concat([part for _, part in parts]), is_judged=False)
    measure = partial(
        extract,
        part_arena,
        features,
        models=models,
        cache=None if all(feature.reading is None for feature in features) else out / CACHE,
    )
    notes = []
    for name, questions in parts:
        rows = part_arena.answers.merge(questions).sort_values(FEATURE_KEY, ignore_index=True)
        keys = answer_keys(answers_of(part_arena, rows))
        notes.append(_measured_part(out / name, rows, keys, scope, measure))
    return notes


def _measured_part(
    file: Path,
    rows: pd.DataFrame,
    keys: Sequence[bytes],
    scope: str | None,
    measure: Callable[[pd.DataFrame], pd.DataFrame],
) -> dict[str, Any]:
    digests = [digest.hex() for digest in keys]
    key = content_key(rows[FEATURE_KEY].to_numpy().tolist(), digests).hex()
    note, earlier = _read_part(file, scope)
    if note.get("key") == key:
        return note
    table = _part_table(rows, keys, earlier, measure)
    missing = missing_counts(table.to_pandas().assign(language=rows["language"]))
    note = {
        "scope": scope,
        "key": key,
        "answers": len(rows),
        "missing": missing[COUNTED].to_numpy().tolist(),
    }
    _write_part(file, note, table)
    return note


def _write_part(file: Path, note: dict[str, Any], table: pa.Table) -> None:
    file.parent.mkdir(exist_ok=True)
    with atomic_path(file) as path:
        pq.write_table(table.replace_schema_metadata({NOTE: json.dumps(note)}), path)


def _read_part(file: Path, scope: str | None) -> tuple[dict[str, Any], pa.Table]:
    with suppress(OSError, KeyError, TypeError, ValueError, pa.ArrowException):
        table = pq.ParquetFile(file).read()
        note: dict[str, Any] = json.loads(table.schema.metadata[NOTE])
        if scope is not None and note["scope"] == scope:
            return note, table
    return {}, pa.table({KEY: pa.array([], pa.binary(KEY_BYTES))})


def _part_table(
    rows: pd.DataFrame,
    keys: Sequence[bytes],
    earlier: pa.Table,
    measure: Callable[[pd.DataFrame], pd.DataFrame],
) -> pa.Table:
    earlier_index = {key: index for index, key in enumerate(earlier[KEY].to_pylist())}
    indices = np.array([earlier_index.get(key, -1) for key in keys], int)
    is_new = indices < 0
    measured = measure(rows[is_new]).drop(columns=FEATURE_KEY)
    indices[is_new] = len(earlier) + np.arange(len(measured))

    names = list(measured)
    numbers = feature_columns(measured)
    # Reasons of a few answers may all be None, from which no type could be told.
    types = [(name, pa.float64() if name in numbers else pa.string()) for name in names]
    new = pa.Table.from_pandas(measured, pa.schema(types), preserve_index=False)
    both = pa.concat_tables([earlier, new], promote_options="default").select(names)
    values = both.take(indices)

    columns: dict[str, Any] = {name: rows[name].tolist() for name in FEATURE_KEY[1:]}
    columns[KEY] = pa.array(keys, pa.binary(KEY_BYTES))
    for name in names:
        columns[name] = values[name].combine_chunks()
    return pa.table(columns)
