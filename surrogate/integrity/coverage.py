"""How much a system must have answered to be ranked, and how much surer more answers make it."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from arena.statistics.significance import NORMAL_90
from surrogate.learning.surrogate import ANSWER_MARK, Surrogate

LEAST_COVERAGE = 0.2
"""Share of a language's questions that a system without verdicts must have answered."""
FEWEST_ANSWERS = 5
"""Answers that it needs at least, where there are so many questions."""
ENOUGH_ANSWERS = 50
"""Answers that are always enough."""
GROUPS = 10
"""Parts of a system's answers that are left out in turn."""
TOO_FEW_ANSWERS = "not ranked: it answered {} of {} questions, and {} are needed"

Key = tuple[str, str]
"""Language and system."""


def needed_answers(questions: int) -> int:
    """Return how many of a language's questions a system must have answered to be ranked."""
    share = math.ceil(round(LEAST_COVERAGE * questions, 9))
    return min(questions, max(FEWEST_ANSWERS, min(share, ENOUGH_ANSWERS)))


def lacks_answers(answers: int, questions: int) -> str:
    """Say why a system with so many answers is not ranked; nothing where it is, or has none."""
    needed = needed_answers(questions)
    return (
        ""
        if answers == 0 or answers >= needed
        else TOO_FEW_ANSWERS.format(answers, questions, needed)
    )


def variances_of_coverage(
    surrogate: Surrogate, X: pd.DataFrame, questions: Mapping[str, int]
) -> dict[Key, float]:
    """Return by how much ratings vary for want of answers to all questions, in squared logits.

    The delete-a-group jackknife (Kott, 2001) of what the surrogate predicts, times the finite
    population correction 1 - n / Q: a system that answered all Q questions has none.
    Where an answer that is not there counts 0 in a mean (``missing``), one that is left out
    counts the mean of the others instead.

    Args:
        surrogate: The surrogate.
        X: Feature table; with the column ``answer`` where the surrogate reads answers.
        questions: Language to its number of questions.

    Returns:
        Language and system to the variance; systems that answered every question, or one alone,
        are left out.
    """
    counted = _counted_as_zero(surrogate, X)
    parts, corrections = [], dict[Key, float]()
    for (language, system), rows in X.groupby(["language", "system"]):
        total, size = questions.get(str(language), 0), len(rows)
        if not 1 < size < total:
            continue
        corrections[str(language), str(system)] = 1 - size / total
        ordered = rows.sort_values("query_id", kind="stable")
        groups = np.arange(size) % min(GROUPS, size)
        for group in range(groups.max() + 1):
            kept = ordered[groups != group]
            if counted:
                means = kept[counted].fillna(0.0).mean()
                left_out = ordered[groups == group].assign(**means)
                kept = pd.concat([kept, left_out])
            parts.append(kept.assign(system=f"{system}{ANSWER_MARK}{group}"))
    if not parts:
        return {}
    rated = surrogate.predict(pd.concat(parts, ignore_index=True))
    owners = rated["system"].str.rsplit(ANSWER_MARK, n=1).str[0]
    found = {}
    for (language, system), ratings in rated.groupby(["language", owners])["rating"]:
        size = ratings.notna().sum()
        spread = (size - 1) * ratings.var(ddof=0)
        found[str(language), str(system)] = float(spread) * corrections[str(language), str(system)]
    return found


def _counted_as_zero(surrogate: Surrogate, X: pd.DataFrame) -> list[str]:
    """Return the features of which an answer that is not there counts 0; most often none."""
    counts = getattr(surrogate, "missing", "nan") == "zero"
    return [name for name in surrogate.features_ if name in X] if counts else []


def widened(rating: float, low: float, high: float, variance: float) -> tuple[float, float]:
    """Widen a symmetric 90% interval by an independent error.

    Args:
        rating: Middle of the interval.
        low: Lower bound.
        high: Upper bound; where it is infinite it stays so.
        variance: Variance of the further error, in squared logits.

    Returns:
        Both bounds; as they were where there is no interval or no such error.
    """
    if not (math.isfinite(rating - low) and variance > 0):
        return low, high
    width = math.hypot(rating - low, NORMAL_90 * math.sqrt(variance))
    return rating - width, rating + width if math.isfinite(high) else high
