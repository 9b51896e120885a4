"""Records that cross a JSON border."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints, ValidationError
from pydantic_core import PydanticCustomError

from arena.errors import HALF_SURROGATE, HALF_SURROGATE_MEND, Problem
from arena.languages import LANGUAGE_CODE

Text = Annotated[str, StringConstraints(min_length=1)]
LanguageCode = Annotated[str, StringConstraints(pattern=f"^{LANGUAGE_CODE}$")]


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        names_listed = ", ".join(repr(name) for name in repeated)
        raise PydanticCustomError(
            "repeated", "names {names} several times", {"names": names_listed}
        )
    return names


class Passage(BaseModel):
    """A retrieved passage of a query.

    Attributes:
        passage_id: What an answer cites, unique within the query.
        text: The passage.
        title: Title of the document, if any.
        relevance: 1 relevant, 0 not relevant, None not judged.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    passage_id: Text
    text: str
    title: str | None = None
    relevance: Literal[0, 1] | None = None


class ArenaInfo(BaseModel):
    """What ``arena.json`` says of an arena.

    Attributes:
        name: Short name of the arena.
        languages: Language codes in it.
        systems: Systems that may answer and be judged.
        reference_system: System whose answers serve as reference, or None.
        source: Where the data come from.
        note: Anything a reader should know.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    name: Text
    languages: Annotated[tuple[LanguageCode, ...], AfterValidator(_distinct)]
    systems: Annotated[tuple[Text, ...], AfterValidator(_distinct)]
    reference_system: Text | None = None
    source: str = ""
    note: str = ""


def validation_problems(
    error: ValidationError, source: str, line: int | None, mend: Callable[[str], str]
) -> list[Problem]:
    """Tell what pydantic found wrong with a record as problems.

    Args:
        error: What it found.
        source: File the record is in.
        line: Line of the record, or None for the whole file.
        mend: Says for a place in the record (``passages.0.text``) how to mend it.
    """
    problems = []
    for item in error.errors():
        place = ".".join(str(part) for part in item["loc"])
        value, fault, advice = item["input"], item["msg"], mend(place)
        if item["type"] == "missing":
            value, fault = None, "is missing"
        elif item["type"] == "string_unicode":
            fault, advice = HALF_SURROGATE, HALF_SURROGATE_MEND
        problems.append(Problem(source, line, place or None, value, fault, advice))
    return problems
