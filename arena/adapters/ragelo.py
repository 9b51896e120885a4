"""RAGElo's separate tables (queries, answers, documents, games), joined by the id of the query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from arena.adapters.collected import Collected, ForeignArena, Key, Place, Record, question_id
from arena.adapters.files import checked_language
from arena.data.cells import whole_digits
from arena.data.errors import UsageError
from arena.data.languages import UNDETERMINED
from arena.data.rows import Rows
from arena.data.schema import OWN_PASSAGES
from arena.data.winners import NoWinner, read_winners

JUDGE = "ragelo"

_IDS = ("qid", "query_id")
_DOCUMENT_IDS = ("did", "doc_id", "document_id")
_DOCUMENTS = ("document", "document_text", "text", "passage")
_GAME = ("agent_a", "agent_b")
_WINNERS = ("winner", "answer", "relevance", "relevant")
"""Columns where the winner of a game may stand, by the version of RAGElo; others hold reasons."""
_LETTERS = ("a", "b", "c", "tie")
_HINT = (
    "give queries.csv (qid, query), answers.csv (qid, agent, answer) and, if there are any, "
    "documents.csv (qid, did, document) and pairwise_answers_evaluations.csv (qid, agent_a, "
    "agent_b, answer)"
)

_Row = tuple[Place, Record]


def read_ragelo(
    paths: Sequence[Path | str],
    *,
    judge: str = JUDGE,
    language: str = UNDETERMINED,
    name: str = "ragelo",
    reference_system: str | None = None,
) -> ForeignArena:
    """Read RAGElo's tables, each known by its columns.

    Spaces at the edges of ids, names and texts are left out: RAGElo's own files have them in some
    tables and not in others.

    Args:
        paths: The files, or the folder that holds them.
        judge: Name of the judge of all games.
        language: Code of all questions.
        name: Name of the arena.
        reference_system: System whose answers serve as reference.

    Raises:
        UsageError: For an absent file, or where queries and answers or games are not there.
        DataError: With every problem of all files.
    """
    checked_language(language)
    read = Collected(names={"query_id": "qid", "system": "agent", "query": "query"})
    tables: dict[str, list[_Row]] = {"queries": [], "answers": [], "documents": [], "games": []}
    for _, rows in read.files(paths):
        table = _table_of(rows)
        if table is None:
            listed = ", ".join(map(str, rows.table)) or "none"
            read.skip(rows.source, "file", f"its columns are of no table of RAGElo's: {listed}")
            continue
        tables[table] += [(place, _stripped(record)) for place, record in read.raw(rows)]
    if not read.problems and not (tables["answers"] or tables["games"]):
        raise UsageError(f"there are no answers and no games of RAGElo's in these files; {_HINT}")
    keys = _add_queries(read, tables, language)
    _add_answers(read, tables, keys)
    _add_games(read, tables["games"], keys, judge)
    names = {it["system"] for it in read.answers.values()}
    names |= {it[side] for it in read.judgments for side in ("system_a", "system_b")}
    return read.foreign(
        name,
        None,
        reference_system,
        "Tables of RAGElo, joined by the id of the query.",
        systems=sorted(name for name in names if isinstance(name, str) and name),
    )


def _table_of(rows: Rows) -> str | None:
    columns = {str(column).strip() for column in rows.table}
    if columns >= set(_GAME):
        return "games"
    if "raw_answer" in columns:  # what an LLM said of single answers or documents
        return None
    if {"agent", "answer"} <= columns:
        return "answers"
    if columns & set(_DOCUMENTS) and columns & set(_IDS):
        return "documents"
    if "query" in columns:
        return "queries"
    return None


def _stripped(record: Record) -> Record:
    return {
        str(name).strip(): value.strip() if isinstance(value, str) else value
        for name, value in record.items()
    }


def _id_of(record: Mapping[str, Any], names: Sequence[str]) -> str | None:
    for name in names:
        value = record.get(name)
        if value not in (None, ""):
            return whole_digits(value) or str(value)
    return None


def _add_queries(
    read: Collected, tables: Mapping[str, Sequence[_Row]], language: str
) -> dict[str, Key]:
    """Add the questions; return their keys by what other tables call them: their id, or text."""
    keys: dict[str, Key] = {}
    asked = [*tables["queries"], *(row for row in tables["answers"] if row[1].get("query"))]
    for place, record in asked:
        text = record.get("query")
        if not isinstance(text, str) or not text:
            read.fault(place, "query", text, "is missing", "give it a text")
            continue
        query_id = _id_of(record, _IDS) or question_id(text)
        key = (language, query_id)
        row = read.question(place, key, text, [], may_repeat=True)
        if row["query"] != text:
            fault = "differs from that of the same query before"
            read.fault(place, "query", text, fault, "give each query one text")
        keys[query_id] = key
        keys.setdefault(text, key)
    return keys


def _known(
    read: Collected, place: Place, record: Record, keys: Mapping[str, Key], has_queries: bool
) -> Key | None:
    query_id = _id_of(record, _IDS) or _id_of(record, ("query",))
    if query_id is not None and query_id in keys:
        return keys[query_id]
    hint = "add it to the queries" if has_queries else _HINT
    read.fault(place, "query_id", query_id, "is no query of these files", hint)
    return None


def _add_answers(
    read: Collected, tables: Mapping[str, Sequence[_Row]], keys: Mapping[str, Key]
) -> None:
    """Add the answers, and what was retrieved for a query, or for its agents."""
    has_queries = bool(tables["queries"])
    passages: dict[tuple[Key, str | None], list[Record]] = {}
    for place, record in tables["documents"]:
        key = _known(read, place, record, keys, has_queries)
        text = next((record[name] for name in _DOCUMENTS if record.get(name)), None)
        if key is None:
            continue
        if not isinstance(text, str):
            read.skip(place.source, "passage", "it has no text")
            continue
        agent = record.get("agent") or None
        found = passages.setdefault((key, agent), [])
        number = _id_of(record, _DOCUMENT_IDS) or str(len(found) + 1)
        if number not in [passage["passage_id"] for passage in found]:
            passage = {"passage_id": number, "text": text, "title": record.get("title")}
            found.append(passage | {"relevance": None})
    for place, record in tables["answers"]:
        key = _known(read, place, record, keys, has_queries)
        if key is None:
            continue
        row = read.answer(place, key, record.get("agent") or "", record.get("answer") or "")
        row.setdefault(OWN_PASSAGES, passages.get((key, record.get("agent") or "")))
    for key in keys.values():
        read.queries[key]["passages"] = passages.get((key, None), [])


def _add_games(read: Collected, games: Sequence[_Row], keys: Mapping[str, Key], judge: str) -> None:
    by_source: dict[str, list[_Row]] = {}
    for place, record in games:
        by_source.setdefault(place.source, []).append((place, record))
    for source, rows in by_source.items():
        column = _winner_column([record for _, record in rows])
        if column is None:
            read.skip(source, "judgment", "no column holds winners (A, B or C)", len(rows))
            continue
        for place, record, key in _games_of_known(read, rows, keys):
            sides = tuple(record.get(side) for side in _GAME)
            winner = record.get(column) or None
            read.judgment(place, key, (sides[0], sides[1]), winner, judge)
    read.decide_winners()


def _games_of_known(
    read: Collected, rows: Sequence[_Row], keys: Mapping[str, Key]
) -> Iterator[tuple[Place, Record, Key]]:
    for place, record in rows:
        key = _known(read, place, record, keys, has_queries=True)
        if key is not None:
            yield place, record, key


def _winner_column(records: Sequence[Record]) -> str | None:
    """Return the column of winners: the first whose values are all winners."""
    for column in _WINNERS:
        values = [record.get(column) or None for record in records]
        sides = [(record.get(_GAME[0]), record.get(_GAME[1])) for record in records]
        if not any(value is not None for value in values):
            continue
        try:
            found = read_winners(values, sides, field=column)
        except ValueError:
            continue
        faults = [each for each in found if isinstance(each, NoWinner) and each.is_fault]
        if not faults:
            return column
    return None
