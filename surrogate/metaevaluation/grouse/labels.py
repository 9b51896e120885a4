"""What people said of GroUSE's answers, in files: scores, as a judge's; and shares of facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator

from arena.data.errors import Problem, UsageError
from arena.data.rows import read_rows
from surrogate.metaevaluation.grouse.scoring import ScoringTask, judged_metric
from surrogate.metaevaluation.grouse.unit_tests import SCALES, AnswerSample, UnitTest
from surrogate.metaevaluation.judges import Verdict
from surrogate.metaevaluation.records import (
    FilledText,
    in_order,
    raise_if,
    refuse,
    validated_records,
)

NOT_LABELED = "not_labeled"
FORM = "labels:FILE[#ANNOTATOR]"
QUALITIES = ("answer_relevancy", "faithfulness")
"""What shares of facts are of."""

_NULLS = frozenset({"", "null", "none"})


class LabeledTest(BaseModel):
    """One row: a test, by one annotator. An empty cell is null."""

    model_config = ConfigDict(strict=True, extra="ignore")

    test_id: FilledText
    annotator: str = ""
    answer_relevancy: int | None = None
    completeness: int | None = None
    usefulness: int | None = None
    faithfulness: int | None = None

    @field_validator(
        "answer_relevancy", "completeness", "usefulness", "faithfulness", mode="before"
    )
    @classmethod
    def _score(cls, value: object, info: ValidationInfo) -> object:
        if value is None or str(value).strip().casefold() in _NULLS:
            return None
        scale = SCALES[judged_metric(str(info.field_name))]
        # 5.0 is how whole numbers are written of a column that also holds nulls.
        known = {text: score for score in scale for text in (str(score), f"{score}.0")}
        if str(value).strip() not in known:
            shown = ", ".join(map(str, scale))
            raise refuse("is no score of this metric", f"write one of {shown}, or null")
        return known[str(value).strip()]


@dataclass(frozen=True)
class LabelsJudge:
    """Gives the scores of a file; tests that it does not hold were not asked.

    Attributes:
        name: The file, and the annotator.
        scores: Of each answer that is labeled.
        prompt: None.
    """

    name: str
    scores: Mapping[AnswerSample, LabeledTest] = field(repr=False)
    prompt: str = ""

    def judge(self, tasks: Sequence[ScoringTask]) -> list[Verdict]:
        """Look each score up."""
        return [self._verdict(task) for task in tasks]

    def _verdict(self, task: ScoringTask) -> Verdict:
        known = self.scores.get(task.sample)
        if known is None:
            return Verdict(None, NOT_LABELED, was_asked=False)
        return Verdict(getattr(known, task.metric))


def read_labels(spec: str, tests: Sequence[UnitTest]) -> LabelsJudge:
    """Read a file of scores.

    Args:
        spec: ``FILE`` or ``FILE#ANNOTATOR``. JSONL, CSV or Parquet: ``test_id``, and a column a
            metric, empty for null; ``annotator`` where several labeled the same tests.
        tests: The tests it is about.

    Raises:
        UsageError: If there is no such file or annotator, or none of the tests is in it.
        DataError: With every problem: file, line, field, value and hint.
    """
    name, _, annotator = spec.partition("#")
    rows = read_rows(Path(name))
    problems: list[Problem] = []
    found: dict[str, LabeledTest] = {}
    annotators: dict[str, None] = {}
    for line, row in validated_records(rows, LabeledTest, problems):
        annotators[row.annotator] = None
        if annotator and row.annotator != annotator:
            continue
        if row.test_id in found:
            fault, hint = "is labeled twice", f"name one annotator: {name}#ANNOTATOR"
            problems.append(Problem(rows.source, line, "test_id", row.test_id, fault, hint))
        found[row.test_id] = row
    raise_if(in_order(problems))
    if annotator and annotator not in annotators:
        raise UsageError(f"{name} has no annotator {annotator}; there is {', '.join(annotators)}")
    scores = {test.sample: found[test.test_id] for test in tests if test.test_id in found}
    if not scores:
        example = tests[0].test_id if tests else "none"
        raise UsageError(f"{name} labels none of the tests; their ids are such as {example}")
    return LabelsJudge(f"labels:{spec}", scores)


def read_shares(path: Path, tests: Sequence[UnitTest]) -> dict[tuple[str, str], float]:
    """Read what share of an answer's facts people found relevant, and faithful (section 4.3).

    Args:
        path: JSONL, CSV or Parquet: ``test_id``, ``answer_relevancy``, ``faithfulness``, from 0
            to 1; a row an annotator, whose mean is taken.
        tests: The tests it is about.

    Returns:
        By test and quality.

    Raises:
        UsageError: If there is no such file.
        DataError: With every problem: file, line, field, value and hint.
    """
    rows = read_rows(path)
    problems: list[Problem] = []
    given: dict[tuple[str, str], list[float]] = {}
    known = {test.test_id for test in tests}
    for _, row in validated_records(rows, SharesOfFacts, problems):
        shares: dict[str, Any] = row.model_dump(include=set(QUALITIES), exclude_none=True)
        for quality, share in shares.items() if row.test_id in known else ():
            given.setdefault((row.test_id, quality), []).append(share)
    raise_if(in_order(problems))
    return {key: sum(shares) / len(shares) for key, shares in given.items()}


class SharesOfFacts(BaseModel):
    """One row: a test, by one annotator; an empty cell says nothing."""

    model_config = ConfigDict(strict=True, extra="ignore")

    test_id: FilledText
    answer_relevancy: float | None = None
    faithfulness: float | None = None

    @field_validator(*QUALITIES, mode="before")
    @classmethod
    def _share(cls, value: object) -> object:
        if value is None or not str(value).strip():
            return None
        try:
            share = float(str(value))
        except ValueError:
            share = -1.0
        if not 0 <= share <= 1:
            raise refuse("is no proportion", "write a number from 0 to 1")
        return share
