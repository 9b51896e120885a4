"""What is seen in answers: facts that keep a system from a rank, and notes that do not.

A fact is that answers are empty, the same whatever was asked, or fit other questions as well as
their own. All else that is unusual beside the judged systems is a note in neutral words: there are
honest reasons for it, and a reader decides.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import pandas as pd

from arena.data.systems import with_passages_of
from surrogate.integrity.measures import measure_texts

Key = tuple[str, str]
"""Language and system."""

FACTS: Mapping[str, tuple[float, float, str]] = {
    "same": (0.5, 0.3, "{:.0%} of its answers are one text, whatever was asked, or empty"),
    "misfit": (1 / 3, 0.2, "its answers fit other questions as well as their own"),
}
"""Measure to the value above which it keeps a system from a rank, by how much it must exceed that
of every judged system, and what is said."""
COMMON = 0.95
"""Share of the judged systems below whose values nothing is noted."""
LONG, SHORT = 1.5, 0.67
"""Times the judged systems' length that are noted."""
FEWEST_JUDGED = 3
"""Judged systems that are needed to know what is usual."""
LENGTH = "its answers are {:.1f} times as long as the judged systems'"
NOTED: Mapping[str, tuple[float, str]] = {
    "same": (0.3, FACTS["same"][-1]),
    "shared": (0.2, "{:.0%} of its text is shared with judged systems' answers"),
    "repeated": (0.1, "{:.0%} of its text is in its answers to several questions"),
    "looped": (0.1, "{:.0%} of its text says again what the same answer said"),
    "passages": (0.2, "{:.0%} of its text is copied from the passages"),
    "question": (0.3, "{:.0%} of its text repeats the question"),
    "new_pairs": (0.3, "{:.0%} of its pairs of words are in no judged answer and no passage"),
    "unfinished": (0.25, "{:.0%} of its answers end without a mark that ends a sentence"),
}
"""Measure to the value from which it may be noted, and what is said."""


@dataclass(frozen=True)
class Note:
    """What is seen in a system's answers in one language, in numbers and words.

    Attributes:
        measure: Name of the measure.
        value: Its value.
        usual: The median of the judged systems'.
        is_bar: Whether it keeps the system from a rank.
        sentence: The same in words.
    """

    measure: str
    value: float
    usual: float
    is_bar: bool
    sentence: str


def look_at(
    answers: pd.DataFrame, judged: Mapping[str, Collection[str]], queries: pd.DataFrame
) -> dict[Key, tuple[Note, ...]]:
    """Look at systems' answers beside the judged systems' answers to the same questions.

    Args:
        answers: Columns ``language, system, query_id, answer`` of all of them, and ``passages``
            where some have their own.
        judged: Language to its judged systems.
        queries: Columns ``language, query_id, query, passages``.

    Returns:
        Language and system to what is seen. Of judged systems, facts alone: a verdict says more
        than what is unusual.
    """
    shown = with_passages_of(queries, answers)
    found: dict[Key, tuple[Note, ...]] = {}
    for language, systems in judged.items():
        rows = answers[answers["language"] == language]
        if rows.empty:
            continue
        measured = measure_texts(rows, systems, shown[shown["language"] == language])
        usual = measured[measured.index.isin(list(systems))]
        for system, own in measured.iterrows():
            notes = [*_facts(own, usual.drop(index=system, errors="ignore"))]
            if system not in systems and len(usual) >= FEWEST_JUDGED:
                notes += _unusual(own, usual)
            if notes:
                found[language, str(system)] = tuple(notes)
    return found


def _facts(own: pd.Series, others: pd.DataFrame) -> Iterator[Note]:
    """Say what keeps a system from a rank: far beyond any judged system."""
    for name, (least, beyond, sentence) in FACTS.items():
        value, known = float(own[name]), others[name]
        is_beyond = not value <= known.max() + beyond  # as it is where nobody is known
        if value == 1 or (value > least and is_beyond):
            yield Note(name, value, float(known.median()), True, sentence.format(value))
            return


def _unusual(own: pd.Series, usual: pd.DataFrame) -> Iterator[Note]:
    """Say what few judged systems have, if any."""
    low, high, middle = (usual.quantile(share) for share in (1 - COMMON, COMMON, 0.5))
    for name, (least, sentence) in NOTED.items():
        value = float(own[name])
        if value > max(least, high[name]):
            yield Note(name, value, float(middle[name]), False, sentence.format(value))
    length = float(own["length"])
    if length > max(LONG, high["length"]) or length < min(SHORT, low["length"]):
        sentence = LENGTH.format(length)
        yield Note("length", length, float(middle["length"]), False, sentence)
