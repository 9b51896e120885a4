"""Passages in the forms that programs write: texts, records, lists of them, in any nesting."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from arena.data.cells import whole_digits
from arena.data.files import MOST_LEVELS
from arena.data.types import Record
from surrogate_arena.importers.cells import (
    content_text,
    decoded,
    is_missing_cell,
    looks_printed,
    opened_text,
    parsed_text,
    shows_table,
)
from surrogate_arena.importers.literals import haystack_documents

PASSAGE_TEXTS = (
    "text",
    "page_content",
    "pageContent",
    "content",
    "contents",
    "passage",
    "document",
    "passage_text",
    "chunk",
    "chunk_text",
    "snippet",
    "segment",
    "context",
    "body",
)
"""Fields that hold the text of a passage; the first with a value."""
PASSAGE_ID = "passage_id"
"""Id of a passage in an arena, which is kept even where others have none."""
PASSAGE_IDS = ("id", "id_", "_id", "document_id", "doc_id", "docid", "chunk_id", "node_id")
"""Fields that hold ids in stores; parts of one document may share an id."""
PASSAGE_HOLDERS = (
    "kwargs",
    "node",
    "document",
    "doc",
    "chunk",
    "text_resource",
    "payload",
    "entity",
    "_source",
    "properties",
    "metadata",
)
"""Fields that hold the record with the text, in records that only wrap one."""
PASSAGE_LISTS = (
    "retrieved_contexts",
    "retrieved_documents",
    "contexts",
    "documents",
    "passages",
    "source_nodes",
    "source_documents",
    "nodes",
    "docs",
    "chunks",
)
"""Fields that hold the list of passages, in records of a retrieval."""

PASSAGE_RESULTS = (
    "matches",
    "results",
    "points",
    "objects",
    "hits",
    "retrievalResults",
    "retrieval_results",
    "data",
)
"""Fields that hold the list of passages in replies of stores, in records without a text."""
PASSAGE_SENTENCES = "sentences"
"""Field that holds a passage as a list of its sentences."""
_ID = re.compile(r"(?=\S*\d)\S*\w")
"""The id of a passage: one word with a digit."""
_LONGEST_HEADING = 80


def passages_of(value: object) -> list[Record]:
    """Read the passages of a cell or field.

    Args:
        value: None, one passage, or several, possibly written as text (see ``decoded``). A passage
            is a text, a record with a text (one of ``PASSAGE_TEXTS``, or a list of its sentences),
            a row of a passage and its id or score, or a title with its sentences. Several passages
            are a list, a table by columns, or a record that holds either.

    Returns:
        Records with ``passage_id``, ``text``, ``title`` and ``relevance``; those with a ``text``
        keep their further fields. Missing values are left out. A passage without an id is
        numbered by its position, from 1; so are all of them where ids that are not called
        ``passage_id`` are incomplete or repeat (parts of one document).

    Raises:
        ValueError: If it is something else. The message is a clause that says what is wrong.
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    items = []
    numbers = []
    for number, raw in enumerate(_passage_items(value, MOST_LEVELS), start=1):
        if raw is not None:
            items.append(raw)
            numbers.append(number)
    records = [_passage(raw, number) for raw, number in zip(items, numbers, strict=True)]
    passages = []
    for passage_id, record in zip(_passage_ids(items, numbers), records, strict=True):
        passage: Record = {PASSAGE_ID: passage_id, "title": None, "relevance": None}
        passage.update(record)
        passages.append(passage)
    return passages


def _passage_items(value: object, levels: int, *, in_list: bool = False) -> Iterator[object]:
    """Yield each passage of a value: a text, a record, or None if one is missing."""
    if levels == 0:
        raise ValueError(f"is nested deeper than {MOST_LEVELS} levels")
    if is_missing_cell(value):
        # A cell without a value has no passages; a list may have a gap, which keeps its number.
        if levels < MOST_LEVELS:
            yield None
    elif isinstance(value, str):
        yield from _items_of_text(value, levels)
    elif isinstance(value, list | tuple):
        yield from _items_of_list(value, levels, in_list=in_list)
    elif isinstance(value, Mapping):
        inner = _list_of_passages(value)
        if inner is None:
            inner = _records_of_columns(value)
        if inner is None:
            yield value
        else:
            yield from _passage_items(inner, levels - 1)
    else:
        yield value


