"""Reporting how far a run is."""

from __future__ import annotations

from arena.data.types import Progress


def finish(progress: Progress | None, stage: str) -> None:
    """Report the end of a stage that has a single step."""
    if progress is not None:
        progress(stage, 1, 1)
