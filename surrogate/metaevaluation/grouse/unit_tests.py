"""Unit tests of a judge (GroUSE): conditions on scores, the 16 types of figure 4, choosing."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

from arena.data.errors import UsageError

NULL = "None"

_WRITTEN = re.compile(r"\s*(==|<=|>=|!=|<|>)\s*(None|null|True|False|-?\d+(?:\.\d+)?)\s*")
_OPERATORS: MappingProxyType[str, Callable[[float, float], bool]] = MappingProxyType(
    {
        "==": operator.eq,
        "!=": operator.ne,
        "<": operator.lt,
        "<=": operator.le,
        ">": operator.gt,
        ">=": operator.ge,
    }
)
_BOUNDS: MappingProxyType[str, float | None] = MappingProxyType(
    {"None": None, "null": None, "True": 1.0, "False": 0.0}
)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on one score.

    Attributes:
        sign: One of ``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=``.
        bound: What the score is compared with; None for null.
    """

    sign: str
    bound: float | None

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read a condition.

        Raises:
            ValueError: If the text is none, or orders scores against null.
        """
        parts = _WRITTEN.fullmatch(text)
        if parts is None:
            raise ValueError(f"{text!r} is no condition")
        sign, written = parts.groups()
        bound = _BOUNDS[written] if written in _BOUNDS else float(written)
        if bound is None and sign not in ("==", "!="):
            raise ValueError(f"{text!r} orders scores against null")
        return cls(sign, bound)

    @classmethod
    def equal_to(cls, value: int | None) -> Condition:
        """Return the condition that a score is this one."""
        return cls("==", None if value is None else float(value))

    @property
    def admits_null(self) -> bool:
        """Whether null meets the condition."""
        return self.holds(None)

    def holds(self, value: int | None) -> bool:
        """Tell whether a score meets the condition; null is below and above no score."""
        if value is None or self.bound is None:
            is_same = value is None and self.bound is None
            return is_same if self.sign == "==" else self.sign == "!=" and not is_same
        return _OPERATORS[self.sign](value, self.bound)

    def __str__(self) -> str:
        return f"{self.sign}{NULL if self.bound is None else format(self.bound, 'g')}"


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
"""The scores of each metric, beside null."""


def acceptance(relevancy: int | None, completeness: int | None) -> tuple[int | None, int | None]:
    """Derive positive acceptance and negative rejection from the other scores (figure 4).

    Relevancy is null where the answer refuses: it says that nothing answers the question;
    completeness where the references indeed hold no answer. Positive acceptance is defined where
    the answer refuses, and is 1 where it is right to; negative rejection is defined where the
    references hold no answer, and is 1 where the answer refuses.

    Args:
        relevancy: Score for answer relevancy, None for null.
        completeness: Score for completeness, None for null.

    Returns:
        Positive acceptance and negative rejection, None for null.
    """
    refuses, answerable = relevancy is None, completeness is not None
    return int(not answerable) if refuses else None, None if answerable else int(refuses)


@dataclass(frozen=True, slots=True)
class AnswerSample:
    """An answer to score.

    Attributes:
        question: The question.
        references: Texts that the answer was to be written from, cited as ``[1]``, ``[2]``, ….
        expected: An answer that deserves the highest scores, for comparison.
        answer: The answer to score.
    """

    question: str
    references: tuple[str, ...]
    expected: str
    answer: str


@dataclass(frozen=True)
class UnitTest:
    """One test.

    Attributes:
        test_id: Where it is from, such as ``en/river/low_relevancy_1`` or ``tests.jsonl:3``.
        test_type: Name of its type, see ``type_name``.
        sample: What the judge sees; see ``AnswerSample``.
        conditions: What the scores must meet, for each metric that judges are asked for; empty
            for an answer that is only to be scored.
        language: Language code; None where it is not known.
        topic: Its topic; None where it is not known.
    """

    test_id: str
    test_type: str
    sample: AnswerSample
    conditions: Mapping[JudgedMetric, Condition]
    language: str | None = None
    topic: str | None = None


def choose_tests(
    tests: Sequence[UnitTest],
    languages: Sequence[str] = (),
    types: Sequence[str] = (),
    limit: int | None = None,
) -> list[UnitTest]:
    """Choose tests by language and type.

    Args:
        tests: Tests to choose from.
        languages: Language codes; all if there are none.
        types: Names of types; all if there are none.
        limit: Keep the first so many of each language and type.

    Raises:
        UsageError: If a language or type has no test, or none is left.
    """
    _check_known("language", languages, [test.language or "" for test in tests])
    _check_known("test type", types, [test.test_type for test in tests])
    chosen: list[UnitTest] = []
    taken: dict[tuple[str | None, str], int] = {}
    for test in tests:
        if (languages and test.language not in languages) or (
            types and test.test_type not in types
        ):
            continue
        kind = (test.language, test.test_type)
        taken[kind] = taken.get(kind, 0) + 1
        if limit is None or taken[kind] <= limit:
            chosen.append(test)
    if not chosen:
        raise UsageError("no unit test is left; choose other languages or test types")
    return chosen


def _check_known(what: str, wanted: Sequence[str], there: Sequence[str]) -> None:
    unknown = [name for name in wanted if name not in there]
    if unknown:
        known = ", ".join(dict.fromkeys(name for name in there if name)) or "none"
        raise UsageError(f"no unit test has the {what} {', '.join(unknown)}; there is {known}")


@dataclass(frozen=True)
class FailureMode:
    """A way in which grounded answers fail (section 4.1).

    Attributes:
        name: ``FM1`` to ``FM7``.
        meaning: What is wrong with the answer.
        metric: The metric that measures it.
    """

    name: str
    meaning: str
    metric: Metric


FAILURE_MODES = (
    FailureMode("FM1", "Says more than answers the question", "answer_relevancy"),
    FailureMode("FM2", "Answers although the references do not", "negative_rejection"),
    FailureMode("FM3", "Leaves out what the references answer", "completeness"),
    FailureMode("FM4", "Refuses although the references answer", "positive_acceptance"),
    FailureMode("FM5", "Rightly refuses, and adds what is off-topic", "usefulness"),
    FailureMode("FM6", "States a fact with a wrong citation, or none", "faithfulness"),
    FailureMode("FM7", "States what the references do not bear out", "faithfulness"),
)

UNTYPED = "untyped"
"""Type of a test that names none."""

_NAMED = re.compile(
    r"(?:test )?(?:type )?(?:(?P<number>\d+)"
    r"|(?P<kind>highest|low) (?:answer )?(?P<what>[a-z]+) (?P<nth>\d+))"
)
_GAPS = re.compile(r"[\W_]+")
_WORDS = MappingProxyType(
    dict.fromkeys(("mark", "score", "scores"), "marks") | {"relevance": "relevancy"}
)


@dataclass(frozen=True)
class TestType:
    """One type.

    Attributes:
        number: From 1 to 16, as in figure 4.
        name: Such as ``low_relevancy_1``.
        goal: What a judge shows by passing.
        failure_modes: What is wrong with the answer, as in figure 4; nothing in types 1 to 7.
        conditions: On the score of each metric that judges are asked for.
    """

    __test__ = False  # no class of tests for pytest

    number: int
    name: str
    goal: str
    failure_modes: tuple[str, ...]
    conditions: Mapping[JudgedMetric, Condition]


def _type(number: int, name: str, scores: str, modes: str, goal: str) -> TestType:
    conditions = [Condition.parse(text) for text in scores.split()]
    by_metric = dict(zip(JUDGED_METRICS, conditions, strict=True))
    return TestType(number, name, goal, tuple(modes.split()), by_metric)


_ANSWERED = "==5 ==5 ==None ==1"
_REFUSED = "==None ==None ==None ==None"
_RELATED = "==None ==None ==1 ==1"
_UNFAITHFUL = "==5 ==5 ==None ==0"

# Scores are those of relevancy, completeness, usefulness and faithfulness.
TEST_TYPES: tuple[TestType, ...] = (
    _type(1, "highest_marks_1", _ANSWERED, "", "A right answer is scored well"),
    _type(2, "highest_marks_2", _REFUSED, "", "A refusal is right, related information optional"),
    _type(3, "highest_marks_3", _RELATED, "", "A refusal may add related information"),
    _type(4, "highest_marks_4", _ANSWERED, "", "A short answer with all that matters is complete"),
    _type(5, "highest_marks_5", _REFUSED, "", "A refusal is right where references are off-topic"),
    _type(
        6, "highest_marks_6", _ANSWERED, "", "An absurd answer is right if the references say so"
    ),
    _type(7, "highest_marks_7", _RELATED, "", "Absurd related information is useful all the same"),
    _type(8, "low_relevancy_1", "<5 ==5 ==None ==1", "FM1", "A superfluous fact lowers relevancy"),
    _type(
        9, "low_relevancy_2", "==1 ==None ==None ==1", "FM1 FM2", "Off-topic facts are no answer"
    ),
    _type(
        10, "low_completeness_1", "==5 <5 ==None ==1", "FM3", "A fact left out lowers completeness"
    ),
    _type(
        11, "low_completeness_2", "==None ==1 ==None ==None", "FM3 FM4", "A wrong refusal omits all"
    ),
    _type(
        12,
        "low_completeness_3",
        "==None ==1 ==1 ==1",
        "FM3 FM4",
        "So does one with related facts",
    ),
    _type(
        13, "low_usefulness_1", "==None ==None ==0 ==1", "FM5", "Off-topic additions are useless"
    ),
    _type(14, "low_faithfulness_1", _UNFAITHFUL, "FM6", "A wrong citation is found"),
    _type(15, "low_faithfulness_2", _UNFAITHFUL, "FM6", "A missing citation is found"),
    _type(16, "low_faithfulness_3", _UNFAITHFUL, "FM7", "A distorted fact is found"),
)

_NAMES = MappingProxyType({str(kind.number): kind.name for kind in TEST_TYPES})
TYPE_NAMES = frozenset(_NAMES.values())


def type_name(value: object) -> str:
    """Return the name of a test's type, however its file writes it.

    Args:
        value: Such as ``low_relevancy_1``, ``Low answer relevancy 1``, ``Highest marks 1``,
            ``Test type 3`` or 3; None where the file says nothing.

    Returns:
        The name of one of the 16; ``untyped`` where there is none; else the text as it stands.
    """
    text = "" if value is None else str(value).strip()
    found = _NAMED.fullmatch(_GAPS.sub(" ", text.casefold()).strip())
    if found is None:
        return text or UNTYPED
    what = _WORDS.get(found["what"], found["what"])
    name = _NAMES.get(found["number"] or "", f"{found['kind']}_{what}_{found['nth']}")
    return name if name in TYPE_NAMES else text


def all_conditions(judged: Mapping[JudgedMetric, Condition]) -> dict[Metric, Condition]:
    """Add the conditions that the derived metrics must meet to those of the judged ones.

    Returns:
        Nothing where nothing is expected.
    """
    if not judged:
        return {}
    relevancy = None if judged["answer_relevancy"].admits_null else 1
    completeness = None if judged["completeness"].admits_null else 1
    derived = zip(DERIVED_METRICS, acceptance(relevancy, completeness), strict=True)
    conditions: dict[Metric, Condition] = {metric: judged[metric] for metric in JUDGED_METRICS}
    return conditions | {metric: Condition.equal_to(value) for metric, value in derived}