def _items_of_list(values: Sequence[object], levels: int, *, in_list: bool) -> Iterator[object]:
    row = _record_of_row(values) if in_list else None
    if row is not None:
        yield from _passage_items(row, levels - 1)
        return
    _check_pairs(values)
    for value in values:
        yield from _passage_items(value, levels - 1, in_list=True)


def _items_of_text(text: str, levels: int) -> Iterator[object]:
    stripped = text.strip()
    is_cell = levels == MOST_LEVELS
    documents = haystack_documents(stripped)
    if documents:
        yield from documents
        return
    if is_cell and shows_table(stripped):
        raise ValueError("is a table as pandas or polars shows it, which may cut its texts")
    opened = None
    try:
        opened = parsed_text(stripped, levels)
    except ValueError as error:
        if looks_printed(stripped, is_cell):
            raise ValueError(str(error)) from None
    if opened is None:
        if looks_printed(stripped, is_cell):
            raise ValueError("is no list of passages that can be read")
        yield text
    elif is_cell:
        yield from _passage_items(opened, levels)
    elif _holds_passages(opened):
        yield from _passage_items(opened, levels - 1)
    else:
        yield text  # a passage of JSON in a list of passages


def _holds_passages(opened: list[Any] | dict[str, Any]) -> bool:
    """Return whether a text in a list holds passages, rather than being a passage of JSON."""
    if isinstance(opened, dict):
        return _text_of_passage(opened) is not None or _list_of_passages(opened) is not None
    first = next((raw for raw in opened if not is_missing_cell(raw)), None)
    if isinstance(first, dict):
        return _holds_passages(first)
    return isinstance(first, str | list)


def _record_of_row(items: Sequence[object]) -> object:
    """Return the passage that a list in a list is a row of; None if it holds passages.

    Stores return a passage and its score; its id and the passage, and then its score; a title and
    the sentences.
    """
    if not items:
        return None
    last = items[-1]
    is_scored = isinstance(last, int | float) and not isinstance(last, bool)
    if is_scored and len(items) == 2 and isinstance(items[0], str | Mapping):
        return items[0]
    fields = items[:-1] if is_scored else items
    if len(fields) != 2:
        return None
    name, text = fields
    if not isinstance(name, str):
        return None
    if isinstance(text, list) and text and all(isinstance(sentence, str) for sentence in text):
        return {"title": name, PASSAGE_SENTENCES: text}
    is_id = is_scored or _ID.fullmatch(name.strip()) is not None
    if is_id and isinstance(text, str):
        return {"id": name, "text": text}
    return None


def _check_pairs(items: Sequence[object]) -> None:
    """Refuse pairs of texts of which the first may be a title, or a passage.

    Raises:
        ValueError: If all of several items are such pairs.
    """
    pairs = [raw for raw in items if isinstance(raw, list | tuple) and len(raw) == 2]
    if len(pairs) < 2 or len(pairs) < len(items):
        return
    if not all(isinstance(first, str) and isinstance(second, str) for first, second in pairs):
        return
    if any(_ID.fullmatch(first.strip()) for first, _ in pairs):
        return
    if all(_is_heading(first) and not _is_heading(second) for first, second in pairs):
        raise ValueError("holds pairs of texts, which may be a title and a passage, or passages")


def _is_heading(text: str) -> bool:
    return len(text) <= _LONGEST_HEADING and not text.strip().endswith((".", "!", "?", "。"))


def _list_of_passages(record: Mapping[str, Any]) -> list[Any] | None:
    """Return the list of passages that a record of a retrieval holds."""
    names: Sequence[str] = PASSAGE_LISTS
    # "results" or "data" of a passage with a text are its own fields, not passages.
    if _text_of_passage(record) is None and PASSAGE_SENTENCES not in record:
        names = PASSAGE_LISTS + PASSAGE_RESULTS
    for name in names:
        inner = record.get(name)
        if isinstance(inner, str):
            inner = opened_text(inner)
        if isinstance(inner, Mapping) and name in PASSAGE_RESULTS:  # hits in hits
            inner = inner.get(name)
        if isinstance(inner, list):
            return inner
    return None


