"""Letting judges take the unit tests: one table of marks, and whether they pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from arena.errors import UsageError
from arena.metaevaluation.grouse.judges import Judge
from arena.metaevaluation.grouse.metrics import METRICS, Metric
from arena.metaevaluation.grouse.pipeline import Score, evaluate
from arena.metaevaluation.grouse.typology import all_conditions
from arena.metaevaluation.grouse.unit_tests import UnitTest

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
