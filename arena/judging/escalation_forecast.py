"""What judging by two judges is likely to take, before the first call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.seeds import generator
from arena.judging.choosing.adaptive import AdaptivePairs
from arena.judging.choosing.escalated_pairs import JUDGE_DIFFERENCE, n_calibration
from arena.judging.choosing.forecast import Forecast
from arena.judging.choosing.plans import draw_pairs
from arena.judging.escalation import first_settings, second_settings
from arena.judging.judging_settings import JudgingSettings
from arena.rating.posterior import PRIOR_COLUMNS
from arena.statistics.significance import NORMAL_90

FORECAST_DRAWS = 5
USUAL_INFORMATION = 0.2
"""Mean p (1 - p) of a verdict, for the forecast."""


@dataclass(frozen=True)
class EscalationForecast:
    """What judging by two judges is likely to take, before the first call.

    Attributes:
        first_judge: Name of the judge that is asked first.
        first_calls: Its calls at most.
        second_judge: Name of the judge that is asked after it.
        second: Verdicts of the second judge, and the tau after them with its own ranking.
    """

    first_judge: str
    first_calls: int
    second_judge: str
    second: Forecast

    def __str__(self) -> str:
        first = f"{self.first_judge}: at most {self.first_calls:,} calls"
        if np.isnan(self.second.tau):
            return f"{first}, which leave none to {self.second_judge}"
        return f"{first}; then {self.second_judge}: {self.second}"


def first_calls(arena: Arena, settings: JudgingSettings, prior: pd.DataFrame | None = None) -> int:
    """Return how many calls the first judge takes at most, earlier runs included.

    Args:
        arena: Questions and answers.
        settings: Those of both judges.
        prior: Expected ratings of the systems.
    """
    first = first_settings(settings)
    if first.is_adaptive:
        return AdaptivePairs(arena, first, prior).budget
    return draw_pairs(arena, first).n_planned


def forecast_escalated(
    arena: Arena, settings: JudgingSettings, prior: pd.DataFrame | None = None
) -> EscalationForecast:
    """Say what both judges are likely to take; nothing is asked.

    Ratings are drawn from what is expected of the systems, as if the first judge had measured them
    as precisely as its calls allow. The second judge's calls are those of a run from there.

    Args:
        arena: Questions and answers.
        settings: Those of both judges.
        prior: Expected ratings of the systems.

    Raises:
        UsageError: If settings contradict each other, or there is nothing to judge.
    """
    settings.require_plan()
    n_calls = first_calls(arena, settings, prior)
    second = second_settings(settings, n_first_calls=n_calls, n_sent=0, first_cost=0.0)
    forecasts: list[Forecast] = []
    if second is not None:
        ratings = AdaptivePairs(arena, second, prior).ratings()
        for first_ratings in _drawn_ratings(ratings, n_calls, settings.seed):
            forecasts.append(_forecast_second(arena, second, first_ratings))
    return EscalationForecast(
        first_judge=settings.first_judge,
        first_calls=n_calls,
        second_judge=settings.escalate or "",
        second=_mean_of(forecasts),
    )


def _drawn_ratings(ratings: pd.DataFrame, n_calls: int, seed: int) -> Iterator[pd.DataFrame]:
    """Draw what the first judge may measure: ``FORECAST_DRAWS`` tables of ``PRIOR_COLUMNS``.

    Args:
        ratings: What is expected of the systems, ``RATING_COLUMNS`` of ``AdaptivePairs``.
        n_calls: Calls of the first judge.
        seed: Seed of the draws.
    """
    n_systems = ratings.groupby("language")["system"].transform("size")
    # Of n verdicts spread over all pairs of S systems; see ``forecast.course``.
    n_verdicts = np.maximum(n_calls * n_systems / len(ratings), 1.0)
    variances = (n_systems - 1) / (2.0 * USUAL_INFORMATION * n_verdicts)
    errors = np.hypot(np.sqrt(variances), JUDGE_DIFFERENCE)
    deviations = (ratings["high"] - ratings["low"]) / (2.0 * NORMAL_90)
    for draw in range(FORECAST_DRAWS):
        random = generator(seed, "escalation", str(draw))
        drawn = ratings["rating"] + deviations * random.standard_normal(len(ratings))
        yield ratings.assign(rating=drawn, standard_error=errors)[list(PRIOR_COLUMNS)]


def _forecast_second(
    arena: Arena, settings: JudgingSettings, first_ratings: pd.DataFrame
) -> Forecast:
    """Say what the second judge is likely to take from ratings by the first one."""
    expected = AdaptivePairs(arena, settings, first_ratings).forecast()
    # The random pairs are asked about in any case.
    least = min(n_calibration(len(first_ratings)), settings.budget or expected.high)
    verdicts = max(expected.verdicts, least)
    return replace(expected, verdicts=verdicts, high=max(expected.high, verdicts))


def _mean_of(forecasts: Sequence[Forecast]) -> Forecast:
    """Put forecasts from several starts together; no call and an unknown tau of none."""
    if not forecasts:
        return Forecast(0, 0, 0, float("nan"))
    return Forecast(
        verdicts=int(np.median([forecast.verdicts for forecast in forecasts])),
        low=min(forecast.low for forecast in forecasts),
        high=max(forecast.high for forecast in forecasts),
        tau=float(np.mean([forecast.tau for forecast in forecasts])),
    )
