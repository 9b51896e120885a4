"""Judging an arena folder: what is appended to its judgments, and what failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from arena.data.append import append_rows, list_failures
from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.schema import JUDGMENTS
from arena.judging.choosing.drawn import ChosenPairs
from arena.judging.judge import LlmJudge, judge_arena
from arena.judging.pairs import PAIR_COLUMNS
from arena.judging.panel.aggregation import Aggregate, Panel, aggregate_votes
from arena.judging.panel.agreement import agreement_with_others
from arena.judging.summary import JudgingSummary, Verdicts
from arena.llm.ask import Progress
from arena.llm.usage import Budget, Price

FAILURES_FILE = "failed_judgments.jsonl"

if TYPE_CHECKING:
    from arena.llm.store import Store

_COLUMNS = list(JUDGMENTS.columns)


@dataclass(frozen=True)
class FolderJudging:
    """What judging a folder brought.

    Attributes:
        summaries: Counts, a judge each.
        panel: The panel's verdicts; None with one judge, or where too few verdicts came.
        file: The folder's judgments.
        added: Rows added to it.
        failures_file: Where pairs without a verdict are; None if there are none.
        warnings: Sentences on the panel.
        agreement: Each judge against the folder's other judges; see ``agreement_with_others``.
    """

    summaries: tuple[JudgingSummary, ...]
    panel: Panel | None
    file: Path
    added: int
    failures_file: Path | None
    warnings: tuple[str, ...]
    agreement: pd.DataFrame


def judge_folder(
    folder: Path | str,
    arena: Arena,
    judges: Sequence[LlmJudge],
    pairs: ChosenPairs,
    store: Store,
    *,
    aggregate: Aggregate = "majority",
    max_calls: int | None = None,
    prices: Mapping[str, Price] | None = None,
    progress: Progress | None = None,
) -> FolderJudging:
    """Judge pairs and add the verdicts to the folder.

    Args:
        folder: Arena folder.
        arena: As read from it.
        judges: One judge, or those of a panel.
        pairs: What to judge; see ``choose_pairs``.
        store: Where replies are and go.
        aggregate: How a panel comes to a verdict; see ``aggregate_votes``.
        max_calls: Most calls, over all judges, retries not counted.
        prices: Price of each model, or None.
        progress: Called with a judge's name, the pairs done, and all.

    Raises:
        UsageError: If a judge or the folder cannot be used, or two judges have the same name.
            The verdicts of judges before are in the folder; replies that came are in the store.
        DataError: If the judgments there are damaged.
        MissingDependencyError: If the extra ``llm`` is not installed.
    """
    check_distinct(judges)
    folder, added, budget = Path(folder), 0, Budget(max_calls)
    summaries, tables = [], [arena.judgments[_COLUMNS]]
    file, failures_file = folder, None
    for judge in judges:
        judged = judge_arena(
            arena, judge, pairs, store, budget=budget, prices=prices, progress=progress
        )
        file, new = append_rows(folder, "judgments", judged.judgments)
        failures_file = list_judging_failures(folder, judged)
        added += new
        summaries.append(judged.summary)
        tables.append(judged.judgments[_COLUMNS])
    names = [judge.judge for judge in judges]
    panel, warnings = panel_of(pd.concat(tables, ignore_index=True), names, aggregate)
    if panel is not None:
        added += append_rows(folder, "judgments", panel.judgments, replacing=True)[1]
    agreement = agreement_of(pd.concat(tables, ignore_index=True), names)
    return FolderJudging(tuple(summaries), panel, file, added, failures_file, warnings, agreement)


def agreement_of(judgments: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Hold each judge against the others, those named after it and those not named."""
    parts = [
        agreement_with_others(judgments[~judgments["judge"].isin(names[:place])], name)
        for place, name in enumerate(names)
    ]
    return pd.concat(parts, ignore_index=True)


def list_judging_failures(folder: Path | str, judged: Verdicts) -> Path | None:
    """List a judge's failures in an arena folder; those that have a verdict by now are dropped."""
    key = ["judge", *PAIR_COLUMNS]
    tables = [table[key] for table in (judged.judgments, judged.failures)]
    settled = set(pd.concat(tables).itertuples(index=False, name=None))
    return list_failures(Path(folder) / FAILURES_FILE, judged.failures, key, settled)


def check_distinct(judges: Sequence[LlmJudge]) -> None:
    """Refuse two judges of the same name, or none."""
    names = [judge.judge for judge in judges]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated or not names:
        raise UsageError(f"name each judge once: {', '.join(repeated) or 'there is none'}")


def panel_of(
    judgments: pd.DataFrame, names: Sequence[str], aggregate: Aggregate
) -> tuple[Panel | None, tuple[str, ...]]:
    """Return what a panel of judges says, or None with the reason; None of one judge alone."""
    if len(names) < 2:
        return None, ()
    try:
        return aggregate_votes(judgments, names, aggregate), ()
    except UsageError as error:
        return None, (f"there is no verdict of the panel: {error}",)
