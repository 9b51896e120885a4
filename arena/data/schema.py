"""The tables of an arena: their columns, what a row must hold, and how rows must agree."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from numbers import Integral, Real
from typing import Annotated, Any, Literal

import pandas as pd
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    field_validator,
)
from pydantic_core import PydanticCustomError

from arena.data.errors import HALF_SURROGATE, HALF_SURROGATE_HINT, Problem, counted_problems
from arena.data.languages import is_language_code, language_hint
from arena.data.rows import Rows
from arena.data.wording import did_you_mean, repeated

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
UNKNOWN_JUDGE = "unknown"
"""Name of the judge where a file does not say who judged."""
PANEL = "panel("
"""How the names of judges begin who say what others said."""
CRITERION = "criterion"
"""Column of judgments, if it is there: what they were made by; a judge's second name."""
CHOSEN = "chosen"
"""Column of judgments, if it is there: how a pair came to be judged."""
ADAPTIVE = "adaptive"
"""Chosen by the verdicts on others; what rates such judgments must not take them for a sample."""

_TRUE = frozenset({"true", "1", "1.0"})
_DECIMAL_COMMA = re.compile(r"[-+]?(?:0?,[0-9]+|[0-9]+,(?:[0-9]{1,2}|[0-9]{4,}))")
_SURROGATE = re.compile("[\ud800-\udfff]")
_PASSAGES_HINT = (
    "write [{passage_id, text, title|null, relevance: 1|0|null}, ...] with distinct ids"
)
_HISTORY_HINT = (
    "write the turns before the question, [{role: user|assistant, content}, ...], which alternate "
    "and end with the assistant's: the user's last turn is the question itself"
)
_NO_WINNER = ("is not a winner", "write 'a', 'b' or 'tie', and leave failed judgments out")

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
Fault = tuple[str, str]
"""What is wrong with a value, and what to do about it."""
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
_PASSAGES = TypeAdapter(list[Passage])


def validation_problems(
    error: ValidationError, source: str, line: int | None, hint: Callable[[str], str]
) -> list[Problem]:
    """Tell what pydantic found wrong with a record as problems of its file and line.

    ``hint`` says for a place in the record (``passages.0.text``) how to fix it.
    """
    problems = []
    for item in error.errors():
        place = ".".join(str(part) for part in item["loc"])
        value, fault, advice = item["input"], item["msg"], hint(place)
        if item["type"] == "missing":
            value, fault = None, "is missing"
        elif item["type"] == "string_unicode":
            fault, advice = HALF_SURROGATE, HALF_SURROGATE_HINT
        problems.append(Problem(source, line, place or None, value, fault, advice))
    return problems


def passages_fault(passages: object) -> str | None:
    """Say what is wrong with the passages of one query first, or None if they are sound."""
    try:
        records = _PASSAGES.validate_python(passages)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return f"passages.{place}: {first['msg']}" if place else str(first["msg"])
    counts = Counter(record.passage_id for record in records)
    twice = next((name for name, count in counts.items() if count > 1), None)
    return None if twice is None else f"passage_id {twice!r} appears twice"


def history_fault(turns: object) -> str | None:
    """Say what is wrong first with the turns before a question, or None if they are sound."""
    if not isinstance(turns, list):
        return "is not a list of turns"
    before = None
    for number, turn in enumerate(turns):
        told = turn if isinstance(turn, dict) else {}
        role, content = told.get("role"), told.get("content")
        if role not in ROLES:
            return f"history.{number}.role: {role!r} is neither of {', '.join(ROLES)}"
        if not isinstance(content, str) or not content.strip():
            return f"history.{number}.content: there is no text"
        if role == before:
            return f"history.{number}.role: two turns of the {role} follow each other"
        before = role
    return "ends with the user's turn, before the question" if before == "user" else None


def is_derived(judge: str) -> bool:
    """Tell whether a judge's verdicts are made of those of others: no witness beside them."""
    return judge.startswith(PANEL)


def named_by_criterion(judgments: pd.DataFrame) -> pd.DataFrame:
    """Let the names of judges end in the criterion they judged by, where one is stated."""
    if CRITERION not in judgments:
        return judgments
    pairs = zip(judgments["judge"], judgments[CRITERION], strict=True)
    names = [
        judge if _is_missing(by) or judge.endswith(f":{by}") else f"{judge}:{by}"
        for judge, by in pairs
    ]
    return judgments.assign(judge=pd.Series(names, judgments.index, judgments["judge"].dtype))


def check_table(rows: Rows, schema: TableSchema) -> list[Problem]:
    """Return the problems of all rows in line order; missing columns alone if there are any."""
    table = rows.table
    absent = [column for column in schema.columns if column not in table.columns]
    if absent:
        missing = "this column is missing"
        return [
            Problem(rows.source, None, column, None, missing, _column_hint(rows, column, schema))
            for column in absent
        ]
    found = [
        (place, str(column), None if _is_missing(value) else value, fault)
        for column in table.columns
        for place, value in _suspects(table[column], str(column), schema)
        if (fault := _fault(value, str(column), schema)) is not None
    ]
    found.sort(key=lambda item: item[0])
    return counted_problems(
        found, lambda item: rows.problem(table.index[item[0]], item[1], item[2], *item[3])
    )


def _suspects(values: pd.Series, column: str, schema: TableSchema) -> Iterable[tuple[int, object]]:
    """Return the values to look at one by one: none where each of the distinct ones is sound."""
    try:
        distinct = set(values)
    except TypeError:  # lists have no hash
        return enumerate(values)
    is_sound = all(_fault(value, column, schema) is None for value in distinct)
    return () if is_sound else enumerate(values)


