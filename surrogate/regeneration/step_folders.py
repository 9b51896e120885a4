"""Replacing the folder of a step by a new one, so that no reader finds half of each."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
