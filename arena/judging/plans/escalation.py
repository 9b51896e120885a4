"""Two judges: a cheap one judges first, a strong one where that tells most."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import ArenaError, UnusableRepliesError
from arena.judging.choosing.adaptive import AdaptivePairs
from arena.judging.choosing.chosen_pairs import joined_pairs
from arena.judging.choosing.drawn_pairs import draw_pairs
from arena.judging.choosing.forecast import Forecast
from arena.judging.judging_result import Judging, require_verdicts
from arena.judging.judging_settings import JudgingSettings
from arena.judging.llm_judge import LlmJudge, llm_judges
from arena.judging.plans.escalated_pairs import (
    JUDGE_DIFFERENCE,
    EscalatedPairs,
    n_calibration,
    ratings_by_first,
)
from arena.judging.plans.plan import JudgingPlan, JudgingRun, plan_of
from arena.quality.agreement import without_identical
from arena.rating.posterior import PRIOR_COLUMNS
from arena.statistics.bootstrap import generator
from arena.statistics.significance import NORMAL_90

FORECAST_DRAWS = 5
NEVER = 1e-9
"""Share of misordered pairs that no ranking reaches, so that the budget alone ends a run."""
_OF_BOTH = {"escalate", "until"}


def _first_settings(settings: JudgingSettings) -> JudgingSettings:
    """Return the first judge's settings: up to half of every limit."""
    values = settings.model_dump(exclude_unset=True, exclude=_OF_BOTH)
    for name in ("budget", "max_calls", "max_cost"):
        limit = values.get(name)
        if limit is not None:
            first_share = 0.5
            half = first_share * limit
            values[name] = half if name == "max_cost" else max(1, int(half))
    first = JudgingSettings(**values)
    if not first.is_adaptive:
        return first
    # Its calls are cheap, and all of them sharpen what the second judge starts from.
    return JudgingSettings(**values, until=NEVER)


def _second_settings(
    settings: JudgingSettings, n_first_calls: int, n_sent: int, first_cost: float
) -> JudgingSettings | None:
    values = settings.model_dump(exclude_unset=True, exclude={"escalate", "pairs", "name", "prior"})
    spent = {"budget": n_first_calls, "max_calls": n_sent, "max_cost": first_cost}
    for name, used in spent.items():
        limit = values.get(name)
        if limit is None:
            continue
        if limit - used <= 0:
            return None
        values[name] = limit - used
    return JudgingSettings(**{**values, "model": settings.escalate, "pairs": "adaptive"})


def _calls_so_far(judgments: pd.DataFrame, failures: pd.DataFrame, judge: str) -> int:
    verdicts = judgments[judgments["judge"] == judge]
    return len(without_identical(verdicts)) + int((failures["judge"] == judge).sum())


