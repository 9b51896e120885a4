"""Conditions on a mark, as the published tests write them: ``==5``, ``<5``, ``==None``."""

from __future__ import annotations

import operator
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from arena.data.errors import HALF_SURROGATE, HALF_SURROGATE_HINT, DataError, Problem, UsageError
from arena.data.languages import LANGUAGE_CODE
from arena.data.rows import read_rows
from arena.data.schema import is_unstorable

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
    """A condition on one mark.

    Attributes:
        sign: One of ``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=``.
        bound: What the mark is compared with; None for null.
    """

    sign: str
    bound: float | None

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read a condition.

        Raises:
            ValueError: If the text is none, or orders marks against null.
        """
        found = _WRITTEN.fullmatch(text)
        if found is None:
            raise ValueError(f"{text!r} is no condition")
        sign, written = found.groups()
        bound = _BOUNDS[written] if written in _BOUNDS else float(written)
        if bound is None and sign not in ("==", "!="):
            raise ValueError(f"{text!r} orders marks against null")
        return cls(sign, bound)

    @classmethod
    def equal_to(cls, value: int | None) -> Condition:
        """Return the condition that a mark is this one."""
        return cls("==", None if value is None else float(value))

    @property
    def admits_null(self) -> bool:
        """Whether null meets the condition."""
        return self.holds(None)

    def holds(self, value: int | None) -> bool:
        """Tell whether a mark meets the condition; null is below and above no mark."""
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


@dataclass(frozen=True, slots=True)
class GroundedAnswer:
    """An answer to mark.

    Attributes:
        question: The question.
        references: Texts that the answer was to be written from, cited as ``[1]``, ``[2]``, ….
        expected: An answer that deserves the highest marks, for comparison.
        answer: The answer to mark.
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
        sample: What the judge sees.
        conditions: What the marks must meet, for each metric that judges are asked for.
        language: Language code; None where it is not known.
        topic: Its topic; None where it is not known.
    """

    test_id: str
    test_type: str
    sample: GroundedAnswer
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
    _check_known("language", languages, [each.language or "" for each in tests])
    _check_known("test type", types, [each.test_type for each in tests])
    chosen: list[UnitTest] = []
    taken: dict[tuple[str | None, str], int] = {}
    for each in tests:
        if (languages and each.language not in languages) or (
            types and each.test_type not in types
        ):
            continue
        kind = (each.language, each.test_type)
        taken[kind] = taken.get(kind, 0) + 1
        if limit is None or taken[kind] <= limit:
            chosen.append(each)
    if not chosen:
        raise UsageError("no unit test is left; choose other languages or test types")
    return chosen


def _check_known(what: str, wanted: Sequence[str], there: Sequence[str]) -> None:
    unknown = [name for name in wanted if name not in there]
    if unknown:
        known = ", ".join(dict.fromkeys(name for name in there if name)) or "none"
        raise UsageError(f"no unit test has the {what} {', '.join(unknown)}; there is {known}")


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


LANGUAGES = ("de", "en", "fr")
TOPICS = ("river", "vaccine", "bridge", "composer")
DATASET = "grouse-own"

_PACKAGE = "surrogate.metaevaluation.grouse"


@dataclass(frozen=True)
class _Setting:
    """Which references tests of a type have, and which answer is expected there."""

    references: tuple[str, ...]
    expected: str


_ANSWERING = _Setting(("answering",), "answering")
_RICH = _Setting(("answering", "details"), "rich")
_RELATED_OWN_TESTS = _Setting(("related",), "related")
_OFF_TOPIC = _Setting(("off_topic",), "off_topic")
_SETTINGS: MappingProxyType[str, _Setting] = MappingProxyType(
    {
        "highest_marks_2": _RELATED_OWN_TESTS,
        "highest_marks_3": _RELATED_OWN_TESTS,
        "highest_marks_4": _RICH,
        "highest_marks_5": _OFF_TOPIC,
        "highest_marks_6": _Setting(("absurd",), "absurd"),
        "highest_marks_7": _Setting(("absurd_related",), "absurd_related"),
        "low_relevancy_2": _OFF_TOPIC,
        "low_usefulness_1": _OFF_TOPIC,
    }
)


def own_unit_tests(languages: Sequence[str] = ()) -> list[UnitTest]:
    """Return the tests that come with this project.

    Args:
        languages: Of ``LANGUAGES``; all if left out.

    Returns:
        By language, topic and type.

    Raises:
        UsageError: If there are no tests in a language.
    """
    absent = [language for language in languages if language not in LANGUAGES]
    if absent:
        raise UsageError(
            f"there are no unit tests in {', '.join(absent)}; there are {', '.join(LANGUAGES)}"
        )
    return [
        test
        for language in dict.fromkeys(languages or LANGUAGES)
        for topic, texts in _topics(language).items()
        for test in _tests(language, topic, texts)
    ]


def _topics(language: str) -> Mapping[str, Mapping[str, Any]]:
    path = files(_PACKAGE).joinpath("texts", f"{language}.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _tests(language: str, topic: str, texts: Mapping[str, Any]) -> Iterator[UnitTest]:
    for each in TEST_TYPES:
        test_id = f"{language}/{topic}/{each.name}"
        sample = _sample(each, texts)
        yield UnitTest(test_id, each.name, sample, each.conditions, language, topic)


def _sample(test_type: TestType, texts: Mapping[str, Any]) -> GroundedAnswer:
    setting = _SETTINGS.get(test_type.name, _ANSWERING)
    return GroundedAnswer(
        question=texts["question"],
        references=tuple(
            text for group in setting.references for text in texts["references"][group]
        ),
        expected=texts["expected"][setting.expected],
        answer=texts["actual"][test_type.name],
    )


def _filled(value: object) -> object:
    if isinstance(value, str) and not value.strip():
        raise PydanticCustomError("empty", "is empty")
    return value


def _condition(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        Condition.parse(value)
    except ValueError:
        raise PydanticCustomError("condition", "is no condition") from None
    return value


Text = Annotated[str, BeforeValidator(_filled)]
WrittenCondition = Annotated[str, BeforeValidator(_condition)]


class WrittenConditions(BaseModel):
    """What the marks must meet."""

    model_config = ConfigDict(strict=True, extra="ignore")

    answer_relevancy_condition: WrittenCondition
    completeness_condition: WrittenCondition
    faithfulness_condition: WrittenCondition
    usefulness_condition: WrittenCondition

    def by_metric(self) -> dict[JudgedMetric, Condition]:
        """Return the conditions by metric."""
        return {
            "answer_relevancy": Condition.parse(self.answer_relevancy_condition),
            "completeness": Condition.parse(self.completeness_condition),
            "usefulness": Condition.parse(self.usefulness_condition),
            "faithfulness": Condition.parse(self.faithfulness_condition),
        }


class WrittenMetadata(BaseModel):
    """What is said of a test; the benchmark itself knows no languages and no topics."""

    model_config = ConfigDict(strict=True, extra="ignore")

    test_type: str | int | None = None
    language: Annotated[str, Field(pattern=f"^{LANGUAGE_CODE}$")] | None = None
    topic: str | None = None


def _metadata(value: object) -> object:
    return {} if value is None else value


class WrittenTest(BaseModel):
    """One line: a test."""

    model_config = ConfigDict(strict=True, extra="ignore")

    input: Text
    actual_output: Text
    expected_output: Text
    references: list[Text] = Field(min_length=1)
    conditions: WrittenConditions
    metadata: Annotated[WrittenMetadata, BeforeValidator(_metadata)] = Field(
        default_factory=WrittenMetadata
    )


def as_record(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row's fields without those that are missing."""
    return {str(name): value for name, value in fields.items() if value is not None}


