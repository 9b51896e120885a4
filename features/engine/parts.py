"""Measuring an arena of Parquet files part by part, into a folder of features.

A part is some thousand rows of one file of answers. Whoever measures it reads it, and the questions
and the reference answers to it, and writes its features as one file, which says what it was
measured on. So nobody holds more than a part, a run that was killed goes on with the parts that
are not there, and what is new or has changed is all that is measured again.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from arena.data.errors import DataError, Problem, UsageError
from arena.data.files import (
    MIB,
    ROWS_AT_ONCE,
    WRITING,
    atomic_path,
    locked_folder,
    most_expanded,
    part_files,
    refuse_beyond,
    with_partition,
)
from arena.data.folder import checked_arena, find_table_file, read_info
from arena.data.rows import Rows, joined_rows, parquet_rows
from arena.data.schema import ANSWER_KEY, OWN_PASSAGES, QUESTION_KEY, REFERENCE, ArenaInfo
from features.declare.feature import Feature
from features.engine.cache import code_digest
from features.engine.columns import MISSING_SUFFIX, ORDER, feature_columns, missing_counts
from features.engine.extraction import (
    SLAB,
    STAGE,
    Progress,
    is_ours,
    measured,
    readings_by_model,
    ready_features,
)
from features.engine.workers import work
from features.measures.registry import DEFAULT_FEATURES
from features.models.scorer import ModelOptions, load_scorer

PART = 20_000
"""Answers of a part at most."""
REFERENCES_FILE = ".references.parquet"
"""In a folder of features while it is written: the reference system's answers."""
SORTED_ROWS = 2000
TOLD = b"surrogate-arena"
"""Key, in the metadata of a part's file, of what it covers and how its values are spread."""
ANSWER_COLUMNS = (*ANSWER_KEY, "answer", OWN_PASSAGES)
QUERY_COLUMNS = (*QUESTION_KEY, "query", "passages", REFERENCE)
PARQUET_ONLY = (
    "{} is measured part by part where its tables are Parquet: write queries.parquet and "
    "answers.parquet (files, or folders of part files), or name a file for the features"
)
NOT_OURS = "{} is no part of a table of features; name a folder of their own"
TWICE = ("answers a question that the same system has answered before it", "keep one of them")

_SCAN = ds.ParquetFragmentScanOptions(use_buffered_stream=True, pre_buffer=False)
_FORMAT = ds.ParquetFileFormat(default_fragment_scan_options=_SCAN)


@dataclass(frozen=True)
class Part:
    """Rows ``start`` to ``stop`` of a file of answers."""

    file: Path
    start: int
    stop: int


