"""Judging an arena folder by one LLM or a panel: each judge's verdicts are added as it ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from arena.errors import UsageError
from arena.folder import Arena
from arena.judging.failure_file import note_failures
from arena.judging.judge_arena import Progress, judge_arena
from arena.judging.judging_summary import JudgingSummary
from arena.judging.judgment_append import append_judgments
from arena.judging.llm_judge import LlmJudge
from arena.judging.pairs import ChosenPairs
from arena.judging.panel import Aggregate, Panel, hold_panel
from arena.llm.usage import Price
from arena.tables import JUDGMENTS

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
    """

    summaries: tuple[JudgingSummary, ...]
    panel: Panel | None
    file: Path
    added: int
    failures_file: Path | None
    warnings: tuple[str, ...]


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
        aggregate: How a panel comes to a verdict; see ``hold_panel``.
        max_calls: Most pairs to ask, over all judges.
        prices: Price of each model, or None.
        progress: Called with a judge's name, the pairs done, and all.

    Raises:
        UsageError: If a judge or the folder cannot be used, or two judges have the same name.
            The verdicts of judges before are in the folder; replies that came are in the store.
        DataError: If the judgments there are damaged.
        MissingDependencyError: If the extra ``llm`` is not installed.
    """
    _check_distinct(judges)
    folder, added, left = Path(folder), 0, max_calls
    summaries, tables = [], [arena.judgments[_COLUMNS]]
    file, failures_file = folder, folder
    for judge in judges:
        judged = judge_arena(
            arena, judge, pairs, store, max_calls=left, prices=prices, progress=progress
        )
        file, new = append_judgments(folder, judged.judgments)
        failures_file = note_failures(folder, judged)
        added += new
        summaries.append(judged.summary)
        tables.append(judged.judgments[_COLUMNS])
        left = None if left is None else max(0, left - judged.summary.sent)
    names = [judge.judge for judge in judges]
    panel, warnings = _panel(pd.concat(tables, ignore_index=True), names, aggregate)
    if panel is not None:
        added += append_judgments(folder, panel.judgments, replacing=True)[1]
    failed = failures_file if failures_file.is_file() else None
    return FolderJudging(tuple(summaries), panel, file, added, failed, warnings)


def _check_distinct(judges: Sequence[LlmJudge]) -> None:
    names = [judge.judge for judge in judges]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated or not names:
        raise UsageError(f"name each judge once: {', '.join(repeated) or 'there is none'}")


def _panel(
    judgments: pd.DataFrame, names: list[str], aggregate: Aggregate
) -> tuple[Panel | None, tuple[str, ...]]:
    if len(names) < 2:
        return None, ()
    try:
        return hold_panel(judgments, names, aggregate), ()
    except UsageError as error:
        return None, (f"there is no verdict of the panel: {error}",)
