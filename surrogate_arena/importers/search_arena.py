"""Battles of LMArena's search arena: conversations with systems that search the web.

The last question and the replies to it are compared; the turns before are their history. The
passages of an answer are those that were retrieved for the last question, where the file has their
texts. The language is the first of ``languages``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from arena.data.rows import Rows
from arena.data.schema import OWN_PASSAGES
from arena.data.types import Record
from surrogate_arena.importers.battle_rows import Battle
from surrogate_arena.importers.collected import Collected, Place
from surrogate_arena.importers.conversations import last_exchange
from surrogate_arena.importers.judged_turns import CONVERSATIONS
from surrogate_arena.importers.passages import passages_of
from surrogate_arena.importers.record_values import (
    messages_of,
    opened_list,
    opened_record,
    opened_value,
)

SEARCH_ARENA = "search-arena"
MESSAGES = ("messages_a", "messages_b")
"""Columns that only the search arena has."""

_METADATA = ("system_a_metadata", "system_b_metadata")


def is_of_search_arena(rows: Rows) -> bool:
    """Return whether a file has the search arena's columns."""
    return set(MESSAGES) <= set(rows.table)


def metadata_by_line(rows: Rows) -> dict[int, tuple[object, ...]]:
    """Return the metadata of both systems of each row, by its line."""
    if not set(_METADATA) <= set(rows.table):
        return {}
    pairs = rows.table[list(_METADATA)].itertuples(index=False, name=None)
    return dict(zip(map(int, rows.lines), pairs, strict=True))


def with_conversations(collected: Collected, rows: Rows) -> Rows:
    """Return rows with the columns of other battles."""
    # Other battles name the turn that was judged, the search arena counts rounds.
    unlike_others = [name for name in (*_METADATA, "languages", "turn") if name in rows.table]
    table = rows.table.drop(columns=[*MESSAGES, *unlike_others])
    for messages, conversation in zip(MESSAGES, CONVERSATIONS, strict=True):
        table[conversation] = [messages_of(cell) for cell in rows.table[messages]]
    if "languages" in rows.table:
        cells = rows.table["languages"]
        table["language"] = [_first_language(collected, rows, cell) for cell in cells]
    return replace(rows, table=table.astype(object))


def _first_language(collected: Collected, rows: Rows, cell: object) -> object:
    languages = opened_value(cell)
    if not isinstance(languages, list):
        return languages
    if len(languages) > 1:
        collected.skip(rows.source, "language", "a battle has several: the first of them counts")
    return languages[0] if languages else None


def add_search_answers(collected: Collected, battle: Battle, metadata: Sequence[object]) -> None:
    """Add the question and the answers of a battle, with the passages that were retrieved."""
    place = battle.place
    key = battle.key
    exchanges = [last_exchange(cell) for cell in battle.cells]
    question = next((exchange.question for exchange in exchanges if exchange.question), "")
    if not question:
        collected.fault(
            place,
            MESSAGES[0],
            list(battle.cells),
            "holds no question",
            hint="write a list of {role, content}",
        )
        return
    collected.question(place, key, question, [], may_repeat=True)
    for side, exchange in enumerate(exchanges):
        system = battle.sides[side]
        if not exchange.reply:
            collected.skip(place, "answer", "it has no text")
            continue
        collected.answer_after(place, key, system, exchange.history, exchange.reply)
        passages: list[Record] = []
        if metadata:
            passages += _passages(collected, place, metadata[side])
        answer = collected.answers.get((*key, system))
        # An answer is left out if the turns before it are no conversation.
        if answer is not None and passages:
            answer.setdefault(OWN_PASSAGES, passages)


_CONTEXTS = (
    "retrieved_context",
    "retrieved_contexts",
    "context",
    "contexts",
    "search_results",
    "web_search_results",
    "documents",
    "web_search_trace",
)


def _passages(collected: Collected, place: Place, metadata: object) -> Iterator[Record]:
    """Yield the passages retrieved for the last question that have a text."""
    record = opened_record(metadata)
    contexts = (opened_value(record.get(name)) for name in _CONTEXTS)
    retrieved: Any = next(filter(None, contexts), None)
    if isinstance(retrieved, str):
        yield {"passage_id": "1", "text": retrieved, "title": None, "relevance": None}
        return
    items = opened_list(retrieved)
    if items and all(isinstance(element, list) and not _is_reference(element) for element in items):
        items = items[-1]  # a list for each turn
    n_addresses = 0
    for number, element in enumerate(items, start=1):
        if _is_reference(element) or not _has_text(element):
            n_addresses += 1
            continue
        for passage in passages_of([element]):
            # Passages without an id are numbered by their place in the whole list.
            if passage["passage_id"] == "1":
                passage["passage_id"] = str(number)
            yield passage
    if n_addresses:
        collected.skip(place, "passage", "only its address is in the file", n_addresses)


def _is_reference(element: object) -> bool:
    """Return whether an element is a mark and an address, such as ``["[1]", "https://..."]``."""
    return (
        isinstance(element, list)
        and len(element) == 2
        and all(isinstance(part, str) for part in element)
    )


_TEXTS = ("text", "content", "snippet", "passage", "page_content")


def _has_text(element: object) -> bool:
    if isinstance(element, str):
        return bool(element.strip()) and not element.startswith(("http://", "https://"))
    return isinstance(element, Mapping) and any(
        isinstance(element.get(name), str) for name in _TEXTS
    )
