"""Two systems compared by the arena's verdicts on them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import UsageError
from arena.data.folder import FAILED_JUDGMENTS
from arena.data.judges import chosen_judges, judges_named
from arena.data.rows import are_in
from arena.data.schema import QUESTION_KEY
from arena.data.tables import read_rows
from arena.data.types import Floats
from arena.data.wording import first_of
from arena.llm.usage import Usage
from arena.quality.preferences import DIFFERENCE
from arena.rating.judgments import points_of_a, shown_sides, sided_flags, weights_of
from arena.rating.soft_verdicts import calibrated_judgments
from surrogate_arena.gating.comparison import (
    SCORE_COLUMNS,
    Bounds,
    SystemComparison,
    bounded_difference,
    bounded_interval,
    is_on_both_sides,
    language_rates,
)
from surrogate_arena.gating.contenders import FAILURE_COLUMNS, Contenders
from surrogate_arena.gating.sequential_test import EVEN, SequentialTest

ONCE = "all from the arena, and the interval holds only if you look once"
IN_ARENA = (
    "all from the arena, and the interval holds however often you look (--once gives a narrower "
    "one for a single look)"
)
ONE_SIDE = (
    "{} is side {} in {} of them, so the judge may prefer that side, not its answers; if the judge "
    "was not shown these sides, import them with --no-sides"
)
SEVERAL_JUDGES = "they are by several judges ({}): keep one (surrogate-arena select --judges)"


def compare_by_arena(
    pair: Contenders, judge: str | None, test: SequentialTest, *, once: bool = False
) -> tuple[str, SystemComparison] | None:
    """Compare candidate and baseline by the verdicts on both that the arena holds.

    Bounds are those of ``anytime_bounds``, unless verdicts are looked at ``once``. By default
    people's verdicts count where some judged, or the only judge's.

    Returns:
        The judge and the comparison, without scores where sides may explain the verdicts; None if
        there is no such verdict.
    """
    judgments = pair.between(pair.arena.judgments)
    judgments = judgments[judgments["language"].isin(pair.answers["language"].unique())]
    names = sorted(judgments["judge"].unique())
    if not names:
        return None
    comparison = SystemComparison(
        difference=None,
        scores=pd.DataFrame(columns=SCORE_COLUMNS, dtype=object),
        low=0.0,
        high=1.0,
        level=1.0,
        judgments=judgments,
        failures=judgments.iloc[:0],
        questions=pair.n_common,
        reason=SEVERAL_JUDGES.format(first_of(names)),
        usage=Usage(""),
    )
    try:
        chosen = chosen_judges(names)[0] if judge is None else judge
        members = judges_named(names, chosen)
    except UsageError:
        # The board's judge has not judged these two; or no judge goes before the others.
        return None if judge is not None else ("", comparison)
    judgments = judgments[judgments["judge"].isin(members)]
    comparison = replace(comparison, judgments=judgments, reason=ONCE if once else IN_ARENA)
    if not is_on_both_sides(judgments, pair.judged_as):
        return chosen, replace(comparison, reason=_on_one_side(pair, judgments))
    return chosen, _scored(comparison, pair, members, test, once=once)


def _on_one_side(pair: Contenders, judgments: pd.DataFrame) -> str:
    share_on_a = shown_sides(judgments)["system_a"].eq(pair.judged_as).mean()
    side, share = ("A", share_on_a) if share_on_a > EVEN else ("B", 1 - share_on_a)
    return ONE_SIDE.format(pair.candidate, side, f"{share:.0%}")


def _scored(
    comparison: SystemComparison,
    pair: Contenders,
    judges: Collection[str],
    test: SequentialTest,
    *,
    once: bool,
) -> SystemComparison:
    """Add scores, their interval and what they decide to a comparison's verdicts."""
    scores = balanced_scores(comparison.judgments, pair.judged_as)
    interval = test.once_interval if once else test.anytime_interval
    decide = test.decide_once if once else test.decide_anytime
    *_, level = interval(scores["score"])

    def bounds(values: npt.ArrayLike) -> tuple[float, float]:
        low, high, _ = interval(values)
        return low, high

    unscored = _unscored(pair, judges, scores)
    low, high = bounded_interval(bounds, scores["score"], unscored)
    return replace(
        comparison,
        difference=bounded_difference(decide, scores["score"], unscored),
        scores=scores,
        low=low,
        high=high,
        level=level,
        languages=_language_rates(comparison.judgments, pair.judged_as, bounds),
        differing=len(scores) + unscored,
        unscored=unscored,
    )


def read_failures(folder: Path) -> pd.DataFrame:
    """Read an arena folder's pairs without a verdict: ``FAILURE_COLUMNS``."""
    path = folder / FAILED_JUDGMENTS
    if not path.is_file():
        return pd.DataFrame(columns=FAILURE_COLUMNS)
    return read_rows(path).table.reindex(columns=FAILURE_COLUMNS)


def _unscored(pair: Contenders, judges: Collection[str], scores: pd.DataFrame) -> int:
    """Count the questions on which these judges gave no verdict at all."""
    failures = pair.between(pair.failures)
    failed = failures[failures["judge"].isin(judges)].drop_duplicates(QUESTION_KEY)
    return int((~are_in(failed, scores, QUESTION_KEY)).sum())


def _language_rates(judgments: pd.DataFrame, system: str, bounds: Bounds) -> pd.DataFrame:
    parts = [pd.DataFrame(columns=SCORE_COLUMNS)]
    for _, rows in judgments.groupby("language"):
        if is_on_both_sides(rows, system):
            parts.append(balanced_scores(rows, system))
    return language_rates(pd.concat(parts), bounds)


def balanced_scores(judgments: pd.DataFrame, system: str) -> pd.DataFrame:
    """Score a system on each question, so that the mean is its win rate on both sides alike.

    The share of points is regressed on the side, by least squares, questions with many verdicts
    counting no more than others; halfway between the sides is the win rate. A question's score is
    that plus the influence of its residuals, perhaps outside 0 to 1. If there is a column
    ``trait_length``, the win rate is that of equal lengths.
    """
    judgments = calibrated_judgments(judgments, hard=True)
    is_a = judgments["system_a"].eq(system)
    points_a = points_of_a(judgments)
    points = points_a.where(is_a, 1.0 - points_a).to_numpy(np.float64)
    counts = weights_of(judgments)
    counted = judgments[QUESTION_KEY].assign(count=1.0 if counts is None else counts)
    on_question = counted.groupby(QUESTION_KEY, observed=True)["count"].transform("sum")
    weights = (counted["count"] / on_question).to_numpy()
    design = np.ones((len(judgments), 1))
    is_sided = sided_flags(judgments)
    if is_sided is None or is_sided.any():
        side = np.where(is_a, 0.5, -0.5)
        if is_sided is not None:
            side = np.where(is_sided, side, 0.0)
        design = np.column_stack([design, side])
    if DIFFERENCE in judgments:
        # A judge may like the longer answer, or one that is far longer.
        excess = judgments[DIFFERENCE].where(is_a, -judgments[DIFFERENCE])
        design = np.column_stack([design, np.sign(excess), excess])
    weighted = design * weights[:, None]
    inverse = np.linalg.pinv(design.T @ weighted)
    coefficients = inverse @ weighted.T @ points
    residuals = points - design @ coefficients
    influences: Floats = (weighted @ inverse[:, 0]) * residuals
    by_question = judgments[QUESTION_KEY].assign(score=influences)
    totals = by_question.groupby(QUESTION_KEY, sort=True, observed=True)["score"].sum()
    return (coefficients[0] + len(totals) * totals).reset_index()[SCORE_COLUMNS]
