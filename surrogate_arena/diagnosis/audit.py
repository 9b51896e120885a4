"""May a judge's verdicts on a system stand for people's?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from arena.data.schema import QUESTION_KEY
from arena.data.types import Floats, Indices
from arena.quality.agreement import PAIR, QUESTION_PAIR, oriented_verdicts
from arena.statistics.significance import degrees_of_freedom, holm_adjusted

AUDIT = [
    *("judge", "system", "pairs", "questions"),
    *("difference", "low", "high", "p", "detectable", "verdict"),
]
MARGIN = 0.1
"""Of the share of points, within which a difference does no harm."""
ERROR = 0.05


def audit(judgments: pd.DataFrame, reference: Sequence[str]) -> pd.DataFrame:
    """Compare how judges agree with a reference on each system and on the others.

    A difference is the system's share of points by the judge, times the slope of the other systems'
    points by the reference on those by the judge, less that by the reference, on common pairs.
    Errors are over questions (jackknife), p-values corrected for a judge's systems (Holm). The
    largest failure is taken out before the others are audited again.

    Returns:
        Columns ``AUDIT``. ``fail``: differs, perhaps by more than the margin; ``pass``: the 95%
        interval is within the margin; else ``too few``. ``detectable`` is the difference found four
        times in five.
    """
    table = oriented_verdicts(judgments).astype({"first": str, "second": str})
    is_reference = table["judge"].isin(reference)
    by_reference = table[is_reference].groupby(QUESTION_PAIR)["outcome"].mean()
    parts = []
    for judge, verdicts in table[~is_reference].groupby("judge", observed=True):
        by_judge = verdicts.groupby(QUESTION_PAIR)["outcome"].mean()
        shared = pd.concat(
            [by_reference.rename("by_reference"), by_judge.rename("by_judge")], axis=1, join="inner"
        )
        audited = audited_systems(shared.reset_index())
        parts.append(audited.assign(judge=judge)[AUDIT])
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=AUDIT)


def audited_systems(items: pd.DataFrame) -> pd.DataFrame:
    """Audit systems by pairs with outcomes from -1 to 1, ``by_reference`` and ``by_judge``."""
    failed: list[pd.DataFrame] = []
    while True:
        rows = pd.DataFrame(_differences(items), columns=AUDIT)
        rows["p"] = holm_adjusted(rows["p"])
        is_within = (rows["low"] >= -MARGIN) & (rows["high"] <= MARGIN)
        rows["verdict"] = np.where(is_within, "pass", "too few")
        is_shown = (rows["p"] < ERROR) & ~is_within
        if not is_shown.any():
            return pd.concat([*failed, rows], ignore_index=True)
        largest = rows.loc[[rows["difference"].abs().where(is_shown).idxmax()]]
        failed.append(largest.assign(verdict="fail"))
        is_of_it = items[PAIR].isin(largest["system"].tolist()).any(axis=1)
        items = items[~is_of_it]


def _differences(items: pd.DataFrame) -> Iterator[dict[str, object]]:
    """Compare each system's points on the others' scale."""
    systems = sorted({*items["first"], *items["second"]})
    places = np.column_stack([pd.Categorical(items[side], systems).codes for side in PAIR]).astype(
        np.intp
    )
    questions = items.groupby(QUESTION_KEY).ngroup().to_numpy()
    outcomes = items[["by_reference", "by_judge"]].to_numpy(np.float64)
    shape = (len(systems), 3, questions.max(initial=-1) + 1)
    for place, system in enumerate(systems):
        is_own = (places == place).any(axis=1)
        if is_own.all():
            continue
        own = _points(places[is_own], questions[is_own], outcomes[is_own], shape)[place]
        others = _points(places[~is_own], questions[~is_own], outcomes[~is_own], shape)
        yield {
            "system": system,
            "pairs": int(own[0].sum()),
            "questions": int((own[0] > 0).sum()),
            **_tested_difference(own, others),
        }


def _tested_difference(own: Floats, others: Floats) -> dict[str, float]:
    """Compare a system's points, (3, questions), with those of all: (systems, 3, questions)."""
    n_pairs, by_reference, by_judge = _left_out(own)
    excess = _slopes(others) * by_judge - by_reference
    # From points between -1 and 1 to shares of points.
    difference, *without = excess / np.where(n_pairs > 0, n_pairs, np.nan) / 2
    deviations = np.array(without) - np.mean(without)
    n_questions = len(without)
    error = float(np.sqrt((n_questions - 1) / n_questions * (deviations**2).sum()))
    degrees = degrees_of_freedom(deviations)
    half_width = stdtrit(degrees, 1 - ERROR / 2) * error
    at_strictest = stdtrit(degrees, 1 - ERROR / 2 / len(others))
    at_power = stdtrit(degrees, 0.8)
    return {
        "difference": difference,
        "low": difference - half_width,
        "high": difference + half_width,
        "p": 2 * stdtr(degrees, -abs(difference) / (error or np.nan)),
        "detectable": (at_strictest + at_power) * error,
    }


def _points(
    places: Indices, questions: Indices, outcomes: Floats, shape: tuple[int, int, int]
) -> Floats:
    """Count pairs, and points by reference and judge: (systems, 3, questions)."""
    n_systems, _, n_questions = shape
    points = np.zeros(shape)
    for side, sign in enumerate((1, -1)):
        cells = places[:, side] * n_questions + questions
        columns = (np.ones(len(cells)), sign * outcomes[:, 0], sign * outcomes[:, 1])
        for column, values in enumerate(columns):
            sums = np.bincount(cells, values, minlength=n_systems * n_questions)
            points[:, column] += sums.reshape(n_systems, n_questions)
    return points


def _left_out(points: Floats) -> Floats:
    """Sum over all questions, and over all but each: (..., 1 + questions)."""
    total = points.sum(axis=-1, keepdims=True)
    return np.concatenate([total, total - points], axis=-1)


def _slopes(points: Floats) -> Floats:
    """Return slopes of points by the reference on those by the judge, through 0, not below."""
    n_pairs, by_reference, by_judge = _left_out(points).swapaxes(0, 1)
    n_pairs = np.maximum(n_pairs, 1)
    squares = (by_judge**2 / n_pairs).sum(axis=0)
    products = (by_reference * by_judge / n_pairs).sum(axis=0)
    # A judge that contradicts the reference says nothing, rather than the opposite.
    return np.asarray(np.maximum(products, 0.0) / np.where(squares > 0, squares, np.nan))
