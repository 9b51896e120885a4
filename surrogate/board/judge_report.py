"""``judge_report.json``: how far the judge whose verdicts a board learns from can be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
from pydantic import BaseModel, ConfigDict

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.folder import FAILED_JUDGMENTS
from arena.data.rows import read_rows
from arena.diagnostics import Diagnosis
from arena.diagnostics.agreement import agreement_with_reference
from arena.diagnostics.verdicts import share_of
from surrogate.board.metaevaluations import MetaEvaluation, is_same_judge, read_metaevaluations
from surrogate.board.summary import Number

MOST_JUDGES = 20
"""Judges compared with a board's own: those that share the most items with it."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class JudgeAgreement(_Part):
    """Cohen's kappa with another judge over all languages, with a 95% bootstrap interval.

    ``items`` are the questions and pairs that both judged.
    """

    judge: str
    items: int
    kappa: Number
    low: Number
    high: Number


class JudgingRecords(_Part):
    """What an arena's folder knows of a judge beside its judgments.

    Attributes:
        metaevaluations: How it did against human labels.
        failures: Reason to the number of pairs it gave no verdict on; null where not known.
    """

    metaevaluations: tuple[MetaEvaluation, ...] = ()
    failures: dict[str, int] | None = None


class JudgeReport(JudgingRecords):
    """What is known of a judge.

    Attributes:
        judge: Its name.
        judgments: Its judgments in the arena.
        systems: Systems it judged.
        languages: Languages it judged in.
        both_orders: Questions and pairs judged in both orders.
        flipped: Those whose winner changed with the order.
        decided: Judgments that are no tie.
        first_wins: Decided judgments won by the answer shown first.
        first_low: Lower bound of the 95% Wilson interval of their share.
        first_high: Upper bound.
        length_preference: What is said of longer answers, by language.
        agreement: Agreement with the other judges of the arena.
    """

    judge: str
    judgments: int = 0
    systems: int = 0
    languages: tuple[str, ...] = ()
    both_orders: int = 0
    flipped: int = 0
    decided: int = 0
    first_wins: int = 0
    first_low: Number = None
    first_high: Number = None
    length_preference: dict[str, str] = {}
    agreement: tuple[JudgeAgreement, ...] = ()

    @property
    def flip_rate(self) -> float | None:
        """Share of the pairs judged in both orders whose winner changed; None without any."""
        return self.flipped / self.both_orders if self.both_orders else None

    @property
    def first_share(self) -> float | None:
        """Share of the decided judgments won by the answer shown first; None without any."""
        return self.first_wins / self.decided if self.decided else None


def read_judging_records(folder: Path | str, judge: str) -> JudgingRecords:
    """Read what an arena's folder knows of a judge.

    Args:
        folder: Arena folder.
        judge: Its name in the ``judge`` column of judgments. A meta-evaluation belongs to it if
            its judge has the same name, or the same after ``llm:``.

    Raises:
        DataError: If a file is damaged.
    """
    path = Path(folder) / FAILED_JUDGMENTS
    entries = [item for item in read_metaevaluations(folder) if is_same_judge(item.judge, judge)]
    failures = None
    if path.is_file():
        table = read_rows(path).table.reindex(columns=["judge", "reason"])
        own = table.loc[table["judge"] == judge, "reason"].astype(str)
        failures = {reason: int(count) for reason, count in sorted(own.value_counts().items())}
    return JudgingRecords(metaevaluations=tuple(sorted(entries, key=str)), failures=failures)


def report_judge(
    arena: Arena,
    judge: str,
    diagnoses: Mapping[str, Diagnosis],
    records: JudgingRecords,
    seed: int = 0,
) -> JudgeReport:
    """Sum up what is known of a judge.

    Args:
        arena: The arena, with the judgments of all judges.
        judge: The judge.
        diagnoses: Diagnosis of its judgments in each language.
        records: What is known of it beside its judgments.
        seed: Seed of the bootstrap.
    """
    own, found = arena.judged_by(judge), list(diagnoses.values())
    items, flipped, decided, first = (
        sum(int(item.counts[name].sum()) for item in found)
        for name in ("items", "flipped", "decided", "won_by_a")
    )
    _, low, high = share_of(first, decided) if decided else (None, None, None)
    return JudgeReport(
        **records.model_dump(),
        judge=judge,
        judgments=len(own.judgments),
        systems=len(own.rated_systems),
        languages=tuple(sorted({*own.judgments["language"], *own.published_ratings["language"]})),
        both_orders=items,
        flipped=flipped,
        decided=decided,
        first_wins=first,
        first_low=low,
        first_high=high,
        length_preference={
            language: finding.sentence
            for language, diagnosis in diagnoses.items()
            for finding in diagnosis.findings
            if finding.check == "length"
        },
        agreement=_agreement(arena.judgments, judge, seed),
    )


def _agreement(judgments: pd.DataFrame, judge: str, seed: int) -> tuple[JudgeAgreement, ...]:
    """Compare the judge with every other one on the items both judged, languages together."""
    try:
        found = agreement_with_reference(judgments, [judge], seed)
    except UsageError:  # nobody else judged the same
        return ()
    most = found.sort_values(["items", "judge"], ascending=[False, True]).head(MOST_JUDGES)
    rows = most[["judge", "items", "kappa", "low", "high"]].to_dict("records")
    return tuple(JudgeAgreement(**{str(name): row[name] for name in row}) for row in rows)
