"""Rounds of pairs, asked of one judge or of a panel, and what comes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from arena.data.answer_digests import with_digests
from arena.data.arena import Arena
from arena.data.errors import UnusableRepliesError, UsageError
from arena.data.rows import are_in
from arena.data.schema import ADAPTIVE, CHOSEN, JUDGMENTS, REPEAT
from arena.data.types import Progress
from arena.data.wording import repeated
from arena.judging.answer_pairs import PAIR_COLUMNS
from arena.judging.choosing.chosen_pairs import ChosenPairs, PairChooser
from arena.judging.choosing.paced_pairs import PacedPairs
from arena.judging.judging_result import Judging
from arena.judging.judging_summary import summarize_judge
from arena.judging.llm_judge import LlmJudge
from arena.judging.panel import Panel, panel_verdicts
from arena.judging.rounds import JudgedRounds, joined_rows, stacked_verdicts
from arena.llm.store import Store
from arena.llm.usage import Budget, Price, Usage
from arena.quality.agreement import agreement_table, oriented_verdicts
from arena.quality.people_agreement import PeopleAgreement


def judge_pairs(
    arena: Arena,
    judges: LlmJudge | Sequence[LlmJudge],
    pairs: PairChooser,
    store: Store,
    *,
    budget: Budget | None = None,
    prices: Mapping[str, Price] | None = None,
    progress: Progress | None = None,
    people: Mapping[str, PeopleAgreement] | None = None,
) -> Judging:
    """Judge pairs that were chosen, with judges that were made; ``judge`` makes both.

    Args:
        arena: Questions, answers, and the judgments so far.
        judges: One judge, or those of a panel, all of which are asked about every round.
        pairs: See ``choose_pairs`` and ``AdaptivePairs``.
        store: See ``arena.llm.open_store``.
        budget: Maximum number of calls of all judges; the pairs left fail as ``over_budget``.
        prices: See ``judge``.
        progress: See ``judge``.
        people: See ``judge``.

    Raises:
        UsageError: If a judge cannot be used, or two have the same name.
    """
    members = (judges,) if isinstance(judges, LlmJudge) else tuple(judges)
    names = [member.judge for member in members]
    if not names or repeated(names):
        faulty = ", ".join(repeated(names)) or "there is none"
        raise UsageError(f"name each judge once: {faulty}")
    renewing = [member.judge for member in members if member.prompt.renews_verdicts]
    is_renewed = arena.judgments["judge"].isin(renewing)
    renewed = arena.judgments[is_renewed]
    if len(renewed):
        # Verdicts by tables that people may have edited since are made again; where
        # nobody did, nothing is asked.
        if isinstance(pairs, ChosenPairs):
            pairs = pairs.on_sides_of(renewed)
        arena = replace(arena, judgments=arena.judgments[~is_renewed].reset_index(drop=True))
    budget = budget or Budget()
    # A batch may take a day, so all pairs are in one.
    if isinstance(pairs, ChosenPairs) and not any(member.settings.batch for member in members):
        pairs = PacedPairs(pairs, type(members[0].prompt), len(members), budget)
    run = JudgedRounds(names)
    run.ask(arena, members, pairs, store, budget, progress)
    chosen = pairs.chosen(run.rounds)
    outcomes = [run.outcome_of(name) for name in names]
    summaries = []
    for member, outcome in zip(members, outcomes, strict=True):
        usage = Usage.total(member.asked_settings.model, run.usages[member.judge])
        agreement = (people or {}).get(member.judge)
        summary = summarize_judge(
            arena, member, chosen, run.rounds, outcome, usage, prices or {}, agreement
        )
        summaries.append(summary)
    verdicts = stacked_verdicts(outcomes)
    judgments = with_digests(verdicts.judgments, arena.answers)
    if chosen.adaptive:
        judgments = judgments.assign(**{CHOSEN: ADAPTIVE})
    # A second vote in the same order counts for what it repeats, not for a panel.
    first_votes = [_first_votes(arena.judgments), _first_votes(verdicts.judgments)]
    all_judgments = joined_rows(first_votes, list(JUDGMENTS.columns))
    return Judging(
        judgments=judgments,
        failures=verdicts.failures,
        summaries=tuple(summaries),
        panel=_panel(all_judgments, names, arena.answers),
        pairs=chosen,
        agreement=agreement_table(oriented_verdicts(all_judgments), of=names),
        rounds=len(run.rounds),
        reason=run.reason,
        error=UnusableRepliesError(run.useless) if run.useless else None,
        records=verdicts.records,
        n_renewed=int(are_in(verdicts.judgments, renewed, ["judge", *PAIR_COLUMNS]).sum()),
    )


def _panel(judgments: pd.DataFrame, members: Sequence[str], answers: pd.DataFrame) -> Panel | None:
    if len(members) < 2:
        return None
    panel = panel_verdicts(judgments, members)
    return replace(panel, judgments=with_digests(panel.judgments, answers))


def _first_votes(judgments: pd.DataFrame) -> pd.DataFrame:
    return judgments[judgments[REPEAT].isna()] if REPEAT in judgments else judgments
