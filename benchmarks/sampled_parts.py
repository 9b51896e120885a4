"""Parts of an arena: random questions, random items, or items chosen adaptively."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from arena.data.seeds import generator
from arena.judging.choosing.pairing import batch_size
from arena.judging.choosing.planner import Planner
from arena.rating.battles import Battles
from arena.rating.bradley_terry import DEFAULT_RIDGE, fit_bradley_terry
from arena.rating.posterior import RatingPrior
from arena.statistics.rank_agreement import kendall_taus

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
    points, counts = battles.items.weighted(taken[:, battles.items.question])
    return Parts(points, counts, counts.sum(axis=1))


def random_items(
    battles: Battles, shares: Sequence[float], random: np.random.Generator, ridge: float
) -> Parts:
    """Judge a random share of all items, an item being a pair on a question."""
    del ridge
    points, counts = battles.items.weighted(_nested_items(battles, shares, random))
    return Parts(points, counts, counts.sum(axis=1))


def completed_items(
    battles: Battles, shares: Sequence[float], random: np.random.Generator, ridge: float
) -> Parts:
    """Judge a random share of all items, and predict the others from them."""
    planners = []
    for taken in _nested_items(battles, shares, random):
        planner = _planner(battles, random, ridge)
        _answer(planner, battles, np.flatnonzero(taken))
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
    planner = _planner(battles, random, ridge, prior)
    total, done = len(battles.items), 0
    place = battles.items.table(np.arange(total)).astype(np.intp)
    reached: dict[int, Parts] = {}
    for budget in sorted({part(share, total) for share in shares}):
        while done < budget:
            step = batch_size(len(battles.systems), done)
            planned = place[planner.plan(min(step, budget - done))]
            _answer(planner, battles, planned)
            done += len(planned)
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
) -> npt.NDArray[np.bool_]:
    """Tell which of N items are drawn at random for each share, shape (shares, N)."""
    total = len(battles.items)
    order = random.permutation(total)
    return np.array([order < part(share, total) for share in shares])


def _planner(
    battles: Battles, random: np.random.Generator, ridge: float, prior: RatingPrior | None = None
) -> Planner:
    items = battles.items
    return Planner(items.pairs, items.table(items.counts), random, ridge, prior)


def _answer(planner: Planner, battles: Battles, judged: Integers) -> None:
    items = battles.items
    planner.record(
        items.question[judged], items.pair[judged], items.points[judged], items.counts[judged]
    )


def _completed(planners: Sequence[Planner]) -> Parts:
    points, counts = zip(*(planner.completed() for planner in planners), strict=True)
    judged = [planner.battles.sum() for planner in planners]
    return Parts(np.array(points), np.array(counts), np.array(judged))


def part_taus(battles: Battles, design: str, shares: Sequence[float], seed: int) -> Floats:
    """Kendall tau of one draw of parts with the whole arena, shape (shares,)."""
    random = generator(seed, "sampling", "en", design, "0")
    parts = DESIGNS[design](battles, shares, random, DEFAULT_RIDGE)
    rated = [
        fit_bradley_terry(*counts, battles.items.pairs).coefficients
        for counts in (battles.items.totals, (parts.points, parts.counts))
    ]
    return np.asarray(np.nan_to_num(kendall_taus(rated[1], rated[0])[:, 0]))
