"""Unit tests of a judge (GroUSE): conditions on scores, the 16 types, this project's own, files."""

from __future__ import annotations

import operator
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from arena.data.errors import Problem, UsageError
from arena.data.languages import LANGUAGE_CODE
from surrogate.metaevaluation.records import FilledText, raise_if, read_records, refuse

JudgedMetric = Literal["answer_relevancy", "completeness", "usefulness", "faithfulness"]
DerivedMetric = Literal["positive_acceptance", "negative_rejection"]
Metric = JudgedMetric | DerivedMetric

JUDGED_METRICS: tuple[JudgedMetric, ...] = get_args(JudgedMetric)
DERIVED_METRICS: tuple[DerivedMetric, ...] = get_args(DerivedMetric)
METRICS: tuple[Metric, ...] = (*JUDGED_METRICS, *DERIVED_METRICS)

LIKERT = (1, 2, 3, 4, 5)
BINARY = (0, 1)
SCALES: MappingProxyType[Metric, tuple[int, ...]] = MappingProxyType(
    {metric: LIKERT if metric in JUDGED_METRICS[:2] else BINARY for metric in METRICS}
)
"""The scores of each metric, beside null."""

NULL = "None"
UNTYPED = "untyped"
"""Type of a test that names none."""
LANGUAGES = ("de", "en", "fr")
TOPICS = ("river", "vaccine", "bridge", "composer")

_TEXTS = files("surrogate.metaevaluation.grouse").joinpath("texts")
_WRITTEN = re.compile(r"\s*(==|<=|>=|!=|<|>)\s*(None|null|True|False|-?\d+(?:\.\d+)?)\s*")
_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    **{"==": operator.eq, "!=": operator.ne, "<": operator.lt},
    **{"<=": operator.le, ">": operator.gt, ">=": operator.ge},
}
_BOUNDS: Mapping[str, float | None] = {"None": None, "null": None, "True": 1.0, "False": 0.0}
_NAMED = re.compile(
    r"(?:test )?(?:type )?(?:(?P<number>\d+)"
    r"|(?P<kind>highest|low) (?:answer )?(?P<what>[a-z]+) (?P<nth>\d+))"
)
_GAPS = re.compile(r"[\W_]+")
_WORDS = dict.fromkeys(("mark", "score", "scores"), "marks") | {"relevance": "relevancy"}


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

    def holds(self, value: int | None) -> bool:
        """Tell whether a score meets the condition; null is below and above no score."""
        if value is None or self.bound is None:
            is_same = value is None and self.bound is None
            return is_same if self.sign == "==" else self.sign == "!=" and not is_same
        return _OPERATORS[self.sign](value, self.bound)

    def __str__(self) -> str:
        return f"{self.sign}{NULL if self.bound is None else format(self.bound, 'g')}"


Conditions = Mapping[JudgedMetric, Condition]


def judged_metric(name: str) -> JudgedMetric:
    """Return the metric of a name.

    Raises:
        UsageError: If judges are asked for no such metric.
    """
    for metric in JUDGED_METRICS:
        if metric == name:
            return metric
    raise UsageError(f"there is no prompt for {name!r}; use one of {', '.join(JUDGED_METRICS)}")


def acceptance(relevancy: int | None, completeness: int | None) -> tuple[int | None, int | None]:
    """Derive positive acceptance and negative rejection from the other scores (figure 4).

    Relevancy is null where the answer refuses: it says that nothing answers the question;
    completeness where the references indeed hold no answer. Positive acceptance is defined where
    the answer refuses, and is 1 where it is right to; negative rejection is defined where the
    references hold no answer, and is 1 where the answer refuses.
    """
    refuses, answerable = relevancy is None, completeness is not None
    return int(not answerable) if refuses else None, None if answerable else int(refuses)


