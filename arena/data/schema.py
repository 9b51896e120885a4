"""The tables of an arena: their columns, what a row must hold, and how rows must agree."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from numbers import Integral, Real
from typing import Annotated, Any, Literal

import pandas as pd
import pandera.pandas as pa
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)
from pydantic_core import PydanticCustomError

from arena.data.errors import HALF_SURROGATE, HALF_SURROGATE_HINT, Problem, told_problems
from arena.data.files import parsed_json
from arena.data.languages import LANGUAGE_CODE
from arena.data.rows import Rows
from arena.data.wording import did_you_mean

Text = Annotated[str, StringConstraints(min_length=1)]
LanguageCode = Annotated[str, StringConstraints(pattern=f"^{LANGUAGE_CODE}$")]


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    repeated = sorted(name for name, count in Counter(names).items() if count > 1)
    if repeated:
        listed = ", ".join(map(repr, repeated))
        raise PydanticCustomError("repeated", "names {names} several times", {"names": listed})
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
    error: ValidationError, source: str, line: int | None, hint: Callable[[str], str]
) -> list[Problem]:
    """Tell what pydantic found wrong with a record as problems.

    Args:
        error: What it found.
        source: File the record is in.
        line: Line of the record, or None for the whole file.
        hint: Says for a place in the record (``passages.0.text``) how to fix it.
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


HINT = " -> "
WINNERS = ("a", "b", "tie")
QUESTION_KEY = ["language", "query_id"]
ANSWER_KEY = ["language", "query_id", "system"]

_SURROGATE = re.compile("[\ud800-\udfff]")
_LANGUAGE_CODE = re.compile(LANGUAGE_CODE)
_REPLACEMENT = "\ufffd"
_MISSING_HINTS = {"winner": "leave failed judgments out"}
_PASSAGES = TypeAdapter(list[Passage])
_JSON_LIST = re.compile(r"\s*\[\s*[\"{\]]")


def _is_text(values: pd.Series) -> pd.Series:
    return values.map(lambda value: isinstance(value, str))


def _is_filled(values: pd.Series) -> pd.Series:
    return values.map(lambda value: not isinstance(value, str) or bool(value.strip()))


def _is_language(values: pd.Series) -> pd.Series:
    return values.map(
        lambda value: not isinstance(value, str) or bool(_LANGUAGE_CODE.fullmatch(value))
    )


def passages_fault(passages: object) -> str | None:
    """Say what is wrong with the passages of one query.

    Args:
        passages: Value of the ``passages`` field.

    Returns:
        The first fault, or None if the passages are sound.
    """
    try:
        records = _PASSAGES.validate_python(passages)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return f"passages.{place}: {first['msg']}" if place else str(first["msg"])
    seen: set[str] = set()
    for record in records:
        if record.passage_id in seen:
            return f"passage_id {record.passage_id!r} stands twice"
        seen.add(record.passage_id)
    return None


def passages_of(value: object) -> list[dict[str, Any]]:
    """Read the passages of a cell.

    Args:
        value: None; a text, which is one passage, or a list as JSON text; or a list of texts or
            of objects with a ``text``.

    Returns:
        An arena's passages; those without an id are numbered from 1.

    Raises:
        ValueError: If it is something else.
    """
    if isinstance(value, str) and _JSON_LIST.match(value):
        try:
            value = parsed_json(value)
        except ValueError as error:
            raise ValueError(f"is no JSON list ({error})") from error
    if value is None or value == "":
        return []
    items = value if isinstance(value, list) else [value]
    return [_passage(item, number) for number, item in enumerate(items, start=1)]


def _passage(item: object, number: int) -> dict[str, Any]:
    if isinstance(item, str):
        item = {"text": item}
    if not isinstance(item, dict) or not isinstance(item.get("text"), str):
        raise ValueError(f"has no text in passage {number}")
    known = {"passage_id": str(number), "title": None, "relevance": None}
    return known | {name: value for name, value in item.items() if value is not None}


def _has_sound_passages(values: pd.Series) -> pd.Series:
    return values.map(lambda passages: passages_fault(passages) is None)


def _check(function: Callable[[pd.Series], pd.Series], fault: str, hint: str) -> pa.Check:
    return pa.Check(function, error=f"{fault}{HINT}{hint}")


_TEXT = _check(_is_text, "is not a string", "write it as a JSON string")
_FILLED = _check(_is_filled, "is empty", "give it a value")
_LANGUAGE = _check(
    _is_language, "is not a language code", "use an ISO 639-1 code such as 'en' or 'zh'"
)
_WINNER = pa.Check.isin(
    WINNERS,
    error=f"is not a winner{HINT}write 'a', 'b' or 'tie', and leave failed judgments out",
)
_RELEVANCE = pa.Check.isin(
    (0, 1), error=f"is not a relevance{HINT}write 1, 0, or nothing where it was not judged"
)
_SOUND_PASSAGES = _check(
    _has_sound_passages,
    "is not a list of passages",
    "write [{passage_id, text, title|null, relevance: 1|0|null}, ...] with distinct ids",
)


def _key_column() -> pa.Column:
    return pa.Column(object, [_TEXT, _FILLED])


