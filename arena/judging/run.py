"""Judging an arena: one call for one judge, a panel, or two judges in turn."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError, argument
from arena.data.folder import open_arena
from arena.data.schema import QUESTION_KEY
from arena.data.types import Progress
from arena.judging.choosing.chosen_pairs import ChosenPairs
from arena.judging.choosing.drawn_questions import draw_questions
from arena.judging.choosing.forecast import Forecast
from arena.judging.judging_result import Judging
from arena.judging.judging_settings import JudgingSettings
from arena.judging.llm_judge import LlmJudge
from arena.judging.plans.plan import JudgingRun, judging_budget, plan_of
from arena.llm.store import Store
from arena.llm.usage import Price
from arena.quality.people_agreement import PeopleAgreement


def judge(
    arena: Arena | Path | str,
    settings: JudgingSettings,
    store: Store | Path | str,
    *,
    prior: pd.DataFrame | None = None,
    failed: pd.DataFrame | None = None,
    prices: Mapping[str, Price] | None = None,
    progress: Progress | None = None,
    people: Mapping[str, PeopleAgreement] | None = None,
) -> Judging:
    """Judge pairs of an arena's answers with an LLM, a panel of them, or two in turn.

    Nothing is asked again. A pair without a verdict is a failure, never a tie.

    Args:
        arena: Or its folder.
        settings: Who judges which pairs.
        store: Keeps the replies; or its file.
        prior: Expected ratings for adaptive pairs; see ``surrogate.judging_prior``.
        failed: Pairs that got no verdict before.
        prices: Price of each model.
        progress: Called with the judge, the pairs done, and all.
        people: Agreement of judges with people.

    Returns:
        The new verdicts, with failures, calls and cost.

    Raises:
        UsageError: If a setting or judge cannot be used, or nothing is left.
        RepliesAwaitedError: If batches await replies; the same call collects them.
    """
    settings.require_plan()
    judging_budget(settings, prices)
    if settings.prior is not None and prior is None:
        raise UsageError(
            f"{argument('prior')} names a board; pass the table that judging_prior makes of it"
        )
    run = JudgingRun(
        arena=open_arena(arena),
        settings=settings,
        store=store,
        prior=prior,
        failed=failed,
        prices=prices or {},
        progress=progress,
        people=people,
    )
    return plan_of(settings.plan).judge(run)


def forecast(
    arena: Arena,
    settings: JudgingSettings,
    *,
    prior: pd.DataFrame | None = None,
    failed: pd.DataFrame | None = None,
) -> Forecast | None:
    """Forecast a run's verdicts and their ranking; nothing is asked.

    Args:
        arena: Questions, answers, and judgments so far.
        settings: Who judges which pairs, and how.
        prior: Expected ratings, as for ``judge``.
        failed: Pairs that got no verdict before.

    Returns:
        The forecast; None for pairs known beforehand.

    Raises:
        UsageError: If settings contradict each other, or there is nothing to judge.

    Examples:
        >>> from arena import sample_arena
        >>> list(forecast(sample_arena(), JudgingSettings(model="gpt-4o-mini")).by_judge)
        ['gpt-4o-mini']
    """
    settings.require_plan()
    run = JudgingRun(arena, settings, "", prior, failed)
    return plan_of(settings.plan).forecast(run)


def likely_pairs(
    arena: Arena, settings: JudgingSettings, expected: Forecast | None
) -> list[tuple[LlmJudge, ChosenPairs]]:
    """Return judges with pairs for ``dry_run_judge``; of adaptive ones, as many at random.

    Args:
        arena: Questions and answers.
        settings: Who judges which pairs, and how.
        expected: The result of ``forecast``.
    """
    return plan_of(settings.plan).likely_pairs(JudgingRun(arena, settings, ""), expected)


def questions_to_judge(arena: Arena, settings: JudgingSettings) -> pd.DataFrame:
    """Draw the questions to judge, in the order drawn.

    Args:
        arena: Questions and answers.
        settings: How many questions, of which languages, from which seed.

    Returns:
        Columns ``language, query_id``.

    Examples:
        >>> from arena import sample_arena
        >>> settings = JudgingSettings(model="gpt-4o-mini", questions=2)
        >>> questions_to_judge(sample_arena(), settings)["language"].tolist()
        ['en', 'en']
    """
    drawn = draw_questions(arena, settings.questions, settings.languages, settings.seed)
    return pd.DataFrame(drawn, columns=QUESTION_KEY, dtype=object)
