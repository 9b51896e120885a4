"""How good judges are, as an arena notes it beside its judgments: ``metaevaluation.json``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from arena.data.errors import DataError, UsageError
from arena.data.files import atomic_path, small_file
from arena.data.schema import CALIBRATED, validation_problems

FILE_NAME = "metaevaluation.json"
NO_KAPPA = "no kappa with a standard error is known"
FITTED = "it was calibrated by such labels"
_LLM = "llm:"
_HINT = "see MetaEvaluation for what it should hold, or delete the file"


class MetaEvaluation(BaseModel):
    """How a judge did against human labels.

    Attributes:
        judge: Its name: that of the ``judge`` column of judgments, or ``llm:`` before it.
        dataset: What it was held against: ``memerag``, ``wikieval``, ``grouse``, ``people`` who
            voted in the arena, another of its judges, or one's own.
        metric: What the value is, such as ``balanced_accuracy``.
        prompt: Its prompt, with version.
        value: A share or a correlation, -1 to 1; no percentage.
        standard_error: Bootstrap standard error, on the value's scale.
        n: Items judged, such as sentences or pairs.
        languages: Languages of the items.
        failures: Items without a label, counted as errors.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    judge: str = Field(min_length=1)
    dataset: str = Field(min_length=1)
    metric: str = Field(min_length=1)
    prompt: str = ""
    value: float = Field(ge=-1, le=1)
    standard_error: float = Field(ge=0)
    n: int = Field(ge=1)
    languages: list[str] = Field(min_length=1)
    failures: int = Field(default=0, ge=0)

    def __str__(self) -> str:
        share, spread = 100 * self.value, 100 * self.standard_error
        return f"{self.dataset}:{self.metric}={share:.1f}±{spread:.1f}"


class _Content(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    metaevaluations: list[MetaEvaluation]


def is_same_judge(one: str, other: str) -> bool:
    """Say whether two names are of one judge: a meta-evaluation calls an LLM ``llm:MODEL``."""
    return one.removeprefix(_LLM) == other.removeprefix(_LLM)


def read_metaevaluations(folder: Path | str) -> tuple[MetaEvaluation, ...]:
    """Read what an arena's folder says of judges' quality; nothing if there is no such file.

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
        return tuple(_Content.model_validate_json(small_file(path)).metaevaluations)
    except ValidationError as error:
        raise DataError(validation_problems(error, FILE_NAME, None, lambda _: _HINT)) from error


def add_metaevaluations(folder: Path | str, entries: Iterable[MetaEvaluation]) -> Path:
    """Add entries to a folder's file, in place of those of the same judge, data, metric and prompt.

    Returns:
        The file.

    Raises:
        UsageError: If there is no such folder.
        DataError: If the file that is there is damaged.
    """
    known = {
        (entry.judge, entry.dataset, entry.metric, entry.prompt): entry
        for entry in (*read_metaevaluations(folder), *entries)
    }
    path = Path(folder) / FILE_NAME
    content = _Content(metaevaluations=[known[key] for key in sorted(known)])
    with atomic_path(path) as temporary:
        temporary.write_text(content.model_dump_json(indent=2) + "\n", encoding="utf-8")
    return path


def agreements(kappas: pd.DataFrame, reference: str) -> tuple[list[MetaEvaluation], dict[str, str]]:
    """Return what judges' agreement with others in the same arena says of them.

    Args:
        kappas: As ``arena.diagnostics.agreement.agreement_with_reference`` gives them.
        reference: Who they were held against, such as ``people``.

    Returns:
        Entries, and the judges that have none, to why.
    """
    fitted = kappas["judge"].str.startswith(CALIBRATED)
    known = np.isfinite(kappas[["kappa", "standard_error"]]).all(axis=1)
    entries = [
        MetaEvaluation(
            judge=row.judge,
            dataset=reference,
            metric="kappa",
            value=row.kappa,
            standard_error=row.standard_error,
            n=row.items,
            languages=row.languages,
        )
        for row in kappas[known & ~fitted].itertuples()
    ]
    absent = dict.fromkeys(kappas.loc[~known, "judge"], NO_KAPPA)
    return entries, absent | dict.fromkeys(kappas.loc[fitted, "judge"], FITTED)