_LANGUAGE_COLUMN = pa.Column(object, [_TEXT, _LANGUAGE])

QUERIES = pa.DataFrameSchema(
    {
        "query_id": _key_column(),
        "language": _LANGUAGE_COLUMN,
        "query": pa.Column(object, [_TEXT, _FILLED]),
        "passages": pa.Column(object, [_SOUND_PASSAGES]),
    },
    name="queries",
)
FOR_ALL_ROWS = ("language", "judge")
"""What whoever gives tables in memory may state once."""

REFERENCE = "reference"
"""Column of questions, if it is there: an answer to compare with, which takes no part itself."""

PASSAGES = pa.DataFrameSchema(
    {
        "query_id": _key_column(),
        "language": _LANGUAGE_COLUMN,
        "passage_id": _key_column(),
        "text": pa.Column(object, [_TEXT]),
        "title": pa.Column(object, [_TEXT], nullable=True),
        "relevance": pa.Column(object, [_RELEVANCE], nullable=True),
    },
    name="passages",
)
ANSWERS = pa.DataFrameSchema(
    {
        "query_id": _key_column(),
        "language": _LANGUAGE_COLUMN,
        "system": _key_column(),
        "answer": pa.Column(object, [_TEXT]),
    },
    name="answers",
)
SOFT = "soft"
"""Column of judgments that is true where the probabilities of verdicts count, not the likeliest."""
SOFT_COLUMNS = (SOFT, "probability_a", "probability_b")
PANEL, CALIBRATED = "panel(", "calibrated:"
"""How the names of judges begin who say what others said: panels, and judges calibrated."""
CHOSEN = "chosen"
"""Column of judgments, if it is there: how a pair came to be judged."""
ADAPTIVE = "adaptive"
"""Chosen by the verdicts on others; what rates such judgments must not take them for a sample."""

JUDGMENTS = pa.DataFrameSchema(
    {
        "query_id": _key_column(),
        "language": _LANGUAGE_COLUMN,
        "system_a": _key_column(),
        "system_b": _key_column(),
        "winner": pa.Column(object, [_WINNER]),
        "judge": _key_column(),
    },
    name="judgments",
)


def is_derived(judge: str) -> bool:
    """Tell whether a judge's verdicts are made of those of others: no witness beside them."""
    return judge.startswith((PANEL, CALIBRATED))


def check_table(rows: Rows, schema: pa.DataFrameSchema) -> list[Problem]:
    """Check every row of a table.

    Args:
        rows: Rows as read, columns of type object.
        schema: One of ``QUERIES``, ``ANSWERS``, ``JUDGMENTS``.

    Returns:
        All problems in line order, one a field; missing columns alone if there are any.
    """
    table = rows.table
    absent = [column for column in schema.columns if column not in table.columns]
    if absent:
        return [
            Problem(
                rows.source,
                None,
                column,
                None,
                "this column is missing",
                _column_hint(rows, column, schema),
            )
            for column in absent
        ]
    unstorable = _unstorable_problems(rows)
    damaged = {(problem.line, problem.field) for problem in unstorable}
    sound = table[list(schema.columns)].astype(object)
    if unstorable:
        sound = sound.map(_storable).astype(object)
    try:
        schema.validate(sound, lazy=True)
    except pa.errors.SchemaErrors as error:
        found = _problems(error.failure_cases, sound, rows)
        others = [problem for problem in found if (problem.line, problem.field) not in damaged]
        return sorted([*unstorable, *others], key=lambda problem: problem.line or 0)
    return unstorable


def _column_hint(rows: Rows, column: str, schema: pa.DataFrameSchema) -> str:
    names = list(map(str, rows.table.columns))
    others = [name for name in names if name not in schema.columns]
    listed = others[0] if len(others) == 1 else f"one of {', '.join(others)}"
    renamed = f", or rename {listed}" if others else ""
    if not rows.is_frame:
        return f"add it to every row{renamed}"
    argument = f" or give {column}=..." if column in FOR_ALL_ROWS else ""
    return f"add it{argument}{renamed}"


def _storable(value: object) -> object:
    return _REPLACEMENT if is_unstorable(value) else value


