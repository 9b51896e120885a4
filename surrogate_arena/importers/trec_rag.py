"""Runs of TREC's tracks on RAG: sentences that cite references, joined to topics and texts.

Grades of documents (qrels) become the relevance of passages, measures by topic (leaderboards)
scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from arena.data.rows import whole_digits
from arena.data.types import Record
from surrogate_arena.importers.collected import PART, Collected, Place, PlacedRecord
from surrogate_arena.importers.contract import FILE, value_at
from surrogate_arena.importers.values import id_text, mark_of

_TOPIC_ID = (
    "topic_id || request_id || narrative_id"
    " || (metadata.[topic_id, request_id, narrative_id] | [?@] | [0])"
    " || query.qid || qid || query_id || id"
)
_TOPIC = (
    "problem_statement && join('. ', [title, problem_statement][?@]) || topic || narrative"
    " || metadata.narrative || metadata.topic || query.text || query || title || text"
)
_RUN = "run_id || metadata.run_id || run_tag || metadata.run_tag"
_ALL_TOPICS = "all"
"""Topic of the means over topics in a leaderboard."""
_DROPPED = ("background", "narrative_background")
"""Fields of a topic that are not part of the question."""


def joined_runs(records: Iterable[PlacedRecord], collected: Collected) -> Iterator[PlacedRecord]:
    """Yield answers as one text each, in which ``[n]`` cites the n-th of its references.

    References are counted from 1; their texts, if any, are passages with these numbers as ids.
    """
    answers: list[PlacedRecord] = []
    topics: dict[str, str] = {}
    documents: dict[str, Record] = {}
    labels = _Labels()
    for place, record in records:
        for document in _documents_of(record):
            documents.setdefault(document["id"], document)
        if _sentences_of(record) is not None:
            answers.append((place, record))
            continue
        topic_id = value_at(record, _TOPIC_ID)
        topic = value_at(record, _TOPIC)
        if topic_id is None:
            continue
        if labels.add(place, _id(topic_id), record):
            collected.became(place, PART)
        elif isinstance(topic, str):
            topics.setdefault(_id(topic_id), topic)
            collected.became(place, PART)
            for name in _DROPPED:
                if record.get(name):
                    collected.skip(place, "field of a topic", f"{name!r} is not read")
    # A topic, a segment or a label may follow the runs that name it.
    for place, record in answers:
        answer = _with_text(place, record, collected)
        topic_id = answer["query_id"]
        passages = _passages_of(place, answer.pop("references"), documents, collected)
        answer["passages"] = labels.graded(topic_id, passages)
        answer["scores"] = labels.scores(topic_id, record)
        answer["question"] = value_at(record, _TOPIC)
        if answer["question"] is None and topic_id is not None:
            answer["question"] = topics.get(topic_id)
        yield place, {**record, **answer}
    for place, noun, reason in labels.unused():
        collected.skip(place, noun, reason)


@dataclass
class _Labels:
    """Grades of documents and measures of runs, by topic."""

    grades: dict[tuple[str, str], tuple[Place, float]] = field(default_factory=dict)
    measures: dict[tuple[str, str], dict[str, tuple[Place, object]]] = field(default_factory=dict)
    used: set[Place] = field(default_factory=set)

    def add(self, place: Place, topic_id: str, record: Record) -> bool:
        """Keep what a record says of a document or a run; return whether it does."""
        grade = mark_of(record.get("grade"))
        if grade is not None:
            self.grades[topic_id, _id(value_at(record, _ID))] = (place, grade)
            return True
        if "measure" not in record or "value" not in record:
            return False
        if topic_id == _ALL_TOPICS:
            return True
        of_run = self.measures.setdefault((topic_id, _run_of(record)), {})
        of_run[str(record["measure"])] = (place, record["value"])
        return True

    def graded(self, topic_id: str | None, passages: list[Record] | None) -> list[Record] | None:
        """Mark passages as relevant if their grade is above 0."""
        for passage in passages or ():
            graded = self.grades.get((topic_id or "", passage["docid"]))
            if graded is not None:
                place, grade = graded
                passage["relevance"] = int(grade > 0)
                self.used.add(place)
        return passages

    def scores(self, topic_id: str | None, record: Record) -> Record:
        of_run = self.measures.get((topic_id or "", _run_of(record)), {})
        self.used.update(place for place, _ in of_run.values())
        return {measure: value for measure, (_, value) in of_run.items()}

    def unused(self) -> Iterator[tuple[Place, str, str]]:
        """Yield labels that no answer took, with noun and reason."""
        for place, _ in self.grades.values():
            if place not in self.used:
                yield place, "grade", "no answer to its topic has its document"
        for of_run in self.measures.values():
            for place, _ in of_run.values():
                if place not in self.used:
                    yield place, "measure", "its run has no answer to its topic"


def _run_of(record: Record) -> str:
    return _id(value_at(record, _RUN) or record[FILE])


def _with_text(place: Place, record: Record, collected: Collected) -> Record:
    references = [_reference_id(element) for element in _listed(record.get("references"))]
    sentences = []
    for sentence in _sentences_of(record) or ():
        text = sentence.get("text")
        if isinstance(text, str) and text.strip():
            numbers = _numbers(place, sentence.get("citations"), references, collected)
            marks = "".join(f"[{number}]" for number in numbers)
            sentences.append(f"{text.strip()} {marks}".strip())
    topic_id = value_at(record, _TOPIC_ID)
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
    name = value_at(document, _ID) or value_at(holder, _ID) or key
    text = value_at(holder, _TEXT)
    if name is not None and isinstance(text, str):
        yield {"id": _id(name), "text": text, "title": holder.get("title")}


def _reference_id(element: object) -> str:
    if isinstance(element, Mapping):
        return _id(value_at(element, _ID))
    return _id(element)


def _id(value: object) -> str:
    return id_text(value).strip()


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
