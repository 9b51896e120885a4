"""Everything known about the quality of a board's judge: its ``judge_report.json``."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pandas as pd
from pydantic import BaseModel, ConfigDict

from arena.data.arena import Arena
from arena.data.errors import ArenaError
from arena.data.folder import FAILED_JUDGMENTS, read_arena
from arena.data.judge_names import PEOPLE, is_person, judges_named
from arena.data.tables import read_rows
from arena.quality.influence import LISTED, FirstPlace, first_places
from arena.quality.judge_label import JudgeLabel, label_judge
from arena.quality.metaevaluations import (
    MetaEvaluation,
    model_name,
    read_metaevaluations,
    recorded_agreement,
    recorded_agreements,
)


def labels_of_judges(
    judgments: pd.DataFrame,
    judges: Iterable[str],
    answers: pd.DataFrame | None = None,
    folder: Path | None = None,
) -> list[JudgeLabel]:
    """Label judges by their quality, in the words that every command and page uses.

    Args:
        judgments: Verdicts of all judges.
        judges: Judges to label; all people count as one.
        answers: The arena's answers, for the effect of length.
        folder: The arena's folder, for its record of agreement with people.
    """
    recorded = {} if folder is None else recorded_agreements(folder)
    names = dict.fromkeys(PEOPLE if is_person(name) else name for name in judges)
    return [
        label_judge(name, judgments, answers, people=recorded.get(model_name(name)))
        for name in names
    ]


def labels_of_verdicts(
    path: Path, judgments: pd.DataFrame, judges: Iterable[str]
) -> list[JudgeLabel]:
    """Label judges whose verdicts were read from a file, or from an arena's folder.

    Args:
        path: The file, or the folder; its answers and records count where they can be read.
        judgments: Verdicts of all judges in it.
        judges: Judges to label.
    """
    if not path.is_dir():
        return labels_of_judges(judgments, judges)
    answers = None
    with suppress(ArenaError):  # a folder of verdicts alone
        answers = read_arena(path).answers
    return labels_of_judges(judgments, judges, answers, path)


class JudgingRecords(BaseModel):
    """Records about a judge in an arena's folder, in addition to its judgments.

    Attributes:
        metaevaluations: How it did against human labels.
        failures: Reason to the number of pairs it gave no verdict on; null where not known.
    """

    model_config = ConfigDict(frozen=True)

    metaevaluations: tuple[MetaEvaluation, ...] = ()
    failures: dict[str, int] | None = None


class JudgeReport(JudgingRecords):
    """The quality of a board's judge.

    Attributes:
        judge: Its name.
        label: How far to trust it, with every test; None where it has no verdict.
        first_places: How few verdicts decide first place, by language, the ``LISTED`` most
            influential ones of each.
    """

    judge: str
    label: JudgeLabel | None = None
    first_places: tuple[FirstPlace, ...] = ()


def read_judging_records(folder: Path | str, judge: str) -> JudgingRecords:
    """Read what an arena's folder knows of a judge, named as in its ``judge`` column.

    A meta-evaluation belongs to it if its judge has the same name, or the same after ``llm:``.

    Raises:
        DataError: If a file is damaged.
    """
    name = model_name(judge)
    entries = [entry for entry in read_metaevaluations(folder) if model_name(entry.judge) == name]
    failures = None
    path = Path(folder) / FAILED_JUDGMENTS
    if path.is_file():
        table = read_rows(path).table.reindex(columns=["judge", "reason"])  # either may be absent
        reasons = table.loc[table["judge"] == judge, "reason"].astype(str)
        failures = {}
        for reason, count in sorted(reasons.value_counts().items()):
            failures[str(reason)] = int(count)
    return JudgingRecords(metaevaluations=tuple(sorted(entries, key=str)), failures=failures)


def report_judge(arena: Arena, judge: str, judging_records: JudgingRecords) -> JudgeReport:
    """Sum up a judge's verdicts in an arena.

    Args:
        arena: The arena, with the verdicts of all judges.
        judge: The judge, or several as one.
        judging_records: Records about the judge in the arena's folder.
    """
    records = dict(judging_records)
    is_own = arena.judgments["judge"].isin(judges_named(arena.judges, judge))
    if not is_own.any():
        return JudgeReport(judge=judge, **records)
    people = recorded_agreement(judging_records.metaevaluations, judge)
    label = label_judge(judge, arena.judgments, arena.answers, people=people)
    places = []
    # Verdicts that are all the same tell no first place.
    if not label.is_one_sided:
        for place in first_places(arena.judgments[is_own].assign(judge=judge)):
            places.append(replace(place, decisive=place.decisive[:LISTED]))
    return JudgeReport(judge=judge, label=label, first_places=tuple(places), **records)
