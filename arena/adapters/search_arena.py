"""Battles of LMArena's search arena: conversations with systems that search the web."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from arena.adapters.collected import Collected, ForeignArena, Place, Record, conversation
from arena.adapters.files import checked_language
from arena.adapters.record_values import messages_of, opened_value
from arena.data.cells import passages_of
from arena.data.languages import UNDETERMINED, language_code
from arena.data.schema import OWN_PASSAGES, whole_digits

MESSAGES = ("messages_a", "messages_b")
"""Columns that only the search arena has."""

_SIDES = ("model_a", "model_b")
_METADATA = ("system_a_metadata", "system_b_metadata")
_IDS = ("query_id", "question_id", "id")
_JUDGE = "crowd"
_CONTEXTS = (
    *("retrieved_context", "retrieved_contexts", "context", "contexts", "search_results"),
    *("web_search_results", "documents", "web_search_trace"),
)
_TEXTS = ("text", "content", "snippet", "passage", "page_content")
_READ = (*_SIDES, "winner", *MESSAGES, *_METADATA, *_IDS, "languages", "language", "judge")


def read_search_battles(
    paths: Sequence[Path | str],
    *,
    name: str = "search-arena",
    judge: str | None = None,
    language: str | None = None,
) -> ForeignArena:
    """Read battles with ``messages_a``, ``messages_b``, ``model_a``, ``model_b`` and ``winner``.

    The last question and the replies to it are compared; the turns before are their history. What
    was retrieved for the last question is the passages of an answer, where its text is there.

    Args:
        paths: Files of any row format, and folders of them.
        name: Name of the arena.
        judge: Name to give the judge of all battles; without it, people vote as ``crowd``.
        language: Code of all battles; without it the first of ``languages`` counts.

    Raises:
        UsageError: If a file is absent or of unknown format, or a code is no language code.
        DataError: With every problem of all files.
    """
    checked_language(language)
    read = Collected(names={"system_a": _SIDES[0], "system_b": _SIDES[1]})
    number = 0
    for _, rows in read.files(paths):
        if read.lack_columns(rows, (*_SIDES, "winner", *MESSAGES)):
            continue
        read.skip_columns(rows, _READ)
        for place, record in read.raw(rows):
            number += 1
            named = next((record[each] for each in _IDS if record.get(each) is not None), None)
            query_id = f"battle-{number}" if named is None else whole_digits(named) or str(named)
            code = language or _language_of(read, place, record)
            _add_battle(read, place, (code, query_id), record, judge or _JUDGE)
    read.decide_winners()
    names = {row[side] for row in read.judgments for side in ("system_a", "system_b")}
    systems = sorted(each for each in names if isinstance(each, str) and each.strip())
    return read.foreign(name, "", note="Battles of the search arena.", systems=systems)


def _language_of(read: Collected, place: Place, record: Record) -> str:
    """Return the code of the first language that a battle names."""
    given = opened_value(record.get("languages", record.get("language")))
    names = given if isinstance(given, list) else [given]
    codes = [language_code(each) for each in names if isinstance(each, str)]
    if len(codes) > 1:
        read.skip(place.source, "language", "a battle has several: the first of them counts")
    if not codes or codes[0] is None:
        read.skip(place.source, "language", f"{names[:1]} is not known: read as und")
        return UNDETERMINED
    return codes[0]


def _add_battle(
    read: Collected, place: Place, key: tuple[str, str], record: Record, judge: str
) -> None:
    winner, sides = record.get("winner"), [record.get(side) for side in _SIDES]
    if winner is None:
        read.skip(place.source, "judgment", "it has no winner")
        return
    read_sides = [conversation(messages_of(record[column])) for column in MESSAGES]
    question = next((asked for _, asked, _ in read_sides if asked), "")
    if not question:
        hint = "write a list of {role, content}"
        read.fault(place, MESSAGES[0], record[MESSAGES[0]], "holds no question", hint)
        return
    read.question(place, key, question, [], may_repeat=True)
    for system, column, (history, _, reply) in zip(sides, _METADATA, read_sides, strict=True):
        if not isinstance(system, str) or not reply:
            read.skip(place.source, "answer", "it has no text")
            continue
        read.answer_after(place, key, system, history, reply)
        row = read.answers.get((*key, system))
        passages = list(_passages(read, place, opened_value(record.get(column))))
        if row is not None and passages:
            row.setdefault(OWN_PASSAGES, passages)
    read.judgment(place, key, (sides[0], sides[1]), winner, judge)


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
