"""What a judge is tested with, and the part of it that judges see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.errors import UsageError
from arena.metaevaluation.grouse.conditions import Condition
from arena.metaevaluation.grouse.metrics import JudgedMetric


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
