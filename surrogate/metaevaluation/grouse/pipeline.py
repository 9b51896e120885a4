"""The pipeline of figure 5: which metric is asked for, and which marks follow without a call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pandas as pd

from arena.data.errors import UsageError
from surrogate.metaevaluation.grouse.judges import Judge
from surrogate.metaevaluation.grouse.pass_rates import (
    GrouseResult,
    call_counts,
    grouse_results,
    pass_rates,
    type_matrix,
)
from surrogate.metaevaluation.grouse.unit_tests import (
    JUDGED_METRICS,
    METRICS,
    SCALES,
    GroundedAnswer,
    JudgedMetric,
    Mark,
    Metric,
    UnitTest,
    acceptance,
    all_conditions,
    own_unit_tests,
)

ANSWER_REFUSES = "the answer says that nothing answers the question"
ANSWER_RESPONDS = "the answer responds to the question"
NO_ANSWER_THERE = "the references hold no answer"
ANSWER_THERE = "the references hold an answer"
NO_INFORMATION = "the answer gives no information"


@dataclass(frozen=True, slots=True)
class Score:
    """The mark of one answer by one metric, and how it came about.

    Attributes:
        value: A mark of the metric's scale; None for null, or where there is a failure.
        null_reason: Why the metric is not defined, where it is not.
        failure: Why there is no mark. A metric that depends on one that failed fails with it.
        was_asked: False where the judge could not be reached.
        was_called: Whether the judge was asked for this very metric.
    """

    value: int | None
    null_reason: str | None = None
    failure: str | None = None
    was_asked: bool = True
    was_called: bool = False


Scores = Mapping[Metric, Score]

_JUDGED_NULL: MappingProxyType[JudgedMetric, str] = MappingProxyType(
    {
        "answer_relevancy": ANSWER_REFUSES,
        "completeness": NO_ANSWER_THERE,
        "usefulness": NO_INFORMATION,
        "faithfulness": NO_INFORMATION,
    }
)


def evaluate(answers: Sequence[GroundedAnswer], judge: Judge) -> list[dict[Metric, Score]]:
    """Score answers by all six metrics, with at most four calls each.

    Answer relevancy and completeness are asked for always. Usefulness only where relevancy is
    null; faithfulness only where the answer gives any information, that is, where relevancy or
    usefulness is not null. The other two metrics follow from relevancy and completeness.

    Returns:
        Scores of each answer by ``METRICS``, in the order of the answers.

    Raises:
        UsageError: If the judge does not return one mark of the metric's scale for each answer,
            or cannot be asked.
    """
    scores: list[dict[Metric, Score]] = [{} for _ in answers]
    for metric in JUDGED_METRICS:
        known = [_WITHOUT_CALL[metric](each) for each in scores]
        asked = [place for place, score in enumerate(known) if score is None]
        called = iter(_called(judge, metric, [answers[place] for place in asked]))
        for each, score in zip(scores, known, strict=True):
            each[metric] = next(called) if score is None else score
    for each in scores:
        each["positive_acceptance"] = _derived(each, 0, NO_ANSWER_THERE)
        each["negative_rejection"] = _derived(each, 1, ANSWER_THERE)
    return scores


def _called(judge: Judge, metric: JudgedMetric, answers: Sequence[GroundedAnswer]) -> list[Score]:
    if not answers:
        return []
    marks = list(judge.mark(metric, answers))
    if len(marks) != len(answers):
        raise UsageError(
            f"the judge {judge.name} returned {len(marks)} marks for {len(answers)} answers; "
            "return one for each"
        )
    return [_score(metric, mark) for mark in marks]


def _score(metric: JudgedMetric, mark: Mark) -> Score:
    if mark.value is not None and mark.value not in SCALES[metric]:
        raise UsageError(
            f"a judge gave {mark.value!r} for {metric}; marks are "
            f"{', '.join(map(str, SCALES[metric]))}, or None for null"
        )
    is_null = mark.value is None and mark.failure is None
    reason = _JUDGED_NULL[metric] if is_null else None
    return Score(mark.value, reason, mark.failure, mark.was_asked, was_called=True)


def _always(_: Scores) -> None:
    """Leave a metric to the judge."""


def _usefulness(scores: Scores) -> Score | None:
    blocked = _blocked(scores, "answer_relevancy")
    if blocked is not None:
        return blocked
    if scores["answer_relevancy"].value is not None:
        return Score(None, ANSWER_RESPONDS)
    return None


def _faithfulness(scores: Scores) -> Score | None:
    blocked = _blocked(scores, "answer_relevancy", "usefulness")
    if blocked is not None:
        return blocked
    if scores["answer_relevancy"].value is None and scores["usefulness"].value is None:
        return Score(None, NO_INFORMATION)
    return None


def _derived(scores: Scores, which: int, null_reason: str) -> Score:
    blocked = _blocked(scores, "answer_relevancy", "completeness")
    if blocked is not None:
        return blocked
    value = acceptance(scores["answer_relevancy"].value, scores["completeness"].value)[which]
    return Score(value, null_reason if value is None else None)


def _blocked(scores: Scores, *needed: JudgedMetric) -> Score | None:
    for metric in needed:
        failure = scores[metric].failure
        if failure is not None:
            prefix = "" if failure.startswith(needed) else f"{metric}: "
            return Score(None, None, f"{prefix}{failure}", scores[metric].was_asked)
    return None


_WITHOUT_CALL: MappingProxyType[JudgedMetric, Callable[[Scores], Score | None]] = MappingProxyType(
    {
        "answer_relevancy": _always,
        "completeness": _always,
        "usefulness": _usefulness,
        "faithfulness": _faithfulness,
    }
)


SCORE_COLUMNS = [
    *("judge", "prompt", "test_id", "language", "topic", "question", "test_type", "metric"),
    *("condition", "value", "null_reason", "failure", "was_asked", "was_called", "passed"),
]

_TYPES = {"was_asked": bool, "was_called": bool}


def score_tests(tests: Sequence[UnitTest], judges: Sequence[Judge]) -> pd.DataFrame:
    """Let judges mark the answers of unit tests, and hold the marks against the conditions.

    Args:
        tests: The tests.
        judges: Judges; each is asked as the pipeline says, see ``pipeline.evaluate``.

    Returns:
        Columns ``SCORE_COLUMNS``, one row a judge, test and metric. ``value`` is None where
        ``null_reason`` says why the metric is not defined, or ``failure`` why there is no mark.
        ``passed`` is False where there is a failure, and None where the judge could not be
        reached (``was_asked`` is False). ``was_called`` tells whether it took a call.

    Raises:
        UsageError: If there is no test or no judge, two judges have the same name and prompt, or
            a judge does not return one mark an answer.
    """
    if not tests:
        raise UsageError("there is no unit test; give one at least")
    _check_judges(judges)
    rows = [row for judge in judges for row in _rows(tests, judge)]
    return pd.DataFrame(
        {
            name: pd.Series([row[name] for row in rows], dtype=_TYPES.get(name, object))
            for name in SCORE_COLUMNS
        }
    )


def _check_judges(judges: Sequence[Judge]) -> None:
    if not judges:
        raise UsageError("there is no judge; give one at least")
    known = [(judge.name, judge.prompt) for judge in judges]
    repeated = sorted({pair for pair in known if known.count(pair) > 1})
    if repeated:
        raise UsageError(f"the judge {repeated[0][0]} is given twice; give each once")


def _rows(tests: Sequence[UnitTest], judge: Judge) -> Iterator[dict[str, Any]]:
    named = {"judge": judge.name, "prompt": judge.prompt}
    scored = evaluate([test.sample for test in tests], judge)
    for test, scores in zip(tests, scored, strict=True):
        yield from (named | row for row in _test_rows(test, scores))


def _test_rows(test: UnitTest, scores: Mapping[Metric, Score]) -> Iterator[dict[str, Any]]:
    conditions = all_conditions(test.conditions)
    for metric in METRICS:
        score, condition = scores[metric], conditions[metric]
        yield {
            "test_id": test.test_id,
            "language": test.language,
            "topic": test.topic,
            "question": test.sample.question,
            "test_type": test.test_type,
            "metric": metric,
            "condition": str(condition),
            "value": score.value,
            "null_reason": score.null_reason,
            "failure": score.failure,
            "was_asked": score.was_asked,
            "was_called": score.was_called,
            "passed": _passed(score, condition.holds(score.value)),
        }


def _passed(score: Score, meets: bool) -> bool | None:
    if not score.was_asked:
        return None
    return score.failure is None and meets


@dataclass(frozen=True)
class GrouseRun:
    """What came of a run.

    Attributes:
        scores: Every mark, see ``scoring.score_tests``.
        pass_rates: By judge and metric, see ``pass_rates.pass_rates``.
        matrix: By judge, test type and metric, see ``pass_rates.type_matrix``.
        calls: Calls made and saved, see ``pass_rates.call_counts``.
        results: One for each judge, for boards.
    """

    scores: pd.DataFrame
    pass_rates: pd.DataFrame
    matrix: pd.DataFrame
    calls: pd.DataFrame
    results: tuple[GrouseResult, ...]


def run_grouse(judges: Sequence[Judge], tests: Sequence[UnitTest] | None = None) -> GrouseRun:
    """Let judges take unit tests.

    Args:
        judges: Judges, each of which sees the answers without the conditions.
        tests: Of ``read_unit_tests``; those that come with this project if left out.

    Raises:
        UsageError: See ``score_tests``.
    """
    scores = score_tests(own_unit_tests() if tests is None else tests, judges)
    return GrouseRun(
        scores,
        pass_rates(scores),
        type_matrix(scores),
        call_counts(scores),
        tuple(grouse_results(scores)),
    )
