"""Two judges: a cheap one judges first, a strong one judges where that tells most.

The second judge is first asked about a few pairs drawn at random, which show how far its verdicts
follow the ratings by the first one. These ratings, scaled accordingly, are the prior of its own.
Then it is asked, round by round, about the pairs that tell most about its ranking: systems that the
first judge has close to each other, and those on which the two do not agree. It stops when the
ranking is settled, as adaptive judging does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import scipy
from scipy.special import expit

from arena.data.arena import Arena
from arena.data.errors import ArenaError, UnusableRepliesError
from arena.data.seeds import generator
from arena.data.types import Progress
from arena.diagnostics.judge_label import without_identical
from arena.diagnostics.people_agreement import PeopleAgreement
from arena.judging.answer_pairs import PAIR_COLUMNS
from arena.judging.choosing.adaptive import AdaptivePairs
from arena.judging.choosing.chosen_pairs import ChosenPairs, Rounds, joined_pairs
from arena.judging.choosing.forecast import Forecast
from arena.judging.choosing.plans import draw_pairs, judging_budget, sample_pairs
from arena.judging.judging_result import Judging, require_verdicts
from arena.judging.judging_settings import JudgingSettings
from arena.judging.llm_judge import llm_judges
from arena.judging.run import judge_arena, judge_pairs
from arena.llm.store import Store, open_store
from arena.llm.usage import Budget, Price
from arena.rating.battles import Battles
from arena.rating.outcomes import points_of_a
from arena.rating.posterior import PRIOR_COLUMNS, RatingPrior, battle_posterior
from arena.rating.soft_verdicts import calibrated_judgments, learn_temperatures
from arena.statistics.significance import NORMAL_90

JUDGE_DIFFERENCE = 0.2
"""Standard deviation of what two judges of an arena rate a system differently, in logits, before
both have judged. The posterior lets it be up to four times as large, if verdicts say so."""
SCALE_DEVIATION = 0.5
"""Standard deviation, before both have judged, of the factor by which the second judge's ratings
are the first one's; its mean is 1."""
CALIBRATION_A_SYSTEM = 2
FEWEST_CALIBRATION = 10
"""Random pairs that the second judge is asked about first, however settled the ranking looks."""
FIRST_SHARE = 0.5
"""Share of a limit that the first judge may take."""
NEVER = 1e-9
"""Share of misordered pairs that no ranking reaches, so that the budget alone ends a run."""
FORECAST_DRAWS = 5
USUAL_INFORMATION = 0.2
"""Mean p (1 - p) of a verdict, for the forecast."""
_OF_BOTH = {"escalate", "until"}


@dataclass(frozen=True)
class EscalationForecast:
    """What judging by two judges is likely to take, before the first call.

    Attributes:
        first_judge: Name of the judge that is asked first.
        first_calls: Its calls at most.
        second_judge: Name of the judge that is asked after it.
        second: Calls of the second judge, and the tau after them with its own ranking.
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


def first_settings(settings: JudgingSettings) -> JudgingSettings:
    """Return the settings of the judge that is asked first: up to half of every limit."""
    values = settings.model_dump(exclude_unset=True, exclude=_OF_BOTH)
    for name in ("budget", "max_calls", "max_cost"):
        limit = values.get(name)
        if limit is not None:
            half = FIRST_SHARE * limit
            values[name] = half if name == "max_cost" else max(1, int(half))
    first = JudgingSettings(**values)
    if not first.is_adaptive:
        return first
    # Its calls are cheap, and all of them sharpen what the second judge starts from.
    return JudgingSettings(**values, until=NEVER)


def second_settings(
    settings: JudgingSettings, n_first_calls: int, n_sent: int, first_cost: float
) -> JudgingSettings | None:
    """Return the settings of the judge that is asked after the first; None if nothing is left.

    Args:
        settings: Those of both.
        n_first_calls: Calls of the first judge, in this run and before.
        n_sent: Calls of the first judge in this run.
        first_cost: What these cost.
    """
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


def ratings_by_first(
    judgments: pd.DataFrame, first_judge: str, prior: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Rate the systems by the first judge, ``PRIOR_COLUMNS``.

    Args:
        judgments: Those of the first judge, and of people where there are some.
        first_judge: Its name.
        prior: What the first judge's ratings started from.
    """
    temperatures = learn_temperatures(judgments)
    own = judgments[judgments["judge"] == first_judge]
    tables = []
    for language, rows in calibrated_judgments(own, temperatures).groupby("language"):
        battles = Battles.from_judgments(rows)
        stated = None if prior is None else prior[prior["language"] == language]
        posterior = battle_posterior(battles, RatingPrior.of_table(stated, battles.systems, 1.0))
        table = pd.DataFrame(
            {
                "language": language,
                "system": posterior.systems,
                "rating": posterior.ratings,
                "standard_error": posterior.standard_errors,
            }
        )
        tables.append(table)
    if not tables:
        return pd.DataFrame(columns=list(PRIOR_COLUMNS))
    return pd.concat(tables, ignore_index=True)


