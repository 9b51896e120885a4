"""What is known of judges' quality, beside the judgments: ``metaevaluation.json`` of an arena."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from arena.errors import DataError, UsageError
from arena.metaevaluation.memerag.balanced_accuracy import MACRO
from arena.metaevaluation.memerag.run_file import DATASET
from arena.records import validation_problems
from arena.streams import atomic_path

FILE_NAME = "metaevaluation.json"

_MEND = "see MetaEvaluation for what it should hold, or delete the file"


class MetaEvaluation(BaseModel):
    """How a judge did against human labels.

    Attributes:
        judge: Its name, as in the ``judge`` column of judgments.
        dataset: What it was held against, such as ``memerag``.
        prompt: Its prompt, with version.
        balanced_accuracy: Mean over languages, 0 to 1.
        standard_error: Bootstrap standard error.
        n: Sentences judged.
        languages: Languages that were averaged.
        failures: Sentences without a label, counted as errors.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    judge: str = Field(min_length=1)
    dataset: str = Field(min_length=1)
    prompt: str = ""
    balanced_accuracy: float = Field(ge=0, le=1)
    standard_error: float = Field(ge=0)
    n: int = Field(ge=1)
    languages: list[str] = Field(min_length=1)
    failures: int = Field(default=0, ge=0)

    def __str__(self) -> str:
        share, spread = 100 * self.balanced_accuracy, 100 * self.standard_error
        return f"{self.dataset} {share:.1f} ± {spread:.1f}"


class _Content(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    metaevaluations: list[MetaEvaluation]


def metaevaluations_of(scores: pd.DataFrame, dataset: str = DATASET) -> list[MetaEvaluation]:
    """Sum up scores for the file.

    Args:
        scores: As ``score_judges`` returns them.
        dataset: Name of the data.

    Returns:
        One entry a judge; judges without a balanced accuracy are left out.
    """
    found = []
    for (judge, prompt), rows in scores.groupby(["judge", "prompt"], sort=False):
        macro = rows[rows["language"] == MACRO].iloc[0]
        if pd.isna(macro["balanced_accuracy"]) or pd.isna(macro["standard_error"]):
            continue
        found.append(
            MetaEvaluation(
                judge=str(judge),
                dataset=dataset,
                prompt=str(prompt),
                balanced_accuracy=float(macro["balanced_accuracy"]),
                standard_error=float(macro["standard_error"]),
                n=int(macro["sentences"]),
                languages=[str(each) for each in rows["language"] if each != MACRO],
                failures=int(macro["failures"]),
            )
        )
    return found


def read_metaevaluations(folder: Path | str) -> tuple[MetaEvaluation, ...]:
    """Read what an arena's folder says of judges' quality.

    Args:
        folder: Arena folder.

    Returns:
        The entries of its ``metaevaluation.json``; none if there is no such file.

    Raises:
        UsageError: If there is no such folder.
        DataError: If the file is damaged.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}")
    path = folder / FILE_NAME
    if not path.is_file():
        return ()
    try:
        return tuple(_Content.model_validate_json(path.read_bytes()).metaevaluations)
    except ValidationError as error:
        raise DataError(validation_problems(error, FILE_NAME, None, lambda _: _MEND)) from error


def add_metaevaluations(folder: Path | str, entries: Iterable[MetaEvaluation]) -> Path:
    """Add entries to a folder's file; one of the same judge, dataset and prompt is replaced.

    Returns:
        The file.

    Raises:
        UsageError: If there is no such folder.
        DataError: If the file that is there is damaged.
    """
    known = {_key(entry): entry for entry in read_metaevaluations(folder)}
    known |= {_key(entry): entry for entry in entries}
    path = Path(folder) / FILE_NAME
    content = _Content(metaevaluations=[known[key] for key in sorted(known)])
    with atomic_path(path) as temporary:
        temporary.write_text(content.model_dump_json(indent=2) + "\n", encoding="utf-8")
    return path


def _key(entry: MetaEvaluation) -> tuple[str, str, str]:
    return entry.judge, entry.dataset, entry.prompt
