"""Result of judging, and how it gets into an arena folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from arena.data.errors import ArenaError, UnusableRepliesError
from arena.data.folder import FAILED_JUDGMENTS
from arena.data.tables import read_rows
from arena.data.wording import count_of
from arena.judging.answer_pairs import PAIR_COLUMNS
from arena.judging.appending import append_rows, list_failures
from arena.judging.choosing.chosen_pairs import ChosenPairs
from arena.judging.judging_summary import JudgingSummary
from arena.judging.llm_judge import FAILURE_COLUMNS
from arena.judging.records import FurtherRecords
from arena.llm.usage import Usage


class DerivedVerdicts(NamedTuple):
    """Verdicts that follow from several judges', and replace former ones."""

    name: str
    judgments: pd.DataFrame
    counts: Mapping[str, int]


@dataclass(frozen=True)
class Judging:
    """Result of judging; the arena itself is unchanged.

    Attributes:
        judgments: New rows with ``DIGESTS``; adaptive pairs have ``chosen``.
        failures: Pairs without a verdict, ``FAILURE_COLUMNS``.
        summaries: One for each judge.
        pairs: Pairs chosen, in this run and before.
        agreement: Agreement of every two judges.
        rounds: How often judges were asked.
        reason: Why the run stopped; empty if all is judged.
        derived: A plan's verdicts from several judges'.
        records: Other results, such as nuggets and marks.
        n_renewed: Judgments that replace earlier ones, after records changed.
        progress: Progress of adaptive pairs by language.
        ratings: With adaptive pairs, ratings by prior and verdicts.
        error: Why a judge was asked no more.
    """

    judgments: pd.DataFrame
    failures: pd.DataFrame
    summaries: tuple[JudgingSummary, ...]
    pairs: ChosenPairs
    agreement: pd.DataFrame
    rounds: int
    reason: str
    derived: DerivedVerdicts | None = None
    records: tuple[FurtherRecords, ...] = ()
    n_renewed: int = 0
    progress: pd.DataFrame | None = None
    ratings: pd.DataFrame | None = None
    error: ArenaError | None = None

    @property
    def usage(self) -> Usage:
        """Return calls, tokens and failures of all judges together."""
        return Usage.total("", [summary.usage for summary in self.summaries])

    def __repr__(self) -> str:
        """Say who gave how many verdicts."""
        counts = [
            f"{summary.judge}: {count_of(sum(summary.verdicts.values()), 'new verdict')}"
            for summary in self.summaries
        ]
        failures = f"; {len(self.failures)} without a verdict" if len(self.failures) else ""
        return f"<Judging by {', '.join(counts)}{failures}>"

    def write(self, folder: Path | str) -> tuple[Path, int]:
        """Add the verdicts to an arena folder; list the others in ``failed_judgments.jsonl``.

        Returns:
            The file of judgments, and how many were added.

        Raises:
            UsageError: If the folder cannot be used.
            DataError: If the judgments there are damaged.
        """
        # What verdicts follow from comes first, so that no verdict is there without it.
        for records in self.records:
            records.write(Path(folder))
        is_replacing = self.n_renewed > 0
        file, n_added = append_rows(folder, "judgments", self.judgments, replacing=is_replacing)
        n_added -= self.n_renewed
        # A pair that failed before and has an outcome now must not stay among the failures.
        key = ["judge", *PAIR_COLUMNS]
        outcomes = pd.concat([self.judgments[key], self.failures[key]])
        list_failures(Path(folder) / FAILED_JUDGMENTS, self.failures, key, outcomes)
        if self.derived is not None:
            # A further judge changes older ones, so they are replaced.
            _, n_derived = append_rows(folder, "judgments", self.derived.judgments, replacing=True)
            n_added += n_derived
        return file, n_added


def require_verdicts(usage: Usage) -> None:
    """Check that judging brought at least one verdict."""
    if usage.is_unusable:
        raise UnusableRepliesError(
            f"no pair that was asked got a verdict: {usage.shown_failures()}"
        )


def lasting_failures(folder: Path | str) -> pd.DataFrame:
    """Read a folder's pairs without a verdict, ``FAILURE_COLUMNS``."""
    path = Path(folder) / FAILED_JUDGMENTS
    if not path.is_file():
        return pd.DataFrame(columns=FAILURE_COLUMNS, dtype=object)
    return read_rows(path).table
