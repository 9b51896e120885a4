"""Measuring an arena of Parquet files part by part, into a folder of features.

A part is some thousand rows of one file of answers. Whoever measures it reads it, its questions and
the reference answers to these, and writes its features as one file, which says what it was
measured on. So nobody holds more than a part, and parts that are there are not measured again.
"""

from __future__ import annotations

import json
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from arena.data.errors import DataError, Problem, UsageError
from arena.data.files import (
    atomic_path,
    locked_folder,
    parquet_batches,
    part_files,
    with_partition,
)
from arena.data.folder import find_table_file, read_info
from arena.data.frames import checked_answers, checked_arena
from arena.data.rows import parquet_rows, read_rows
from arena.data.schema import ANSWER_KEY, OWN_PASSAGES
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
"""Answers of a part at most."""
CACHE = ".cache"
"""Folder of a folder of features that keeps what models gave."""
REFERENCES = ".references.parquet"
"""In a folder of features while it is written: the answers of the reference system."""
TOLD = b"surrogate-arena"
"""Key, in the metadata of a part's file, of what it was measured on and what is missing in it."""
KEPT = (*ANSWER_KEY, "answer", OWN_PASSAGES)
"""Columns of answers that are read."""
COUNTED = ["language", "feature", "reason", "answers"]
PARQUET_ONLY = "{}: what is measured into a folder is queries.parquet and answers.parquet"
TWICE = ("is answered by this system on an earlier line, or in an earlier file", "keep one")
NOT_OURS = "{} is no part of these features; remove it, or name another folder"

Part = tuple[Path, int, int]
"""A file of answers, and the numbers of rows before the part and with it."""


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
        UsageError: Where tables are no Parquet files, or the folder holds something else.
        DataError: For faults of the rows; parts before the first that has any are written.
    """
    folder, target, options = Path(arena), Path(out), ModelOptions() if models is None else models
    info, given = read_info(folder), [find_table_file(folder, it) for it in ("answers", "queries")]
    if {path and path.suffix for path in given} != {".parquet"}:
        raise UsageError(PARQUET_ONLY.format(folder))
    chosen = with_templates(asked_features(features), options.templates)
    answers, readings = folder / "answers.parquet", by_model(chosen)
    signatures = [load_scorer(*model, options).signature for model in readings]
    is_kept = None not in signatures and all(each.reading or is_ours(each) for each in chosen)
    scope = json.dumps([code_digest(), list(map(str, chosen)), signatures]) if is_kept else None
    target.mkdir(parents=True, exist_ok=True)
    parts = [
        (file, start, start + PART)
        for file in part_files(answers)
        for start in range(0, pq.read_metadata(file).num_rows, PART)
    ]
    with locked_folder(target):
        others = set(part_files(target)) - {_file_of(part, answers, target) for part in parts}
        if others:
            raise UsageError(NOT_OURS.format(min(others)))
        _look_through(answers, info.reference_system, target / REFERENCES)
        task = partial(_measure_part, arena=folder, out=target, scope=scope)
        task = partial(task, features=chosen, models=options)
        found: list[dict[str, Any]] = []
        for told in map(task, parts) if readings else work(task, parts, n_jobs):
            found.append(told)
            if progress is not None:
                progress(STAGE, len(found), len(parts))
        (target / REFERENCES).unlink()
    missing = [row for told in found for row in told["missing"]]
    counts = pd.DataFrame(missing, columns=COUNTED).groupby(COUNTED[:3], as_index=False).sum()
    return {"answers": sum(told["answers"] for told in found), "missing": counts}


def _measure_part(
    part: Part,
    arena: Path,
    out: Path,
    features: Sequence[Feature],
    models: ModelOptions,
    scope: str | None,
) -> dict[str, Any]:
    """Measure a part, unless its file says that it was; return what the file says of itself."""
    answers, queries = arena / "answers.parquet", arena / "queries.parquet"
    batches = list(_batches(answers, KEPT, part))
    read = pa.concat_tables([rows for *_, rows in batches], promote_options="permissive")
    rows = parquet_rows(read, range(part[1] + 1, part[1] + 1 + len(read)), batches[0][0])
    asked = {it for it in rows.table.get("query_id", ()) if isinstance(it, str)}
    questions = read_rows(queries, queries=asked)
    references = read_rows(out / REFERENCES, answers.name, asked)
    beside = checked_arena(read_info(arena), questions, references)
    own = checked_answers(rows, beside.queries)
    keys = [key.hex() for key in answer_keys(answers_of(beside, own))]
    key = content_key(scope, own[ORDER].to_numpy().tolist(), keys).hex()
    target = _file_of(part, answers, out)
    with suppress(OSError, KeyError, TypeError, ValueError, pa.ArrowException):  # none of ours
        told: dict[str, Any] = json.loads(pq.read_schema(target).metadata[TOLD])
        if scope is not None and told["key"] == key:
            return told
    cache = out / CACHE if by_model(features) else None
    table = extract(beside, features, own, models=models, cache=cache)
    missing = missing_counts(table)[COUNTED].to_numpy().tolist()
    told = {"key": key, "answers": len(table), "missing": missing}
    above = with_partition(pa.table({}), part[0], answers).column_names
    numbers, names = feature_columns(table), [name for name in table if name not in above]
    types = [(name, pa.float64() if name in numbers else pa.string()) for name in names]
    stored = pa.Table.from_pandas(table[names], pa.schema(types), preserve_index=False)
    target.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(target) as path:
        pq.write_table(stored.replace_schema_metadata({TOLD: json.dumps(told)}), path)
    return told


def _file_of(part: Part, answers: Path, out: Path) -> Path:
    """Return the file of a part's features, which lies as the answers do."""
    folder = part[0].relative_to(answers).parent if answers.is_dir() else Path()
    return out / folder / f"{part[0].stem}-{part[1]:09}.parquet"


