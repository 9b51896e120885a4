"""Two judges: a cheap one judges first, a strong one judges where that tells most.

The second judge is first asked about a few pairs drawn at random, which show how far its verdicts
follow the ratings by the first one. These ratings, scaled accordingly, are the prior of its own.
Then it is asked, round by round, about the pairs that tell most about its ranking: systems that the
first judge has close to each other, and those on which the two do not agree. It stops when the
ranking is settled, as adaptive judging does.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import ArenaError, UnusableRepliesError
from arena.data.types import Progress
from arena.judging.choosing.chosen_pairs import joined_pairs
from arena.judging.choosing.escalated_pairs import EscalatedPairs, ratings_by_first
from arena.judging.choosing.plans import judging_budget
from arena.judging.judging_result import Judging, require_verdicts
from arena.judging.judging_settings import JudgingSettings
from arena.judging.llm_judge import llm_judges
from arena.judging.run import judge_arena, judge_pairs
from arena.llm.store import Store, open_store
from arena.llm.usage import Price
from arena.quality.judge_label import without_identical
from arena.quality.people_agreement import PeopleAgreement

FIRST_SHARE = 0.5
"""Share of a limit that the first judge may take."""
NEVER = 1e-9
"""Share of misordered pairs that no ranking reaches, so that the budget alone ends a run."""
_OF_BOTH = {"escalate", "until"}


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


def calls_so_far(judgments: pd.DataFrame, failures: pd.DataFrame, judge: str) -> int:
    """Return how many calls a judge took: verdicts on different answers, and pairs without one."""
    verdicts = judgments[judgments["judge"] == judge]
    return len(without_identical(verdicts)) + int((failures["judge"] == judge).sum())


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
        n_first_calls=calls_so_far(judgments, failures, name),
        n_sent=first.usage.sent,
        first_cost=first.summaries[0].cost or 0.0,
    )
    if second is None or not (judgments["judge"] == name).any():
        reason = f"{name} left nothing to ask {settings.escalate} about"
        return replace(first, reason=_joined_reasons(first.reason, reason))
    judged = replace(arena, judgments=judgments)
    first_ratings = ratings_by_first(judgments, name, prior)
    budget = judging_budget(second, prices)
    try:
        pairs = EscalatedPairs(judged, second, first_ratings, failed, budget)
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
