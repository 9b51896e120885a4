"""Runs of the TREC RAG track: answers as sentences that cite references, joined to texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from arena.data.errors import DataError, Problem
from arena.data.rows import whole_digits
from arena.data.types import Record
from surrogate_arena.importers.collected import PART, Collected, Place, PlacedRecord
from surrogate_arena.importers.opened import found
from surrogate_arena.importers.tables import text_of_file
from surrogate_arena.importers.values import id_text

_TOPIC_ID = (
    "topic_id || request_id || narrative_id"
    " || (metadata.[topic_id, request_id, narrative_id] | [?@] | [0])"
    " || query.qid || qid || query_id || id"
)
_TOPIC = (
    "problem_statement && join('. ', [title, problem_statement][?@]) || topic || narrative"
    " || metadata.narrative || metadata.topic || query.text || query || title || text"
)
_DROPPED = ("background", "narrative_background")
"""Fields of a topic that are not part of the question."""


def read_topics(path: Path, source: str) -> Iterator[tuple[int, Record]]:
    """Yield the topics of a table of the track: an id and a text a line, under a header or none."""
    with text_of_file(path, source) as stream:
        for number, line in enumerate(stream, start=1):
            topic_id, mark, text = line.rstrip("\r\n").partition("\t")
            if number == 1 and topic_id.strip().casefold() in ("id", "qid", "topic_id", "query_id"):
                continue
            if not mark and line.strip():
                fault = "is no topic: an id, a tab and a text"
                raise DataError([Problem(source, number, None, line, fault, "add the text")])
            if text.strip():
                yield number, {"topic_id": topic_id.strip(), "topic": text.strip()}


def joined_runs(records: Iterable[PlacedRecord], collected: Collected) -> Iterator[PlacedRecord]:
    """Yield answers as one text each, in which ``[n]`` cites the n-th of its references.

    The track counts references from 0, or cites them by id; ours are counted from 1, and their
    texts are passages with these numbers as ids, where the files have them.
    """
    answers: list[PlacedRecord] = []
    topics: dict[str, str] = {}
    documents: dict[str, Record] = {}
    for place, record in records:
        for document in _documents_of(record):
            documents.setdefault(document["id"], document)
        if _sentences_of(record) is not None:
            answers.append((place, record))
            continue
        topic_id = found(record, _TOPIC_ID)
        topic = found(record, _TOPIC)
        if topic_id is not None and isinstance(topic, str):
            topics.setdefault(_id(topic_id), topic)
            collected.became(place, PART)
            for name in _DROPPED:
                if record.get(name):
                    collected.skip(place, "field of a topic", f"{name!r} is not read")
    # A topic or a segment may follow the runs that name it.
    for place, record in answers:
        answer = _with_text(place, record, collected)
        topic_id = answer["query_id"]
        answer["passages"] = _passages_of(place, answer.pop("references"), documents, collected)
        answer["question"] = found(record, _TOPIC)
        if answer["question"] is None and topic_id is not None:
            answer["question"] = topics.get(topic_id)
        yield place, {**record, **answer}


def _with_text(place: Place, record: Record, collected: Collected) -> Record:
    references = [_reference_id(element) for element in _listed(record.get("references"))]
    sentences = []
    for sentence in _sentences_of(record) or ():
        text = sentence.get("text")
        if isinstance(text, str) and text.strip():
            numbers = _numbers(place, sentence.get("citations"), references, collected)
            marks = "".join(f"[{number}]" for number in numbers)
            sentences.append(f"{text.strip()} {marks}".strip())
    topic_id = found(record, _TOPIC_ID)
    if topic_id is not None:
        topic_id = _id(topic_id)
    return {
        "query_id": topic_id,
        "answer": " ".join(sentences),
        "references": references,
    }


def _passages_of(
    place: Place, references: list[str], documents: Mapping[str, Record], collected: Collected
) -> list[Record] | None:
    passages = []
    for number, reference in enumerate(references, start=1):
        document = documents.get(reference)
        if document is None:
            collected.skip(place, "passage", "the text of the reference is not in the files")
            continue
        passage = {
            "passage_id": str(number),
            "text": document["text"],
            "docid": reference,
            "title": document.get("title"),
        }
        passages.append(passage)
    return passages or None


_SENTENCES = ("answer", "responses", "response", "generated_answer")


def _sentences_of(record: Record) -> list[Mapping[str, Any]] | None:
    for name in _SENTENCES:
        inside = record.get(name)
        if isinstance(inside, str):
            return [{"text": inside}]
        if isinstance(inside, list):
            items = [
                {"text": element} if isinstance(element, str) else element for element in inside
            ]
            return [element for element in items if isinstance(element, Mapping)]
    return None


def _numbers(
    place: Place, citations: object, references: list[str], collected: Collected
) -> list[int]:
    if isinstance(citations, Mapping):  # id to how well it supports the sentence
        supports = {str(cited): _support(value) for cited, value in citations.items()}
        citations = sorted(supports, key=lambda cited: -supports[cited])
    numbers: list[int] = []
    for cited in _listed(citations):
        name = _reference_id(cited)
        index = _index(cited)
        # An id is sure; a number may be an index into the references.
        if name in references:
            number = references.index(name) + 1
        elif index is not None and 0 <= index < len(references):
            number = index + 1
        elif index is None and name:
            references.append(name)
            number = len(references)
        else:
            collected.skip(place, "citation", "no reference has its number")
            continue
        if number not in numbers:
            numbers.append(number)
    return numbers


def _support(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _index(value: object) -> int | None:
    digits = whole_digits(value)
    if digits is not None:
        return int(digits)
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 6 else None


_DOCUMENTS = ("candidates", "documents", "segments", "contexts", "references")


def _documents_of(record: Record) -> Iterator[Record]:
    if _sentences_of(record) is None:
        yield from _document(record, None)
    for name in _DOCUMENTS:
        value = record.get(name)
        for key, element in value.items() if isinstance(value, Mapping) else ():
            if isinstance(element, str):
                yield {"id": str(key), "text": element}
            else:
                yield from _document(element, str(key))
        for element in _listed(value):
            yield from _document(element, None)


_ID = "docid || doc_id || id || _id || segment_id"
_TEXT = "text || segment || contents || content || body || passage"


def _document(document: object, key: str | None) -> Iterator[Record]:
    if not isinstance(document, Mapping):
        return
    holder = document["doc"] if isinstance(document.get("doc"), Mapping) else document
    name = found(document, _ID) or found(holder, _ID) or key
    text = found(holder, _TEXT)
    if name is not None and isinstance(text, str):
        yield {"id": _id(name), "text": text, "title": holder.get("title")}


def _reference_id(element: object) -> str:
    if isinstance(element, Mapping):
        return _id(found(element, _ID))
    return _id(element)


def _id(value: object) -> str:
    return id_text(value).strip()


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
