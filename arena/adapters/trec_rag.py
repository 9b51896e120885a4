"""Runs of the TREC RAG track: answers as sentences that cite references, joined to texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from arena.adapters.collected import Collected, Place, Record
from arena.adapters.record_values import at, opened_value
from arena.data.cells import whole_digits

_SENTENCES = ("answer", "responses", "response", "generated_answer")
_TEXTS = ("text", "segment", "contents", "content", "body", "passage")
_IDS = ("docid", "doc_id", "id", "_id", "segment_id")
_TOPIC_IDS = (
    *("topic_id", "metadata.narrative_id", "metadata.topic_id", "narrative_id", "query.qid", "qid"),
    *("query_id", "id"),
)
_TOPICS = (
    *("topic", "metadata.narrative", "metadata.topic", "narrative", "query.text", "query"),
    *("title", "text"),
)
_LISTS_OF_TEXTS = ("candidates", "documents", "segments", "contexts", "references")

Found = tuple[Place, Record]


def joined_runs(records: Iterable[Found], read: Collected) -> Iterator[Found]:
    """Yield answers as one text each, in which ``[n]`` cites the n-th of its references.

    The track counts references from 0, or cites them by id; ours are counted from 1, and their
    texts are passages with these numbers as ids, as far as the files have them.

    Args:
        records: Lines of runs; and, in the same or further files, topics (``id, title``),
            retrieved candidates, and segments (``docid, segment``).
        read: Counts citations and references without a text.
    """
    answers: list[Found] = []
    topics: dict[str, str] = {}
    texts: dict[str, Record] = {}
    for place, record in records:
        for document in _documents_of(record):
            texts.setdefault(document["id"], document)
        if _sentences_of(record) is not None:
            answers.append((place, record))
            continue
        topic_id, topic = _first(record, _TOPIC_IDS), _first(record, _TOPICS)
        if topic_id is not None and isinstance(topic, str):
            topics.setdefault(_id(topic_id), topic)
    for place, record in answers:
        yield place, _joined(place, record, topics, texts, read)


def _joined(
    place: Place,
    record: Record,
    topics: Mapping[str, str],
    texts: Mapping[str, Record],
    read: Collected,
) -> Record:
    references = [_reference_id(item) for item in _list_at(record, "references")]
    topic_id = _first(record, _TOPIC_IDS)
    sentences = []
    for sentence in _sentences_of(record) or ():
        text = sentence.get("text")
        if not isinstance(text, str) or not text.strip():
            continue
        numbers = _numbers(place, sentence.get("citations"), references, read)
        marks = "".join(f"[{number}]" for number in numbers)
        sentences.append(f"{text.strip()} {marks}".strip())
    passages = []
    for number, reference in enumerate(references, start=1):
        document = texts.get(reference)
        if document is None:
            read.skip(place.source, "passage", "the text of the reference is not in the files")
            continue
        passage = {"passage_id": str(number), "text": document["text"], "docid": reference}
        passages.append(passage | {"title": document.get("title")})
    joined: Record = {
        "query_id": None if topic_id is None else _id(topic_id),
        "answer": " ".join(sentences),
        "passages": passages or None,
    }
    topic = _first(record, _TOPICS)
    if topic is None and topic_id is not None:
        topic = topics.get(_id(topic_id))
    return {**record, **joined, "question": topic}


def _sentences_of(record: Record) -> list[Mapping[str, Any]] | None:
    for name in _SENTENCES:
        inside = opened_value(record.get(name))
        if isinstance(inside, str):
            return [{"text": inside}]
        if isinstance(inside, list):
            items = [{"text": item} if isinstance(item, str) else item for item in inside]
            return [item for item in items if isinstance(item, Mapping)]
    return None


def _numbers(place: Place, citations: object, references: list[str], read: Collected) -> list[int]:
    """Return the numbers, from 1, of what a sentence cites; new ids join the references."""
    inside = opened_value(citations)
    if isinstance(inside, Mapping):  # id to how well it supports the sentence
        inside = sorted(inside, key=lambda cited: -_support(inside[cited]))
    numbers: list[int] = []
    for cited in inside if isinstance(inside, list) else ():
        name = _reference_id(cited)
        index = _index(cited)
        if name in references:
            number = references.index(name) + 1
        elif index is not None and 0 <= index < len(references):
            number = index + 1
        elif index is None and name:
            references.append(name)
            number = len(references)
        else:
            read.skip(place.source, "citation", "no reference has its number")
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


def _documents_of(record: Record) -> Iterator[Record]:
    """Yield ``id``, ``text`` and ``title`` of the documents that a record is, or holds."""
    if _sentences_of(record) is None:
        yield from _document(record, None)
    for name in _LISTS_OF_TEXTS:
        inside = opened_value(record.get(name))
        items: Iterable[tuple[str | None, object]] = ()
        if isinstance(inside, Mapping):
            items = ((str(key), item) for key, item in inside.items())
        elif isinstance(inside, list):
            items = ((None, item) for item in inside)
        for key, item in items:
            if isinstance(item, str) and key is not None:
                yield {"id": key, "text": item}
            elif isinstance(item, Mapping):
                yield from _document(item, key)


def _document(record: Mapping[str, Any], key: str | None) -> Iterator[Record]:
    inner = opened_value(record.get("doc"))
    holder = inner if isinstance(inner, Mapping) else record
    name = _first(record, _IDS) or _first(holder, _IDS) or key
    text = _first(holder, _TEXTS)
    if name is not None and isinstance(text, str):
        yield {"id": _id(name), "text": text, "title": _first(holder, ("title",))}


def _list_at(record: Record, name: str) -> list[Any]:
    inside = opened_value(record.get(name))
    return inside if isinstance(inside, list) else []


def _reference_id(item: object) -> str:
    if isinstance(item, Mapping):
        return _id(_first(item, _IDS))
    return _id(item)


def _id(value: object) -> str:
    return whole_digits(value) or str(value).strip()


def _first(record: Mapping[str, Any], paths: Iterable[str]) -> Any:  # noqa: ANN401 - of JSON
    for path in paths:
        found = at(record, path)
        if found not in (None, ""):
            return found
    return None
