"""Counts of an arena, as several commands print them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from arena.data.wording import Remark, count_of, first_of

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


def thoughts_remarks(arena: Arena) -> Iterator[Remark]:
    """Name the systems whose answers begin with thoughts."""
    from arena.text.answers import is_empty_answer
    from arena.text.thoughts import has_thoughts

    counts: Counter[str] = Counter()
    for system, text in zip(arena.answers["system"], arena.answers["answer"], strict=True):
        if has_thoughts(text) and not is_empty_answer(text):
            counts[system] += 1
    if counts:
        listed = first_of([f"{system} {count}" for system, count in counts.most_common()])
        answers = count_of(counts.total(), "answer")
        sentence = f"thoughts before {answers} ({listed}): everybody reads what follows them"
        yield Remark("thoughts", "info", sentence, statistic=counts.total())
