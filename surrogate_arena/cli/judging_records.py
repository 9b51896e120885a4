"""Records of judges in an arena's folder: results against people, and failures."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import pandas as pd
from pydantic import BaseModel, ConfigDict

from arena.data.errors import ArenaError, UsageError
from arena.data.folder import FAILED_JUDGMENTS, read_arena
from arena.data.judges import PEOPLE, is_person
from arena.data.tables import read_record, read_rows
from arena.data.writing import write_text
from arena.quality.judge_label import label_judge
from arena.quality.judge_report import JudgeLabel, JudgingRecords, MetaEvaluation
from arena.quality.people_agreement import PeopleAgreement, model_name, recorded_agreement

METAEVALUATION_FILE = "metaevaluation.json"
_HINT = "see MetaEvaluation for what it should hold, or delete the file"


class _Content(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    metaevaluations: list[MetaEvaluation]


def read_metaevaluations(folder: Path | str) -> tuple[MetaEvaluation, ...]:
    """Read the meta-evaluations in an arena's folder; none if there is no such file.

    Raises:
        UsageError: If there is no such folder.
        DataError: If the file is damaged.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}")
    path = folder / METAEVALUATION_FILE
    if not path.is_file():
        return ()
    return tuple(read_record(_Content, path, _HINT).metaevaluations)


def add_metaevaluations(folder: Path | str, entries: Iterable[MetaEvaluation]) -> Path:
    """Add entries to a folder's file, replacing those of the same judge, data, metric and prompt.

    Returns:
        The file.

    Raises:
        UsageError: If there is no such folder.
        DataError: If the file that is there is damaged.
    """
    by_key = {}
    for entry in (*read_metaevaluations(folder), *entries):
        by_key[entry.judge, entry.dataset, entry.metric, entry.prompt] = entry
    path = Path(folder) / METAEVALUATION_FILE
    content = _Content(metaevaluations=[by_key[key] for key in sorted(by_key)])
    write_text(content.model_dump_json(indent=2) + "\n", path)
    return path


def recorded_agreements(folder: Path | str) -> dict[str, PeopleAgreement]:
    """Read how well judges agree with people from an arena's folder, by judge."""
    entries = read_metaevaluations(folder)
    agreements = {}
    for name in sorted({model_name(entry.judge) for entry in entries}):
        agreement = recorded_agreement(entries, name)
        if agreement is not None:
            agreements[name] = agreement
    return agreements


def _labels_of_judges(
    judgments: pd.DataFrame,
    judges: Iterable[str],
    answers: pd.DataFrame | None = None,
    folder: Path | None = None,
) -> list[JudgeLabel]:
    """Label judges by their quality, in the words that every command and page uses.

    All people count as one.
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
    """Label judges whose verdicts were read from a file, or from an arena's folder."""
    if not path.is_dir():
        return _labels_of_judges(judgments, judges)
    answers = None
    with suppress(ArenaError):  # a folder of verdicts alone
        answers = read_arena(path).answers
    return _labels_of_judges(judgments, judges, answers, path)


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
