"""Measuring an arena of Parquet files part by part, into a folder of features.

A part is some thousand rows of one file of answers. Whoever measures it reads it, its questions and
the reference answers to these, and writes its features as one file, which says what it was
measured on. So nobody holds more than a part, and parts that are there are not measured again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from arena.data.errors import DataError, UsageError
from arena.data.files import (
    MIB,
    atomic_path,
    locked_folder,
    most_expanded,
    part_files,
    refuse_beyond,
    with_partition,
)
from arena.data.folder import checked_answers, checked_arena, find_table_file, read_info
from arena.data.rows import Rows
from arena.data.schema import ANSWER_KEY, OWN_PASSAGES, QUESTION_KEY, REFERENCE, duplicates
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
ROWS = 2000
"""Rows that are decoded at a time."""
CACHE = ".cache"
"""Folder of a folder of features that keeps what models gave."""
REFERENCES = ".references.parquet"
"""In a folder of features while it is written: the answers of the reference system."""
TOLD = b"surrogate-arena"
"""Key, in the metadata of a part's file, of what it was measured on and what is missing in it."""
FILE, LINE = "_file", "_line"
"""Columns that say where a row stands."""
ANSWER_COLUMNS = (*ANSWER_KEY, "answer", OWN_PASSAGES)
QUERY_COLUMNS = (*QUESTION_KEY, "query", "passages", REFERENCE)
COUNTED = ["language", "feature", "reason"]
PARQUET_ONLY = "{}: what is measured into a folder is queries.parquet and answers.parquet"
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
        progress: Called with the stage, the answers done and the answers in all.
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
    sizes = {file: pq.read_metadata(file).num_rows for file in part_files(answers)}
    starts = ((file, start) for file, size in sizes.items() for start in range(0, size, PART))
    parts = [(file, start, start + PART) for file, start in starts]
    with locked_folder(target):
        others = set(part_files(target)) - {_file_of(part, answers, target) for part in parts}
        if others:
            raise UsageError(NOT_OURS.format(min(others)))
        _refuse_repeated(answers)
        references = _read(answers, ANSWER_COLUMNS, {"system": [info.reference_system or ""]})
        order = [name for name in (*QUESTION_KEY, LINE) if name in references.column_names]
        with atomic_path(target / REFERENCES) as path:
            found = references.sort_by([(name, "ascending") for name in order])
            pq.write_table(found, path, row_group_size=ROWS)
        task = partial(_measure_part, arena=folder, out=target, scope=scope)
        task = partial(task, features=chosen, models=options)
        done, missing = 0, []
        for told in map(task, parts) if readings else work(task, parts, n_jobs):
            done += told["answers"]
            missing += told["missing"]
            if progress is not None:
                progress(STAGE, done, sum(sizes.values()))
        (target / REFERENCES).unlink()
    counts = pd.DataFrame(missing, columns=[*COUNTED, "answers"])
    return {"answers": done, "missing": counts.groupby(COUNTED, as_index=False).sum()}


def read_parts(folder: Path, answers: pd.DataFrame | None = None) -> pd.DataFrame:
    """Read a folder of features: all, or what is of the languages, questions and systems of some.

    Args:
        folder: What ``extract_parts`` wrote, or other Parquet files with the same columns.
        answers: Columns ``language, query_id, system``.
    """
    asked = {} if answers is None else {name: answers[name].unique() for name in ORDER}
    found = _read(folder, None, asked).drop_columns([FILE, LINE])
    names = [name for name in ORDER if name in found.column_names]
    table = found.to_pandas().sort_values(names, ignore_index=True)
    return table[[*names, *table.columns.difference(names, sort=False)]]


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
    rows = _rows(_read(answers, ANSWER_COLUMNS, part=part), answers)
    there = rows.table.reindex(columns=QUESTION_KEY)
    asked = {name: there[name].dropna().astype(str).unique() for name in there}
    questions = _rows(_read(queries, QUERY_COLUMNS, asked), queries)
    references = _rows(_read(out / REFERENCES, ANSWER_COLUMNS, asked), answers)
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
    missing = missing_counts(table)[[*COUNTED, "answers"]].to_numpy().tolist()
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


