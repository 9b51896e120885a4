"""Measuring an arena of Parquet files part by part, into a folder of features.

A part is some questions of a language with all answers to them. Whoever measures it reads it, and
writes its features as one file, which says what it was measured on. So nobody holds more than a
part, and a part that is there is not measured again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from arena.data.errors import UsageError
from arena.data.files import atomic_path, locked_folder, part_files, read_parquet, with_partition
from arena.data.folder import find_table_file, read_arena, read_info
from arena.data.schema import QUESTION_KEY
from features.declare.feature import Feature
from features.engine.cache import code_digest, content_key
from features.engine.columns import ORDER, feature_columns, missing_counts
from features.engine.extraction import (
    STAGE,
    Progress,
    answer_keys,
    answers_of,
    by_model,
    extract,
    is_ours,
)
from features.engine.workers import work
from features.measures.registry import DEFAULT_FEATURES, asked_features, with_templates
from features.models.scorer import ModelOptions, load_scorer

PART = 20_000
"""Answers of a part at most, where every system answers every question."""
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
        out: Folder of the features; parts that are there, of the same answers, stay.
        features: As for ``extract``, like all below.
        n_jobs: Processes, each measuring a part at a time.
        progress: Called with the stage, the parts done and the parts in all.
        models: How to run models.

    Returns:
        The number of ``answers``, and ``missing``, what ``missing_counts`` counts.

    Raises:
        UsageError: Where tables are no Parquet files, the folder holds something else, or answers
            are to unknown questions; all others are measured, then.
        DataError: For faults of the rows; parts before the first that has any are written.
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
    parts = _parts(folder / "queries.parquet", max(1, PART // max(1, len(info.systems))))
    target.mkdir(parents=True, exist_ok=True)
    with locked_folder(target):
        others = set(part_files(target)) - {target / name for name, _ in parts}
        if others:
            raise UsageError(NOT_OURS.format(min(others)))
        task = partial(_measure, arena=folder, out=target, scope=scope)
        task = partial(task, features=chosen, models=options)
        found: list[dict[str, Any]] = []
        for told in map(task, parts) if readings else work(task, parts, n_jobs):
            found.append(told)
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


def _measure(
    part: Part,
    arena: Path,
    out: Path,
    features: Sequence[Feature],
    models: ModelOptions,
    scope: str | None,
) -> dict[str, Any]:
    """Measure a part, unless its file says that it was; return what the file says of itself."""
    target, read = out / part[0], read_arena(arena, part[1])
    keys = [each.hex() for each in answer_keys(answers_of(read, read.answers))]
    key = content_key(scope, read.answers[ORDER].to_numpy().tolist(), keys).hex()
    with suppress(OSError, KeyError, TypeError, ValueError, pa.ArrowException):  # none of ours
        told: dict[str, Any] = json.loads(pq.read_schema(target).metadata[TOLD])
        if scope is not None and told["key"] == key:
            return told
    table = extract(
        read, features, models=models, cache=out / CACHE if by_model(features) else None
    )
    missing = missing_counts(table)[COUNTED].to_numpy().tolist()
    told = {"key": key, "answers": len(table), "missing": missing}
    numbers, names = feature_columns(table), table.columns.drop("language")
    types = [(name, pa.float64() if name in numbers else pa.string()) for name in names]
    stored = pa.Table.from_pandas(table[names], pa.schema(types), preserve_index=False)
    target.parent.mkdir(exist_ok=True)
    with atomic_path(target) as path:
        pq.write_table(stored.replace_schema_metadata({TOLD: json.dumps(told)}), path)
    return told
