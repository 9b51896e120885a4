"""Counts of an arena in a line, as several commands print them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from arena.data.wording import count_of

if TYPE_CHECKING:
    from arena import Arena


def arena_counts(arena: Arena) -> dict[str, int]:
    """Count what an arena holds, table by table."""
    return {
        "questions": len(arena.queries),
        "answers": len(arena.answers),
        "judgments": len(arena.judgments),
        "systems": len(arena.info.systems),
        "languages": len(arena.info.languages),
    }


def counts_line(counts: Mapping[str, int]) -> str:
    """Write counts in a line, such as ``8 systems, 1 judgment``."""
    parts: list[str] = []
    for key, number in counts.items():
        parts.append(count_of(number, key.replace("_", " ").removesuffix("s")))
    return ", ".join(parts)
