"""Battles of LMArena's search arena: conversations with systems that search the web."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from arena.adapters.battle_rows import CONVERSATIONS, Battle, BattleOptions, battles_of
from arena.adapters.collected import Collected, ForeignArena, Place, Record, conversation
from arena.adapters.columns import NO_COLUMNS
from arena.adapters.files import checked_language
from arena.adapters.lmarena import add_judgment, foreign_of_battles
from arena.adapters.record_values import messages_of, opened_value
from arena.data.languages import UNDETERMINED
from arena.data.passages import passages_of
from arena.data.rows import Rows
from arena.data.schema import OWN_PASSAGES

MESSAGES = ("messages_a", "messages_b")
"""Columns that only the search arena has."""

_METADATA = ("system_a_metadata", "system_b_metadata")
_OWN = (*_METADATA, "languages", "turn")
"""Columns that are read here, or count rounds where other battles name the turn that was judged."""
_CONTEXTS = (
    *("retrieved_context", "retrieved_contexts", "context", "contexts", "search_results"),
    *("web_search_results", "documents", "web_search_trace"),
)
_TEXTS = ("text", "content", "snippet", "passage", "page_content")


def read_search_battles(
    paths: Sequence[Path | str],
    *,
    columns: Mapping[str, str] = NO_COLUMNS,
    name: str = "search-arena",
    judge: str | None = None,
    language: str = UNDETERMINED,
    drop_flagged: bool = False,
) -> ForeignArena:
    """Read battles with ``messages_a`` and ``messages_b``, and else as ``read_battles`` does.

    The last question and the replies to it are compared; the turns before are their history. What
    was retrieved for the last question is the passages of an answer, where its text is there. The
    language is the first of ``languages``.

    Args:
        paths: Files of any row format, and folders of them.
        columns: Field to the name of its column, where its own name is not known.
        name: Name of the arena.
        judge: Name to give the judge of all battles; without it the file's own counts.
        language: Code of battles that name no language.
        drop_flagged: Leave out votes that were not blind, and those flagged as duplicates.

    Raises:
        UsageError: If a file is absent or of unknown format, or a code is no language code.
        DataError: With every problem of all files.
    """
    checked_language(language)
    read = Collected()
    options = BattleOptions(columns, judge, language, drops_flagged=drop_flagged)
    number = 0
    for _, rows in read.files(paths):
        if read.lack_columns(rows, MESSAGES):
            continue
        metadata = _metadata_by_line(rows)
        for battle in battles_of(read, _as_battles(read, rows), options, number):
            if battle.is_sound:
                _add_answers(read, battle, metadata.get(battle.place.line, ()))
            add_judgment(read, battle)
        number += len(rows.table)
    return foreign_of_battles(read, name)


def _metadata_by_line(rows: Rows) -> dict[int, tuple[object, ...]]:
    """Return what each row says of both systems, by its line."""
    if not set(_METADATA) <= set(rows.table):
        return {}
    cells = zip(*(rows.table[column] for column in _METADATA), strict=True)
    return {int(line): both for line, both in zip(rows.lines, cells, strict=True)}


def _as_battles(read: Collected, rows: Rows) -> Rows:
    """Return rows with the columns of other battles."""
    table = rows.table
    renamed = table.drop(columns=[*MESSAGES, *(name for name in _OWN if name in table)])
    for messages, conversation_column in zip(MESSAGES, CONVERSATIONS, strict=True):
        renamed[conversation_column] = [messages_of(cell) for cell in table[messages]]
    if "languages" in table:
        renamed["language"] = [_first_language(read, rows, cell) for cell in table["languages"]]
    return replace(rows, table=renamed.astype(object))


def _first_language(read: Collected, rows: Rows, cell: object) -> object:
    """Return the first of several languages."""
    languages = opened_value(cell)
    if not isinstance(languages, list):
        return languages
    if len(languages) > 1:
        read.skip(rows.source, "language", "a battle has several: the first of them counts")
    return languages[0] if languages else None


def _add_answers(read: Collected, battle: Battle, metadata: Sequence[object]) -> None:
    """Add what was asked and answered in a battle, and what was retrieved."""
    place, key = battle.place, (battle.key[0], str(battle.key[1]))
    turns = [conversation(cell) for cell in battle.cells]
    question = next((asked for _, asked, _ in turns if asked), "")
    if not question:
        hint = "write a list of {role, content}"
        read.fault(place, MESSAGES[0], list(battle.cells), "holds no question", hint)
        return
    read.question(place, key, question, [], may_repeat=True)
    for side, (history, _, reply) in enumerate(turns):
        system = battle.sides[side]
        if not reply:
            read.skip(place.source, "answer", "it has no text")
            continue
        read.answer_after(place, key, system, history, reply)
        retrieved = opened_value(metadata[side]) if metadata else None
        passages = list(_passages(read, place, retrieved))
        row = read.answers.get((*key, system))
        if row is not None and passages:
            row.setdefault(OWN_PASSAGES, passages)


def _passages(read: Collected, place: Place, metadata: object) -> Iterator[Record]:
    """Yield what was retrieved for the last question, as far as its text is there."""
    if not isinstance(metadata, Mapping):
        return
    given: Any = None
    for name in _CONTEXTS:
        given = opened_value(metadata.get(name))
        if given:
            break
    if isinstance(given, str):
        yield {"passage_id": "1", "text": given, "title": None, "relevance": None}
        return
    items = given if isinstance(given, list) else []
    if items and all(isinstance(item, list) and not _is_reference(item) for item in items):
        items = items[-1]  # a list for each turn
    addresses = 0
    for number, item in enumerate(items, start=1):
        if _is_reference(item) or not _has_text(item):
            addresses += 1
            continue
        for passage in passages_of([item]):
            passage_id = str(number) if passage["passage_id"] == "1" else passage["passage_id"]
            yield passage | {"passage_id": passage_id}
    if addresses:
        read.skip(place.source, "passage", "only its address is in the file", addresses)


def _is_reference(item: object) -> bool:
    """Tell whether an item is a mark and an address, such as ``["[1]", "https://..."]``."""
    return isinstance(item, list) and len(item) == 2 and all(isinstance(it, str) for it in item)


def _has_text(item: object) -> bool:
    if isinstance(item, str):
        return bool(item.strip()) and not item.startswith(("http://", "https://"))
    return isinstance(item, Mapping) and any(isinstance(item.get(name), str) for name in _TEXTS)
