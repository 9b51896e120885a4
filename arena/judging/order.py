"""Which answer is shown as A: drawn by the pair's own content, whatever other pairs there are."""

from __future__ import annotations

from arena.seeds import seed_sequence

Answer = tuple[str, str]
"""System and the answer it gave."""


def shown_order(
    language: str, query_id: str, one: Answer, other: Answer, seed: int = 0
) -> tuple[str, str]:
    """Draw which of two systems stands on side A.

    The draw rests on the question, the two systems and their answers, and on nothing else:
    neither on the judge, so that the judges of a panel see the same, nor on other systems, so
    that a new one reshuffles nothing.

    Args:
        language: Language of the question.
        query_id: Its id.
        one: A system and its answer.
        other: The other system and its answer; the order of the two does not matter.
        seed: The user's seed.

    Returns:
        The system on side A, and that on side B.
    """
    first, second = sorted((one, other))
    drawn = seed_sequence(seed, "judging", "order", language, query_id, *first, *second)
    swapped = bool(drawn.generate_state(1)[0] & 1)
    return (second[0], first[0]) if swapped else (first[0], second[0])
