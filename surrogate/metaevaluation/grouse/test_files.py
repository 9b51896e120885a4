"""Unit tests that come with this project, and files of them in the published schema."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from arena.data.errors import Problem, UsageError
from arena.data.languages import LANGUAGE_CODE
from arena.data.rows import read_rows
from surrogate.metaevaluation.grouse.unit_tests import (
    TEST_TYPES,
    AnswerSample,
    Condition,
    JudgedMetric,
    TestType,
    UnitTest,
    type_name,
)
from surrogate.metaevaluation.records import (
    FilledText,
    in_order,
    raise_if,
    refuse,
    validated_records,
)

LANGUAGES = ("de", "en", "fr")
TOPICS = ("river", "vaccine", "bridge", "composer")

_PACKAGE = "surrogate.metaevaluation.grouse"


@dataclass(frozen=True)
class _Setting:
    """Which references tests of a type have, and which answer is expected there."""

    references: tuple[str, ...]
    expected: str


_ANSWERING = _Setting(("answering",), "answering")
_RICH = _Setting(("answering", "details"), "rich")
_RELATED = _Setting(("related",), "related")
_OFF_TOPIC = _Setting(("off_topic",), "off_topic")
_SETTINGS: MappingProxyType[str, _Setting] = MappingProxyType(
    {
        "highest_marks_2": _RELATED,
        "highest_marks_3": _RELATED,
        "highest_marks_4": _RICH,
        "highest_marks_5": _OFF_TOPIC,
        "highest_marks_6": _Setting(("absurd",), "absurd"),
        "highest_marks_7": _Setting(("absurd_related",), "absurd_related"),
        "low_relevancy_2": _OFF_TOPIC,
        "low_usefulness_1": _OFF_TOPIC,
    }
)


def builtin_tests(languages: Sequence[str] = ()) -> list[UnitTest]:
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
    for kind in TEST_TYPES:
        test_id = f"{language}/{topic}/{kind.name}"
        sample = _sample(kind, texts)
        yield UnitTest(test_id, kind.name, sample, kind.conditions, language, topic)


def _sample(test_type: TestType, texts: Mapping[str, Any]) -> AnswerSample:
    setting = _SETTINGS.get(test_type.name, _ANSWERING)
    return AnswerSample(
        question=texts["question"],
        references=tuple(
            text for group in setting.references for text in texts["references"][group]
        ),
        expected=texts["expected"][setting.expected],
        answer=texts["actual"][test_type.name],
    )


def _condition(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        Condition.parse(value)
    except ValueError:
        hint = "write ==, !=, <, <=, > or >= and a number, or ==None for null"
        raise refuse("is no condition", hint) from None
    return value


WrittenCondition = Annotated[str, BeforeValidator(_condition)]


class WrittenConditions(BaseModel):
    """What the scores must meet."""

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

    input: FilledText
    actual_output: FilledText
    expected_output: FilledText
    references: list[FilledText] = Field(min_length=1)
    conditions: WrittenConditions | None = None
    metadata: Annotated[WrittenMetadata, BeforeValidator(_metadata)] = Field(
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
    rows = read_rows(Path(path))
    problems: list[Problem] = []
    read = list(validated_records(rows, WrittenTest, problems))
    if any(written.conditions for _, written in read):
        problems += [
            Problem(rows.source, line, "conditions", None, "is missing", "add it, or leave all out")
            for line, written in read
            if written.conditions is None
        ]
    tests = [_unit_test(written, f"{rows.source}:{line}") for line, written in read]
    if not tests and not problems:
        fault, hint = "holds no unit tests", "put one JSON object a line in"
        problems = [Problem(rows.source, None, None, None, fault, hint)]
    raise_if(in_order(problems))
    return tests


def _unit_test(written: WrittenTest, test_id: str) -> UnitTest:
    sample = AnswerSample(
        written.input, tuple(written.references), written.expected_output, written.actual_output
    )
    metadata = written.metadata
    return UnitTest(
        test_id,
        type_name(metadata.test_type),
        sample,
        {} if written.conditions is None else written.conditions.by_metric(),
        metadata.language,
        metadata.topic,
    )
