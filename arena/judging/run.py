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

    A pair that a judge has judged in the arena is not judged again, and a reply that is in the
    store is not asked for again. A pair without a verdict is a counted failure, never a tie.

    Args:
        arena: Questions, answers, and the judgments so far, or the path of their folder.
        settings: Who judges which pairs, and how.
        store: Keeps the replies: an open store, or the path of its file, which is made if absent.
        prior: With adaptive pairs, columns ``language, system, rating, standard_error``: expected
            ratings in logits, such as ``surrogate.judging_prior`` returns. None for no expectation.
        failed: With adaptive pairs, pairs that got no verdict before; see ``lasting_failures``.
        prices: Price of each model, for the cost in the summaries.
        progress: Called with a judge's name, the pairs done, and all pairs.
        people: Agreement of judges with people by judge, where it was measured before.

    Returns:
        The new verdicts, with failures, calls and cost.

    Raises:
        UsageError: If settings contradict each other, a judge cannot be used, or there is nothing
            to judge. Replies that came are in the store.
        RepliesAwaitedError: If replies are awaited in batches; the same call collects them.
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
    """Say what judging is likely to take and to give; nothing is asked.

    Arguments are those of ``judge``. None where the pairs are known before any verdict.

    Raises:
        UsageError: If settings contradict each other, or there is nothing to judge.
    """
    settings.require_plan()
    run = JudgingRun(arena, settings, "", prior, failed)
    return plan_of(settings.plan).forecast(run)


def likely_pairs(
    arena: Arena, settings: JudgingSettings, expected: Forecast | None
) -> list[tuple[LlmJudge, ChosenPairs]]:
    """Return each judge with its pairs, to count what asking them would cost.

    Which pairs adaptive judging asks about depends on verdicts; as many random ones cost as much.

    Args:
        arena: Questions and answers.
        settings: Who judges which pairs, and how.
        expected: See ``forecast``.
    """
    return plan_of(settings.plan).likely_pairs(JudgingRun(arena, settings, ""), expected)


def questions_to_judge(arena: Arena, settings: JudgingSettings) -> pd.DataFrame:
    """Draw the questions that are judged, in the order drawn: columns ``language, query_id``."""
    drawn = draw_questions(arena, settings.questions, settings.languages, settings.seed)
    return pd.DataFrame(drawn, columns=QUESTION_KEY, dtype=object)
