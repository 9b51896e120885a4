"""From settings to pairs: what a run asks about, within which calls and cost."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError, argument
from arena.judging.choosing.adaptive import AdaptivePairs
from arena.judging.choosing.chosen_pairs import ChosenPairs
from arena.judging.choosing.drawn_pairs import choose_pairs
from arena.judging.choosing.forecast import Forecast
from arena.judging.choosing.paced_pairs import PacedPairs
from arena.judging.forms import JUDGE_FORMS
from arena.judging.judging_settings import JudgingSettings
from arena.llm.usage import Budget, Price


def planned_pairs(
    arena: Arena,
    settings: JudgingSettings,
    budget: Budget,
    prior: pd.DataFrame | None,
    failed: pd.DataFrame | None,
) -> AdaptivePairs | ChosenPairs | PacedPairs:
    """Return what chooses the pairs of a run: as verdicts come, all at once, or paced by cost.

    Args:
        arena: Questions, answers, and the judgments so far.
        settings: Who judges which pairs.
        budget: Of calls and cost.
        prior: See ``AdaptivePairs``.
        failed: See ``AdaptivePairs``.

    Raises:
        UsageError: If settings contradict each other, or there is nothing to judge.
    """
    if settings.is_adaptive:
        return AdaptivePairs(arena, settings, prior, failed, budget)
    drawn = draw_pairs(arena, settings)
    if settings.max_cost is None:
        return drawn
    return PacedPairs(drawn, JUDGE_FORMS[settings.form], len(settings.judges), budget)


def forecast(
    arena: Arena,
    settings: JudgingSettings,
    *,
    prior: pd.DataFrame | None,
    failed: pd.DataFrame | None = None,
) -> Forecast:
    """Say what judging with adaptive pairs is likely to take and to give; nothing is asked.

    Arguments are those of ``judge_arena``.

    Raises:
        UsageError: If settings contradict each other, or there is nothing to judge.
    """
    budget = Budget(settings.max_calls)
    return AdaptivePairs(arena, settings, prior, failed, budget).forecast()


def draw_pairs(arena: Arena, settings: JudgingSettings) -> ChosenPairs:
    """Draw the pairs to judge before any verdict; see ``choose_pairs``.

    Raises:
        UsageError: If settings contradict each other, or there is nothing to judge.
    """
    settings.require_plan()
    pairs = settings.pairs or "all"
    if settings.is_adaptive or pairs == "adaptive":
        raise UsageError("adaptive pairs are chosen as verdicts come, not beforehand")
    budget = settings.budget
    if budget is None and settings.pairs is None and settings.form == "pairwise":
        answers = arena.answers
        if settings.languages:
            answers = answers[answers["language"].isin(settings.languages)]
        n_systems = int(answers.groupby("language")["system"].nunique().sum())
        budget = settings.default_budget(n_systems)
    is_limited = budget is not None or settings.max_cost is not None
    chosen = choose_pairs(
        arena,
        questions=settings.questions,
        pairs=pairs,
        languages=settings.languages,
        seed=settings.seed,
        audit=settings.audit_share,
        # Marks and orders are asked question by question.
        spread=is_limited and settings.form == "pairwise",
    )
    if budget is None:
        return chosen
    return JUDGE_FORMS[settings.form].within(chosen, budget // len(settings.judges))


def sample_pairs(arena: Arena, settings: JudgingSettings, n_calls: int) -> ChosenPairs:
    """Draw random pairs for a number of calls, to see what as many adaptive ones would cost."""
    chosen = choose_pairs(
        arena,
        questions=settings.questions,
        languages=settings.languages,
        seed=settings.seed,
        audit=settings.audit_share,
        spread=True,
    )
    return chosen.within(n_calls // len(settings.judges))


def judging_budget(settings: JudgingSettings, prices: Mapping[str, Price] | None) -> Budget:
    """Return the budget of a run's calls.

    Raises:
        UsageError: If the cost is limited, and a model has no price.
    """
    prices = prices or {}
    models = [settings.model, *settings.panel]
    if settings.escalate is not None:
        models.append(settings.escalate)
    without_price = [model for model in models if model not in prices]
    if settings.max_cost is not None and without_price:
        raise UsageError(
            f"{argument('max_cost')} needs the price of {', '.join(without_price)} "
            f"({argument('prices')})"
        )
    return Budget(settings.max_calls, max_cost=settings.max_cost, prices=prices)