def finite_number(value: object) -> float | None:
    """Return the number that a cell holds, as such or in digits; None for anything else.

    No numbers are truth values, words such as ``nan`` and ``inf``, and what no float can hold.
    """
    if isinstance(value, bool) or not isinstance(value, Real | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def whole_digits(value: object) -> str | None:
    """Write a whole number as an id; None for anything else.

    1.0 is 1: pandas makes floats of whole numbers where one of a column is missing.
    """
    if isinstance(value, Integral) and not isinstance(value, bool):
        return str(value)
    return str(int(value)) if isinstance(value, float) and value.is_integer() else None


def is_unstorable(value: object) -> bool:
    """Say whether a value holds half a surrogate pair, at any depth."""
    if isinstance(value, str):
        return _SURROGATE.search(value) is not None
    if isinstance(value, dict):
        return any(is_unstorable(part) for pair in value.items() for part in pair)
    return isinstance(value, list) and any(is_unstorable(part) for part in value)


def _unstorable_problems(rows: Rows) -> list[Problem]:
    table = rows.table
    found = [
        (row, str(column), value)
        for column in table.columns
        for row, value in table.loc[table[column].map(is_unstorable).astype(bool), column].items()
    ]
    return told_problems(
        found, lambda item: rows.problem(*item, HALF_SURROGATE, HALF_SURROGATE_HINT)
    )


def _problems(cases: pd.DataFrame, table: pd.DataFrame, rows: Rows) -> list[Problem]:
    first_of_field = cases.drop_duplicates(["index", "column"]).sort_values("index", kind="stable")
    found = list(first_of_field[["check", "column", "index"]].itertuples(index=False, name=None))

    def tell(item: tuple[str, str, object]) -> Problem:
        check, column, row = item
        return _problem(check, column, table.loc[row, column], rows, row)

    return told_problems(found, tell)


def _problem(check: str, column: str, value: object, rows: Rows, row: object) -> Problem:
    if check == "not_nullable":
        hint = _MISSING_HINTS.get(column, "give it a value")
        return rows.problem(row, column, None, "is missing", hint)
    fault, _, hint = check.partition(HINT)
    if column == "passages":
        fault = passages_fault(value) or fault
    return rows.problem(row, column, value, fault, hint)


INFO_FILE = "arena.json"


def duplicates(rows: Rows, key: Sequence[str], noun: str) -> list[Problem]:
    """List the rows whose key stands on an earlier line."""
    repeated = rows.table.duplicated(list(key))
    if not repeated.any():
        return []
    labels = rows.table.index.to_series()
    first = labels.groupby([rows.table[column] for column in key]).first()

    def tell(item: _Identity) -> Problem:
        row, identity = item
        fault = f"this {noun} already stands {rows.place(row, first.loc[identity])}"
        return rows.problem(row, "+".join(key), identity, fault, "keep one of the two")

    return told_problems(_identities(rows.table[repeated], key), tell)


_Identity = tuple[object, tuple[str, ...]]


def _identities(table: pd.DataFrame, key: Sequence[str]) -> list[_Identity]:
    names = table[list(key)].itertuples(index=False, name=None)
    return list(zip(table.index, names, strict=True))


def undeclared(rows: Rows, field: str, declared: Sequence[str], key: str) -> list[Problem]:
    """List the values of a field that ``arena.json``, or a frame's caller, does not declare."""
    where, how = f" of {INFO_FILE}", f"add it to {key} there or correct the name"
    if rows.is_frame:
        where, how = "", f"correct the name, or name all of them with {key}=[...]"
    unknown = rows.table[~rows.table[field].isin(declared)]

    @cache
    def hint(value: str) -> str:
        return "; ".join(filter(None, [how, did_you_mean(value, declared)]))

    def tell(item: tuple[object, str]) -> Problem:
        row, value = item
        return rows.problem(row, field, value, f"is not among the {key}{where}", hint(value))

    return told_problems(list(unknown[field].items()), tell)


def unknown_questions(rows: Rows, queries: Rows, noun: str) -> list[Problem]:
    """List the rows about questions that the query table does not hold."""
    known = pd.MultiIndex.from_frame(queries.table[QUESTION_KEY].astype(object))
    asked = pd.MultiIndex.from_frame(rows.table[QUESTION_KEY].astype(object))
    fault = f"this {noun} is to a question that is not in {queries.source}"
    hint = f"add the question there or leave the {noun} out"

    def tell(item: _Identity) -> Problem:
        row, identity = item
        return rows.problem(row, "+".join(QUESTION_KEY), identity, fault, hint)

    return told_problems(_identities(rows.table[~asked.isin(known)], QUESTION_KEY), tell)


def self_judgments(judgments: Rows) -> list[Problem]:
    """List the judgments of a system against itself."""
    table = judgments.table
    same = table[table["system_a"] == table["system_b"]]
    fault, hint = "is judged against itself", "remove this judgment"
    return told_problems(
        list(same["system_b"].items()),
        lambda item: judgments.problem(item[0], "system_b", item[1], fault, hint),
    )


def reference_text_problems(queries: Rows) -> list[Problem]:
    """List the reference answers of questions that are no text; a question may have none."""
    if REFERENCE not in queries.table:
        return []
    given = queries.table[REFERENCE].dropna()
    wrong = given[[not isinstance(value, str) for value in given]]
    return told_problems(
        list(wrong.items()),
        lambda item: queries.problem(
            item[0], REFERENCE, item[1], "is not text", "write an answer, or leave it empty"
        ),
    )


def reference_problems(info: ArenaInfo, is_frame: bool = False) -> list[Problem]:
    """Check that the reference system is one of the systems, in ``arena.json`` or an argument."""
    name = info.reference_system
    if name is None or name in info.systems:
        return []
    if is_frame:
        fault, hint = "is not among the systems", "name one of the systems, or None"
        return [Problem("from_frames", None, "reference_system", name, fault, hint)]
    fault = f"is not among the systems of {INFO_FILE}"
    hint = "name one of the systems or write null"
    return [Problem(INFO_FILE, None, "reference_system", name, fault, hint)]