def _fault(value: object, column: str, schema: TableSchema) -> Fault | None:
    """Say what is wrong with a value, and what to do about it."""
    kind = schema.columns.get(column)
    if _is_missing(value):
        hint = "leave failed judgments out" if kind == "winner" else "give it a value"
        return ("is missing", hint) if kind else None
    kind = kind or schema.optional.get(column)
    if is_unstorable(value):
        return HALF_SURROGATE, HALF_SURROGATE_HINT
    if kind == "winner":
        return None if value in WINNERS else _NO_WINNER
    if kind == "weight":
        weight = finite_number(value)
        is_sound = weight is not None and weight > 0
        return None if is_sound else ("is not a weight", "write a finite number above 0")
    if kind == "passages":
        wrong = passages_fault(value)
        return None if wrong is None else (wrong, _PASSAGES_HINT)
    if kind == "history":
        wrong = history_fault(value)
        return None if wrong is None else (wrong, _HISTORY_HINT)
    if kind is not None and not isinstance(value, str):
        return "is not a string", "write it as a JSON string"
    if kind == "name" and not str(value).strip():
        return "is empty", "give it a value"
    if kind == "language" and not is_language_code(str(value)):
        return "is not a language code", language_hint(value)
    return None


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _column_hint(rows: Rows, column: str, schema: TableSchema) -> str:
    others = [str(name) for name in rows.table.columns if name not in schema.columns]
    listed = others[0] if len(others) == 1 else f"one of {', '.join(others)}"
    renamed = f", or rename {listed}" if others else ""
    if not rows.is_frame:
        return f"add it to every row{renamed}"
    argument = f" or give {column}=..." if column in FOR_ALL_ROWS else ""
    return f"add it{argument}{renamed}"


def is_true(values: pd.Series) -> pd.Series:
    """Tell where a column of truth values, or of texts for them, is true."""
    return values.map(lambda value: str(value).lower() in _TRUE).astype(bool)


def finite_number(value: object) -> float | None:
    """Return the finite number that a cell holds, as such or in digits; None for anything else.

    A decimal comma is read as such, but not one before three digits, which may separate thousands.
    """
    if isinstance(value, bool) or not isinstance(value, Real | str):
        return None
    if isinstance(value, str) and has_decimal_comma(value):
        value = value.replace(",", ".")
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def has_decimal_comma(text: str) -> bool:
    """Tell whether a text is a number with a comma that can only stand before decimals."""
    return _DECIMAL_COMMA.fullmatch(text.strip()) is not None


def whole_digits(value: object) -> str | None:
    """Write a whole number (1.0 is 1, as pandas may make it) as an id; None for anything else."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        return str(value)
    return str(int(value)) if isinstance(value, float) and value.is_integer() else None


def is_unstorable(value: object) -> bool:
    """Say whether a value holds half a surrogate pair, at any depth."""
    if isinstance(value, str):
        return not value.isascii() and _SURROGATE.search(value) is not None
    if isinstance(value, dict):
        return any(is_unstorable(part) for pair in value.items() for part in pair)
    return isinstance(value, list) and any(is_unstorable(part) for part in value)


def storable(value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return a value with U+FFFD for each half of a surrogate pair, at any depth."""
    if isinstance(value, str):
        whole = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return whole if is_unstorable(value) else value
    if isinstance(value, Mapping):
        return {storable(name): storable(inner) for name, inner in value.items()}
    return [storable(inner) for inner in value] if isinstance(value, list) else value


def duplicates(rows: Rows, key: Sequence[str], noun: str) -> list[Problem]:
    """List the rows whose key stands on an earlier line."""
    repeated = rows.table.duplicated(list(key))
    if not repeated.any():
        return []
    labels = rows.table.index.to_series()
    first = labels.groupby([rows.table[column] for column in key]).first()

    def fault(row: object, identity: Any) -> Fault:  # noqa: ANN401 - values of the key
        place = rows.place(row, first.loc[identity])
        return f"this {noun} is already {place}", "keep one of the two"

    return rows.problems_of(repeated, key, fault)


def undeclared(rows: Rows, field: str, declared: Sequence[str], key: str) -> list[Problem]:
    """List the values of a field that ``arena.json``, or a frame's caller, does not declare."""
    where, how = f" of {INFO_FILE}", f"add it to {key} there or correct the name"
    if rows.is_frame:
        where, how = "", f"correct the name, or name all of them with {key}=[...]"

    @cache
    def hint(value: str) -> str:
        return "; ".join(filter(None, [how, did_you_mean(value, declared)]))

    return rows.problems_of(
        ~rows.table[field].isin(declared),
        [field],
        lambda _, value: (f"is not among the {key}{where}", hint(value)),
    )


def unknown_questions(rows: Rows, queries: Rows, noun: str) -> list[Problem]:
    """List the rows about questions that the query table does not hold."""
    known = pd.MultiIndex.from_frame(queries.table[QUESTION_KEY].astype(object))
    asked = pd.MultiIndex.from_frame(rows.table[QUESTION_KEY].astype(object))
    fault = f"this {noun} is to a question that is not in {queries.source}"
    hint = f"add the question there or leave the {noun} out"
    return rows.problems_of(~asked.isin(known), QUESTION_KEY, (fault, hint))


def self_judgments(judgments: Rows) -> list[Problem]:
    """List the judgments of a system against itself."""
    same = judgments.table["system_a"] == judgments.table["system_b"]
    fault = ("is judged against itself", "remove this judgment")
    return judgments.problems_of(same, ["system_b"], fault)