class EscalatedPairs:
    """Chooses pairs for the second judge: some at random, then those that tell most.

    Attributes:
        n_planned: Maximum number of pairs; None, as it is not known before the random ones.
        adaptive: What chooses the pairs after the random ones; None before.
    """

    n_planned: int | None = None

    def __init__(
        self,
        arena: Arena,
        settings: JudgingSettings,
        first_ratings: pd.DataFrame,
        failed: pd.DataFrame | None,
        calls: Budget,
    ) -> None:
        """Draw the random pairs.

        Args:
            arena: Questions, answers, and the judgments so far.
            settings: Of the second judge; see ``second_settings``.
            first_ratings: See ``ratings_by_first``.
            failed: See ``AdaptivePairs``.
            calls: The budget of calls of this run.
        """
        self.adaptive: AdaptivePairs | None = None
        self._arena = arena
        self._settings = settings
        self._first_ratings = first_ratings
        self._failed = failed
        self._calls = calls
        n_pairs = n_calibration(len(first_ratings))
        limits = [n_pairs, settings.budget, calls.calls_left]
        n_calls = min(limit for limit in limits if limit is not None)
        self._random = sample_pairs(arena, settings, n_calls)

    def rounds(self) -> Rounds:
        """Yield the random pairs, then those of ``AdaptivePairs``."""
        outcome = yield self._random
        judgments = pd.concat([self._arena.judgments, outcome.judgments], ignore_index=True)
        failed = [table for table in (self._failed, outcome.failures) if table is not None]
        by_second = judgments[judgments["judge"] == self._settings.first_judge]
        keys = pd.MultiIndex.from_frame(self._random.table[PAIR_COLUMNS])
        is_random = pd.MultiIndex.from_frame(by_second[PAIR_COLUMNS]).isin(keys)
        # Pairs that were chosen for their closeness would say little of how far judges agree.
        prior = calibrated_prior(self._first_ratings, by_second[is_random])
        self.adaptive = AdaptivePairs(
            replace(self._arena, judgments=judgments),
            self._settings,
            prior,
            pd.concat(failed, ignore_index=True),
            self._calls,
        )
        return (yield from self.adaptive.rounds())

    def chosen(self, rounds: Sequence[ChosenPairs]) -> ChosenPairs:
        """Put together what was asked, in this run and before."""
        if self.adaptive is None:
            return joined_pairs(self._random.on([]), rounds)
        # The random pairs were judged before the others were chosen.
        return self.adaptive.chosen(rounds[1:])


def n_calibration(n_systems: int) -> int:
    """Return how many random pairs the second judge is asked about.

    Args:
        n_systems: Number of systems, those of each language counted.
    """
    return max(FEWEST_CALIBRATION, CALIBRATION_A_SYSTEM * n_systems)


def calibrated_prior(first_ratings: pd.DataFrame, by_second: pd.DataFrame) -> pd.DataFrame:
    """Scale ratings by the first judge to those that the second one's verdicts follow.

    The factor b maximizes the likelihood of the verdicts given ratings b theta, with b ~ N(1, 1/4).
    A judge that decides otherwise has a factor near 0 or below, and its ratings say little.

    Args:
        first_ratings: See ``ratings_by_first``.
        by_second: Verdicts of the second judge on random pairs.

    Returns:
        ``PRIOR_COLUMNS``.
    """
    rating_of = first_ratings.set_index(["language", "system"])["rating"]
    sides = [
        rating_of.reindex(pd.MultiIndex.from_frame(by_second[["language", side]])).to_numpy()
        for side in ("system_a", "system_b")
    ]
    differences = np.asarray(sides[0] - sides[1], dtype=np.float64)
    points = points_of_a(by_second).to_numpy(np.float64)
    is_rated = np.isfinite(differences)
    differences, points = differences[is_rated], points[is_rated]

    def slope(factor: float) -> float:
        residuals = points - expit(factor * differences)
        return float(differences @ residuals) - (factor - 1.0) / SCALE_DEVIATION**2

    # No residual is above 1, so the root is no further from 1 than this.
    bound = SCALE_DEVIATION**2 * float(np.abs(differences).sum()) + 1.0
    factor = float(scipy.optimize.brentq(slope, 1.0 - bound, 1.0 + bound))
    spread = float(rating_of.std(ddof=0)) if len(rating_of) else 0.0
    errors = factor * first_ratings["standard_error"]
    # The less the second judge follows the first one, the less is known of where it will differ.
    doubt = np.hypot(JUDGE_DIFFERENCE, (1.0 - min(factor, 1.0)) * spread)
    return first_ratings.assign(
        rating=factor * first_ratings["rating"], standard_error=np.hypot(errors, doubt)
    )


