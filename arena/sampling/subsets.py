"""Parts of an arena: win counts of random questions, random items, or items chosen adaptively."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from arena.battles import Battles
from arena.sampling.belief import Pairs
from arena.sampling.planner import Planner

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]
Counts = tuple[Floats, Floats]
Design = Callable[[Battles, Sequence[float], np.random.Generator, float], Counts]

STEP_GROWTH = 0.05
"""An adaptive run looks at its outcomes whenever this share more of them is there."""


def random_questions(
    battles: Battles, shares: Sequence[float], random: np.random.Generator, ridge: float
) -> Counts:
    """Judge all pairs of a random subset of questions.

    Args:
        battles: The whole arena.
        shares: Shares of the questions, each in (0, 1]; the larger subset holds the smaller.
        random: Draws the questions.
        ridge: Not used.

    Returns:
        Points and counts of each pair, each of shape (shares, P).
    """
    del ridge
    place = random.permutation(len(battles.questions))
    taken = np.array([place < part(share, len(place)) for share in shares])
    return battles.weighted(taken)


def random_items(
    battles: Battles, shares: Sequence[float], random: np.random.Generator, ridge: float
) -> Counts:
    """Judge a random share of all items, an item being a pair on a question.

    Args:
        battles: The whole arena.
        shares: Shares of the items, each in (0, 1]; the larger subset holds the smaller.
        random: Draws the items.
        ridge: Not used.

    Returns:
        Points and counts of each pair, each of shape (shares, P).
    """
    del ridge
    question, pair = np.nonzero(battles.counts)
    shuffled = random.permutation(len(pair))
    kept = [shuffled[: part(share, len(pair))] for share in shares]
    points = [_per_pair(battles, battles.points, question[items], pair[items]) for items in kept]
    counts = [_per_pair(battles, battles.counts, question[items], pair[items]) for items in kept]
    return np.array(points), np.array(counts)


def adaptive_items(
    battles: Battles, shares: Sequence[float], random: np.random.Generator, ridge: float
) -> Counts:
    """Judge the items that a planner asks for, outcome by outcome.

    Args:
        battles: The whole arena, which holds the outcomes.
        shares: Shares of the items, each in (0, 1].
        random: Breaks ties of the planner.
        ridge: Precision of the planner's prior.

    Returns:
        Points and counts of each pair, each of shape (shares, P).
    """
    pairs = Pairs(battles.first, battles.second, len(battles.systems))
    return replay(Planner(pairs, battles.counts > 0, random, ridge), battles, shares)


def replay(planner: Planner, battles: Battles, shares: Sequence[float]) -> Counts:
    """Answer a planner from the outcomes of an arena, up to each share of its items.

    Args:
        planner: Plans over the arena; nothing is judged yet.
        battles: The whole arena.
        shares: Shares of the items, each in (0, 1].

    Returns:
        Points and counts of each pair, each of shape (shares, P).
    """
    total, done = int((battles.counts > 0).sum()), 0
    reached: dict[int, Counts] = {}
    for budget in sorted({part(share, total) for share in shares}):
        while done < budget:
            step = max(1, len(battles.systems) // 2, int(STEP_GROWTH * done))
            question, pair = planner.plan(min(step, budget - done))
            outcome = battles.points[question, pair], battles.counts[question, pair]
            planner.record(question, pair, *outcome)
            done += len(pair)
        reached[budget] = planner.points.copy(), planner.battles.copy()
    points, counts = zip(*(reached[part(share, total)] for share in shares), strict=True)
    return np.array(points), np.array(counts)


DESIGNS: dict[str, Design] = {
    "questions": random_questions,
    "pairs": random_items,
    "adaptive": adaptive_items,
}
"""Ways to judge less, by name."""


def part(share: float, total: int) -> int:
    """Round a share of a total, to at least one."""
    return max(1, round(share * total))


def _per_pair(battles: Battles, table: Floats, question: Integers, pair: Integers) -> Floats:
    summed = np.bincount(pair, table[question, pair], len(battles.first))
    return np.asarray(summed, dtype=np.float64)
