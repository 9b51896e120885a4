"""Spans that OpenTelemetry exports as JSON, joined to one record for each question answered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from arena.adapters.collected import Place, Record

ANSWER = "output.value"
"""Attribute (OpenInference's) of a span that answers."""
KIND, NO_ANSWERS = "openinference.span.kind", ("RETRIEVER", "EMBEDDING", "RERANKER")
LISTS = frozenset({"retrieval.documents", "reranker.output_documents"})
_PARTS = ("resourceSpans", "scopeSpans", "spans")
_DOCUMENT = re.compile(rf"({'|'.join(map(re.escape, sorted(LISTS)))})\.(\d+)\.document\.(\w+)")
_LEVELS = 8

Found = tuple[Place, Record]


def joined_spans(records: Iterable[Found]) -> Iterator[Found]:
    """Yield a record for each span that answers and is within no other that does.

    It holds the attributes of that span and its resource, and what these lack of the spans within
    it (of the whole trace, if it has one answer); documents as lists, each once, those of several
    retrievers joined; and ``status``.

    Args:
        records: Exports: ``resourceSpans``, ``scopeSpans``, ``spans``.
    """
    traces: dict[str, list[Found]] = {}
    for place, record in records:
        for span in _spans(record, {}):
            traces.setdefault(str(span.get("traceId")), []).append((place, span))
    for spans in traces.values():
        spans.sort(key=lambda found: str(found[1].get("endTimeUnixNano")))  # the outermost is last
        known = {str(span.get("spanId")): span for _, span in spans}
        groups: dict[str, list[Found]] = {}
        for place, span in spans:
            groups.setdefault(_answer_around(span, known), []).append((place, span))
        is_one = len(groups.keys() - {""}) < 2
        for group in [spans] if is_one else groups.values():
            joined: Record = {}
            for _, span in group:
                said = span["attributes"]
                listed = {name: joined.get(name, []) + said[name] for name in LISTS & said.keys()}
                joined |= said | listed
            for name in LISTS & joined.keys():
                joined[name] = list({str(it.get("content")): it for it in joined[name]}.values())
            yield group[-1][0], joined | {"status": group[-1][1].get("status")}


def _answer_around(span: Record, known: Mapping[str, Record]) -> str:
    """Return the id of the outermost span that answers around a span, itself included, or none."""
    found = ""
    for _ in known:  # no more, where spans are within each other
        said = span["attributes"]
        if ANSWER in said and said.get(KIND) not in NO_ANSWERS:
            found = str(span.get("spanId"))
        parent = str(span.get("parentSpanId"))
        if parent not in known:
            break
        span = known[parent]
    return found


def _spans(record: Mapping[str, Any], around: Record) -> Iterator[Record]:
    """Yield the spans of an export, their attributes by name, and those of their resource."""
    resource = record.get("resource")
    own = _named(resource.get("attributes")) if isinstance(resource, Mapping) else {}
    own |= {"file": record["file"]} if "file" in record else {}
    parts = next((record[part] for part in _PARTS if isinstance(record.get(part), list)), None)
    for part in parts or ():
        if isinstance(part, Mapping):
            yield from _spans(part, around | own)
    if parts is None:
        said = around | own | _named(record.get("attributes"))
        documents: dict[str, dict[int, Record]] = {name: {} for name in LISTS}
        for name, value in said.items():
            if found := _DOCUMENT.fullmatch(name):
                documents[found[1]].setdefault(int(found[2]), {})[found[3]] = value
        listed = {name: [it[n] for n in sorted(it)] for name, it in documents.items() if it}
        yield {**record, "attributes": said | listed}


def _named(attributes: object, levels: int = _LEVELS) -> Record:
    pairs = attributes if isinstance(attributes, list) else ()
    maps = (pair for pair in pairs if isinstance(pair, Mapping))
    return {str(pair.get("key")): _plain(pair.get("value"), levels) for pair in maps}


def _plain(value: Any, levels: int) -> Any:  # noqa: ANN401 - of JSON
    """Return a value (``stringValue``, ``arrayValue`` ...) as plain JSON."""
    if not isinstance(value, Mapping) or len(value) != 1 or not levels:
        return value
    ((kind, held),) = value.items()
    inside = held.get("values") if isinstance(held, Mapping) else None
    if kind == "kvlistValue":
        return _named(inside, levels - 1)
    return [_plain(it, levels - 1) for it in inside] if isinstance(inside, list) else held
