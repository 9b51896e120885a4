"""The tables of an arena: their columns, what a row must hold, and how rows must agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    StringConstraints,
    field_validator,
)
from pydantic_core import PydanticCustomError

from arena.data.languages import is_language_code, language_hint
from arena.data.wording import repeated

INFO_FILE = "arena.json"
WINNERS = ("a", "b", "tie")
QUESTION_KEY = ["language", "query_id"]
ANSWER_KEY = ["language", "query_id", "system"]
FOR_ALL_ROWS = ("language", "judge")
"""What whoever gives tables in memory may state once."""
REFERENCE = "reference"
"""Column of questions, if it is there: an answer to compare with, which takes no part itself."""
OWN_PASSAGES = "passages"
"""Column of answers, if it is there: null where the system was given the question's passages."""
HISTORY = "history"
"""Column of questions, if it is there: the turns before, in order; and of answers, where a system
had others than the question's, or null."""
TurnRole = Literal["user", "assistant"]
ROLES: tuple[TurnRole, ...] = ("user", "assistant")
"""Who speaks in a history; the question is the user's turn, so that a history ends before it."""
ALL = "all"
"""Choice of every language, or of every judge."""
SOFT = "soft"
"""Column of judgments that is true where the probabilities of verdicts count, not the likeliest."""
SOFT_COLUMNS = (SOFT, "probability_a", "probability_b")
BOTH_BAD = "both_bad"
"""Column of judgments, if it is there: true where neither answer is good, which is a tie."""
VOTER = "voter"
"""Column of judgments, if it is there: who voted, where the judge stands for several people."""
TURN = "turn"
"""Field of tables: which turn of a conversation was judged."""
WEIGHT = "weight"
"""Column of judgments, if it is there: how many judgments each counts for; 1 where it is null."""
REPEAT = "repeat"
"""Column of judgments, if it is there: which vote this is of one judge who gave several votes on
the same question and sides; null for the first."""
CRITERION = "criterion"
"""Column of judgments, if it is there: what they were made by; a judge's second name."""
CHOSEN = "chosen"
"""Column of judgments, if it is there: how a pair came to be judged."""
ADAPTIVE = "adaptive"
"""Chosen by the verdicts on others; what rates such judgments must not take them for a sample."""

Text = Annotated[str, StringConstraints(min_length=1)]


def _checked_code(code: str) -> str:
    if not is_language_code(code):
        raise PydanticCustomError(
            "language_code",
            "'{code}' is not a language code; {hint}",
            {"code": code, "hint": language_hint(code)},
        )
    return code


LanguageCode = Annotated[str, AfterValidator(_checked_code)]
"""A code of ISO 639-1, or of ISO 639-3 where no two-letter code exists."""
Kind = Literal["name", "text", "language", "winner", "passages", "history", "weight"]
"""What a column holds; a name is a text with something in it."""
_KEY: dict[str, Kind] = {"query_id": "name", "language": "language"}
_TURNS: dict[str, Kind] = {HISTORY: "history"}
_OF_VERDICTS: dict[str, Kind] = {CRITERION: "name", VOTER: "name", WEIGHT: "weight"}
_PAIR: dict[str, Kind] = {"system_a": "name", "system_b": "name", "winner": "winner"}


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
    languages: tuple[LanguageCode, ...]
    systems: tuple[Text, ...]
    reference_system: Text | None = None
    source: str = ""
    note: str = ""

    @field_validator("languages", "systems")
    @classmethod
    def _are_distinct(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if listed := ", ".join(map(repr, repeated(names))):
            raise PydanticCustomError("repeated", "names {names} several times", {"names": listed})
        return names


@dataclass(frozen=True)
class TableSchema:
    """The columns that a table must have, in order, with the kind of their values; and may have."""

    name: str
    columns: Mapping[str, Kind]
    optional: Mapping[str, Kind] = field(default_factory=dict)


QUERIES = TableSchema("queries", {**_KEY, "query": "name", "passages": "passages"}, _TURNS)
ANSWERS = TableSchema("answers", {**_KEY, "system": "name", "answer": "text"}, _TURNS)
JUDGMENTS = TableSchema("judgments", {**_KEY, **_PAIR, "judge": "name"}, _OF_VERDICTS)