def _records_of_columns(record: Mapping[str, Any]) -> list[Record] | None:
    """Return the rows of a table that was written as a list per column; None if it is none."""
    name = next((name for name in (*PASSAGE_TEXTS, PASSAGE_SENTENCES) if name in record), None)
    if name is None:
        return None
    column = record[name]
    kind = list if name == PASSAGE_SENTENCES else str
    if not isinstance(column, list) or not column:
        return None
    if not all(raw is None or isinstance(raw, kind) for raw in column):
        return None
    columns = {}
    for field, values in record.items():
        if isinstance(values, list) and len(values) == len(column):
            columns[field] = values
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _text_of_passage(record: Mapping[str, Any]) -> str | None:
    """Return the text of a passage: the first that is not blank, or else its sentences."""
    blank = None
    for name in PASSAGE_TEXTS:
        text = content_text(record.get(name))
        if text is None:
            continue
        if text.strip():
            return text
        if blank is None:
            blank = text
    sentences = record.get(PASSAGE_SENTENCES)
    if blank is not None or not isinstance(sentences, list) or not sentences:
        return blank
    if not all(isinstance(sentence, str) for sentence in sentences):
        return None
    return " ".join(sentence.strip() for sentence in sentences)


def _passage(raw: object, number: int) -> Record:
    """Return a passage's record: its own fields if the text is among them, else text and title."""
    if isinstance(raw, str):
        return {"text": raw}
    if not isinstance(raw, Mapping):
        raise ValueError(
            f"has no text in passage {number}, but a value of type {type(raw).__name__}"
        )
    records = list(_nested_records(raw))
    holder = next((record for record in records if _text_of_passage(record) is not None), None)
    if holder is None:
        raise ValueError(f"has no text in passage {number}")
    passage: Record = {}
    if holder is raw and "text" in raw:
        passage = {name: value for name, value in raw.items() if value is not None}
    passage["text"] = _text_of_passage(holder)
    passage.pop(PASSAGE_ID, None)
    if "title" not in passage:
        # The title nearest to the text wins, and a record's own goes before its metadata's.
        nearest = [holder, *(record for record in records if record is not holder)]
        title = _first_text([*nearest, *map(_metadata, nearest)], "title")
        if title is not None:
            passage["title"] = title
    return passage


def _nested_records(record: Mapping[str, Any], levels: int = 5) -> Iterator[Mapping[str, Any]]:
    """Yield a record and those that it holds under one of ``PASSAGE_HOLDERS``."""
    yield record
    if levels == 0:
        return
    for name in PASSAGE_HOLDERS:
        inner = record.get(name)
        if isinstance(inner, str):
            inner = opened_text(inner)
        if isinstance(inner, Mapping):
            yield from _nested_records(inner, levels - 1)


def _metadata(record: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = decoded(record.get("metadata"))
    return inner if isinstance(inner, Mapping) else {}


def _passage_ids(items: Sequence[object], numbers: Sequence[int]) -> list[str]:
    """Return an id for each passage: its own, or the number of its position."""
    arena_ids = []
    store_ids = []
    for raw in items:
        records = list(_nested_records(raw)) if isinstance(raw, Mapping) else []
        arena_ids.append(_first_id(records, [PASSAGE_ID]))
        store_ids.append(_first_id(records, PASSAGE_IDS))
    if any(passage_id is not None for passage_id in arena_ids):
        return [
            str(number) if passage_id is None else passage_id
            for number, passage_id in zip(numbers, arena_ids, strict=True)
        ]
    complete_ids = [passage_id for passage_id in store_ids if passage_id is not None]
    if len(set(complete_ids)) == len(items):
        return complete_ids
    return [str(number) for number in numbers]


def _first_id(records: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str | None:
    for record in records:
        for name in names:
            value = record.get(name)
            if isinstance(value, str):
                return value
            digits = whole_digits(value)
            if digits is not None:
                return digits
    return None


def _first_text(records: Sequence[Mapping[str, Any]], name: str) -> str | None:
    for record in records:
        text = record.get(name)
        if isinstance(text, str) and text.strip():
            return text
    return None
