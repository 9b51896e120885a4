"""The tests that come with this project: 16 types × 4 topics × 3 languages.

The texts were written for it (``texts/LANGUAGE.toml``). The tests of a topic share their question
and, as far as their types allow, references and expected answers, so that a judge has to see small
differences.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from arena.errors import UsageError
from arena.metaevaluation.grouse.typology import TEST_TYPES, TestType
from arena.metaevaluation.grouse.unit_tests import GroundedAnswer, UnitTest

LANGUAGES = ("de", "en", "fr")
TOPICS = ("river", "vaccine", "bridge", "composer")
DATASET = "grouse-own"

_PACKAGE = "arena.metaevaluation.grouse"


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
