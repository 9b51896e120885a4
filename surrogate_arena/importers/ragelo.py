"""RAGElo's separate tables (queries, answers, documents, games), joined by the id of the query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from arena.data.errors import UsageError
from arena.data.rows import Rows
from arena.data.schema import OWN_PASSAGES
from arena.data.types import Record
from surrogate_arena.importers.collected import (
    PART,
    Collected,
    Key,
    Place,
    PlacedRecord,
    question_id,
)
from surrogate_arena.importers.foreign_arena import ForeignArena, foreign_arena
from surrogate_arena.importers.languages import languages_by_id
from surrogate_arena.importers.values import id_text, name_text
from surrogate_arena.importers.verdict_values import NO_VERDICT, verdict_of_word

JUDGE = "ragelo"

_IDS = ("qid", "query_id")
_DOCUMENTS = ("document", "document_text", "text", "passage")
_GAME = ("agent_a", "agent_b")
_HINT = (
    "give queries.csv (qid, query), answers.csv (qid, agent, answer) and, if there are any, "
    "documents.csv (qid, did, document) and pairwise_answers_evaluations.csv (qid, agent_a, "
    "agent_b, answer)"
)
_IN_QUERIES = "add it to the queries"


def read_ragelo(
    paths: Sequence[Path | str],
    *,
    judge: str = JUDGE,
    language: str | None = None,
    name: str = "ragelo",
    reference_system: str | None = None,
) -> ForeignArena:
    """Read RAGElo's tables, each known by its columns.

    Spaces at the edges of ids, names and texts are left out: RAGElo's own files have them in some
    tables and not in others.

    Args:
        paths: The files, or the folder that holds them.
        judge: Name of the judge of all games.
        language: Code of all questions; by default each is detected.
        name: Name of the arena.
        reference_system: System whose answers serve as reference.

    Raises:
        UsageError: For an absent file, or where queries and answers or games are not there.
        DataError: With every problem of all files.
    """
    collected = Collected(names={"query_id": "qid", "system": "agent", "query": "query"})
    records: dict[str, list[PlacedRecord]] = {
        "queries": [],
        "answers": [],
        "documents": [],
        "games": [],
    }
    for _, rows in collected.files(paths):
        table = _table_of(rows)
        if table is None:
            listed = ", ".join(map(str, rows.table)) or "none"
            collected.skip(
                rows.source, "file", f"its columns are of no table of RAGElo's: {listed}"
            )
            continue
        for place, record in collected.raw(rows):
            records[table].append((place, _stripped(record)))
    if not collected.problems and not (records["answers"] or records["games"]):
        raise UsageError(f"there are no answers and no games of RAGElo's in these files; {_HINT}")
    tables = _RageloTables(collected, _IN_QUERIES if records["queries"] else _HINT)
    queries = [*records["queries"], *(row for row in records["answers"] if row[1].get("query"))]
    tables.add_queries(queries, language)
    tables.read_documents(records["documents"])
    tables.add_answers(records["answers"])
    tables.add_games(records["games"], judge)
    return foreign_arena(
        collected,
        name,
        reference=reference_system,
        note="Tables of RAGElo, joined by the id of the query.",
        with_judged=True,
    )


def _table_of(rows: Rows) -> str | None:
    columns = {str(column).strip() for column in rows.table}
    if columns >= set(_GAME):
        return "games"
    if "raw_answer" in columns:  # an LLM's opinion of single answers or documents
        return None
    if {"agent", "answer"} <= columns:
        return "answers"
    if columns & set(_DOCUMENTS) and columns & set(_IDS):
        return "documents"
    if "query" in columns:
        return "queries"
    return None


def _stripped(record: Record) -> Record:
    stripped = {}
    for name, value in record.items():
        stripped[name.strip()] = value.strip() if isinstance(value, str) else value
    return stripped


def _id_of(record: Mapping[str, Any], names: Sequence[str]) -> str | None:
    for name in names:
        value = record.get(name)
        if value not in (None, ""):
            return id_text(value)
    return None


class _RageloTables:
    """Adds the rows of RAGElo's tables to what is collected.

    Attributes:
        hint: What to do about a row of another question.
        keys: Questions by what other tables call them: their id, or their text.
        passages: Passages by question, and by agent where they were retrieved for one.
    """

    def __init__(self, collected: Collected, hint: str) -> None:
        self.collected = collected
        self.hint = hint
        self.keys: dict[str, Key] = {}
        self.passages: dict[tuple[Key, str | None], list[Record]] = {}

    def add_queries(self, records: Sequence[PlacedRecord], language: str | None) -> None:
        """Add the questions that rows name."""
        placed: list[tuple[Place, str, str]] = []
        for place, record in records:
            text = record.get("query")
            if not isinstance(text, str) or not text:
                self.collected.fault(place, "query", text, "is missing", "give it a text")
                continue
            placed.append((place, _id_of(record, _IDS) or question_id(text), text))
        texts = {query_id: text for _, query_id, text in reversed(placed)}
        languages, note = languages_by_id(texts, language)
        if note:
            self.collected.notes.append(note)
        for place, query_id, text in placed:
            key = (languages[query_id], query_id)
            question = self.collected.question(place, key, text, [], may_repeat=True)
            if question["query"] != text:
                self.collected.fault(
                    place,
                    "query",
                    text,
                    fault="differs from that of the same query before",
                    hint="give each query one text",
                )
            self.keys[query_id] = key
            # Some tables of RAGElo name a query by its text.
            self.keys.setdefault(text, key)

    def _key_of(self, place: Place, record: Record, hint: str) -> Key | None:
        query_id = _id_of(record, (*_IDS, "query"))
        if query_id is not None and query_id in self.keys:
            return self.keys[query_id]
        self.collected.fault(place, "query_id", query_id, "is no query of these files", hint)
        return None

    def read_documents(self, records: Sequence[PlacedRecord]) -> None:
        """Read what was retrieved for a query, or for one of its agents."""
        for place, record in records:
            self.collected.became(place, PART)
            key = self._key_of(place, record, self.hint)
            if key is None:
                continue
            text = next((record[name] for name in _DOCUMENTS if record.get(name)), None)
            if not isinstance(text, str):
                self.collected.skip(place, "passage", "it has no text")
                continue
            agent = record.get("agent") or None
            passages = self.passages.setdefault((key, agent), [])
            document_id = _id_of(record, ("did", "doc_id", "document_id"))
            passage = {
                "passage_id": document_id or str(len(passages) + 1),
                "text": text,
                "title": record.get("title"),
                "relevance": None,
            }
            # A document that several retrievers return is one passage.
            if passage["passage_id"] not in [earlier["passage_id"] for earlier in passages]:
                passages.append(passage)

    def add_answers(self, records: Sequence[PlacedRecord]) -> None:
        """Add the answers, and the passages of all questions."""
        for place, record in records:
            key = self._key_of(place, record, self.hint)
            if key is None:
                continue
            agent = name_text(record.get("agent") or "")
            if not isinstance(agent, str):
                self.collected.fault(place, "system", agent, "is no name", "write it as a text")
                continue
            answer = self.collected.answer(place, key, agent, record.get("answer") or "")
            answer.setdefault(OWN_PASSAGES, self.passages.get((key, agent)))
        for key in self.keys.values():
            self.collected.queries[key]["passages"] = self.passages.get((key, None), [])

    def add_games(self, records: Sequence[PlacedRecord], judge: str) -> None:
        """Add the judgments; every file has its own column of winners."""
        by_source: dict[str, list[PlacedRecord]] = {}
        for placed in records:
            by_source.setdefault(placed[0].source, []).append(placed)
        for rows in by_source.values():
            column = _winner_column([record for _, record in rows])
            if column is None:
                for place, _ in rows:
                    self.collected.skip(place, "judgment", "no column holds winners (A, B or C)")
                continue
            for place, record in rows:
                key = self._key_of(place, record, _IN_QUERIES)
                if key is not None:
                    verdict = verdict_of_word(record.get(column) or None) or NO_VERDICT
                    self.collected.judgment(place, key, _sides(record), verdict, judge)


def _sides(record: Record) -> tuple[Any, Any]:
    agent_a, agent_b = _GAME
    return record.get(agent_a), record.get(agent_b)


def _winner_column(records: Sequence[Record]) -> str | None:
    """Return the column of winners: the first whose values are all winners.

    Its name differs by the version of RAGElo; other columns hold reasons.
    """
    for column in ("winner", "answer", "relevance", "relevant"):
        values = [record.get(column) or None for record in records]
        is_filled = any(value is not None for value in values)
        if is_filled and all(verdict_of_word(value) is not None for value in values):
            return column
    return None