_HINTS = {
    "missing": ("is missing", "add it"),
    "empty": ("is empty", "give it a text"),
    "too_short": ("is an empty list", "give one reference at least"),
    "condition": (
        "is no condition",
        "write ==, !=, <, <=, > or >= and a number, or ==None for null",
    ),
    "string_type": ("is not a string", "write it as a JSON string"),
    "string_pattern_mismatch": ("is no language code", "write one such as en"),
    "list_type": ("is not a list", "write it as a JSON array"),
    "model_type": ("is not an object", "write it as a JSON object"),
}
_OTHERWISE = "see the published schema: input, actual_output, expected_output, references, …"


def read_unit_tests(path: Path | str) -> list[UnitTest]:
    """Read unit tests in the published schema.

    Each line holds ``input``, ``actual_output``, ``expected_output``, ``references``,
    ``conditions`` (``answer_relevancy_condition`` and so on, such as ``==5`` or ``==None``), and
    ``metadata``, of which ``test_type``, ``language`` and ``topic`` are read where they are there.

    Args:
        path: JSONL or Parquet, plain or compressed.

    Raises:
        UsageError: If there is no such file, or its format is unknown.
        DataError: With every problem: file, line, field, value and hint.
    """
    rows = read_rows(Path(path))
    problems = list(rows.problems)
    tests: list[UnitTest] = []
    for line, record in zip(rows.lines, rows.table.to_dict(orient="records"), strict=True):
        written = _checked(as_record(record), rows.source, int(line), problems)
        if written is not None:
            tests.append(_unit_test(written, f"{rows.source}:{line}"))
    if not tests and not problems:
        fault = "holds no unit tests"
        problems = [Problem(rows.source, None, None, None, fault, "put one JSON object a line in")]
    if problems:
        raise DataError(sorted(problems, key=lambda problem: problem.line or 0))
    return tests


def _checked(
    record: dict[str, Any], source: str, line: int, problems: list[Problem]
) -> WrittenTest | None:
    if is_unstorable(record):
        problems.append(Problem(source, line, None, None, HALF_SURROGATE, HALF_SURROGATE_HINT))
        return None
    try:
        return WrittenTest.model_validate(record)
    except ValidationError as error:
        problems += [_problem(dict(each), source, line) for each in error.errors()]
        return None


def _problem(error: Mapping[str, Any], source: str, line: int) -> Problem:
    place = ".".join(str(part) for part in error["loc"])
    kind = str(error["type"])
    value = None if kind == "missing" else error["input"]
    fault, hint = _HINTS.get(kind, (str(error["msg"]), _OTHERWISE))
    return Problem(source, line, place, value, fault, hint)


def _unit_test(written: WrittenTest, test_id: str) -> UnitTest:
    sample = GroundedAnswer(
        written.input, tuple(written.references), written.expected_output, written.actual_output
    )
    metadata = written.metadata
    return UnitTest(
        test_id,
        type_name(metadata.test_type),
        sample,
        written.conditions.by_metric(),
        metadata.language,
        metadata.topic,
    )
