"""Passages of a cell: a text, a list of texts, or a list of records with a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from arena.data.files import MOST_LEVELS
from arena.data.rows import whole_digits
from arena.data.types import Record
from arena.text.answers import cited_passages
from surrogate_arena.importers.contract import field_names
from surrogate_arena.importers.values import is_missing_cell, opened, opened_or_same

TEXTS = ("text", "page_content", "content", "passage", "document", "snippet", "chunk", "context")
"""Fields that hold the text of a passage; the first with a value."""
IDS = ("passage_id", "id", "doc_id", "document_id", "docid", "chunk_id")
"""Fields that hold the id of a passage; only distinct ids are kept."""
_HOLDERS = ("node", "document", "payload", "metadata", "kwargs")
"""Fields that hold the record with the text."""
HINT = "give a text, a list of texts, or a list of records with a text"


def passages_of(value: object, first_number: int = 1) -> list[Record]:
    """Read the passages of a cell or field.

    Returns:
        Records with ``passage_id``, ``text``, ``title``, ``relevance``, if known; ids are by
        default places, from ``first_number``.
    """
    numbered = _numbered_items(value, first_number)
    ids = _ids([item for _, item in numbered])
    passages: list[Record] = []
    for place, (number, item) in enumerate(numbered):
        relevance = item.get("relevance") if isinstance(item, Mapping) else None
        passages.append(
            {
                "passage_id": str(number) if ids is None else ids[place],
                "text": _text(item, number),
                "title": _field(item, ["title"]),
                "relevance": relevance if relevance in (0, 1) else None,
            }
        )
    return passages


def number_of_first(rows: Iterable[Record]) -> int:
    """Return the number by which answers cite the first of their passages without ids: 0 or 1.

    It is 0 if more answers cite a passage 0 than cite the number of their last passage.
    """
    answers = [(str(values.get("answer", "")), values.get("passages")) for values in rows]
    n_zero = n_last = 0
    if not any("[0" in text for text, _ in answers):
        return 1
    for text, cell in answers:
        try:
            items = _numbered_items(cell, first_number=0)
        except ValueError:
            continue
        if items and _ids([item for _, item in items]) is None:
            last = str(items[-1][0] + 1)
            cited = cited_passages(text, ["0", last]).matched
            n_zero += "0" in cited
            n_last += last in cited
    return 0 if n_zero > n_last else 1


def _numbered_items(value: object, first_number: int) -> list[tuple[int, object]]:
    items = enumerate(_items(opened(value), MOST_LEVELS), start=first_number)
    return [(number, item) for number, item in items if not is_missing_cell(item)]


def _items(value: object, levels: int) -> Iterator[object]:
    if levels == 0:
        raise ValueError(f"is nested deeper than {MOST_LEVELS} levels")
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        for item in value:
            yield from _items(item, levels - 1)
        return
    if isinstance(value, Mapping) and not any(isinstance(value.get(name), str) for name in TEXTS):
        for name in field_names("answers")["passages"]:
            inner = opened_or_same(value.get(name))
            if isinstance(inner, list):
                yield from _items(inner, levels - 1)
                return
    # A cell without a value has no passages; a list may have a gap, which keeps its number.
    if levels < MOST_LEVELS or not is_missing_cell(value):
        yield value


def _text(item: object, number: int) -> str:
    text = item if isinstance(item, str) else _field(item, TEXTS)
    if text is None:
        raise ValueError(f"has no text in passage {number}, a value of type {type(item).__name__}")
    return text


def _field(item: object, names: Sequence[str]) -> str | None:
    for record in _records(item):
        for name in names:
            text = record.get(name)
            if isinstance(text, str) and text.strip():
                return text
    return None


def _records(item: object) -> list[Mapping[str, object]]:
    if not isinstance(item, Mapping):
        return []
    held = [opened_or_same(item.get(name)) for name in _HOLDERS]
    return [item, *(record for record in held if isinstance(record, Mapping))]


def _ids(items: Sequence[object]) -> list[str] | None:
    ids = []
    for item in items:
        named = [item[name] for name in IDS if item.get(name)] if isinstance(item, Mapping) else []
        if not named:
            return None
        ids.append(whole_digits(named[0]) or str(named[0]))
    return ids if len(set(ids)) == len(ids) else None
