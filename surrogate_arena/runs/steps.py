"""Steps of boards, what they were made from last, and why one is to be made again."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from arena.data import __version__
from arena.data.errors import DataError, Problem
from arena.data.files import file_digest, small_file
from arena.data.safe_writes import write_text
from arena.data.types import Progress

MANIFEST_FILE = "manifest.json"
NEVER_MADE = "it was never made"
NOT_STATED = "unset"
NOT_INSTALLED = "not installed"
LIBRARIES = (
    "numpy",
    "scipy",
    "pandas",
    "scikit-learn",
    "py3langid",
    "langid",
    "rapidfuzz",
    "regex",
    "sentencex",
    "pythainlp",
    "torch",
    "transformers",
    "sentence-transformers",
    "tokenizers",
    "jinja2",
    "matplotlib",
)
"""Packages that what is made is computed or written by: another version makes it again."""

Digests = dict[str, str]
"""Name of a file to the SHA-256 of its bytes."""


class StepRecord(BaseModel):
    """How a step was made last: digests of inputs and outputs, options, versions.

    It holds no clock time, so that the same boards give the same bytes.

    Attributes:
        unfinished: Why it must run again though nothing changed; empty if it is complete.
        page_facts: Facts about it for the page of all boards.
    """

    model_config = ConfigDict(frozen=True)

    inputs: Digests = {}
    options: dict[str, Any] = {}
    versions: dict[str, str] = {}
    outputs: Digests = {}
    cautions: tuple[str, ...] = ()
    page_facts: dict[str, str] = {}
    unfinished: str = ""


class RunManifest(BaseModel):
    """``manifest.json`` of an output folder: ``BOARD/STAGE`` to how it was made last."""

    steps: dict[str, StepRecord] = {}


def read_manifest(out: Path) -> RunManifest:
    """Read the manifest of an output folder; an empty one where there is none."""
    path = out / MANIFEST_FILE
    if not path.is_file():
        return RunManifest()
    try:
        return RunManifest.model_validate_json(small_file(path))
    except ValidationError as error:
        fault = f"is damaged: {error.errors()[0]['msg']}"
        hint = "remove it; everything is then made again (measured features stay in the cache)"
        raise DataError([Problem(MANIFEST_FILE, None, None, None, fault, hint)]) from error


def write_manifest(manifest: RunManifest, out: Path) -> None:
    """Write the manifest in one step: a reader sees the old one or the new one."""
    write_text(manifest.model_dump_json(indent=2) + "\n", out / MANIFEST_FILE)


def folder_digests(folder: Path, names: Sequence[str] | None = None, prefix: str = "") -> Digests:
    """Return the digests of a folder's files, or of those named that are there, by their path."""
    roots = [folder] if names is None else [folder / name for name in names]
    digests = {}
    for root in roots:
        # Nothing lies below a file, which is then meant itself.
        for path in sorted(root.rglob("*")) or [root]:
            if path.is_file():
                digests[f"{prefix}{path.relative_to(folder).as_posix()}"] = file_digest(path)
    return digests


@dataclass(frozen=True)
class Workplace:
    """Where a step works: folders of all boards, of the board, of its pages, and its own.

    The step writes to ``target``, and finds in ``before`` what it wrote there the last time.

    ``cautions``, added as a step is made, are repeated by every later run; ``page_facts`` are for
    the page over all boards.
    """

    out: Path
    board: Path
    pages: Path
    target: Path
    before: Path
    n_jobs: int = 1
    progress: Progress | None = None
    cautions: list[str] = field(default_factory=list)
    page_facts: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """One step of a board, in the folder that is called as its stage.

    Attributes:
        make: Makes it; returns why it is to be run again though nothing changes, or nothing.
        files: Digests the files it reads from elsewhere.
        upstream: Stage, or ``BOARD/STAGE`` of another board, to the files of it that matter here;
            none of them named for all.
    """

    board: str
    stage: str
    make: Callable[[Workplace], str | None]
    files: Callable[[], Digests] = dict
    upstream: Mapping[str, Sequence[str]] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its name in the manifest."""
        return f"{self.board}/{self.stage}"

    @property
    def sources(self) -> dict[str, str]:
        """Stages it rests on, to their names in the manifest."""
        return {
            stage: stage if "/" in stage else f"{self.board}/{stage}" for stage in self.upstream
        }


def library_versions() -> dict[str, str]:
    """Return the versions of this package, of Python, and of the libraries figures rest on."""
    python = ".".join(platform.python_version_tuple()[:2])
    libraries = {library: _version(library) for library in LIBRARIES}
    return {"surrogate-arena": __version__, "python": python, **libraries}


@cache
def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return NOT_INSTALLED


def inputs_of(step: Step, manifest: RunManifest) -> Digests:
    """Digest what a step is made from: files from elsewhere, and what stages before it made."""
    inputs = step.files()
    for stage, names in step.upstream.items():
        record = manifest.steps.get(step.sources[stage])
        made = {} if record is None else record.outputs
        wanted = {name: digest for name, digest in made.items() if not names or name in names}
        inputs |= {f"{stage}/{name}": digest for name, digest in wanted.items()}
    return inputs


def reasons_to_make(step: Step, manifest: RunManifest, folder: Path) -> list[str]:
    """Return why a step, whose files are in a folder, is not current; an empty list if it is."""
    record = manifest.steps.get(step.name)
    if record is None:
        return [NEVER_MADE]
    reasons = list(_changed_files(record.inputs, inputs_of(step, manifest)))
    before = {**record.options, **record.versions}
    reasons += changed_values(before, {**step.options, **library_versions()})
    for change in _changed_files(record.outputs, folder_digests(folder)):
        reasons.append(f"output {change}")
    if record.unfinished:
        reasons.append(record.unfinished)
    return reasons


def _changed_files(old: Digests, new: Digests) -> Iterator[str]:
    for name in sorted(old.keys() | new.keys()):
        shown = name.replace("/", " ", 1)
        if name not in new:
            yield f"{shown} is gone"
        elif name not in old:
            yield f"{shown} is new"
        elif old[name] != new[name]:
            yield f"{shown} changed"


def changed_values(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Yield which values differ between two mappings, and how."""
    for name in sorted(old.keys() | new.keys()):
        before = _shown(old.get(name, NOT_STATED))
        after = _shown(new.get(name, NOT_STATED))
        if before != after:
            yield f"{name}: {before} → {after}"


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value)