def calls_so_far(judgments: pd.DataFrame, failures: pd.DataFrame, judge: str) -> int:
    """Return how many calls a judge took: verdicts on different answers, and pairs without one."""
    verdicts = judgments[judgments["judge"] == judge]
    return len(without_identical(verdicts)) + int((failures["judge"] == judge).sum())


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
    second = second_settings(settings, n_calls, 0, 0.0)
    forecasts = []
    if second is not None:
        start = AdaptivePairs(arena, second, prior).ratings()
        n_systems = start.groupby("language")["system"].transform("size")
        # Of n verdicts spread over all pairs of S systems; see ``forecast.course``.
        n_verdicts = np.maximum(n_calls * n_systems / len(start), 1.0)
        variances = (n_systems - 1) / (2.0 * USUAL_INFORMATION * n_verdicts)
        errors = np.hypot(np.sqrt(variances), JUDGE_DIFFERENCE)
        deviations = (start["high"] - start["low"]) / (2.0 * NORMAL_90)
        for draw in range(FORECAST_DRAWS):
            random = generator(settings.seed, "escalation", str(draw))
            ratings = start["rating"] + deviations * random.standard_normal(len(start))
            drawn = start.assign(rating=ratings, standard_error=errors)[list(PRIOR_COLUMNS)]
            expected = AdaptivePairs(arena, second, drawn).forecast()
            # The random pairs are asked about in any case.
            least = min(n_calibration(len(start)), second.budget or expected.high)
            calls = max(expected.calls, least)
            forecasts.append(replace(expected, calls=calls, high=max(expected.high, calls)))
    return EscalationForecast(
        first_judge=settings.first_judge,
        first_calls=n_calls,
        second_judge=settings.escalate or "",
        second=_mean_of(forecasts),
    )


def judge_escalated(
    arena: Arena,
    settings: JudgingSettings,
    store: Store | Path | str,
    *,
    prior: pd.DataFrame | None = None,
    failed: pd.DataFrame | None = None,
    prices: Mapping[str, Price] | None = None,
    progress: Progress | None = None,
    people: Mapping[str, PeopleAgreement] | None = None,
) -> Judging:
    """Judge by the settings' model, then by the model that they name in ``escalate``.

    Arguments are those of ``judge_arena``. Limits hold for both judges together.

    Raises:
        UsageError: If settings contradict each other, the first judge cannot be used, or there is
            nothing to judge. A fault of the second judge is the result's ``error``.
    """
    settings.require_plan()
    judging_budget(settings, prices)
    first = judge_arena(
        arena,
        first_settings(settings),
        store,
        prior=prior,
        failed=failed,
        prices=prices,
        progress=progress,
        people=people,
    )
    judgments = pd.concat([arena.judgments, first.judgments], ignore_index=True)
    name = settings.first_judge
    failures = first.failures if failed is None else pd.concat([failed, first.failures])
    second = second_settings(
        settings,
        calls_so_far(judgments, failures, name),
        first.usage.sent,
        first.summaries[0].cost or 0.0,
    )
    if second is None or not (judgments["judge"] == name).any():
        reason = f"{name} left nothing to ask {settings.escalate} about"
        return replace(first, reason=_joined_reasons(first.reason, reason))
    judged = replace(arena, judgments=judgments)
    budget = judging_budget(second, prices)
    try:
        pairs = EscalatedPairs(
            judged, second, ratings_by_first(judgments, name, prior), failed, budget
        )
        with nullcontext(store) if isinstance(store, Store) else open_store(store) as replies:
            last = judge_pairs(
                judged,
                llm_judges(second),
                pairs,
                replies,
                budget=budget,
                prices=prices,
                progress=progress,
                people=people,
            )
    except ArenaError as error:
        # What the first judge decided was paid for, and stands.
        reason = f"{settings.escalate} could not be asked"
        return replace(first, reason=_joined_reasons(first.reason, reason), error=error)
    if pairs.adaptive is not None:
        last = replace(last, progress=pairs.adaptive.progress(), ratings=pairs.adaptive.ratings())
    both = _joined_judging(first, last)
    try:
        require_verdicts(last.usage)
    except UnusableRepliesError as error:
        return replace(both, error=error)
    return both


def _joined_judging(first: Judging, last: Judging) -> Judging:
    pairs = joined_pairs(first.pairs, [last.pairs])
    return replace(
        last,
        judgments=pd.concat([first.judgments, last.judgments], ignore_index=True),
        failures=pd.concat([first.failures, last.failures], ignore_index=True),
        summaries=(*first.summaries, *last.summaries),
        pairs=replace(pairs, adaptive=True),
        rounds=first.rounds + last.rounds,
        reason=_joined_reasons(first.reason, last.reason),
    )


def _joined_reasons(*reasons: str) -> str:
    return "; ".join(filter(None, reasons))


def _mean_of(forecasts: Sequence[Forecast]) -> Forecast:
    """Put forecasts from several starts together; no call and an unknown tau of none."""
    if not forecasts:
        return Forecast(0, 0, 0, float("nan"))
    return Forecast(
        calls=int(np.median([forecast.calls for forecast in forecasts])),
        low=min(forecast.low for forecast in forecasts),
        high=max(forecast.high for forecast in forecasts),
        tau=float(np.mean([forecast.tau for forecast in forecasts])),
    )
