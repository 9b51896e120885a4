"""The manifest of an output folder: what every step was made from, and what it made.

It holds digests, names and options, but no absolute path, address or key.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from arena.errors import DataError, Problem
from arena.streams import atomic_path

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
        mend = "remove it, and everything is made anew (what was measured stays in the cache)"
        raise DataError(
            [Problem(MANIFEST_FILE, None, field, None, f"is damaged: {first['msg']}", mend)]
        ) from error


def write_manifest(manifest: Manifest, out: Path) -> None:
    """Write the manifest in one step: a reader sees the old one or the new one."""
    with atomic_path(out / MANIFEST_FILE) as path:
        path.write_text(manifest.model_dump_json(indent=2) + "\n", encoding="utf-8")