class EscalationPlan(JudgingPlan):
    """The settings' model judges first, then that of ``escalate``.

    Limits hold for both together.
    """

    def judge(self, run: JudgingRun) -> Judging:
        """Judge by the first, then by the second judge."""
        settings = run.settings
        of_first = _first_settings(settings)
        first = plan_of(of_first.plan).judge(replace(run, settings=of_first))
        if first.error is not None:
            return first
        judgments = pd.concat([run.arena.judgments, first.judgments], ignore_index=True)
        failures = [table for table in (run.failed, first.failures) if table is not None]
        name = settings.first_judge
        second = _second_settings(
            settings,
            n_first_calls=_calls_so_far(judgments, pd.concat(failures), name),
            n_sent=first.usage.sent,
            first_cost=first.summaries[0].cost or 0.0,
        )
        if second is None or not (judgments["judge"] == name).any():
            return _ended(first, f"{name} left nothing to ask {settings.escalate} about")
        judged = replace(run.arena, judgments=judgments)
        try:
            last = _judge_second(replace(run, arena=judged, settings=second), name)
        except ArenaError as error:
            # What the first judge decided was paid for, and stands.
            return replace(_ended(first, f"{settings.escalate} could not be asked"), error=error)
        both = _joined_judging(first, last)
        try:
            require_verdicts(last.usage)
        except UnusableRepliesError as error:
            return replace(both, error=last.error or error)
        return both

    def forecast(self, run: JudgingRun) -> Forecast:
        """Forecast both judges, with ratings drawn as the first may measure."""
        settings = run.settings
        first_judge, second_judge = settings.first_judge, settings.escalate or ""
        n_first = _first_calls(run.arena, settings, run.prior)
        second = _second_settings(settings, n_first_calls=n_first, n_sent=0, first_cost=0.0)
        if second is None:
            by_judge = {first_judge: n_first, second_judge: 0}
            return Forecast(n_first, n_first, n_first, float("nan"), by_judge)
        ratings = AdaptivePairs(run.arena, second, run.prior).ratings()
        forecasts = []
        for first_ratings in _drawn_ratings(ratings, n_first, settings.seed):
            forecasts.append(AdaptivePairs(run.arena, second, first_ratings).forecast())
        # The random pairs are asked about in any case.
        n_random = min(n_calibration(len(ratings)), second.budget or sys.maxsize)
        n_second = max(n_random, int(np.median([item.verdicts for item in forecasts])))
        return Forecast(
            verdicts=n_first + n_second,
            low=n_first + min(item.low for item in forecasts),
            high=n_first + max(n_second, *(item.high for item in forecasts)),
            tau=float(np.mean([item.tau for item in forecasts])),
            by_judge={first_judge: n_first, second_judge: n_second},
        )

    def judges(self, settings: JudgingSettings) -> list[LlmJudge]:
        """Return both judges; the second one goes by its model's name."""
        second = settings.model_copy(update={"model": settings.escalate, "name": ""})
        return llm_judges(settings) + llm_judges(second)


PLAN = EscalationPlan()


def _judge_second(run: JudgingRun, first_judge: str) -> Judging:
    ratings = ratings_by_first(run.arena.judgments, first_judge, run.prior)
    budget = run.budget()
    pairs = EscalatedPairs(run.arena, run.settings, ratings, run.failed, budget)
    judging = run.ask(pairs, budget)
    if pairs.adaptive is None:
        return judging
    return replace(judging, progress=pairs.adaptive.progress(), ratings=pairs.adaptive.ratings())


def _first_calls(arena: Arena, settings: JudgingSettings, prior: pd.DataFrame | None) -> int:
    first = _first_settings(settings)
    if first.is_adaptive:
        return AdaptivePairs(arena, first, prior).budget
    return draw_pairs(arena, first).n_planned


def _drawn_ratings(ratings: pd.DataFrame, n_calls: int, seed: int) -> Iterator[pd.DataFrame]:
    n_systems = ratings.groupby("language")["system"].transform("size")
    # Of n verdicts spread over all pairs of S systems; see ``forecast.course``.
    n_verdicts = np.maximum(n_calls * n_systems / len(ratings), 1.0)
    # Mean p (1 - p) of a verdict.
    usual_information = 0.2
    variances = (n_systems - 1) / (2.0 * usual_information * n_verdicts)
    errors = np.hypot(np.sqrt(variances), JUDGE_DIFFERENCE)
    deviations = (ratings["high"] - ratings["low"]) / (2.0 * NORMAL_90)
    for draw in range(FORECAST_DRAWS):
        random = generator(seed, "escalation", str(draw))
        drawn = ratings["rating"] + deviations * random.standard_normal(len(ratings))
        yield ratings.assign(rating=drawn, standard_error=errors)[list(PRIOR_COLUMNS)]


def _joined_judging(first: Judging, last: Judging) -> Judging:
    pairs = joined_pairs(first.pairs, [last.pairs])
    return replace(
        last,
        judgments=pd.concat([first.judgments, last.judgments], ignore_index=True),
        failures=pd.concat([first.failures, last.failures], ignore_index=True),
        summaries=(*first.summaries, *last.summaries),
        pairs=replace(pairs, adaptive=True),
        rounds=first.rounds + last.rounds,
        reason=_ended(first, last.reason).reason,
    )


def _ended(judging: Judging, reason: str) -> Judging:
    return replace(judging, reason="; ".join(filter(None, [judging.reason, reason])))