def all_conditions(judged: Conditions) -> dict[Metric, Condition]:
    """Add the conditions that the derived metrics must meet to those of the judged ones, if any."""
    if not judged:
        return {}
    known = [None if judged[metric].holds(None) else 1 for metric in JUDGED_METRICS[:2]]
    conditions: dict[Metric, Condition] = {metric: judged[metric] for metric in JUDGED_METRICS}
    for metric, value in zip(DERIVED_METRICS, acceptance(*known), strict=True):
        conditions[metric] = Condition("==", None if value is None else float(value))
    return conditions


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
    conditions: Conditions
    language: str | None = None
    topic: str | None = None


class FailureMode(BaseModel):
    """A way in which grounded answers fail (section 4.1), and the metric that measures it."""

    name: str
    meaning: str
    metric: Metric


class TestType(BaseModel):
    """One of the 16 types of figure 4.

    Attributes:
        name: Such as ``low_relevancy_1``.
        goal: What a judge shows by passing.
        scores: Conditions on the score of each of ``JUDGED_METRICS``.
        failure_modes: What is wrong with the answer; nothing in types 1 to 7.
        references: Groups of a topic's references that its tests show.
        expected: The expected answer of a topic.
    """

    __test__ = False  # no class of tests for pytest

    name: str
    goal: str
    scores: tuple[str, str, str, str]
    failure_modes: tuple[str, ...] = ()
    references: tuple[str, ...] = ("answering",)
    expected: str = "answering"

    @property
    def conditions(self) -> Conditions:
        """The scores as conditions, by metric."""
        return dict(zip(JUDGED_METRICS, map(Condition.parse, self.scores), strict=True))


def _texts(name: str) -> dict[str, Any]:
    return tomllib.loads(_TEXTS.joinpath(f"{name}.toml").read_text(encoding="utf-8"))


_FIGURE_4 = _texts("types")
FAILURE_MODES = tuple(map(FailureMode.model_validate, _FIGURE_4["failure_modes"]))
TEST_TYPES = tuple(map(TestType.model_validate, _FIGURE_4["types"]))
"""The types in order of figure 4, where they are numbered from 1."""
TYPE_NAMES = tuple(kind.name for kind in TEST_TYPES)


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
    name = f"{found['kind']}_{what}_{found['nth']}"
    if found["number"] and 1 <= int(found["number"]) <= len(TYPE_NAMES):
        name = TYPE_NAMES[int(found["number"]) - 1]
    return name if name in TYPE_NAMES else text


def builtin_tests(languages: Sequence[str] = ()) -> list[UnitTest]:
    """Return the tests that come with this project, by language, topic and type.

    Args:
        languages: Of ``LANGUAGES``; all if left out.

    Raises:
        UsageError: If there are no tests in a language.
    """
    absent = [language for language in languages if language not in LANGUAGES]
    if absent:
        raise UsageError(
            f"there are no unit tests in {', '.join(absent)}; there are {', '.join(LANGUAGES)}"
        )
    tests = []
    for language in dict.fromkeys(languages or LANGUAGES):
        for topic, texts in _texts(language).items():
            for kind in TEST_TYPES:
                groups = [texts["references"][group] for group in kind.references]
                references = tuple(text for group in groups for text in group)
                expected, answer = texts["expected"][kind.expected], texts["actual"][kind.name]
                sample = AnswerSample(texts["question"], references, expected, answer)
                test_id = f"{language}/{topic}/{kind.name}"
                tests.append(UnitTest(test_id, kind.name, sample, kind.conditions, language, topic))
    return tests


