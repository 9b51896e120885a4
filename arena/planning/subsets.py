"""Parts of an arena: random questions, random items, or items chosen adaptively."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from arena.planning.adaptive import batch_size
from arena.planning.planner import Planner
from arena.rating.battles import Battles
from arena.rating.posterior import RatingPrior

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Parts:
    """Parts of an arena, one a share.

    Attributes:
        points: Points of each pair's first system, shape (shares, P).
        counts: Battles of each pair, shape (shares, P).
        judged: Battles that were judged; ``counts`` may hold others, predicted, shape (shares,).
    """

    points: Floats
    counts: Floats
    judged: Floats


Design = Callable[[Battles, Sequence[float], np.random.Generator, float], Parts]
"""From the whole arena, shares of it in (0, 1], what draws the parts, and the precision of the
prior on strengths (where one is needed) to the parts; a larger one holds the smaller."""


def random_questions(
    battles: Battles, shares: Sequence[float], random: np.random.Generator, ridge: float
) -> Parts:
    """Judge all pairs of a random subset of questions."""
    del ridge
    order = random.permutation(battles.n_questions)
    taken = np.array([order < part(share, len(order)) for share in shares], dtype=np.float64)
    counts = taken @ battles.counts
    return Parts(taken @ battles.points, counts, counts.sum(axis=1))


def random_items(
    battles: Battles, shares: Sequence[float], random: np.random.Generator, ridge: float
) -> Parts:
    """Judge a random share of all items, an item being a pair on a question."""
    del ridge
    taken = _nested_items(battles, shares, random)
    points = np.array([(battles.points * items).sum(axis=0) for items in taken])
    counts = np.array([(battles.counts * items).sum(axis=0) for items in taken])
    return Parts(points, counts, counts.sum(axis=1))


def completed_items(
    battles: Battles, shares: Sequence[float], random: np.random.Generator, ridge: float
) -> Parts:
    """Judge a random share of all items, and predict the others from them."""
    planners = []
    for taken in _nested_items(battles, shares, random):
        planner = _planner(battles, random, ridge)
        _answer(planner, battles, *np.nonzero(taken))
        planners.append(planner)
    return _completed(planners)


def adaptive_items(
    battles: Battles,
    shares: Sequence[float],
    random: np.random.Generator,
    ridge: float,
    prior: RatingPrior | None = None,
) -> Parts:
    """Judge the items that a planner asks for, and predict the others from them."""
    planner = Planner(battles.by_question.pairs, battles.counts, random, ridge, prior)
    total, done = int((battles.counts > 0).sum()), 0
    reached: dict[int, Parts] = {}
    for budget in sorted({part(share, total) for share in shares}):
        while done < budget:
            step = batch_size(len(battles.systems), done)
            items = planner.plan(min(step, budget - done))
            _answer(planner, battles, *items)
            done += len(items[0])
        reached[budget] = _completed([planner])
    parts = [reached[part(share, total)] for share in shares]
    return Parts(
        np.concatenate([each.points for each in parts]),
        np.concatenate([each.counts for each in parts]),
        np.concatenate([each.judged for each in parts]),
    )


DESIGNS: dict[str, Design] = {
    "questions": random_questions,
    "pairs": random_items,
    "completed": completed_items,
    "adaptive": adaptive_items,
}
"""Ways to judge less, by name."""


def part(share: float, total: int) -> int:
    """Round a share of a total, to at least one."""
    return max(1, round(share * total))


def _nested_items(
    battles: Battles, shares: Sequence[float], random: np.random.Generator
) -> list[npt.NDArray[np.bool_]]:
    """Draw random items, for each share a table of shape (Q, P)."""
    judged = battles.counts > 0
    place = np.full(judged.shape, judged.size)
    place[judged] = random.permutation(int(judged.sum()))
    return [place < part(share, int(judged.sum())) for share in shares]


def _planner(battles: Battles, random: np.random.Generator, ridge: float) -> Planner:
    return Planner(battles.by_question.pairs, battles.counts, random, ridge)


def _answer(planner: Planner, battles: Battles, question: Integers, pair: Integers) -> None:
    outcome = battles.points[question, pair], battles.counts[question, pair]
    planner.record(question, pair, *outcome)


def _completed(planners: Sequence[Planner]) -> Parts:
    points, counts = zip(*(planner.completed() for planner in planners), strict=True)
    judged = [planner.battles.sum() for planner in planners]
    return Parts(np.array(points), np.array(counts), np.array(judged))
