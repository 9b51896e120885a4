"""Replacing the folder of a step by a new one, so that no reader finds half of each."""

from __future__ import annotations

import hashlib
import platform
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from arena.data.errors import DataError, Problem
from arena.data.files import atomic_path
from arena.data.folder import TABLES
from arena.data.rows import SUFFIXES
from arena.data.schema import INFO_FILE
from arena.data.version import __version__

_COMING = ".making-"
_GOING = ".old-"


@contextmanager
def replaced_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder beside ``folder`` that takes its place when the block succeeds.

    A process that is killed leaves the old folder or none at all, which the next run notices by
    the digests in the manifest; what it left over is removed then.
    """
    coming, going = (folder.with_name(f"{mark}{folder.name}") for mark in (_COMING, _GOING))
    for left_over in (coming, going):
        shutil.rmtree(left_over, ignore_errors=True)
    coming.mkdir(parents=True)
    try:
        yield coming
        if folder.exists():
            folder.replace(going)
        coming.replace(folder)
    finally:
        for left_over in (coming, going):
            shutil.rmtree(left_over, ignore_errors=True)


MANIFEST_FILE = "manifest.json"

Option = str | int | float | bool | None | list[str]


class StepRecord(BaseModel):
    """How a step was made last.

    Attributes:
        inputs: Input to its digest: ``arena/queries.jsonl``, ``features/features.parquet``.
        options: Option to its value, seeds among them.
        versions: Package to its version.
        outputs: File in the step's folder to the digest of its bytes.
        unfinished: Why it is to be run again though nothing changed; empty if it is whole.
        finished: When it ended, in UTC (ISO 8601).
        seconds: How long it took.
    """

    model_config = ConfigDict(frozen=True)

    inputs: dict[str, str]
    options: dict[str, Option]
    versions: dict[str, str]
    outputs: dict[str, str]
    unfinished: str = ""
    finished: str = ""
    seconds: float = 0.0


class Manifest(BaseModel):
    """``manifest.json``.

    Attributes:
        format: Version of this format.
        steps: ``BOARD/STAGE`` to how it was made last.
    """

    format: Literal[1] = 1
    steps: dict[str, StepRecord] = {}


def read_manifest(out: Path) -> Manifest:
    """Read the manifest of an output folder; an empty one where there is none.

    Raises:
        DataError: If it is damaged.
    """
    path = out / MANIFEST_FILE
    if not path.is_file():
        return Manifest()
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or None
        hint = "remove it, and everything is made anew (what was measured stays in the cache)"
        raise DataError(
            [Problem(MANIFEST_FILE, None, field, None, f"is damaged: {first['msg']}", hint)]
        ) from error


def write_manifest(manifest: Manifest, out: Path) -> None:
    """Write the manifest in one step: a reader sees the old one or the new one."""
    with atomic_path(out / MANIFEST_FILE) as path:
        path.write_text(manifest.model_dump_json(indent=2) + "\n", encoding="utf-8")


Digests = dict[str, str]
"""Name of a file to the SHA-256 of its bytes."""

_QUERIES, _ANSWERS, _JUDGMENTS = TABLES

ARENA_CONTENT = (
    INFO_FILE,
    *(f"{table}{suffix}" for table in (_QUERIES, _ANSWERS) for suffix in SUFFIXES),
)
"""Files of an arena folder that answers are measured on."""

ARENA_JUDGMENTS = tuple(f"{_JUDGMENTS}{suffix}" for suffix in SUFFIXES)

ARENA_REMARKS = ("failed_judgments.jsonl", "metaevaluation.json")
"""Files of an arena folder that are told of on a board."""


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def digests_of(folder: Path, names: tuple[str, ...]) -> Digests:
    """Return the digests of those of some files that a folder holds."""
    return {name: file_digest(folder / name) for name in names if (folder / name).is_file()}


def folder_digests(folder: Path) -> Digests:
    """Return the digests of all files in a folder, by their path within it."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): file_digest(path) for path in files}


Progress = Callable[[str, int, int], None]
Wanted = Callable[[str], bool]


def only(*names: str) -> Wanted:
    """Want these files of a stage."""
    return lambda name: name in names


def all_but(*names: str) -> Wanted:
    """Want all files of a stage but these."""
    return lambda name: name not in names


@dataclass(frozen=True)
class Place:
    """Where a step works.

    Attributes:
        out: Output folder of all boards.
        board: Folder of the board; each step has a folder in it.
        target: Empty folder for the step's files; it takes its place once they are whole.
        n_jobs: Processes to use.
        progress: Called as the step advances.
    """

    out: Path
    board: Path
    target: Path
    n_jobs: int = 1
    progress: Progress | None = None

    def of(self, stage: str) -> Path:
        """Return the folder of another stage of the board."""
        return self.board / stage


