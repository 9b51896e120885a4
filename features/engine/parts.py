"""Measuring an arena of Parquet files part by part, into a folder of features.

A part is some questions of a language with all answers to them. Whoever measures it reads it, and
writes its features as one file, which says what each answer was measured on. So nobody holds more
than some parts, and an answer whose values are in the file of its part is not measured again.
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

from arena.data.errors import UsageError
from arena.data.files import atomic_path, locked_folder
from arena.data.folder import find_table_file, read_arena, read_info
from arena.data.parquet import id_range, part_files, read_parquet, with_partition
from arena.data.schema import QUESTION_KEY
from arena.data.types import Progress
from features.declare.feature import Feature
from features.engine.cache import KEY_BYTES, code_digest, content_key
from features.engine.columns import KEY, ORDER, feature_columns, missing_counts
from features.engine.extraction import STAGE, answer_keys, answers_of, by_model, extract, is_ours
from features.engine.workers import work
from features.measures.registry import DEFAULT_FEATURES, asked_features, with_templates
from features.models.scorer import ModelOptions, load_scorer

PART = 20_000
"""Answers of a part at most, where every system answers every question."""
TIMES = 10
"""How often an answer is read at most before parts are read together: a tenth of measuring it."""
TOGETHER = 16
"""Parts that are read together at most."""
CACHE = ".cache"
"""Folder of a folder of features that keeps what models gave."""
TOLD = b"surrogate-arena"
"""Key, in the metadata of a part's file, of what it was measured on and what is missing in it."""
COUNTED = ["language", "feature", "reason", "answers"]
PARQUET_ONLY = "{}: what is measured into a folder is queries.parquet and answers.parquet"
NOT_ASKED = (
    "{} rows of answers.parquet are of questions that queries.parquet does not hold; add these to "
    "it, or remove the rows. All others are measured"
)
NOT_OURS = "{} is no part of these features; remove it, or name another folder"

Part = tuple[str, pd.DataFrame]
"""Name of a part's file in the folder of features, and the questions."""


