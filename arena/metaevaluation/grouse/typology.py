"""The 16 types of tests (figure 4): what each tries, and which marks pass."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from arena.metaevaluation.grouse.conditions import Condition
from arena.metaevaluation.grouse.metrics import JUDGED_METRICS, JudgedMetric, Metric, acceptance

UNTYPED = "untyped"
"""Type of a test that names none."""

_GAPS = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class TestType:
    """One type.

    Attributes:
        number: From 1 to 16, as in figure 4.
        name: Such as ``low_relevancy_1``.
        goal: What a judge shows by passing.
        conditions: On the mark of each metric that judges are asked for.
    """

    __test__ = False  # no class of tests for pytest

    number: int
    name: str
    goal: str
    conditions: Mapping[JudgedMetric, Condition]


def _type(number: int, name: str, marks: str, goal: str) -> TestType:
    conditions = [Condition.parse(text) for text in marks.split()]
    return TestType(number, name, goal, dict(zip(JUDGED_METRICS, conditions, strict=True)))


_ANSWERED = "==5 ==5 ==None ==1"
_REFUSED = "==None ==None ==None ==None"
_RELATED = "==None ==None ==1 ==1"
_UNFAITHFUL = "==5 ==5 ==None ==0"

# Marks are those of relevancy, completeness, usefulness and faithfulness.
TEST_TYPES: tuple[TestType, ...] = (
    _type(1, "highest_marks_1", _ANSWERED, "A right answer is marked well"),
    _type(2, "highest_marks_2", _REFUSED, "A refusal is right, related information optional"),
    _type(3, "highest_marks_3", _RELATED, "A refusal may add related information"),
    _type(4, "highest_marks_4", _ANSWERED, "A short answer with all that matters is complete"),
    _type(5, "highest_marks_5", _REFUSED, "A refusal is right where references are off-topic"),
    _type(6, "highest_marks_6", _ANSWERED, "An absurd answer is right if the references say so"),
    _type(7, "highest_marks_7", _RELATED, "Absurd related information is useful all the same"),
    _type(8, "low_relevancy_1", "<5 ==5 ==None ==1", "A superfluous fact lowers relevancy"),
    _type(9, "low_relevancy_2", "==1 ==None ==None ==1", "Off-topic facts are no answer"),
    _type(10, "low_completeness_1", "==5 <5 ==None ==1", "A fact left out lowers completeness"),
    _type(11, "low_completeness_2", "==None ==1 ==None ==None", "A wrong refusal omits all"),
    _type(12, "low_completeness_3", "==None ==1 ==1 ==1", "So it does with related information"),
    _type(13, "low_usefulness_1", "==None ==None ==0 ==1", "Off-topic additions are useless"),
    _type(14, "low_faithfulness_1", _UNFAITHFUL, "A wrong citation is found"),
    _type(15, "low_faithfulness_2", _UNFAITHFUL, "A missing citation is found"),
    _type(16, "low_faithfulness_3", _UNFAITHFUL, "A distorted fact is found"),
)
TYPE_NAMES = tuple(each.name for each in TEST_TYPES)

_ALIASES = MappingProxyType(
    {alias: each.name for each in TEST_TYPES for alias in (each.name, str(each.number))}
)


def type_name(value: object) -> str:
    """Return the name of a test's type, however its file writes it.

    Args:
        value: Such as ``low_relevancy_1``, ``Highest mark 1``, ``Test type 3`` or 3; None where
            the file says nothing.

    Returns:
        The name of one of the 16; ``untyped`` where there is none; else the text as it stands.
    """
    text = "" if value is None else str(value).strip()
    plain = _GAPS.sub("_", text.casefold()).strip("_")
    plain = plain.removeprefix("test_type_").replace("highest_mark_", "highest_marks_")
    return _ALIASES.get(plain, text or UNTYPED)


def all_conditions(judged: Mapping[JudgedMetric, Condition]) -> dict[Metric, Condition]:
    """Add the conditions that the derived metrics must meet to those of the judged ones."""
    relevancy = None if judged["answer_relevancy"].admits_null else 1
    completeness = None if judged["completeness"].admits_null else 1
    accepted, rejected = acceptance(relevancy, completeness)
    conditions: dict[Metric, Condition] = {metric: judged[metric] for metric in JUDGED_METRICS}
    conditions["positive_acceptance"] = Condition.equal_to(accepted)
    conditions["negative_rejection"] = Condition.equal_to(rejected)
    return conditions