@dataclass(frozen=True)
class PartMeasurement:
    """What is measured of every part, and where: what a worker is told.

    Attributes:
        info: What the arena says of itself.
        answers: File of the answers, or folder of such files.
        queries: Likewise of the questions.
        out: Folder of the features.
        features: What to measure.
        models: How to run models.
    """

    info: ArenaInfo
    answers: Path
    queries: Path
    out: Path
    features: tuple[Feature, ...]
    models: ModelOptions

    def target(self, part: Part) -> Path:
        """Return the file of a part's features, which lies as the answers do."""
        folder = part.file.relative_to(self.answers).parent if self.answers.is_dir() else Path()
        return self.out / folder / f"{part.file.stem}-{part.start:09}.parquet"

    def scope(self) -> str | None:
        """Return all that values depend on beside the rows; None if they cannot be kept."""
        kinds = readings_by_model(self.features)
        signatures = [load_scorer(*model, self.models).signature for model in kinds]
        plain = [each for each in self.features if each.reading is None]
        if None in signatures or not all(map(is_ours, plain)):
            return None
        info = self.info.model_dump(mode="json", include={"languages", "reference_system"})
        return json.dumps([code_digest(), list(map(str, self.features)), signatures, info])


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

    Each part is read, measured and written by one worker, which may stand on another machine that
    sees the same folders. The same arena gives the same files, in one run or in several.

    Args:
        arena: Folder of the arena, with ``queries.parquet`` and ``answers.parquet``; either may
            be a folder of part files.
        out: Folder of the features; parts that are there, of the same answers, stay.
        features: As for ``extract``, like all below.
        n_jobs: Processes, each measuring a part at a time.
        progress: Called with the stage, the answers done and the answers in all.
        models: How to run models. What an LLM is asked is kept in its store alone.

    Returns:
        The number of ``answers``; of ``features`` a table with columns ``feature, count, mean, min,
        max``; and ``missing``, what ``missing_counts`` counts.

    Raises:
        UsageError: Where the tables are no Parquet files, or the folder holds something else; and
            as ``extract`` says.
        DataError: For faults of the rows; parts before the first that has any are written.
    """
    folder, options = Path(arena), ModelOptions() if models is None else models
    info = read_info(folder)
    chosen = ready_features(features, options, info.languages)
    answers, queries = (find_table_file(folder, name) for name in ("answers", "queries"))
    if answers is None or queries is None or {answers.suffix, queries.suffix} != {".parquet"}:
        raise UsageError(PARQUET_ONLY.format(folder))
    job = PartMeasurement(info, answers, queries, Path(out), chosen, options)
    job.out.mkdir(parents=True, exist_ok=True)
    with locked_folder(job.out):
        files = part_files(answers)
        parts = [part for file in files for part in _parts_of(file)]
        _clear(job.out, {job.target(part) for part in parts})
        _look(job, files, n_jobs)
        told, done, total = [], 0, sum(part.stop - part.start for part in parts)
        for found in work(partial(measure_part, job=job), parts, n_jobs):
            told.append(found)
            done += found["answers"]
            if progress is not None:
                progress(STAGE, done, total)
        (job.out / REFERENCES_FILE).unlink(missing_ok=True)
    return _summary(told, list(map(str, chosen)))


def read_feature_folder(folder: Path, answers: pd.DataFrame | None = None) -> pd.DataFrame:
    """Read a folder of features: all, or only the rows of some answers.

    Args:
        folder: What ``extract_parts`` wrote, or other Parquet files with the same columns.
        answers: Columns ``language, query_id, system``.

    Returns:
        As ``extract`` does.

    Raises:
        UsageError: If none of their rows is in it.
    """
    asked = {} if answers is None else {name: answers[name].unique().tolist() for name in ORDER}
    found = _among(folder, asked)
    if found is None or not set(ORDER) <= set(found.column_names):
        raise UsageError(f"{folder} holds no features of these answers")
    table = found.to_pandas().astype(dict.fromkeys(ORDER, "str"))
    if answers is not None:
        keys = pd.MultiIndex.from_frame(table[ORDER])
        table = table[keys.isin(pd.MultiIndex.from_frame(answers[ORDER]))]
    reasons = [name for name in table if name.endswith(MISSING_SUFFIX)]
    table[reasons] = table[reasons].astype(object).where(table[reasons].notna(), None)
    return table[[*ORDER, *feature_columns(table), *reasons]].sort_values(ORDER, ignore_index=True)


def measure_part(part: Part, job: PartMeasurement) -> dict[str, Any]:
    """Measure a part, unless the file of its features says that it was; return what that says.

    Raises:
        DataError: For faults of its rows, and of the questions and references they need.
    """
    answers = pa.concat_tables(_batches(part, job.answers, ANSWER_COLUMNS))
    target, scope = job.target(part), job.scope()
    asked = {name: pc.unique(answers[name]).to_pylist() for name in QUESTION_KEY}
    queries = _among(job.queries, asked, QUERY_COLUMNS)
    references = _among(job.out / REFERENCES_FILE, asked, ANSWER_COLUMNS)
    key = None if scope is None else _digest(scope, answers, queries, references)
    told = _told(target)
    if told is not None and key is not None and told["key"] == key:
        return told
    rows = parquet_rows(answers, part.file.name, part.start + 1)
    questions = rows.table[QUESTION_KEY].astype(str).sort_values(QUESTION_KEY)
    measured_batches = [
        _measured(replace(rows, table=rows.table.loc[labels]), queries, references, job)
        for labels in _whole_questions(questions)
    ]
    table = pd.concat(measured_batches).sort_values(ORDER, ignore_index=True)
    numbers = table[list(map(str, job.features))].agg(["count", "sum", "min", "max"]).T
    told = {
        "key": key,
        "answers": len(table),
        "features": numbers.astype(object).where(numbers.notna(), None).to_numpy().tolist(),
        "missing": missing_counts(table).to_numpy().tolist(),
    }
    _write(
        table.drop(columns=_above(part.file, job.answers).column_names, errors="ignore"),
        target,
        told,
    )
    return told


def _whole_questions(keys: pd.DataFrame) -> Iterator[pd.Index]:
    """Yield the labels of sorted rows, all of a question together, of many questions at a time."""
    is_new = (keys != keys.shift()).any(axis=1).to_numpy()
    start = 0
    for end in [*np.flatnonzero(is_new)[1:].tolist(), len(keys)]:
        if end - start >= SLAB or end == len(keys):
            yield keys.index[start:end]
            start = end


def _measured(
    rows: Rows, queries: pa.Table | None, references: pa.Table | None, job: PartMeasurement
) -> pd.DataFrame:
    """Measure rows of answers beside their questions and the reference answers to these."""
    wanted, asked = pa.array(rows.table["query_id"].astype(str).unique(), pa.string()), []
    for table, columns in ((queries, QUERY_COLUMNS), (references, ANSWER_COLUMNS)):
        empty = pa.table({name: pa.array([], pa.string()) for name in columns})
        found = empty if table is None else table.filter(pc.is_in(table["query_id"], wanted))
        asked.append(parquet_rows(found, "queries" if columns is QUERY_COLUMNS else "answers"))
    others, (there, questions) = asked[1].table, (rows.table[ANSWER_KEY], rows.table[QUESTION_KEY])
    is_own = pd.MultiIndex.from_frame(others[ANSWER_KEY]).isin(pd.MultiIndex.from_frame(there))
    keys = pd.MultiIndex.from_frame(others[QUESTION_KEY])
    is_asked = keys.isin(pd.MultiIndex.from_frame(questions))
    further = replace(asked[1], table=others[is_asked & ~is_own])
    given = joined_rows([rows, further] if len(further.table) else [rows], rows.source)
    arena = checked_arena(job.info, asked[0], given)
    own = arena.answers.head(len(rows.table)).filter(ANSWER_COLUMNS)
    return measured(arena, own.sort_values(ANSWER_KEY), job.features, job.models)


def _parts_of(file: Path) -> Iterator[Part]:
    rows = pq.read_metadata(file).num_rows
    for start in range(0, rows, PART):
        yield Part(file, start, min(start + PART, rows))


def _clear(out: Path, expected: Collection[Path]) -> None:
    """Remove what a run that was killed left, and parts of answers that are no longer there."""
    for left_over in out.rglob(f"{WRITING}*"):
        shutil.rmtree(left_over, ignore_errors=True)
    others = [path for path in part_files(out) if path not in expected]
    for path in others:
        if _told(path) is None:
            raise UsageError(NOT_OURS.format(path))
    for path in others:
        path.unlink()


def _look(job: PartMeasurement, files: Sequence[Path], n_jobs: int | None) -> None:
    """Refuse answers that stand twice, and put the reference system's where workers see them."""
    task = partial(_looked_at, root=job.answers, system=job.info.reference_system)
    looked = list(work(task, files, n_jobs))
    every = np.concatenate([*(keys for keys, _ in looked), np.array([], np.uint64)])
    order = np.argsort(every, kind="stable")
    twice = order[1:][every[order][1:] == every[order][:-1]]
    starts = np.cumsum([0, *(len(keys) for keys, _ in looked)])
    if len(twice):
        problems = []
        for place in sorted(twice.tolist()):
            number = int(np.searchsorted(starts, place, side="right")) - 1
            line = place - int(starts[number]) + 1
            problems.append(Problem(files[number].name, line, None, None, *TWICE))
        raise DataError(problems)
    found = [references for _, references in looked if references is not None]
    (job.out / REFERENCES_FILE).unlink(missing_ok=True)
    if found:
        order_by = [(name, "ascending") for name in QUESTION_KEY]
        table = pa.concat_tables(found, promote_options="permissive").sort_by(order_by)
        with atomic_path(job.out / REFERENCES_FILE) as path:
            pq.write_table(table, path, row_group_size=SORTED_ROWS)


