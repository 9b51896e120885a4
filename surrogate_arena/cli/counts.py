"""Counts of an arena, as several commands print them."""

from __future__ import annotations

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
    return ", ".join(
        count_of(number, key.replace("_", " ").removesuffix("s")) for key, number in counts.items()
    )


def contract_remarks(arena: Arena) -> Iterator[Remark]:
    """Say what an importer may have read otherwise than its user meant."""
    from surrogate.checks.citations import citation_remarks

    yield from _unshared_remarks(arena)
    yield from citation_remarks(arena)
    yield from _thoughts_remarks(arena)


def _unshared_remarks(arena: Arena) -> Iterator[Remark]:
    from arena.data.schema import QUESTION_KEY

    n_alone = int((~arena.answers.duplicated(QUESTION_KEY, keep=False)).sum())
    if not n_alone or arena.answers["system"].nunique() < 2:
        return
    if n_alone < len(arena.answers):
        n_questions = count_of(len(arena.queries), "question")
        sentence = f"only one system has an answer to {n_alone:,} of {n_questions}"
        yield Remark("questions", "info", sentence, statistic=n_alone)
    elif arena.judgments.empty:
        sentence = (
            "no two systems answered the same question, so nothing can be compared: two rows are "
            "about one question if they have the same query_id or, where you import without "
            "query_id, the same text"
        )
        yield Remark("questions", "error", sentence)


def _thoughts_remarks(arena: Arena) -> Iterator[Remark]:
    """Name the systems whose answers begin with thoughts."""
    from arena.text.answers import is_empty_answer
    from arena.text.thoughts import has_thoughts

    begins = [has_thoughts(text) and not is_empty_answer(text) for text in arena.answers["answer"]]
    n_begun = sum(begins)
    if n_begun:
        counts = arena.answers.loc[begins, "system"].value_counts()
        listed = first_of([f"{system} {count}" for system, count in counts.items()])
        sentence = (
            f"thoughts before {count_of(n_begun, 'answer')} ({listed}): everybody reads what "
            "follows them"
        )
        yield Remark("thoughts", "info", sentence, statistic=n_begun)
