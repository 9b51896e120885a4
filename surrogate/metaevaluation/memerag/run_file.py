"""How verdicts on MEMERAG are written to a file."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator

from surrogate.metaevaluation.memerag.reading import FINE_GRAINED, JUDGED
from surrogate.metaevaluation.reading import refuse
from surrogate.metaevaluation.run_file import JudgeVerdicts, RunContent, RunFile

NOTICE = (
    "Human labels: MEMERAG (Cruz Blandón et al., ACL 2025), CC BY-NC 4.0; "
    "for evaluation, not for training."
)


def _fine(label: object) -> object:
    if label is not None and label not in FINE_GRAINED:
        raise refuse("is no label of this field", f"use one of {', '.join(FINE_GRAINED)}")
    return label


class LabelVerdicts(JudgeVerdicts):
    """Labels of one judge."""

    language: list[str]
    query_id: list[str]
    sentence_id: list[int]
    factuality: list[Literal["Supported", "Not Supported"]]
    fine_grained_factuality: list[Annotated[str | None, BeforeValidator(_fine)]]
    value: list[Literal["Supported", "Not Supported"] | None]
    failure: list[str | None]
    was_asked: list[bool]


class MemeragContent(RunContent):
    """What was judged, the license of its labels, and the verdicts."""

    dataset: Literal["memerag"] = "memerag"
    notice: str = NOTICE
    judges: list[LabelVerdicts]


def _hint(place: str) -> str | None:
    is_label = ".value." in place or ".factuality." in place
    if ".fine_grained_factuality." in place:
        return f"use one of {', '.join(FINE_GRAINED)}, or null"
    return f"use {' or '.join(JUDGED)}" if is_label else None


MEMERAG_RUN = RunFile(
    "metaeval memerag",
    MemeragContent,
    LabelVerdicts,
    {"was_asked": bool, "sentence_id": int},
    _hint,
)
