"""The file of a run: who judged which sentence how, without the texts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from arena.errors import DataError, Problem, UsageError
from arena.metaevaluation.memerag.labels import FINE_GRAINED, JUDGED
from arena.metaevaluation.memerag.verdicts import VERDICT_COLUMNS
from arena.records import validation_problems
from arena.streams import atomic_path

DATASET: Literal["memerag"] = "memerag"
NOTICE = (
    "Human labels: MEMERAG (Cruz Blandón et al., ACL 2025), CC BY-NC 4.0; "
    "for evaluation, not for training."
)

_BY_JUDGE = ("judge", "prompt")
_COLUMNS = tuple(name for name in VERDICT_COLUMNS if name not in _BY_JUDGE)
_MEND = "write it anew with metaeval memerag --out"


class JudgeVerdicts(BaseModel):
    """Verdicts of one judge, a list a column."""

    model_config = ConfigDict(strict=True, extra="forbid")

    judge: str
    prompt: str
    language: list[str]
    query_id: list[str]
    sentence_id: list[int]
    factuality: list[Literal["Supported", "Not Supported"]]
    fine_grained_factuality: list[str | None]
    label: list[Literal["Supported", "Not Supported"] | None]
    failure: list[str | None]
    was_asked: list[bool]

    @model_validator(mode="after")
    def _columns_match(self) -> JudgeVerdicts:
        lengths = {len(getattr(self, name)) for name in _COLUMNS}
        if lengths == {0} or len(lengths) > 1:
            raise ValueError("the columns of a judge have different lengths, or none")
        return self


class RunContent(BaseModel):
    """Content of the file.

    Attributes:
        dataset: What was judged.
        notice: License of the human labels.
        version: Version of this format.
        judges: Verdicts by judge.
    """

    model_config = ConfigDict(strict=True, extra="ignore")

    dataset: Literal["memerag"] = DATASET
    notice: str = NOTICE
    version: Literal[1] = 1
    judges: list[JudgeVerdicts]


@dataclass(frozen=True)
class MemeragRun:
    """A run as read.

    Attributes:
        verdicts: As ``judge_sentences`` returns them.
        source: Name of the file.
    """

    verdicts: pd.DataFrame
    source: str

    def by_judge(self) -> dict[tuple[str, str], pd.DataFrame]:
        """Return the verdicts of each judge, by its name and prompt."""
        groups = self.verdicts.groupby(list(_BY_JUDGE), sort=False)
        return {(str(judge), str(prompt)): part for (judge, prompt), part in groups}


def write_run(verdicts: pd.DataFrame, path: Path | str) -> None:
    """Write verdicts to a JSON file, atomically; the same verdicts give the same bytes.

    Args:
        verdicts: As ``judge_sentences`` returns them.
        path: Target; its folder must exist.

    Raises:
        UsageError: If the folder does not exist.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {path.parent} to write {path.name} in")
    judges = [
        JudgeVerdicts(judge=judge, prompt=prompt, **_lists(part))
        for (judge, prompt), part in MemeragRun(verdicts, path.name).by_judge().items()
    ]
    text = RunContent(judges=judges).model_dump_json(indent=None)
    with atomic_path(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def read_run(path: Path | str) -> MemeragRun:
    """Read the file of a run.

    Raises:
        UsageError: If there is no such file.
        DataError: If it is no such file.
    """
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"there is no run at {path}; make one with metaeval memerag --out")
    try:
        content = RunContent.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise DataError(validation_problems(error, path.name, None, _mend)) from error
    problems = [_unknown_label(path.name, judge) for judge in content.judges]
    found = [problem for problem in problems if problem is not None]
    if found:
        raise DataError(found)
    tables = [_table(judge) for judge in content.judges]
    if not tables:
        raise DataError([Problem(path.name, None, "judges", [], "is an empty list", _MEND)])
    return MemeragRun(pd.concat(tables, ignore_index=True), path.name)


def _lists(part: pd.DataFrame) -> dict[str, Any]:
    plain = part[list(_COLUMNS)].astype(object).where(part[list(_COLUMNS)].notna(), None)
    return {name: plain[name].tolist() for name in _COLUMNS}


def _table(judge: JudgeVerdicts) -> pd.DataFrame:
    columns = {name: pd.Series(getattr(judge, name), dtype=object) for name in _COLUMNS}
    table = pd.DataFrame(columns).assign(judge=judge.judge, prompt=judge.prompt)
    return table[VERDICT_COLUMNS].astype({"was_asked": bool, "sentence_id": int})


def _unknown_label(source: str, judge: JudgeVerdicts) -> Problem | None:
    unknown = sorted(set(judge.fine_grained_factuality) - {None, *FINE_GRAINED}, key=str)
    if not unknown:
        return None
    mend = f"use one of {', '.join(FINE_GRAINED)}, or null"
    return Problem(
        source, None, "fine_grained_factuality", unknown[0], "is no label of this field", mend
    )


def _mend(place: str) -> str:
    is_label = ".label." in place or ".factuality." in place
    return f"use {' or '.join(JUDGED)}" if is_label else _MEND
