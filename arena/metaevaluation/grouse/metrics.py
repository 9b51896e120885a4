"""The six metrics (section 4.1), their scales, and the marks that judges give.

A mark that is None without a failure is the paper's null: the metric is not defined for the answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

JudgedMetric = Literal["answer_relevancy", "completeness", "usefulness", "faithfulness"]
DerivedMetric = Literal["positive_acceptance", "negative_rejection"]
Metric = JudgedMetric | DerivedMetric

JUDGED_METRICS: tuple[JudgedMetric, ...] = get_args(JudgedMetric)
DERIVED_METRICS: tuple[DerivedMetric, ...] = get_args(DerivedMetric)
METRICS: tuple[Metric, ...] = (*JUDGED_METRICS, *DERIVED_METRICS)

LIKERT = (1, 2, 3, 4, 5)
BINARY = (0, 1)
SCALES: MappingProxyType[Metric, tuple[int, ...]] = MappingProxyType(
    {
        "answer_relevancy": LIKERT,
        "completeness": LIKERT,
        "usefulness": BINARY,
        "faithfulness": BINARY,
        "positive_acceptance": BINARY,
        "negative_rejection": BINARY,
    }
)
"""The marks of each metric, beside null."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What a judge says of one answer by one metric.

    Attributes:
        value: A mark of the metric's scale; None for null, or where there is a failure.
        failure: Why there is no mark; None if there is one, or if it is null.
        was_asked: False where the judge could not be reached: the test is left out and counted.
    """

    value: int | None
    failure: str | None = None
    was_asked: bool = True


def acceptance(relevancy: int | None, completeness: int | None) -> tuple[int | None, int | None]:
    """Derive positive acceptance and negative rejection (sections 4.1 and 4.4).

    Relevancy is null where the answer says that nothing answers the question, completeness where
    the references indeed hold no answer. Positive acceptance is defined for answerable questions,
    negative rejection for the others; each is 1 where the answer saw which of the two it was.
    These are the definitions of section 4.1. The authors' published evaluator differs: it gives a
    right refusal 1 for both, and null for positive acceptance to every answer that responds.

    Args:
        relevancy: Mark for answer relevancy, None for null.
        completeness: Mark for completeness, None for null.

    Returns:
        Positive acceptance and negative rejection, None for null.
    """
    if completeness is None:
        return None, int(relevancy is None)
    return int(relevancy is not None), None
