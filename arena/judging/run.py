"""Judging an arena: one loop, whether pairs are chosen before or as verdicts come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from arena.data.append import FAILED_JUDGMENTS, append_rows, list_failures
from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.rows import read_rows
from arena.data.schema import ADAPTIVE, CHOSEN, JUDGMENTS
from arena.diagnostics.agreement import agreement_table
from arena.diagnostics.verdicts import verdicts
from arena.judging.asking import LlmJudge, ask_judge, pairs_left
from arena.judging.choosing.drawn import ChosenPairs, PairChooser, Verdicts
from arena.judging.pairs import PAIR_COLUMNS
from arena.judging.panel import Panel, panel_verdicts
from arena.judging.summary import (
    FAILURE_COLUMNS,
    VERDICT_COLUMNS,
    JudgingSummary,
    summarize_judging,
)
from arena.llm.ask import Progress
from arena.llm.usage import Budget, Price, Usage

if TYPE_CHECKING:
    from arena.llm.store import Store


@dataclass(frozen=True)
class Judging:
    """What judging brought; the arena is as it was.

    Attributes:
        judgments: New rows of the arena's ``judgments``, with ``VERDICT_COLUMNS``, and ``chosen``
            where pairs were chosen as verdicts came.
        failures: Pairs without a verdict, ``FAILURE_COLUMNS``.
        summaries: Counts, a judge each.
        panel: What most of the judges say, earlier verdicts included; None with one judge.
        pairs: What was chosen, in this run and before.
        agreement: Each judge against every other of the same pairs; see ``agreement_table``.
        batches: How often judges were asked.
        reason: Why no more was asked; empty where all that was chosen is judged.
    """

    judgments: pd.DataFrame
    failures: pd.DataFrame
    summaries: tuple[JudgingSummary, ...]
    panel: Panel | None
    pairs: ChosenPairs
    agreement: pd.DataFrame
    batches: int
    reason: str

    @property
    def failed(self) -> bool:
        """Whether judges were asked, and none replied with a verdict."""
        usages = [summary.usage for summary in self.summaries]
        return any(usage.asked for usage in usages) and not any(usage.answered for usage in usages)

    @property
    def failure_counts(self) -> dict[str, int]:
        """Outcomes without a verdict, by reason."""
        return Usage.total("", [summary.usage for summary in self.summaries]).failures

    def write(self, folder: Path | str) -> tuple[Path, int]:
        """Add the verdicts to an arena folder, and list there what failed.

        Args:
            folder: The folder; its ``failed_judgments.jsonl`` loses what has a verdict by now.

        Returns:
            The file of judgments, and how many were added.

        Raises:
            UsageError: If the folder cannot be used.
            DataError: If the judgments there are damaged.
        """
        file, added = append_rows(folder, "judgments", self.judgments)
        key = ["judge", *PAIR_COLUMNS]
        tables = [table[key] for table in (self.judgments, self.failures)]
        settled = set(pd.concat(tables).itertuples(index=False, name=None))
        list_failures(Path(folder) / FAILED_JUDGMENTS, self.failures, key, settled)
        if self.panel is not None:
            added += append_rows(folder, "judgments", self.panel.judgments, replacing=True)[1]
        return file, added


def judge(
    arena: Arena,
    judges: LlmJudge | Sequence[LlmJudge],
    pairs: PairChooser,
    store: Store,
    *,
    budget: Budget | None = None,
    prices: Mapping[str, Price] | None = None,
    progress: Progress | None = None,
) -> Judging:
    """Let an LLM, or a panel of them, judge pairs of answers.

    A pair that the arena holds a judge's verdict on is not judged again; a reply that is in the
    store is not asked for again, so that a run that was killed goes on where it was. A pair
    without a verdict is a counted failure, never a tie. A panel is asked about every batch of
    pairs as a whole.

    Args:
        arena: Questions, answers, and the judgments there are.
        judges: One judge, or those of a panel.
        pairs: What to judge: see ``choose_pairs``, and ``AdaptivePairs`` for pairs that are
            chosen as verdicts come.
        store: Where replies are and go; see ``arena.llm.open_store``.
        budget: Most calls, over all judges, retries not counted; pairs that are left fail as
            ``over_budget``. None asks all.
        prices: Price of each model, for the cost in the summaries.
        progress: Called with a judge's name, the pairs done, and all.

    Raises:
        UsageError: If a judge cannot be used or two have the same name, or the pairs were chosen
            for something else than a judge's prompt shows. Replies that came are in the store.
        MissingDependencyError: If the extra ``llm`` is not installed.
    """
    members = (judges,) if isinstance(judges, LlmJudge) else tuple(judges)
    names = [member.judge for member in members]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated or not names:
        raise UsageError(f"name each judge once: {', '.join(repeated) or 'there is none'}")
    budget = budget or Budget()
    asked: list[ChosenPairs] = []
    found: list[list[tuple[Verdicts, Usage]]] = [[] for _ in members]
    batches = pairs.batches()
    try:
        batch = next(batches)
        while True:
            shown = _counted_on(progress, sum(batch.whole for batch in asked), pairs.whole)
            for member, parts in zip(members, found, strict=True):
                parts.append(ask_judge(arena, member, batch, store, budget=budget, progress=shown))
            asked.append(batch)
            batch = batches.send(_stacked([parts[-1][0] for parts in found]))
    except StopIteration as end:
        reason = str(end.value)
    chosen = pairs.chosen(asked)
    of_judges = [_stacked([part for part, _ in parts]) for parts in found]
    summaries = [
        summarize_judging(
            member,
            chosen,
            [pairs_left(arena, member, batch) for batch in asked],
            brought,
            arena.judgments[arena.judgments["judge"] == member.judge],
            Usage.total(member.asked_settings.model, [usage for _, usage in parts]),
            prices,
        )
        for member, brought, parts in zip(members, of_judges, found, strict=True)
    ]
    new = _stacked(of_judges)
    judgments = new.judgments.assign(**{CHOSEN: ADAPTIVE}) if chosen.adaptive else new.judgments
    return Judging(
        judgments=judgments,
        failures=new.failures,
        summaries=tuple(summaries),
        panel=_panel(arena.judgments, judgments, names) if len(names) > 1 else None,
        pairs=chosen,
        agreement=_agreement(arena.judgments, new.judgments, names),
        batches=len(asked),
        reason=reason,
    )


def lasting_failures(folder: Path | str) -> pd.DataFrame:
    """Read the pairs that judges of a folder gave no verdict on, ``FAILURE_COLUMNS``."""
    path = Path(folder) / FAILED_JUDGMENTS
    if not path.is_file():
        return pd.DataFrame(columns=FAILURE_COLUMNS, dtype=object)
    return read_rows(path).table


def _counted_on(progress: Progress | None, before: int, whole: int | None) -> Progress | None:
    """Count a batch's pairs after those before it."""
    if progress is None:
        return None

    def of_all(name: str, done: int, size: int) -> None:
        progress(name, before + done, before + size if whole is None else max(whole, size))

    return of_all


