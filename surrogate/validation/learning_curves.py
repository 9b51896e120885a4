"""How well unseen systems are ranked after training on fewer systems, questions or judgments."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TypeVar, Unpack

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.seeds import generator
from surrogate.learning.languages import LanguageData
from surrogate.learning.names import DEFAULT_SURROGATE
from surrogate.learning.surrogate import Surrogate
from surrogate.validation.scores import ValidationScores, named_scores, score_outcomes
from surrogate.validation.study import Study, StudyOptions, StudyTable

AXES = ("systems", "questions", "judgments")
SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)
REPEATS = 5
Item = TypeVar("Item")


def learning_curves(
    arena: Arena,
    surrogate: str | Surrogate | BaseEstimator = DEFAULT_SURROGATE,
    *,
    axes: Sequence[str] = AXES,
    shares: Sequence[float] = SHARES,
    repeats: int = REPEATS,
    **options: Unpack[StudyOptions],
) -> StudyTable:
    """Rank unseen systems by surrogates that learned from random parts of what there is.

    Every part is rated on the same folds, against the ratings that all judgments give.

    Arguments that are not told here are those of ``validate``.

    Args:
        axes: What there is less of: ``systems`` to train on, judged ``questions`` (with all their
            judgments) or single ``judgments``.
        shares: Parts to keep, each above 0 and at most 1.
        repeats: How often to split the systems and draw the parts.

    Returns:
        Columns ``language, axis, share, tau, tau_low, tau_high, r2, systems, reason``: Kendall tau
        of unseen systems with its 95% interval over systems, R², the number of systems with a
        rating and why some have none.

    Raises:
        UsageError: For an unknown surrogate or axis, a share out of range, or too few systems.
    """
    _check(axes, shares)
    study = Study.of(arena, surrogate, repeats, **options)
    seed = study.settings.seed
    rows = []
    for axis in axes:
        for share in sorted(shares):
            training = partial(part_left, axis=axis, share=share, seed=seed)
            done = named_scores(score_outcomes(study.unseen(training), seed))
            rows += [_row(language, axis, share, item) for language, item in done.items()]
    table = pd.DataFrame(rows).sort_values("language", kind="stable", ignore_index=True)
    shown = ",".join(f"{share:g}" for share in sorted(shares))
    settings = f"axes:{','.join(axes)}|shares:{shown}"
    return StudyTable(table, study.signature("learning-curve", settings))


def _row(language: str, axis: str, share: float, item: ValidationScores) -> dict[str, object]:
    return {
        "language": language,
        "axis": axis,
        "share": share,
        "tau": item.tau,
        "tau_low": item.tau_low,
        "tau_high": item.tau_high,
        "r2": item.r2,
        "systems": item.n_systems,
        "reason": item.reason or "",
    }


def part_left(
    data: LanguageData, held: Sequence[str], repeat: int, axis: str, share: float, seed: int
) -> LanguageData:
    """Draw what is learned from: a share of what is left without the held-out systems.

    A larger share holds all that a smaller one holds.

    Args:
        data: One language.
        held: Systems that have no part in it.
        repeat: Keys the draw.
        axis: One of ``AXES``.
        share: Part to keep; at least one of the axis is kept.
        seed: The user's seed.

    Raises:
        UsageError: If no judgment is left.
    """
    random = generator(seed, "learning curve", axis, data.language, str(repeat))
    if axis == "systems":
        left = [name for name in data.systems_by_content if name not in set(held)]
        return data.without([*held, *_dropped(left, share, random)])
    rows = data.judgments
    judged = rows[~rows["system_a"].isin(held) & ~rows["system_b"].isin(held)]
    if axis == "questions":
        dropped = _dropped(sorted(judged["query_id"].unique()), share, random)
        kept = judged[~judged["query_id"].isin(dropped)]
    else:
        kept = judged.drop(index=_dropped(list(judged.index), share, random))
    return data.hiding(held).judged_by(kept)


def _dropped(items: Sequence[Item], share: float, random: np.random.Generator) -> list[Item]:
    """Return what a random share leaves out; the items are in an order of their own."""
    order = random.permutation(len(items))
    return [items[index] for index in order[max(1, round(share * len(items))) :]]


def _check(axes: Sequence[str], shares: Sequence[float]) -> None:
    unknown = [axis for axis in axes if axis not in AXES]
    if unknown or not axes:
        raise UsageError(f"unknown axis {unknown or ''}; use some of {', '.join(AXES)}")
    if not shares or not all(0 < share <= 1 for share in shares):
        raise UsageError("shares must be above 0 and at most 1, one at least")
