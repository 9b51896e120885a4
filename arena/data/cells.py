"""What stands in a cell of a table or in a field of a record: values that were written as text.

Programs write lists and records into cells as JSON, or as Python, numpy and pandas print them;
often twice. Every table and every tool's export is read by the functions here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from arena.data.files import MOST_LEVELS, parsed_json
from arena.data.literals import parsed_literal
from arena.data.schema import finite_number, whole_digits

MISSING_WORDS = frozenset(
    {"", "none", "nan", "-nan", "null", "nat", "<na>", "n/a", "#n/a", "#n/a n/a", "na"}
)
"""What programs write where nothing is, in lower case."""
PASSAGE_TEXTS = (
    *("text", "page_content", "pageContent", "content", "passage", "document", "passage_text"),
    *("chunk", "chunk_text", "snippet", "segment", "context"),
)
"""Where the text of a passage stands, the first with a value."""
PASSAGE_ID = "passage_id"
"""An id that was given to passages for arenas, and is kept whatever the others are."""
PASSAGE_IDS = ("id", "id_", "_id", "document_id", "doc_id", "docid", "chunk_id", "node_id")
"""Where stores keep ids of passages, which parts of one document may share."""
PASSAGE_HOLDERS = (
    *("kwargs", "node", "document", "doc", "chunk", "text_resource", "payload", "entity"),
    *("_source", "metadata"),
)
"""What holds the record with the text, in records that only wrap one."""
PASSAGE_LISTS = (
    *("retrieved_contexts", "retrieved_documents", "contexts", "documents", "passages"),
    *("source_nodes", "source_documents", "nodes", "docs", "chunks"),
)
"""What holds the list of passages, in records of a retrieval."""

Passage = dict[str, Any]

_OPENS_VALUE = re.compile(r"""\s*(?:[\[{("']|[A-Za-z_][\w.]*\s*[(=])""")
_CONSTRUCTOR = re.compile(r"(?:[A-Za-z_]\w*\.)*(?:array|deque|set|frozenset|[A-Z]\w*)\(")
_FIELD_NAMES = r"(?:page_content|pageContent|metadata|id_?|text|node)"
_FIELD = re.compile(rf"{_FIELD_NAMES}\s*=\s*['\"\[{{]")
_LOOKS_PRINTED = re.compile(
    rf"""
      \[\s*(?:['"\[{{(\]<]|(?:None|null|nan|NaN)\b|(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*\()
    | \{{\s*['"}}]
    | \(\s*['"\[{{].*\)\Z
    | ['"]\s*[\[{{]\s*[\\'"{{\[\]}}]
    | (?:np\.|numpy\.)?array\(\s*[\[(]
    | (?:[A-Za-z_]\w*\.)*[A-Z]\w*\(\s*{_FIELD_NAMES}\s*[=:]
    | {_FIELD_NAMES}\s*=\s*['"{{]
    """,
    re.VERBOSE | re.DOTALL,
)
_ENCLOSED_LIST = re.compile(r"\[[^\[\]]*,[^\[\]]*\]|\{[^{}]*,[^{}]*\}", re.DOTALL)
_OBJECT_ADDRESS = re.compile(r"<[^<>]* at 0x[0-9A-Fa-f]+>")


def is_missing_cell(value: object) -> bool:
    """Tell whether nothing stands in a cell: None, nan, an empty text, or a word for it."""
    if isinstance(value, str):
        return value.strip().lower() in MISSING_WORDS
    return value is None or (isinstance(value, float) and value != value)


def name_text(value: object) -> object:
    """Write a number as the name or id it is: 4 and 4.0 are ``4``, 3.5 is ``3.5``.

    Returns:
        The text; whatever is no number as it is.
    """
    digits = whole_digits(value)
    if digits is not None:
        return digits
    number = None if isinstance(value, str) else finite_number(value)
    return value if number is None else str(number)


def decoded(value: object) -> object:
    """Open lists and records that were written as text, at any depth.

    Args:
        value: What stands in a cell or field.

    Returns:
        The value, with each text in it that is JSON (an object, an array, or either of them quoted
        again) or a printed list or record of Python, numpy or pandas replaced by what it holds. A
        text that is anything else stays the text it is.
    """
    return _decoded(value, MOST_LEVELS)


def _decoded(value: object, levels: int) -> object:
    if levels == 0:
        return value
    if isinstance(value, str):
        opened = opened_text(value)
        return value if opened is None else _decoded(opened, levels - 1)
    if isinstance(value, Mapping):
        return {name: _decoded(inner, levels - 1) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_decoded(inner, levels - 1) for inner in value]
    return value


def opened_text(text: str) -> list[Any] | dict[str, Any] | None:
    """Return the list or record that a text holds, or None if it holds none that can be read."""
    try:
        return _opened(text.strip(), levels=MOST_LEVELS)
    except ValueError:
        return None


def _opened(text: str, levels: int) -> list[Any] | dict[str, Any] | None:
    """Return the list or record that a text holds; None if it is no text of one.

    Raises:
        ValueError: If it begins as one, and cannot be read.
    """
    if levels == 0:
        raise ValueError(f"is nested deeper than {MOST_LEVELS} levels")
    if not _OPENS_VALUE.match(text):
        return None
    value: object = None
    if text[0] in '[{"':
        try:
            value = parsed_json(text)
        except ValueError:
            value = None
    if value is None:
        is_value = text[0] in "[{('\"" or _CONSTRUCTOR.match(text) or _FIELD.match(text)
        if not is_value:
            return None
        value = parsed_literal(text)
    if isinstance(value, str):  # quoted again
        return _opened(value.strip(), levels - 1)
    return value if isinstance(value, list | dict) else None


def passages_of(value: object) -> list[Passage]:
    """Read the passages of a cell or field.

    Args:
        value: Nothing; a text, which is one passage; a record with a text (one of
            ``PASSAGE_TEXTS``), or one that holds such a record or a list of passages; a list of
            these; or any of them written as text (see ``decoded``).

    Returns:
        Records with ``passage_id``, ``text``, ``title`` and ``relevance``; those with a ``text``
        keep their further fields. Missing values are left out. A passage without an id is
        numbered by its place, from 1; so are all of them where ids that are not called
        ``passage_id`` are incomplete or repeat (parts of one document).

    Raises:
        ValueError: If it is something else. The message is a clause that says what is wrong.
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    items = list(_passage_items(value, MOST_LEVELS))
    numbered = list(enumerate(items, start=1))
    read = [(number, item) for number, item in numbered if item is not None]
    passages = [_passage(item, number) for number, item in read]
    ids = _passage_ids(read)
    defaults = {"title": None, "relevance": None}
    return [
        {PASSAGE_ID: passage_id, **defaults, **passage}
        for passage_id, passage in zip(ids, passages, strict=True)
    ]


def _passage_items(value: object, levels: int) -> Iterator[object]:
    """Yield each passage of a value: a text, a record, or None where one is missing."""
    if levels == 0:
        raise ValueError(f"is nested deeper than {MOST_LEVELS} levels")
    if is_missing_cell(value):
        # A cell without a value has no passages; a list may have a gap, which keeps its number.
        if levels < MOST_LEVELS:
            yield None
    elif isinstance(value, str):
        yield from _items_of_text(value, levels)
    elif isinstance(value, list | tuple):
        items = list(value)
        if levels < MOST_LEVELS and _is_scored(items):
            items = items[:1]
        for item in items:
            yield from _passage_items(item, levels - 1)
    elif isinstance(value, Mapping):
        inner = _list_of_passages(value)
        if inner is None:
            yield value
        else:
            yield from _passage_items(inner, levels - 1)
    else:
        yield value


def _items_of_text(text: str, levels: int) -> Iterator[object]:
    stripped = text.strip()
    is_cell = levels == MOST_LEVELS
    try:
        opened = _opened(stripped, levels)
    except ValueError as error:
        if _looks_printed(stripped, is_cell):
            raise ValueError(str(error)) from None
        opened = None
    if opened is None:
        if _looks_printed(stripped, is_cell):
            raise ValueError("is no list of passages that can be read")
        yield text
    elif is_cell or _holds_passages(opened):
        yield from _passage_items(opened, levels - (0 if is_cell else 1))
    else:
        yield text  # a passage of JSON in a list of passages


def _looks_printed(text: str, is_cell: bool) -> bool:
    """Tell whether a text was meant as a list or record.

    In a list that was read, a text that only begins as one is a text.
    """
    if _OBJECT_ADDRESS.fullmatch(text):
        return True
    if _LOOKS_PRINTED.match(text):
        return is_cell or text[-1:] in "])}"
    return is_cell and _ENCLOSED_LIST.fullmatch(text) is not None


def _holds_passages(opened: list[Any] | dict[str, Any]) -> bool:
    """Tell whether what a text in a list holds are passages, rather than a passage of JSON."""
    if isinstance(opened, dict):
        return _text_of_passage(opened) is not None or _list_of_passages(opened) is not None
    first = next((item for item in opened if not is_missing_cell(item)), None)
    if isinstance(first, dict):
        return _holds_passages(first)
    return isinstance(first, str | list)


def _is_scored(items: list[Any]) -> bool:
    """Tell whether a pair is a passage and its score, as vector stores return them."""
    if len(items) != 2 or isinstance(items[1], bool) or not isinstance(items[1], int | float):
        return False
    return isinstance(items[0], str | Mapping)


def _list_of_passages(record: Mapping[str, Any]) -> list[Any] | None:
    for name in PASSAGE_LISTS:
        inner = record.get(name)
        if isinstance(inner, str):
            inner = opened_text(inner)
        if isinstance(inner, list):
            return inner
    return None


def _text_of_passage(record: Mapping[str, Any]) -> str | None:
    texts = [record[name] for name in PASSAGE_TEXTS if isinstance(record.get(name), str)]
    return next((text for text in texts if text.strip()), texts[0] if texts else None)


def _passage(item: object, number: int) -> Passage:
    if isinstance(item, str):
        return {"text": item}
    if not isinstance(item, Mapping):
        raise ValueError(
            f"has no text in passage {number}, but a value of type {type(item).__name__}"
        )
    records = list(_nested_records(item))
    texts = [(_text_of_passage(record), record) for record in records]
    text, holder = next((each for each in texts if each[0] is not None), (None, item))
    if text is None:
        raise ValueError(f"has no text in passage {number}")
    if holder is item and "text" in item:
        passage = {name: value for name, value in item.items() if value is not None}
        passage["text"] = text
    else:
        passage = {"text": text}
    nearest = [holder, *(record for record in records if record is not holder)]
    passage.pop(PASSAGE_ID, None)
    if "title" not in passage:
        title = _first_text([*nearest, *map(_metadata, nearest)], "title")
        if title is not None:
            passage["title"] = title
    return passage


def _nested_records(record: Mapping[str, Any], levels: int = 5) -> Iterator[Mapping[str, Any]]:
    """Yield a record and those that it holds under one of ``PASSAGE_HOLDERS``."""
    yield record
    for name in PASSAGE_HOLDERS if levels else ():
        inner = record.get(name)
        if isinstance(inner, str):
            inner = opened_text(inner)
        if isinstance(inner, Mapping):
            yield from _nested_records(inner, levels - 1)


def _metadata(record: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = decoded(record.get("metadata"))
    return inner if isinstance(inner, Mapping) else {}


def _passage_ids(numbered: list[tuple[int, object]]) -> list[Any]:
    """Return an id for each passage: its own, or the number of its place."""
    given = []
    stored = []
    for _, item in numbered:
        records = list(_nested_records(item)) if isinstance(item, Mapping) else []
        given.append(_first_id(records, [PASSAGE_ID]))
        stored.append(_first_id(records, PASSAGE_IDS))
    numbers = [str(number) for number, _ in numbered]
    if any(passage_id is not None for passage_id in given):
        return [
            number if passage_id is None else passage_id
            for number, passage_id in zip(numbers, given, strict=True)
        ]
    is_distinct = None not in stored and len(set(stored)) == len(stored)
    return stored if is_distinct else numbers


def _first_id(records: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str | None:
    for record in records:
        for name in names:
            given = record.get(name)
            if isinstance(given, str):
                return given
            digits = whole_digits(given)
            if digits is not None:
                return digits
    return None


def _first_text(records: list[Mapping[str, Any]], name: str) -> str | None:
    for record in records:
        text = record.get(name)
        if isinstance(text, str) and text.strip():
            return text
    return None
