"""Notes on answers that were read: how many of which systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from arena.data.wording import count_of
from arena.text.answers import is_empty_answer
from arena.text.thoughts import has_thoughts
from surrogate_arena.importers.contract import MOST_NAMED


def note_on_systems(counts: Mapping[str, int], one: str, several: str) -> str:
    """Return how many answers of which systems something is true of."""
    total = sum(counts.values())
    systems = sorted(counts, key=lambda system: (-counts[system], system))
    listed = ", ".join(f"{system} {counts[system]}" for system in systems[:MOST_NAMED])
    if len(systems) > MOST_NAMED:
        listed += f" and {len(systems) - MOST_NAMED} more systems"
    return f"{count_of(total, 'answer')} {one if total == 1 else several} ({listed})"


def thoughts_note(answers: Iterable[tuple[str, str]]) -> str:
    """Return how many answers of which systems begin with thoughts; empty if none does."""
    counts = Counter(
        system for system, text in answers if has_thoughts(text) and not is_empty_answer(text)
    )
    if not counts:
        return ""
    note = note_on_systems(counts, "begins with thoughts", "begin with thoughts")
    return f"{note}: everybody reads what follows them"
