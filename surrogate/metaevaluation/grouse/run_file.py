"""How scores of unit tests are written to a file."""

from __future__ import annotations

from typing import Literal

from surrogate.metaevaluation.grouse.unit_tests import Metric
from surrogate.metaevaluation.run_file import JudgeVerdicts, RunContent, RunFile


class ScoreVerdicts(JudgeVerdicts):
    """Scores of one judge, a list a column."""

    test_id: list[str]
    language: list[str | None]
    topic: list[str | None]
    question: list[str]
    test_type: list[str]
    metric: list[Metric]
    condition: list[str | None]
    value: list[int | float | None]
    null_reason: list[str | None]
    failure: list[str | None]
    was_asked: list[bool]
    was_called: list[bool]
    passed: list[bool | None]
    is_reference: list[bool]


class GrouseContent(RunContent):
    """The scores, a judge at a time."""

    dataset: Literal["grouse"] = "grouse"
    judges: list[ScoreVerdicts]


GROUSE_RUN = RunFile(
    "metaeval grouse",
    GrouseContent,
    ScoreVerdicts,
    {"was_asked": bool, "was_called": bool, "is_reference": bool},
)
