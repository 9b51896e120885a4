"""One line of a file of unit tests, in the schema that the benchmark was published in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from arena.languages import LANGUAGE_CODE
from arena.metaevaluation.grouse.conditions import Condition
from arena.metaevaluation.grouse.metrics import JudgedMetric


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