def _look_through(answers: Path, system: str | None, target: Path) -> None:
    """Write one system's answers to a file; refuse (DataError) answers that stand twice."""
    every, places, end = [np.array([], np.uint64)], [("", 0, 0)], 0
    found = [pa.table({name: [""] for name in KEPT[:4]}).slice(1)]
    for source, start, rows in _batches(answers, KEPT):
        keys = rows.select([name for name in ANSWER_KEY if name in rows.column_names]).to_pandas()
        every.append(pd.util.hash_pandas_object(keys.astype(str), index=False).to_numpy())
        places.append((source, start - end, end := end + len(rows)))
        if "system" in rows.column_names:
            found.append(rows.filter(pc.equal(rows["system"].cast("string"), system or "")))
    with atomic_path(target) as path:
        pq.write_table(pa.concat_tables(found, promote_options="permissive"), path)
    digests = np.concatenate(every)
    order = np.argsort(digests, kind="stable")
    problems = []
    for place in np.sort(order[1:][digests[order[1:]] == digests[order[:-1]]]).tolist():
        source, before, _ = places[bisect_right(places, place, key=itemgetter(2))]
        problems.append(Problem(source, place + before + 1, "+".join(ANSWER_KEY), None, *TWICE))
    if problems:
        raise DataError(problems)


def _batches(
    answers: Path, columns: Sequence[str], part: Part | None = None
) -> Iterator[tuple[str, int, pa.Table]]:
    """Yield rows of answers, or those of a part, with their file and the number of rows before."""
    for file in part_files(answers) if part is None else [part[0]]:
        name = file.relative_to(answers.parent).as_posix()
        start, stop = (0, sys.maxsize) if part is None else part[1:]
        for place, batch in parquet_batches(file, name, columns, start):
            first = max(start - place, 0)
            rows = pa.Table.from_batches([batch]).replace_schema_metadata(None)
            if place >= stop:
                break
            rows = rows.slice(first, stop - place - first)
            yield name, place + first, with_partition(rows, file, answers)
