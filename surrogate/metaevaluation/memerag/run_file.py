"""Verdicts on MEMERAG as a file, ``metaeval memerag --out``: to compare, and to draw."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from arena.data.errors import DataError, Problem, UsageError
from arena.data.files import atomic_path
from arena.data.rows import plain_table
from arena.data.schema import validation_problems
from surrogate.metaevaluation.memerag.reading import FINE_GRAINED, JUDGED, SENTENCE_KEY
from surrogate.metaevaluation.report import BY_JUDGE, judges_of
from surrogate.metaevaluation.runner import VERDICT

NOTICE = (
    "Human labels: MEMERAG (Cruz Blandón et al., ACL 2025), CC BY-NC 4.0; "
    "for evaluation, not for training."
)
VERDICT_COLUMNS = [
    *BY_JUDGE,
    *SENTENCE_KEY,
    *("factuality", "fine_grained_factuality"),
    *VERDICT,
]

_COLUMNS = [name for name in VERDICT_COLUMNS if name not in BY_JUDGE]
_HINT = "write it again with metaeval memerag --out"


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
    value: list[Literal["Supported", "Not Supported"] | None]
    failure: list[str | None]
    was_asked: list[bool]

    @model_validator(mode="after")
    def _columns_match(self) -> JudgeVerdicts:
        lengths = {len(getattr(self, name)) for name in _COLUMNS}
        if lengths == {0} or len(lengths) > 1:
            raise ValueError("the columns of a judge have different lengths, or none")
        return self


class RunContent(BaseModel):
    """Content of the file: what was judged, the license of its labels, and the verdicts."""

    model_config = ConfigDict(strict=True, extra="ignore")

    dataset: Literal["memerag"] = "memerag"
    notice: str = NOTICE
    version: Literal[1] = 1
    judges: list[JudgeVerdicts]


def write_run(verdicts: pd.DataFrame, path: Path | str) -> None:
    """Write verdicts to a JSON file, atomically; the same verdicts give the same bytes.

    Args:
        verdicts: Columns ``VERDICT_COLUMNS``, see ``Memerag``.
        path: Target; its folder must exist.

    Raises:
        UsageError: If the folder does not exist.
    """
    judges = [
        JudgeVerdicts(judge=judge, prompt=prompt, **_lists(rows))
        for (judge, prompt), rows in judges_of(verdicts).items()
    ]
    text = RunContent(judges=judges).model_dump_json(indent=None)
    with atomic_path(Path(path)) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def read_run(path: Path | str) -> pd.DataFrame:
    """Read the verdicts of a file.

    Returns:
        Columns ``VERDICT_COLUMNS``, one row a judge and sentence.

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
        raise DataError(validation_problems(error, path.name, None, _hint)) from error
    if not content.judges:
        raise DataError([Problem(path.name, None, "judges", [], "is an empty list", _HINT)])
    table = pd.concat([_table(judge) for judge in content.judges], ignore_index=True)
    fine = table["fine_grained_factuality"]
    unknown = fine[fine.notna() & ~fine.isin(FINE_GRAINED)]
    if len(unknown):
        fault, hint = "is no label of this field", f"use one of {', '.join(FINE_GRAINED)}, or null"
        raise DataError([Problem(path.name, None, fine.name, unknown.iloc[0], fault, hint)])
    return table


def _lists(rows: pd.DataFrame) -> dict[str, Any]:
    return {str(name): values.tolist() for name, values in plain_table(rows[_COLUMNS]).items()}


def _table(judge: JudgeVerdicts) -> pd.DataFrame:
    columns = {name: pd.Series(getattr(judge, name), dtype=object) for name in _COLUMNS}
    table = pd.DataFrame(columns).assign(judge=judge.judge, prompt=judge.prompt)
    return table[VERDICT_COLUMNS].astype({"was_asked": bool, "sentence_id": int})


def _hint(field: str) -> str:
    is_label = ".value." in field or ".factuality." in field
    return f"use {' or '.join(JUDGED)}" if is_label else _HINT
