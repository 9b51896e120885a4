"""Rounds of pairs, asked of one judge or of several, and what comes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from arena.data.answer_digests import with_digests
from arena.data.arena import Arena
from arena.data.errors import UnusableRepliesError, UsageError
from arena.data.rows import are_in
from arena.data.schema import ADAPTIVE, CHOSEN
from arena.data.types import Progress
from arena.data.wording import repeated
from arena.judging.answer_pairs import PAIR_COLUMNS
from arena.judging.choosing.chosen_pairs import ChosenPairs, PairChooser
from arena.judging.choosing.paced_pairs import PacedPairs
from arena.judging.judge_agreement import agreement_table
from arena.judging.judging_result import Judging
from arena.judging.judging_summary import summarize_judge
from arena.judging.llm_judge import LlmJudge
from arena.judging.rounds import JudgedRounds, joined_first_votes, stacked_verdicts
from arena.llm.store import Store
from arena.llm.usage import Budget, Price
from arena.quality.agreement import oriented_verdicts
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
    """Judge chosen pairs with given judges; ``judge`` makes both.

    Args:
        arena: Questions, answers, and judgments so far.
        judges: One judge, or several, all asked about every round.
        pairs: Pairs, such as from ``choose_pairs``, or ``AdaptivePairs``.
        store: Keeps the replies.
        budget: Budget of all judges' calls; pairs left fail as ``over_budget``.
        prices: Price of each model.
        progress: Called with a judge's name, the pairs done, and all pairs.
        people: Agreement of judges with people, where measured before.

    Returns:
        The new verdicts, with failures, calls and cost.

    Raises:
        UsageError: If a judge cannot be used, or two have the same name.
    """
    members = (judges,) if isinstance(judges, LlmJudge) else tuple(judges)
    names = _distinct_names(members)
    renewed = _renewed(arena.judgments, members)
    if len(renewed):
        arena = replace(arena, judgments=arena.judgments.drop(renewed.index).reset_index(drop=True))
        if isinstance(pairs, ChosenPairs):
            pairs = pairs.on_sides_of(renewed)
    budget = budget or Budget()
    # A batch may take a day, so all pairs are in one.
    if isinstance(pairs, ChosenPairs) and not any(member.settings.batch for member in members):
        pairs = PacedPairs(pairs, type(members[0].prompt), len(members), budget)
    run = JudgedRounds(names)
    run.ask(arena, members, pairs, store, budget, progress)
    chosen = pairs.chosen(run.rounds)
    by_people, prices = people or {}, prices or {}
    summaries = [
        summarize_judge(arena, member, chosen, run, prices, by_people.get(member.judge))
        for member in members
    ]
    verdicts = stacked_verdicts([run.outcome_of(name) for name in names])
    judgments = with_digests(verdicts.judgments, arena.answers)
    if chosen.adaptive:
        judgments = judgments.assign(**{CHOSEN: ADAPTIVE})
    votes = joined_first_votes([arena.judgments, judgments])
    return Judging(
        judgments=judgments,
        failures=verdicts.failures,
        summaries=tuple(summaries),
        pairs=chosen,
        agreement=agreement_table(oriented_verdicts(votes), of=names),
        rounds=len(run.rounds),
        reason=run.reason,
        error=UnusableRepliesError(run.useless) if run.useless else None,
        records=verdicts.records,
        n_renewed=int(are_in(judgments, renewed, ["judge", *PAIR_COLUMNS]).sum()),
    )


def _distinct_names(judges: Sequence[LlmJudge]) -> list[str]:
    names = [judge.judge for judge in judges]
    if not names or repeated(names):
        faulty = ", ".join(repeated(names)) or "there is none"
        raise UsageError(f"name each judge once: {faulty}")
    return names


def _renewed(judgments: pd.DataFrame, judges: Sequence[LlmJudge]) -> pd.DataFrame:
    """Make verdicts again from tables that people may have edited."""
    renewing = [judge.judge for judge in judges if judge.prompt.renews_verdicts]
    return judgments[judgments["judge"].isin(renewing)]