@dataclass(frozen=True)
class Step:
    """One step of a board.

    Attributes:
        board: Name of the board.
        stage: Name of the stage, and of its folder.
        make: Makes it; returns why it is to be run again though nothing changes, or nothing.
        files: Digests the files it reads from elsewhere.
        upstream: Stage to which of its files matter here, by their names.
        options: What it is told.
        versions: Versions of what it is computed by.
    """

    board: str
    stage: str
    make: Callable[[Place], str]
    files: Callable[[], Digests] = dict
    upstream: Mapping[str, Wanted] = field(default_factory=dict)
    options: Mapping[str, Option] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its name in the manifest."""
        return f"{self.board}/{self.stage}"


NEVER_MADE = "it was never made"
NOT_STATED = "unset"


def inputs_of(step: Step, manifest: Manifest) -> Digests:
    """Digest what a step is made from: files from elsewhere, and what stages before it made."""
    inputs = step.files()
    for stage, wanted in step.upstream.items():
        record = manifest.steps.get(f"{step.board}/{stage}")
        made = {} if record is None else record.outputs
        inputs |= {f"{stage}/{name}": digest for name, digest in made.items() if wanted(name)}
    return inputs


def reasons_to_make(step: Step, manifest: Manifest, folder: Path) -> list[str]:
    """Say why a step is not current; an empty list if it is.

    Args:
        step: The step.
        manifest: What was made.
        folder: Folder that the step's files are in.
    """
    record = manifest.steps.get(step.name)
    if record is None:
        return [NEVER_MADE]
    return [
        *_changed_files(record.inputs, inputs_of(step, manifest)),
        *_changed_values(record.options, step.options),
        *_changed_values(record.versions, step.versions),
        *_changed_outputs(record, folder),
        *([record.unfinished] if record.unfinished else []),
    ]


def _changed_files(old: Digests, new: Digests) -> Iterator[str]:
    for name in sorted(old.keys() | new.keys()):
        if name not in new:
            yield f"{_words(name)} is gone"
        elif name not in old:
            yield f"{_words(name)} is new"
        elif old[name] != new[name]:
            yield f"{_words(name)} changed"


def _words(name: str) -> str:
    """Say ``arena judgments.jsonl`` for ``arena/judgments.jsonl``."""
    return name.replace("/", " ", 1)


def _changed_values(old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[str]:
    for name in sorted(old.keys() | new.keys()):
        before, after = (_shown(values, name) for values in (old, new))
        if before != after:
            yield f"{name}: {before} → {after}"


def _shown(values: Mapping[str, object], name: str) -> str:
    value = values.get(name, NOT_STATED)
    return ", ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)


def _changed_outputs(record: StepRecord, folder: Path) -> Iterator[str]:
    there = folder_digests(folder)
    for name, digest in sorted(record.outputs.items()):
        if name not in there:
            yield f"output {name} is missing"
        elif there[name] != digest:
            yield f"output {name} was altered"
    for name in sorted(there.keys() - record.outputs.keys()):
        yield f"output {name} is none of its own"


ABSENT = "not installed"

NUMERIC_LIBRARIES = ("numpy", "scipy", "pandas", "scikit-learn")
MEASURING_LIBRARIES = (
    "numpy",
    "py3langid",
    "langid",
    "rapidfuzz",
    "regex",
    "sentencex",
    "pythainlp",
)
MODELS_LIBRARIES = ("torch", "transformers", "sentence-transformers", "onnxruntime", "tokenizers")
JUDGING_LIBRARIES = ("openai", "jinja2")
PUBLISHING_LIBRARIES = ("pandas", "jinja2")
EXPORTING_LIBRARIES = ("pandas", "pyarrow")
DRAWING_LIBRARIES = ("pandas", "matplotlib")


def versions_of(libraries: Sequence[str]) -> dict[str, str]:
    """Return the versions of this package, of Python, and of some libraries."""
    python = ".".join(platform.python_version_tuple()[:2])
    found = {library: _version(library) for library in libraries}
    return {"surrogate-arena": __version__, "python": python, **found}


@cache
def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return ABSENT


State = Literal["made", "current", "failed", "skipped", "would run"]


@dataclass(frozen=True)
class StepOutcome:
    """What became of a step.

    Attributes:
        board: Name of the board.
        stage: Name of the stage.
        state: ``made``, ``current`` (nothing to do), ``failed``, ``skipped`` (a step it rests on
            failed), or ``would run`` in a check.
        reasons: Why it ran, was skipped, or would run.
        error: What went wrong, in words.
        seconds: How long it took.
    """

    board: str
    stage: str
    state: State
    reasons: tuple[str, ...] = ()
    error: str = ""
    seconds: float = 0.0

    def __str__(self) -> str:
        took = f" in {self.seconds:.1f} s" if self.state == "made" else ""
        why = self.error or "; ".join(self.reasons)
        return f"{self.stage} {self.board}: {self.state}{took}{f' ({why})' if why else ''}"


@dataclass(frozen=True)
class RunReport:
    """What became of all steps.

    Attributes:
        steps: One a step, board by board.
        left_over: Steps in the manifest that the configuration no longer asks for; their files
            are left as they are.
    """

    steps: tuple[StepOutcome, ...]
    left_over: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[StepOutcome, ...]:
        """Steps that failed, and those skipped for it."""
        return tuple(step for step in self.steps if step.state in ("failed", "skipped"))

    @property
    def is_current(self) -> bool:
        """Whether nothing was or is to be done."""
        return all(step.state == "current" for step in self.steps)

    def as_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "steps": [asdict(step) | {"reasons": list(step.reasons)} for step in self.steps],
            "failed": [f"{step.board}/{step.stage}" for step in self.failed],
            "left_over": list(self.left_over),
            "current": self.is_current,
        }
