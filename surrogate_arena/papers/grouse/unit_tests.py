"""Unit tests of a judge (GroUSE): conditions on scores, the 16 types, this project's own, files."""

from __future__ import annotations

import operator
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, create_model

from arena.data.errors import Problem, checked_choice
from arena.data.schema import LanguageCode
from surrogate_arena.papers.grouse.metrics import (
    DERIVED_METRICS,
    JUDGED_METRICS,
    AnswerSample,
    acceptance,
)
from surrogate_arena.papers.records import FilledText, StrictRecord, raise_if, read_records, refuse

NULL = "None"
UNTYPED = "untyped"
"""Type of a test that names none."""
LANGUAGES = ("de", "en", "fr")
TRAINING = "training"

_TEXTS = files("surrogate_arena.papers.grouse").joinpath("texts")
_WRITTEN = re.compile(r"\s*(==|<=|>=|!=|<|>)\s*(None|null|True|False|-?\d+(?:\.\d+)?)\s*")
_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_BOUNDS: Mapping[str, float | None] = {"None": None, "null": None, "True": 1.0, "False": 0.0}


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on one score, such as ``<5``; the bound None is null."""

    sign: str
    bound: float | None

    @classmethod
    def parse(cls, text: object) -> Condition:
        """Read a condition; a ``ValueError`` if it is none, or orders scores against null."""
        hint = "write ==, !=, <, <=, > or >= and a number, or ==None for null"
        parts = _WRITTEN.fullmatch(str(text))
        if parts is None:
            raise refuse("is not a condition", hint)
        sign, number = parts.groups()
        bound = _BOUNDS[number] if number in _BOUNDS else float(number)
        if bound is None and sign not in ("==", "!="):
            raise refuse("is not a condition", hint)
        return cls(sign, bound)

    def holds(self, value: int | None) -> bool:
        """Return whether a score meets the condition; null is below and above no score."""
        if value is None or self.bound is None:
            is_same = value is self.bound
            return (self.sign == "==" and is_same) or (self.sign == "!=" and not is_same)
        return _OPERATORS[self.sign](value, self.bound)

    def __str__(self) -> str:
        if self.bound is None:
            return f"{self.sign}{NULL}"
        return f"{self.sign}{self.bound:g}"


Conditions = Mapping[str, Condition]
"""Conditions on scores by metric."""


def all_conditions(judged: Conditions) -> Conditions:
    """Add the conditions that the derived metrics must meet to those of the judged ones, if any."""
    if not judged:
        return {}
    expected: list[int | None] = []
    for metric in ("answer_relevancy", "completeness"):
        # Any score but null gives the same acceptance: only nulls matter.
        expected.append(None if judged[metric].holds(None) else 1)
    derived = acceptance(*expected)
    conditions = dict(judged)
    for metric, value in zip(DERIVED_METRICS, derived, strict=True):
        conditions[metric] = Condition("==", value)
    return conditions


@dataclass(frozen=True)
class UnitTest:
    """One test; without conditions, an answer that is only to be scored."""

    test_id: str
    test_type: str
    sample: AnswerSample
    conditions: Conditions
    language: str | None
    topic: str | None


class FailureMode(BaseModel):
    """A way in which grounded answers fail (section 4.1), and the metric that measures it."""

    name: str
    meaning: str
    metric: str


class TestType(BaseModel):
    """One of the 16 types of figure 4, with the scores that it calls for.

    ``references`` are groups of a topic's references to show, ``expected`` its expected answer.
    """

    __test__ = False  # no class of tests for pytest

    name: str
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


def type_name(value: str | None) -> str:
    """Return the name of a test's type as of figure 4; another keeps its name.

    The published tests write ``Low answer relevancy 1`` for ``low_relevancy_1``.
    """
    text = (value or "").strip()
    name = text.casefold().replace("answer ", "").replace(" ", "_")
    return name if name in TYPE_NAMES else text or UNTYPED


def builtin_tests(languages: Sequence[str] = (), is_training: bool = False) -> list[UnitTest]:
    """Return the tests that come with this project, by language, topic and type.

    For trying prompts (``is_training``) there are 16 in English.
    """
    files_by_language = {language: language for language in LANGUAGES}
    if is_training:
        files_by_language = {"en": TRAINING}
    tests = []
    for language in dict.fromkeys(languages or files_by_language):
        checked_choice(language, files_by_language, "language of unit tests")
        for topic, texts in _texts(files_by_language[language]).items():
            tests += [_builtin_test(kind, language, topic, texts) for kind in TEST_TYPES]
    return tests


def _builtin_test(kind: TestType, language: str, topic: str, texts: Mapping[str, Any]) -> UnitTest:
    references: list[str] = []
    for group in kind.references:
        references += texts["references"][group]
    sample = AnswerSample(
        question=texts["question"],
        references=tuple(references),
        expected=texts["expected"][kind.expected],
        answer=texts["actual"][kind.name],
    )
    return UnitTest(
        test_id=f"{language}/{topic}/{kind.name}",
        test_type=kind.name,
        sample=sample,
        conditions=kind.conditions,
        language=language,
        topic=topic,
    )


def choose_tests(
    tests: Sequence[UnitTest], languages: Sequence[str] = (), limit: int | None = None
) -> list[UnitTest]:
    """Choose tests by language, which some test must have; of each type the first ``limit``."""
    available = dict.fromkeys(test.language for test in tests if test.language)
    for language in languages:
        checked_choice(language, available, "language of unit tests")
    counts = Counter[tuple[str | None, str]]()
    chosen = []
    for test in tests:
        if languages and test.language not in languages:
            continue
        counts[test.language, test.test_type] += 1
        if limit is None or counts[test.language, test.test_type] <= limit:
            chosen.append(test)
    return chosen


WrittenCondition = Annotated[Condition, BeforeValidator(Condition.parse)]
_CONDITION_FIELDS: Any = {
    f"{metric}_condition": (WrittenCondition, ...) for metric in JUDGED_METRICS
}
WrittenConditions = create_model("WrittenConditions", **_CONDITION_FIELDS)


class WrittenMetadata(StrictRecord):
    """Metadata of a test; the published ones have no language and no topic."""

    test_type: str | None = None
    language: LanguageCode | None = None
    topic: str | None = None


class WrittenTest(StrictRecord):
    """One line: a test."""

    input: FilledText
    actual_output: FilledText
    expected_output: FilledText
    references: list[FilledText] = Field(min_length=1)
    conditions: WrittenConditions | None = None  # type: ignore[valid-type]
    metadata: Annotated[WrittenMetadata, BeforeValidator(lambda value: value or {})] = Field(
        default_factory=WrittenMetadata
    )


def read_unit_tests(path: Path | str) -> list[UnitTest]:
    """Read unit tests in the published schema; all without ``conditions``, or none.

    A test's id is such as ``tests.jsonl:3``. ``metadata`` may hold ``test_type``, ``language``,
    ``topic``.
    """
    path = Path(path)
    problems: list[Problem] = []
    rows = read_records(path, WrittenTest, problems)
    lines_without = [line for line, written in rows if written.conditions is None]
    if len(lines_without) < len(rows):
        for line in lines_without:
            fault, hint = "is missing", "add it, or leave all out"
            problems.append(Problem(path.name, line, "conditions", None, fault, hint))
    raise_if(problems)
    return [_unit_test(written, f"{path.name}:{line}") for line, written in rows]


def _unit_test(written: WrittenTest, test_id: str) -> UnitTest:
    conditions: dict[str, Condition] = {}
    if written.conditions is not None:
        for name, condition in written.conditions:
            conditions[name.removesuffix("_condition")] = condition
    sample = AnswerSample(
        question=written.input,
        references=tuple(written.references),
        expected=written.expected_output,
        answer=written.actual_output,
    )
    return UnitTest(
        test_id=test_id,
        test_type=type_name(written.metadata.test_type),
        sample=sample,
        conditions=conditions,
        language=written.metadata.language,
        topic=written.metadata.topic,
    )