def choose_tests(
    tests: Sequence[UnitTest],
    languages: Sequence[str] = (),
    types: Sequence[str] = (),
    limit: int | None = None,
) -> list[UnitTest]:
    """Choose tests by language and type; of each of both the first so many.

    Raises:
        UsageError: If a language or type has no test, or none is left.
    """
    _check_known("language", languages, [test.language or "" for test in tests])
    _check_known("test type", types, [test.test_type for test in tests])
    chosen: dict[tuple[str | None, str], list[UnitTest]] = {}
    for test in tests:
        is_wanted = (not languages or test.language in languages) and (
            not types or test.test_type in types
        )
        alike = chosen.setdefault((test.language, test.test_type), [])
        if is_wanted and (limit is None or len(alike) < limit):
            alike.append(test)
    kept = {test.test_id for alike in chosen.values() for test in alike}
    if not kept:
        raise UsageError("no unit test is left; choose other languages or test types")
    return [test for test in tests if test.test_id in kept]


def _check_known(what: str, wanted: Sequence[str], there: Sequence[str]) -> None:
    unknown = [name for name in wanted if name not in there]
    if unknown:
        known = ", ".join(dict.fromkeys(name for name in there if name)) or "none"
        raise UsageError(f"no unit test has the {what} {', '.join(unknown)}; there is {known}")


def _condition(value: object) -> Condition:
    try:
        return Condition.parse(str(value))
    except ValueError:
        hint = "write ==, !=, <, <=, > or >= and a number, or ==None for null"
        raise refuse("is no condition", hint) from None


WrittenCondition = Annotated[Condition, BeforeValidator(_condition)]


class WrittenConditions(BaseModel):
    """What the scores must meet."""

    model_config = ConfigDict(strict=True, extra="ignore")

    answer_relevancy_condition: WrittenCondition
    completeness_condition: WrittenCondition
    usefulness_condition: WrittenCondition
    faithfulness_condition: WrittenCondition


class WrittenMetadata(BaseModel):
    """What is said of a test; the benchmark itself knows no languages and no topics."""

    model_config = ConfigDict(strict=True, extra="ignore")

    test_type: str | int | None = None
    language: Annotated[str, Field(pattern=f"^{LANGUAGE_CODE}$")] | None = None
    topic: str | None = None


class WrittenTest(BaseModel):
    """One line: a test."""

    model_config = ConfigDict(strict=True, extra="ignore")

    input: FilledText
    actual_output: FilledText
    expected_output: FilledText
    references: list[FilledText] = Field(min_length=1)
    conditions: WrittenConditions | None = None
    metadata: Annotated[WrittenMetadata, BeforeValidator(lambda value: value or {})] = Field(
        default_factory=WrittenMetadata
    )


def read_unit_tests(path: Path | str) -> list[UnitTest]:
    """Read unit tests in the published schema.

    Each line holds ``input``, ``actual_output``, ``expected_output``, ``references``,
    ``conditions`` (``answer_relevancy_condition`` and so on, such as ``==5`` or ``==None``; left
    out for answers that judges are only compared on), and ``metadata``, of which ``test_type``,
    ``language`` and ``topic`` are read where they are there.

    Args:
        path: JSONL or Parquet, plain or compressed.

    Raises:
        UsageError: If there is no such file, or its format is unknown.
        DataError: With every problem: file, line, field, value and hint.
    """
    path = Path(path)
    problems: list[Problem] = []
    read = read_records(path, WrittenTest, problems)
    without = [line for line, written in read if written.conditions is None]
    if 0 < len(without) < len(read):
        fault, hint = "is missing", "add it, or leave all out"
        problems += [Problem(path.name, line, "conditions", None, fault, hint) for line in without]
    raise_if(problems)
    return [_unit_test(written, f"{path.name}:{line}") for line, written in read]


def _unit_test(written: WrittenTest, test_id: str) -> UnitTest:
    given, metadata = written.conditions, written.metadata
    conditions = {}
    if given is not None:
        conditions = {metric: getattr(given, f"{metric}_condition") for metric in JUDGED_METRICS}
    texts = (written.input, tuple(written.references))
    sample = AnswerSample(*texts, written.expected_output, written.actual_output)
    name = type_name(metadata.test_type)
    return UnitTest(test_id, name, sample, conditions, metadata.language, metadata.topic)
