"""The tables of an arena: names of columns, the kinds of their values, and ``arena.json``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
)
from pydantic_core import PydanticCustomError

from arena.data.languages import is_language_code, language_hint
from arena.data.wording import repeated

INFO_FILE = "arena.json"
Winner = Literal["a", "b", "tie"]
"""The verdict on a pair: the side that wins, or neither."""
WINNERS: tuple[Winner, ...] = ("a", "b", "tie")
QUESTION_KEY = ["language", "query_id"]
ANSWER_KEY = ["language", "query_id", "system"]
JUDGMENT_KEY = ["judge", *QUESTION_KEY, "system_a", "system_b"]
FOR_ALL_ROWS = ("language", "judge")
"""Columns of tables in memory that an argument may replace."""
REFERENCE = "reference"
"""Optional column of questions: an answer to compare with, which takes no part itself."""
OWN_PASSAGES = "passages"
"""Optional column of answers: null where the system was given the question's passages."""
HISTORY = "history"
"""Optional column of questions: the turns before, in order; and of answers, where a system was
given others than the question's, or null."""
TurnRole = Literal["user", "assistant"]
ROLES: tuple[TurnRole, ...] = ("user", "assistant")
"""Speakers of a history, which ends before the question: that is the user's turn itself."""
ALL = "all"
"""Choice of every language, or of every judge."""
PROBABILITIES = ("probability_a", "probability_b")
"""Optional columns of judgments: the probability that side A wins, and that side B does; a tie has
the rest. Null where only the winner is known."""
BOTH_BAD = "both_bad"
"""Optional column of judgments: true where neither answer is good, which is a tie."""
SIDES = "sides"
"""Optional column of judgments: whether ``system_a`` was shown first (``shown``, also where it is
null), or the pair is written in an order that says nothing (``none``)."""
SIDES_SHOWN: tuple[Literal["shown", "none"], ...] = ("shown", "none")
VOTER = "voter"
"""Optional column of judgments: who voted, where the judge stands for several people."""
TURN = "turn"
"""Field of tables: which turn of a conversation was judged."""
WEIGHT = "weight"
"""Optional column of judgments: how many judgments a row counts for; 1 where it is null."""
REPEAT = "repeat"
"""Optional column of judgments: number of the vote where one judge voted several times on the same
question and sides; null for the first."""
CRITERION = "criterion"
"""Optional column of judgments: the criterion they were made by, which a judge's name ends in."""
COST = "cost"
"""Optional column of answers and systems: what an answer cost, in its ``currency``."""
CURRENCY = "currency"
"""Optional column beside costs: their currency, such as ``USD``."""
LATENCY = "latency"
"""Optional column of answers and systems: seconds until the answer was there."""
TOKENS = "tokens"
"""Optional column of answers and systems: tokens read and written for an answer."""
AMOUNTS = (COST, LATENCY, TOKENS)
"""Columns of what an answer takes; null where that is not known."""
DIGESTS = ("digest_a", "digest_b")
"""Optional columns of judgments: digests of the answers that were judged, by which a verdict on a
text that was edited since does not count; null where they are not known."""
CHOSEN = "chosen"
"""Optional column of judgments: how a pair came to be judged."""
ADAPTIVE = "adaptive"
"""Chosen because of earlier verdicts: such judgments are no random sample."""
VERDICT_FLAGS = "flags"
"""Optional column of judgments: what was odd about a verdict."""
FLAG_SEPARATOR = ","
"""Separates the flags of a verdict."""
IDENTICAL = "identical"
"""Flag of a tie between identical answers, which no judge saw."""

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
Kind = Literal[
    "name",
    "text",
    "language",
    "winner",
    "sides",
    "passages",
    "history",
    "weight",
    "probability",
    "amount",
    "count",
    "share",
    "number",
]
"""Kind of a column's values; a name is a text that is not blank, an amount is 0 or more.

Counts, shares and numbers are columns of results, such as a board's, and may be missing.
"""
NUMBERS: tuple[Kind, ...] = ("probability", "amount")
"""Kinds whose columns are numbers in memory."""


class Passage(BaseModel):
    """A retrieved passage of a query.

    Attributes:
        passage_id: Id that answers cite, unique within the query.
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
    """The content of ``arena.json``."""

    model_config = ConfigDict(frozen=True, extra="allow")

    name: Text = Field(description="Short name of the arena.")
    languages: tuple[LanguageCode, ...] = Field(
        description="Codes of its languages: ISO 639-1, or 639-3 where no two-letter code exists.",
        json_schema_extra={"uniqueItems": True},
    )
    systems: tuple[Text, ...] = Field(
        description="Systems that may answer and be judged.",
        json_schema_extra={"uniqueItems": True},
    )
    reference_system: Text | None = Field(
        default=None, description="System whose answers are the reference; null for none."
    )
    source: str = Field(default="", description="Where the data come from.")
    note: str = Field(default="", description="Anything a reader should know.")

    @field_validator("languages", "systems")
    @classmethod
    def _are_distinct(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        listed = ", ".join(repr(name) for name in repeated(names))
        if listed:
            raise PydanticCustomError("repeated", "names {names} several times", {"names": listed})
        return names


@dataclass(frozen=True)
class TableSchema:
    """A kind of table; ``key`` tells its rows apart."""

    name: str
    columns: Mapping[str, Kind]
    optional: Mapping[str, Kind] = field(default_factory=dict)
    key: Sequence[str] = ()


QUERIES = TableSchema(
    name="queries",
    columns={
        "query_id": "name",
        "language": "language",
        "query": "name",
        "passages": "passages",
    },
    optional={HISTORY: "history"},
)
ANSWERS = TableSchema(
    name="answers",
    columns={"query_id": "name", "language": "language", "system": "name", "answer": "text"},
    optional={HISTORY: "history", CURRENCY: "name", **dict.fromkeys(AMOUNTS, "amount")},
)
JUDGMENTS = TableSchema(
    name="judgments",
    columns={
        "query_id": "name",
        "language": "language",
        "system_a": "name",
        "system_b": "name",
        "winner": "winner",
        "judge": "name",
    },
    optional={
        CRITERION: "name",
        SIDES: "sides",
        VOTER: "name",
        WEIGHT: "weight",
        **dict.fromkeys(PROBABILITIES, "probability"),
        **dict.fromkeys(DIGESTS, "name"),
    },
)
PUBLISHED_RATINGS = TableSchema(
    name="published_ratings",
    columns={"judge": "name", "language": "language", "system": "name"},
    key=("judge", "language", "system"),
)
"""Beside these the file has ``rating`` or ``win_rate``; see ``arena.data.systems``."""
FURTHER = TableSchema(name="further", columns={"query_id": "name", "language": "language"})
"""Further tables by question, which the core keeps and does not read."""
