"""Judging an arena from what its answers, or a board, let expect."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from arena.data.arena import Arena
from arena.data.folder import open_arena
from arena.data.types import Progress
from arena.judging.choosing.plans import judging_budget
from arena.judging.escalation import judge_escalated
from arena.judging.judging_result import Judging
from arena.judging.judging_settings import JudgingSettings
from arena.judging.run import judge_arena
from arena.llm.store import Store
from arena.llm.usage import Price
from arena.quality.people_agreement import PeopleAgreement
from surrogate.ranking.prior import judging_prior


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
            ratings in logits. By default those of ``judging_prior``; a table without rows for no
            expectation.
        failed: With adaptive pairs, pairs that got no verdict before; see ``lasting_failures``.
        prices: Price of each model, for the cost in the summaries.
        progress: Called with a judge's name, the pairs done, and all pairs.
        people: Agreement of judges with people by judge, where it was measured before.

    Raises:
        UsageError: If settings contradict each other, a judge cannot be used, or there is nothing
            to judge. Replies that came are in the store.
        RepliesAwaitedError: If replies are awaited in batches; the same call collects them.
    """
    # Refused before features are measured.
    settings.require_plan()
    judging_budget(settings, prices)
    arena = open_arena(arena)
    if prior is None:
        prior = judging_prior(arena, settings)
    ask = judge_arena if settings.escalate is None else judge_escalated
    return ask(
        arena,
        settings,
        store,
        prior=prior,
        failed=failed,
        prices=prices,
        progress=progress,
        people=people,
    )