def _looked_at(
    file: Path, root: Path, system: str | None
) -> tuple[npt.NDArray[np.uint64], pa.Table | None]:
    """Return a digest of each answer's key in a file, and the answers of one system."""
    rows = Part(file, 0, pq.read_metadata(file).num_rows)
    frames = (table.to_pandas().astype("str") for table in _batches(rows, root, ANSWER_KEY))
    keys = [pd.util.hash_pandas_object(frame[ANSWER_KEY], index=False) for frame in frames]
    references = system and _where(file, root, {"system": [system]}, ANSWER_COLUMNS)
    return np.concatenate([*keys, np.array([], np.uint64)]), references or None


def _batches(part: Part, root: Path, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Yield some rows of a file; no more of it is decoded than the row groups they are in."""
    file, groups, starts = pq.ParquetFile(part.file, buffer_size=MIB), [], []
    end = 0
    for group in range(file.num_row_groups):
        start, end = end, end + file.metadata.row_group(group).num_rows
        if end > part.start and start < part.stop:
            groups.append(group)
            starts.append(start)
    names = [name for name in columns if name in file.schema_arrow.names]
    expanded, most, place = 0, most_expanded(part.file.stat().st_size), min(starts, default=0)
    for batch in file.iter_batches(min(ROWS_AT_ONCE, PART), groups, names):
        start, stop = max(part.start - place, 0), min(part.stop - place, batch.num_rows)
        place += batch.num_rows
        if start < stop:
            expanded += batch.nbytes
            refuse_beyond(part.file.name, expanded, most, "bytes when expanded")
            rows = pa.Table.from_batches([batch.slice(start, stop - start)])
            yield with_partition(rows.replace_schema_metadata(None), part.file, root)


def _among(
    path: Path, wanted: Mapping[str, list[str]], columns: Sequence[str] | None = None
) -> pa.Table | None:
    """Read rows of a file, or of a folder of files, as ``_where`` does; None without any."""
    files = part_files(path) if path.exists() else []
    found = [table for file in files if (table := _where(file, path, wanted, columns)) is not None]
    return pa.concat_tables(found, promote_options="permissive") if found else None


def _where(
    file: Path, root: Path, wanted: Mapping[str, list[str]], columns: Sequence[str] | None
) -> pa.Table | None:
    """Read the rows of a file whose columns have one of the wanted values; None without any."""
    source, only = ds.dataset(file, format=_FORMAT), pc.scalar(True)
    above = _above(file, root)
    for name, values in wanted.items():
        if name in source.schema.names:
            only &= pc.field(name).isin(pa.array(values, pa.string()))
        elif name not in above.column_names or above[name][0].as_py() not in values:
            return None
    names = [name for name in columns or source.schema.names if name in source.schema.names]
    how = {"batch_size": ROWS_AT_ONCE, "batch_readahead": 1, "use_threads": False}
    read = source.to_table(columns=names, filter=only, **how).replace_schema_metadata(None)
    return with_partition(read, file, root) if len(read) else None


def _above(file: Path, root: Path) -> pa.Table:
    """Return one row of what a file's folders say of all its rows."""
    return with_partition(pa.table({"": [None]}), file, root)


def _digest(scope: str, *tables: pa.Table | None) -> str:
    """Return a digest of all that a part is measured on."""
    digest = blake2b(scope.encode(), digest_size=16)
    for table in tables:
        sink = pa.BufferOutputStream()
        if table is not None:
            names = [name for name in ANSWER_KEY if name in table.column_names]
            ordered = table.sort_by([(name, "ascending") for name in names]).combine_chunks()
            with pa.ipc.new_stream(sink, ordered.schema) as stream:
                stream.write_table(ordered)
        digest.update(sink.getvalue())
    return digest.hexdigest()


def _told(file: Path) -> dict[str, Any] | None:
    """Return what a part's file of features says of itself; None if there is none of ours."""
    try:
        return dict(json.loads(pq.read_schema(file).metadata[TOLD]))
    except (OSError, TypeError, KeyError, ValueError, pa.ArrowException):
        return None


def _write(table: pd.DataFrame, target: Path, told: dict[str, Any]) -> None:
    columns = {}
    for name in table:
        is_text = name in ORDER or str(name).endswith(MISSING_SUFFIX)
        column = pa.array(table[name], pa.string() if is_text else pa.float64())
        columns[name] = column if name in ORDER or not is_text else column.dictionary_encode()
    whole = pa.table(columns).replace_schema_metadata({TOLD: json.dumps(told).encode()})
    target.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(target) as path:
        pq.write_table(whole, path, compression="zstd")


def _summary(told: Sequence[dict[str, Any]], names: list[str]) -> dict[str, Any]:
    """Put together what the parts say of their values."""
    rows = []
    for place, name in enumerate(names):
        own = pd.DataFrame([part["features"][place] for part in told], columns=range(4))
        own = own.astype(float)
        count = int(own[0].sum())
        mean = own[1].sum() / count if count else np.nan
        rows.append((name, count, mean, own[2].min(), own[3].max()))
    numbers = pd.DataFrame(rows, columns=["feature", "count", "mean", "min", "max"])
    columns = ["language", "feature", "reason", "answers"]
    missing = pd.DataFrame([row for part in told for row in part["missing"]], columns=columns)
    missing = missing.groupby(columns[:3], as_index=False, sort=False)["answers"].sum()
    answers = sum(part["answers"] for part in told)
    return {"answers": answers, "features": numbers, "missing": missing}