def _refuse_repeated(answers: Path) -> None:
    """Refuse (DataError) answers that stand twice, in whatever parts."""

    def digests(rows: pa.Table) -> npt.NDArray[np.uint64]:
        keys = rows.to_pandas().reindex(columns=ANSWER_KEY).astype(str)
        return np.asarray(pd.util.hash_pandas_object(keys, index=False), np.uint64)

    every = [digests(rows) for rows in _batches(answers, ANSWER_KEY)]
    found = np.sort(np.concatenate([*every, np.array([], np.uint64)]))
    twice = found[1:][found[1:] == found[:-1]]
    if len(twice):
        batches = _batches(answers, ANSWER_KEY)
        suspects = pa.concat_tables(rows.filter(np.isin(digests(rows), twice)) for rows in batches)
        repeated = duplicates(_rows(suspects, answers), ANSWER_KEY, "answer")
        if repeated:  # not two keys of one digest
            raise DataError(repeated)


def _rows(found: pa.Table, table: Path) -> Rows:
    """Make rows of what was read, which know where they stand."""
    cells = {it: pd.Series(found[it].to_pylist(), dtype=object) for it in found.column_names}
    lines, sources = cells.pop(LINE), cells.pop(FILE)
    return Rows(pd.DataFrame(cells), lines, table.name, sources=sources)


def _read(
    table: Path,
    columns: Sequence[str] | None,
    wanted: Mapping[str, Sequence[str]] = MappingProxyType({}),
    part: Part | None = None,
) -> pa.Table:
    """Read all that ``_batches`` yields."""
    found = [pa.table({FILE: pa.array([], pa.string()), LINE: pa.array([], pa.int64())})]
    found += _batches(table, columns, wanted, part)
    return pa.concat_tables(found, promote_options="permissive")


def _batches(
    table: Path,
    columns: Sequence[str] | None,
    wanted: Mapping[str, Sequence[str]] = MappingProxyType({}),
    part: Part | None = None,
) -> Iterator[pa.Table]:
    """Yield rows of a Parquet file, or folder of such files, some at a time.

    Args:
        table: The file or folder.
        columns: Columns to read, beside ``FILE`` and ``LINE``; None for all.
        wanted: Only rows with one of these values in each of these columns.
        part: Only rows of this part.
    """
    for file in part_files(table) if part is None else [part[0]]:
        source = pq.ParquetFile(file, buffer_size=MIB, pre_buffer=False)
        schema, name = source.schema_arrow, file.relative_to(table.parent).as_posix()
        above = with_partition(pa.table({FILE: [name]}), file, table).to_pylist()[0]
        if any(above[each] not in wanted[each] for each in above.keys() & wanted.keys()):
            continue
        only = pc.scalar(True)
        for each in wanted.keys() & set(schema.names):
            is_text, field = not pa.types.is_primitive(schema.field(each).type), pc.field(each)
            values = pa.array(wanted[each], pa.string())
            only &= (field if is_text else field.cast(pa.string())).isin(values)
        groups = next(ds.dataset(file).get_fragments()).split_by_row_group(only)
        there = {group.row_groups[0].id for group in groups}
        first, last = part[1:] if part else (0, sys.maxsize)
        only &= (pc.field(LINE) > first) & (pc.field(LINE) <= last) if part else pc.scalar(True)
        end, expanded, most = 0, 0, most_expanded(file.stat().st_size)
        for group in range(source.num_row_groups):
            place, end = end, end + source.metadata.row_group(group).num_rows
            if group not in there or end <= first or place >= last:
                continue
            for batch in source.iter_batches(ROWS, [group], columns and [*columns, FILE, LINE]):
                rows = pa.Table.from_batches([batch]).replace_schema_metadata(None)
                if LINE not in rows.column_names:
                    lines = np.arange(place, place + len(batch)) + 1
                    rows = rows.append_column(LINE, pa.array(lines))
                rows = with_partition(rows.filter(only), file, table)
                if FILE not in rows.column_names:
                    rows = rows.append_column(FILE, pa.array([name] * len(rows), pa.string()))
                place, expanded = place + len(batch), expanded + rows.nbytes
                refuse_beyond(name, expanded, most, "bytes when expanded")
                yield rows
                if place >= last:
                    break