def extract_parts(
    arena: Path | str,
    out: Path | str,
    features: Sequence[Feature | str] | str = DEFAULT_FEATURES,
    n_jobs: int | None = 1,
    progress: Progress | None = None,
    *,
    models: ModelOptions | None = None,
) -> dict[str, Any]:
    """Measure features on every answer of an arena of Parquet files, into a folder of such files.

    Parts are measured by workers that see the same folders, or here where features read a model.
    One run or several, the files are the same.

    Args:
        arena: Folder of the arena; its ``queries.parquet`` and ``answers.parquet`` may be folders
            of part files.
        out: Folder of the features; values that are there, of the same answers, stay.
        features: As for ``extract``, like all below.
        n_jobs: Processes, each measuring a part at a time.
        progress: Called with the stage, the parts done and the parts in all.
        models: How to run models.

    Returns:
        The number of ``answers``, and ``missing``, what ``missing_counts`` counts.

    Raises:
        UsageError: Where tables are no Parquet files, the folder holds something else, or answers
            are to unknown questions; all others are measured, then.
        DataError: For faults of the rows; parts read before the first that has any are written.
    """
    folder, target, options = Path(arena), Path(out), ModelOptions() if models is None else models
    info, given = read_info(folder), [find_table_file(folder, it) for it in ("answers", "queries")]
    if {path and path.suffix for path in given} != {".parquet"}:
        raise UsageError(PARQUET_ONLY.format(folder))
    chosen = with_templates(asked_features(features), options.templates)
    readings = by_model(chosen)
    signatures = [load_scorer(*model, options).signature for model in readings]
    is_kept = None not in signatures and all(each.reading or is_ours(each) for each in chosen)
    scope = json.dumps([code_digest(), list(map(str, chosen)), signatures]) if is_kept else None
    # A power of two, so that a new system rarely changes which questions are a part.
    size = 2 ** (max(1, PART // max(1, len(info.systems))).bit_length() - 1)
    parts = _parts(folder / "queries.parquet", size)
    together = min(1 + _times_read(folder / "answers.parquet", parts) // TIMES, TOGETHER)
    jobs = [parts[first : first + together] for first in range(0, len(parts), together)]
    target.mkdir(parents=True, exist_ok=True)
    with locked_folder(target):
        others = set(part_files(target)) - {target / name for name, _ in parts}
        if others:
            raise UsageError(NOT_OURS.format(min(others)))
        task = partial(_measure, arena=folder, out=target, scope=scope)
        task = partial(task, features=chosen, models=options)
        found: list[dict[str, Any]] = []
        for told in map(task, jobs) if readings else work(task, jobs, n_jobs):
            found += told
            if progress is not None:
                progress(STAGE, len(found), len(parts))
    count = sum(told["answers"] for told in found)
    held = sum(pq.read_metadata(file).num_rows for file in part_files(folder / "answers.parquet"))
    if count < held:
        raise UsageError(NOT_ASKED.format(held - count))
    missing = [row for told in found for row in told["missing"]]
    counts = pd.DataFrame(missing, columns=COUNTED).groupby(COUNTED[:3], as_index=False).sum()
    return {"answers": count, "missing": counts}


def _parts(queries: Path, size: int) -> list[Part]:
    """Cut the questions into parts, those of a language in their order."""
    rows = [pa.table({name: pa.array([], pa.string()) for name in QUESTION_KEY})]
    for file in part_files(queries):
        found = with_partition(read_parquet(file, file.name), file, queries)
        rows.append(found.select([name for name in QUESTION_KEY if name in found.column_names]))
    asked = pa.concat_tables(rows, promote_options="permissive").to_pandas().astype("str")
    return [
        (f"language={language}/part-{start // size:06}.parquet", of.iloc[start : start + size])
        for language, of in asked.sort_values(QUESTION_KEY).groupby("language")
        for start in range(0, len(of), size)
    ]


def _times_read(answers: Path, parts: Sequence[Part]) -> int:
    """Return how often a row is read, by each part whose questions may stand in its row group."""
    first = np.array([of["query_id"].min() for _, of in parts], object)
    last = np.array([of["query_id"].max() for _, of in parts], object)
    rows = read = 0
    for file in part_files(answers):
        groups = pq.read_metadata(file)
        for group in map(groups.row_group, range(groups.num_row_groups)):
            rows += group.num_rows
            if (held := id_range(group)) is None:  # it may hold any question
                read += group.num_rows * len(parts)
            else:
                read += group.num_rows * np.sum((first <= held[1]) & (held[0] <= last))
    return int(read / max(rows, 1))


def _measure(
    parts: Sequence[Part],
    arena: Path,
    out: Path,
    features: Sequence[Feature],
    models: ModelOptions,
    scope: str | None,
) -> list[dict[str, Any]]:
    """Measure the answers whose values are not in their part's file; return what files say."""
    read = read_arena(arena, pd.concat([of for _, of in parts]), is_judged=False)
    cache = out / CACHE if by_model(features) else None
    measure = partial(extract, read, features, models=models, cache=cache)
    said = []
    for name, of in parts:
        rows = read.answers.merge(of).sort_values(ORDER, ignore_index=True)
        keys = answer_keys(answers_of(read, rows))
        key = content_key(rows[ORDER].to_numpy().tolist(), [each.hex() for each in keys]).hex()
        told, held = _held(out / name, scope)
        if told.get("key") != key:
            table = _table(rows, keys, held, measure)
            counted = missing_counts(table.to_pandas().assign(language=rows["language"]))
            missing = counted[COUNTED].to_numpy().tolist()
            told = {"scope": scope, "key": key, "answers": len(rows), "missing": missing}
            (out / name).parent.mkdir(exist_ok=True)
            with atomic_path(out / name) as path:
                pq.write_table(table.replace_schema_metadata({TOLD: json.dumps(told)}), path)
        said.append(told)
    return said


def _held(file: Path, scope: str | None) -> tuple[dict[str, Any], pa.Table]:
    """Return what a part's file says of itself, and its rows, if they were measured likewise."""
    with suppress(OSError, KeyError, TypeError, ValueError, pa.ArrowException):  # none of ours
        table = pq.ParquetFile(file).read()
        told: dict[str, Any] = json.loads(table.schema.metadata[TOLD])
        if scope is not None and told["scope"] == scope:
            return told, table
    return {}, pa.table({KEY: pa.array([], pa.binary(KEY_BYTES))})


def _table(
    rows: pd.DataFrame,
    keys: Sequence[bytes],
    held: pa.Table,
    measure: Callable[[pd.DataFrame], pd.DataFrame],
) -> pa.Table:
    """Return a part's table: values that are held, by the keys of answers, and measured ones."""
    known = {each: place for place, each in enumerate(held[KEY].to_pylist())}
    places = np.array([known.get(each, -1) for each in keys], int)
    is_new = places < 0
    found = measure(rows[is_new]).drop(columns=ORDER)
    places[is_new] = len(held) + np.arange(len(found))
    numbers, names = feature_columns(found), list(found)
    types = [(name, pa.float64() if name in numbers else pa.string()) for name in names]
    fresh = pa.Table.from_pandas(found, pa.schema(types), preserve_index=False)
    values = pa.concat_tables([held, fresh], promote_options="default").select(names).take(places)
    told = {name: rows[name].tolist() for name in ORDER[1:]}
    told[KEY] = pa.array(keys, pa.binary(KEY_BYTES))
    return pa.table(told | {name: values[name].combine_chunks() for name in names})
