"""Scores of GroUSE's metrics: by a judge, or in files of people's and of tools' scores.

A tool's share of an answer's facts passes near the one that people found (section 4.3).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationInfo

from arena.data.errors import Problem, UsageError
from surrogate_arena.papers.evaluation import judge_items
from surrogate_arena.papers.grouse.metrics import (
    SCALES,
    AnswerSample,
    score_answers,
)
from surrogate_arena.papers.grouse.scoring_prompts import ScoringTask
from surrogate_arena.papers.grouse.unit_tests import UnitTest
from surrogate_arena.papers.judges import Judge
from surrogate_arena.papers.records import FilledText, raise_if, read_records, refuse, repeats
from surrogate_arena.papers.verdict import Verdict

NOT_LABELED = "not_labeled"
LABELS_FORM = "labels:FILE[#ANNOTATOR]"
QUALITIES = ("answer_relevancy", "faithfulness")
"""What shares of facts are of."""

_NULLS = frozenset({"", "null", "none"})

Shares = Mapping[tuple[str, str], float]
"""What share of an answer's facts is relevant, and faithful, by test and quality."""


def scores_of_judge(samples: Sequence[AnswerSample], judge: Judge) -> list[dict[str, Verdict]]:
    """Let a judge score answers by all six metrics; see ``score_answers``."""

    def ask(metric: str, unscored: Sequence[AnswerSample]) -> list[Verdict]:
        tasks = [ScoringTask(metric, sample) for sample in unscored]
        verdicts = judge_items(judge, tasks, "answers")
        return [_checked(metric, verdict, judge.name) for verdict in verdicts]

    return score_answers(samples, ask)


def _checked(metric: str, verdict: Verdict, judge: str) -> Verdict:
    value = verdict.value
    if value is None:
        return verdict
    if value not in SCALES[metric]:
        raise UsageError(
            f"the judge {judge} returned {value!r} for {metric}; scores are "
            f"{', '.join(map(str, SCALES[metric]))}, or None for null"
        )
    return replace(verdict, value=int(value))


def _number(value: object) -> float | None:
    text = str(value).strip().casefold()
    if text in _NULLS:
        return None
    try:
        return float(text)
    except ValueError:
        raise refuse("is not a number", "write one, or nothing for null") from None


def _score(value: object, info: ValidationInfo) -> float | None:
    number = _number(value)
    scale = SCALES[str(info.field_name)]
    if number is not None and number not in scale:
        raise refuse("is out of range", f"write one of {scale}, or null")
    return number


def _share(value: object) -> float | None:
    number = _number(value)
    if number is not None and not 0 <= number <= 1:
        raise refuse("is out of range", "write a number from 0 to 1")
    return number


Score = Annotated[float | None, BeforeValidator(_score)]
Share = Annotated[float | None, BeforeValidator(_share)]


class LabeledTest(BaseModel):
    """A row of one annotator; an empty cell is null."""

    model_config = ConfigDict(extra="ignore")

    test_id: FilledText
    annotator: str = ""


class ScoredTest(LabeledTest):
    """Scores of a test."""

    answer_relevancy: Score = None
    completeness: Score = None
    usefulness: Score = None
    faithfulness: Score = None


class TestShares(LabeledTest):
    """Shares of an answer's facts."""

    __test__ = False  # no class of tests for pytest

    answer_relevancy: Share = None
    faithfulness: Share = None


@dataclass(frozen=True)
class LabelsJudge:
    """Gives the scores of a file, by answer; other tests were not asked."""

    name: str
    scores: Mapping[AnswerSample, LabeledTest] = field(repr=False)
    prompt: str = ""

    def judge(self, tasks: Sequence[ScoringTask]) -> list[Verdict]:
        """Look each score up."""
        verdicts = []
        for task in tasks:
            row = self.scores.get(task.sample)
            verdict = Verdict(None, NOT_LABELED, was_asked=False)
            if row is not None:
                verdict = Verdict(getattr(row, task.metric))
            verdicts.append(verdict)
        return verdicts


def read_labels(spec: str, tests: Sequence[UnitTest], are_shares: bool = False) -> LabelsJudge:
    """Read a file of scores.

    Rows hold ``test_id`` and a column a metric, empty for null; perhaps ``annotator``, of whom
    ``FILE#ANNOTATOR`` names one.
    """
    name, _, annotator = spec.partition("#")
    problems: list[Problem] = []
    record = TestShares if are_shares else ScoredTest
    rows = read_records(Path(name), record, problems)
    annotators = list(dict.fromkeys(row.annotator for _, row in rows))
    if annotator and annotator not in annotators and not problems:
        raise UsageError(f"{name} has no annotator {annotator}; available: {', '.join(annotators)}")
    annotator_rows = [(line, row) for line, row in rows if annotator in ("", row.annotator)]
    keys = [(line, row.test_id) for line, row in annotator_rows]
    problems += repeats(Path(name), keys, "test_id", f"name one annotator: {name}#ANNOTATOR")
    raise_if(problems)
    samples = {test.test_id: test.sample for test in tests}
    scores = {}
    for _, row in annotator_rows:
        if row.test_id in samples:
            scores[samples[row.test_id]] = row
    if not scores:
        example = next(iter(samples), "none")
        raise UsageError(f"{name} labels none of the tests; their ids are such as {example}")
    return LabelsJudge(f"labels:{spec}", scores)


def read_shares(path: Path, tests: Sequence[UnitTest]) -> Shares:
    """Read which shares of an answer's facts people found relevant, and faithful (section 4.3).

    Of several annotators the mean counts.
    """
    problems: list[Problem] = []
    rows = read_records(path, TestShares, problems)
    raise_if(problems)
    test_ids = {test.test_id for test in tests}
    labels = pd.DataFrame([row.model_dump() for _, row in rows])
    shares = labels[labels["test_id"].isin(test_ids)].melt("test_id", QUALITIES).dropna()
    # Of several people's shares, the mean counts.
    means = shares.groupby(["test_id", "variable"])["value"].mean()
    if means.empty:
        raise UsageError(f"{path.name} holds no share of any of the tests")
    return {(str(test_id), str(name)): float(share) for (test_id, name), share in means.items()}


def near_shares(
    judge: LabelsJudge, tests: Sequence[UnitTest], shares: Shares
) -> Iterator[tuple[UnitTest, dict[str, Any]]]:
    """Yield how near a tool's share is, for each test and quality with an expected one."""
    # A share passes where it is nearer than this to the one that people found (section 4.3)
    within = 0.2
    for test in tests:
        for quality in QUALITIES:
            expected = shares.get((test.test_id, quality))
            if expected is None:
                continue
            (verdict,) = judge.judge([ScoringTask(quality, test.sample)])
            # A test that the file does not hold is neither passed nor failed.
            passed = None
            if verdict.value is not None:
                passed = abs(float(verdict.value) - expected) < within
            elif verdict.was_asked:
                passed = False
                verdict = replace(verdict, failure="no_value")
            condition = f"{expected:.2f} ± {within:g}"
            row = {"metric": quality, "condition": condition, "passed": passed, **asdict(verdict)}
            yield test, row
