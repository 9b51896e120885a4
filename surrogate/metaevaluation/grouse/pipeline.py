"""The pipeline of figure 5: which metric is asked for, and which scores follow without a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from arena.data.errors import UsageError
from surrogate.metaevaluation.grouse.scoring import ScoringTask
from surrogate.metaevaluation.grouse.unit_tests import (
    JUDGED_METRICS,
    SCALES,
    AnswerSample,
    JudgedMetric,
    Metric,
    acceptance,
)
from surrogate.metaevaluation.judges import Judge, Verdict
from surrogate.metaevaluation.runner import judge_items

ANSWER_REFUSES = "the answer says that nothing answers the question"
ANSWER_RESPONDS = "the answer responds to the question"
NO_ANSWER_THERE = "the references hold no answer"
ANSWER_THERE = "the references hold an answer"
NO_INFORMATION = "the answer gives no information"

_JUDGED_NULL: MappingProxyType[JudgedMetric, str] = MappingProxyType(
    {
        "answer_relevancy": ANSWER_REFUSES,
        "completeness": NO_ANSWER_THERE,
        "usefulness": NO_INFORMATION,
        "faithfulness": NO_INFORMATION,
    }
)


@dataclass(frozen=True, slots=True)
class Score:
    """The score of one answer by one metric, and how it came about.

    Attributes:
        value: A score of the metric's scale; None for null, or where there is a failure.
        null_reason: Why the metric is not defined, where it is not.
        failure: Why there is no score. A metric that depends on one that failed fails with it.
        was_asked: False where the judge could not be reached.
        was_called: Whether the judge was asked for this very metric.
    """

    value: int | None
    null_reason: str | None = None
    failure: str | None = None
    was_asked: bool = True
    was_called: bool = False


Scores = Mapping[Metric, Score]


def score_answers(
    samples: Sequence[AnswerSample], judge: Judge[ScoringTask]
) -> list[dict[Metric, Score]]:
    """Score answers by all six metrics, with at most four calls each.

    Answer relevancy and completeness are asked for always. Usefulness only where relevancy is
    null; faithfulness only where the answer gives any information, that is, where relevancy or
    usefulness is not null. The other two metrics follow from relevancy and completeness.

    Args:
        samples: Answers to score.
        judge: Who scores.

    Returns:
        Scores of each answer by ``METRICS``, in the order of the answers.

    Raises:
        UsageError: If the judge does not return one score of the metric's scale for each answer,
            or cannot be asked.
    """
    scores: list[dict[Metric, Score]] = [{} for _ in samples]
    for metric in JUDGED_METRICS:
        known = [_without_call(metric, of_answer) for of_answer in scores]
        tasks = [
            ScoringTask(metric, sample)
            for sample, score in zip(samples, known, strict=True)
            if score is None
        ]
        verdicts = judge_items(judge, tasks, "answers") if tasks else []
        called = iter([_called(metric, verdict) for verdict in verdicts])
        for of_answer, score in zip(scores, known, strict=True):
            of_answer[metric] = next(called) if score is None else score
    for of_answer in scores:
        of_answer["positive_acceptance"], of_answer["negative_rejection"] = _derived(of_answer)
    return scores


def _called(metric: JudgedMetric, verdict: Verdict) -> Score:
    value = verdict.value
    if value is not None and value not in SCALES[metric]:
        raise UsageError(
            f"a judge gave {value!r} for {metric}; scores are "
            f"{', '.join(map(str, SCALES[metric]))}, or None for null"
        )
    is_null = value is None and verdict.failure is None
    reason = _JUDGED_NULL[metric] if is_null else None
    score = None if value is None else int(value)
    return Score(score, reason, verdict.failure, verdict.was_asked, was_called=True)


def _without_call(metric: JudgedMetric, scores: Scores) -> Score | None:
    """Return the score that follows from those before; None where the judge is to be asked."""
    if metric == "usefulness":
        known = _blocked(scores, "answer_relevancy")
        responds = known is None and scores["answer_relevancy"].value is not None
        return Score(None, ANSWER_RESPONDS) if responds else known
    if metric == "faithfulness":
        known = _blocked(scores, "answer_relevancy", "usefulness")
        if known is None and scores["answer_relevancy"].value is scores["usefulness"].value is None:
            return Score(None, NO_INFORMATION)
        return known
    return None


def _derived(scores: Scores) -> tuple[Score, Score]:
    blocked = _blocked(scores, "answer_relevancy", "completeness")
    if blocked is not None:
        return blocked, blocked
    judged = (scores["answer_relevancy"].value, scores["completeness"].value)
    accepted, rejected = acceptance(*judged)
    return (
        Score(accepted, ANSWER_RESPONDS if accepted is None else None),
        Score(rejected, ANSWER_THERE if rejected is None else None),
    )


def _blocked(scores: Scores, *needed: JudgedMetric) -> Score | None:
    for metric in needed:
        failure = scores[metric].failure
        if failure is not None:
            prefix = "" if failure.startswith(needed) else f"{metric}: "
            return Score(None, None, f"{prefix}{failure}", scores[metric].was_asked)
    return None
