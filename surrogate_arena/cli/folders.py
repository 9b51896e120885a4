"""Folders of the application: each can be deleted; what others offer is imported by its name."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

NEEDS = {
    "autojudge": ["diagnosis", "importers"],
    "gating": ["costs"],
    "mcp": ["commands"],
    "pages": ["costs"],
    "papers": ["generation", "importers", "studies"],
    "runs": ["costs", "diagnosis", "gating", "pages"],
    "voting": ["pages"],
}
"""Folders of ``surrogate_arena`` that do nothing without others; all other ones stand alone."""


def has_folder(name: str) -> bool:
    """Return whether a folder of ``surrogate_arena`` and those that it needs are there.

    Each can be deleted.
    """
    spec = find_spec(f"surrogate_arena.{name}")
    # Without its files a folder may stay behind, with what Python compiled.
    is_there = spec is not None and spec.origin is not None
    return is_there and all(map(has_folder, NEEDS.get(name, ())))


def imported(place: str) -> Any:  # noqa: ANN401 - a function of any arguments
    """Import what stands at ``FOLDER.MODULE:NAME`` of ``surrogate_arena``."""
    module, _, name = place.partition(":")
    return getattr(import_module(f"surrogate_arena.{module}"), name)
