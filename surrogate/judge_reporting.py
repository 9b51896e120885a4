"""What an arena's judgments say of the judge who gave them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from arena.battles import judged_systems
from arena.diagnostics import Diagnosis
from arena.diagnostics.judge_agreement import agreement_table
from arena.diagnostics.leaning import wilson_interval
from arena.diagnostics.verdicts import verdicts
from arena.metaevaluation.metaevaluation_file import MetaEvaluation
from surrogate.judge_report import (
    FlipRate,
    JudgeAgreement,
    JudgeReport,
    LengthPreference,
    NotedMetaEvaluation,
    Position,
)
from surrogate.judging_records import JudgingRecords

ONE_ORDER = "no pair was judged in both orders"
ALL_TIES = "every judgment is a tie"
ALL_LANGUAGES = "all languages"
MOST_JUDGES = 20
"""Judges compared with a board's own: those that share the most items with it."""

_ITEM = ["language", "query_id", "first", "second"]


def report_judge(
    judgments: pd.DataFrame,
    judge: str,
    diagnoses: Mapping[str, Diagnosis],
    records: JudgingRecords,
    seed: int = 0,
) -> JudgeReport:
    """Sum up what is known of a judge.

    Args:
        judgments: Those of all judges of the arena.
        judge: The judge.
        diagnoses: Diagnosis of its judgments in each language.
        records: What is known of it beside its judgments.
        seed: Seed of the bootstrap.
    """
    own = judgments[judgments["judge"] == judge]
    return JudgeReport(
        judge=judge,
        judgments=len(own),
        systems=len(judged_systems(own)),
        languages=tuple(sorted(own["language"].unique())),
        flip_rate=_flip_rate(list(diagnoses.values())),
        position=_position(list(diagnoses.values())),
        length_preference=_length_preference(diagnoses),
        agreement=_agreement(judgments, judge, seed),
        failures=records.failures,
        usage=records.usage,
        metaevaluations=tuple(noted(entry) for entry in records.metaevaluations),
    )


def noted(entry: MetaEvaluation) -> NotedMetaEvaluation:
    """Bring an entry to the report's form; its other fields are kept."""
    fields = entry.model_dump(mode="json")
    return NotedMetaEvaluation(
        name=fields.pop("judge"), items=fields.pop("n"), text=str(entry), **fields
    )


def _flip_rate(diagnoses: Sequence[Diagnosis]) -> FlipRate:
    items = sum(int(item.contradictions["items"].sum()) for item in diagnoses)
    flipped = sum(int(item.contradictions["flipped"].sum()) for item in diagnoses)
    if not items:
        return FlipRate(items=0, flipped=0, reason=ONE_ORDER)
    return FlipRate(items=items, flipped=flipped, rate=flipped / items)


def _position(diagnoses: Sequence[Diagnosis]) -> Position:
    decided = sum(int(item.position["decided"].sum()) for item in diagnoses)
    first = sum(int(item.position["won_by_a"].sum()) for item in diagnoses)
    if not decided:
        return Position(first_wins=0, decided=0, reason=ALL_TIES)
    low, high = wilson_interval([first], [decided])
    return Position(
        first_wins=first,
        decided=decided,
        share=first / decided,
        low=float(low[0]),
        high=float(high[0]),
    )


def _length_preference(diagnoses: Mapping[str, Diagnosis]) -> tuple[LengthPreference, ...]:
    return tuple(
        LengthPreference(language=language, sentence=finding.sentence)
        for language, diagnosis in diagnoses.items()
        for finding in diagnosis.findings
        if finding.check == "length"
    )


def _agreement(judgments: pd.DataFrame, judge: str, seed: int) -> tuple[JudgeAgreement, ...]:
    """Compare the judge with every other one on the items both judged, languages together."""
    table = verdicts(judgments)
    items = table[[*_ITEM, "judge"]].drop_duplicates()
    own = items.loc[items["judge"] == judge, _ITEM]
    shared = items[items["judge"] != judge].merge(own, on=_ITEM)["judge"].value_counts()
    others = sorted(shared.items(), key=lambda item: (-item[1], str(item[0])))[:MOST_JUDGES]
    whole = table.assign(
        language=ALL_LANGUAGES, query_id=table["language"] + "\x1f" + table["query_id"]
    )
    return tuple(_compared(whole, judge, str(other), seed) for other, _ in others)


def _compared(table: pd.DataFrame, judge: str, other: str, seed: int) -> JudgeAgreement:
    row = agreement_table(table[table["judge"].isin([judge, other])], seed).iloc[0]
    return JudgeAgreement(
        judge=other,
        items=int(row["items"]),
        kappa=np.float64(row["kappa"]),
        low=np.float64(row["low"]),
        high=np.float64(row["high"]),
    )