def _panel(there: pd.DataFrame, new: pd.DataFrame, names: Sequence[str]) -> Panel:
    """Aggregate all verdicts of a panel; those on adaptive pairs are marked as its judges' are."""
    columns = [*JUDGMENTS.columns, CHOSEN]
    votes = _joined([there.reindex(columns=columns), new.reindex(columns=columns)], columns)
    panel = panel_verdicts(votes, names)
    adaptive = votes[votes["judge"].isin(list(names)) & (votes[CHOSEN] == ADAPTIVE)]
    if adaptive.empty:
        return panel
    keys = pd.MultiIndex.from_frame(panel.judgments[PAIR_COLUMNS])
    is_adaptive = keys.isin(pd.MultiIndex.from_frame(adaptive[PAIR_COLUMNS]))
    marks = [ADAPTIVE if each else None for each in is_adaptive]
    return Panel(panel.judgments.assign(**{CHOSEN: marks}), panel.too_few)


def _agreement(there: pd.DataFrame, new: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Hold each judge against the others, those that are asked now and those of before."""
    columns = list(JUDGMENTS.columns)
    both = _joined([there[columns], new[columns]], columns)
    return agreement_table(verdicts(both), of=names)


def _stacked(parts: Sequence[Verdicts]) -> Verdicts:
    return Verdicts(
        _joined([part.judgments for part in parts], VERDICT_COLUMNS),
        _joined([part.failures for part in parts], FAILURE_COLUMNS),
    )


def _joined(tables: Sequence[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    """Join tables, of which there may be none."""
    some = [table[list(columns)] for table in tables if len(table)]
    if not some:
        return pd.DataFrame(columns=list(columns), dtype=object)
    return pd.concat(some, ignore_index=True)
