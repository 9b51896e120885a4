"""How judges did against human labels: an arena's ``metaevaluation.json``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from arena.data.errors import UsageError
from arena.data.judge_names import is_person
from arena.data.record_files import read_record
from arena.data.safe_writes import write_text
from arena.quality.people_agreement import PeopleAgreement

METAEVALUATION_FILE = "metaevaluation.json"
KAPPA = "kappa"
"""Metric of agreement on the same pairs."""
LLM_PREFIX = "llm:"
"""Start of a judge's name where it says that an LLM judges, as ``metaeval`` takes it."""
_HINT = "see MetaEvaluation for what it should hold, or delete the file"


class MetaEvaluation(BaseModel):
    """How a judge did against human labels.

    Attributes:
        judge: Its name: that of the ``judge`` column of judgments, or ``llm:`` before it.
        dataset: Whose labels it was compared with: ``memerag``, ``wikieval``, ``grouse``,
            ``people`` who voted in the arena, another judge, a table of pairs, or your own.
        metric: Name of the value, such as ``balanced_accuracy``.
        prompt: Its prompt, with version.
        value: A share or a correlation, -1 to 1; no percentage.
        standard_error: By bootstrap, on the value's scale.
        n: Items judged, such as sentences or pairs.
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


def model_name(judge: str) -> str:
    """Return a judge's name as the ``judge`` column of judgments has it."""
    return judge.removeprefix(LLM_PREFIX)


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


def agreements(kappas: pd.DataFrame, reference: str) -> tuple[list[MetaEvaluation], dict[str, str]]:
    """Return judges' agreement with a reference, such as ``people``, as meta-evaluations.

    Args:
        kappas: As of ``arena.quality.agreement.agreement_with_reference``.
        reference: Whom the judges were compared with.

    Returns:
        One entry per row with a kappa, and why each other judge has none.
    """
    has_kappa = np.isfinite(kappas[["kappa", "standard_error"]]).all(axis=1)
    entries = []
    for row in kappas[has_kappa].to_dict("records"):
        entry = {
            "judge": row["judge"],
            "dataset": reference,
            "metric": KAPPA,
            "value": row["kappa"],
            "standard_error": row["standard_error"],
            "n": row["items"],
            "languages": row["languages"],
        }
        entries.append(MetaEvaluation.model_validate(entry))
    without = kappas.loc[~has_kappa, "judge"]
    return entries, dict.fromkeys(without, "no kappa with a standard error is known")


def recorded_agreement(entries: Iterable[MetaEvaluation], judge: str) -> PeopleAgreement | None:
    """Return how well a judge agrees with people, by the meta-evaluation on the most pairs.

    Returns:
        None where it was never compared with people.
    """
    best: MetaEvaluation | None = None
    for entry in entries:
        is_of_judge = model_name(entry.judge) == model_name(judge)
        is_with_people = all(is_person(name) for name in entry.dataset.split("+"))
        if not is_of_judge or not is_with_people or entry.metric != KAPPA:
            continue
        if best is None or entry.n > best.n:
            best = entry
    return None if best is None else PeopleAgreement(best.value, best.standard_error, best.n)


def recorded_agreements(folder: Path | str) -> dict[str, PeopleAgreement]:
    """Read how well judges agree with people from an arena's folder, by judge."""
    entries = read_metaevaluations(folder)
    agreements = {}
    for name in sorted({model_name(entry.judge) for entry in entries}):
        agreement = recorded_agreement(entries, name)
        if agreement is not None:
            agreements[name] = agreement
    return agreements
