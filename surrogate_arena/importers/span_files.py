"""Spans of files: exports of OpenTelemetry (OTLP as JSON), and rows of Phoenix's tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

from arena.data.types import Record
from surrogate_arena.importers.collected import Place
from surrogate_arena.importers.contract import FILE, value_at
from surrogate_arena.importers.opened import opened_value

KIND = "openinference.span.kind"
PROMPT = "gen_ai.prompt"
COMPLETION = "gen_ai.completion"
RETRIEVED = "retrieval.documents"
DOCUMENTS = (RETRIEVED, "reranker.output_documents")
"""Attributes that hold documents: those of several spans are joined."""
_LISTS = (*DOCUMENTS, PROMPT, COMPLETION, "llm.input_messages", "llm.output_messages")
"""Attributes that are lists, also where each leaf is an attribute of its own."""
EVALUATED = "eval."
"""Start of the columns of evaluations in a table of spans."""
_WHOLE = ("input.value", "output.value", "metadata")
"""Attributes whose records stay records."""
_PARTS = (
    "resourceSpans",
    "scopeSpans",
    "instrumentationLibrarySpans",
    "spans",
)
"""Lists of an export, each within another."""


@dataclass
class Span:
    """A span of a trace.

    Attributes:
        parent_id: The span around it; no span's id for the outermost.
        end: Its end, as a text that sorts by time.
        status: Whether it failed, as the file has it.
        events: Its events, each with a ``name``.
        seconds: None where a time is missing.
    """

    place: Place
    trace_id: str
    span_id: str
    parent_id: str
    end: str
    status: object
    attributes: Record
    events: list[Record] = field(default_factory=list)
    seconds: float | None = None


def has_spans(record: Mapping[str, Any]) -> bool:
    """Return whether a record is an export, a span of one, or a row of spans."""
    is_export = any(isinstance(record.get(part), list) for part in _PARTS)
    return is_export or not record.keys().isdisjoint(("traceId", "context", "attributes"))


def spans_of_record(place: Place, record: Record) -> Iterator[Span]:
    """Yield the spans of an export, or that of a row."""
    is_export = any(isinstance(record.get(part), list) for part in _PARTS)
    if is_export or "traceId" in record:
        yield from _spans_of_export(place, record, {})
    else:
        yield _span_of_row(place, record)


def _spans_of_export(place: Place, record: Mapping[str, Any], outer: Record) -> Iterator[Span]:
    inherited = dict(outer)
    resource = record.get("resource")
    if isinstance(resource, Mapping):
        inherited.update(_by_name(resource.get("attributes")))
    # The file may name the system, also of spans far inside.
    if FILE in record:
        inherited[FILE] = record[FILE]
    lists = [record[part] for part in _PARTS if isinstance(record.get(part), list)]
    for part in (part for parts in lists for part in parts):
        if isinstance(part, Mapping):
            yield from _spans_of_export(place, part, inherited)
    if lists:
        return
    attributes = _by_name(record.get("attributes"))
    yield Span(
        place=place,
        trace_id=str(record.get("traceId")),
        span_id=str(record.get("spanId")),
        parent_id=str(record.get("parentSpanId")),
        end=_sortable(record.get("endTimeUnixNano")),
        status=record.get("status"),
        attributes=_with_lists({**inherited, **attributes}),
        events=_events_of(record.get("events")),
        seconds=_seconds(record.get("startTimeUnixNano"), record.get("endTimeUnixNano")),
    )


def _span_of_row(place: Place, record: Record) -> Span:
    start = "attributes."
    attributes = {
        name.removeprefix(start): value
        for name, value in record.items()
        if name.startswith((start, EVALUATED)) and value is not None
    }
    if not any(name.startswith(start) for name in record):
        attributes.update(_by_name(record.get("attributes")))
    if FILE in record:
        attributes[FILE] = record[FILE]
    if record.get("span_kind") is not None:
        attributes.setdefault(KIND, str(record["span_kind"]).upper())
    # A row without ids is a trace of its own.
    row = f"row {place.line} of {place.source}"
    return Span(
        place=place,
        trace_id=str(value_at(record, "context.trace_id") or row),
        span_id=str(value_at(record, "context.span_id") or row),
        parent_id=str(record.get("parent_id")),
        end=_sortable(record.get("end_time")),
        status={"code": record.get("status_code")},
        attributes=_with_lists(attributes),
        events=_events_of(record.get("events")),
        seconds=_seconds(record.get("start_time"), record.get("end_time")),
    )


def _sortable(time: object) -> str:
    return str(time).rjust(24)


def _seconds(start: object, end: object) -> float | None:
    """Return the seconds between two times, if known and positive."""
    started = _epoch_seconds(start)
    ended = _epoch_seconds(end)
    if started is None or ended is None or ended < started:
        return None
    return float(ended - started)


def _epoch_seconds(time: object) -> Fraction | None:
    """Return a time in seconds since 1970, of digits in any unit or as ISO 8601 writes it."""
    text = str(time).strip()
    if text.isascii() and text.isdecimal():
        # Seconds have ten digits; programs count milli-, micro- or nanoseconds, too.
        return Fraction(int(text), 10 ** max(0, len(text) - 10))
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    since = moment.replace(tzinfo=moment.tzinfo or UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return Fraction(since / timedelta(microseconds=1)) / 10**6


# Attributes and events


def _flat(attributes: Mapping[str, Any], outer: str = "") -> Record:
    flat: Record = {}
    for inner, value in attributes.items():
        name = f"{outer}{inner}"
        if isinstance(value, Mapping) and name not in _WHOLE:
            flat.update(_flat(value, f"{name}."))
        else:
            flat[name] = value
    return flat


def _by_name(attributes: object) -> Record:
    if isinstance(attributes, Mapping):
        return _flat(attributes)
    pairs = attributes if isinstance(attributes, list) else []
    return {
        str(pair.get("key")): opened_value(_plain(pair.get("value")))
        for pair in pairs
        if isinstance(pair, Mapping)
    }


def _plain(value: Any) -> Any:  # noqa: ANN401 - of JSON
    if not isinstance(value, Mapping) or len(value) != 1:
        return value
    ((kind, inner),) = value.items()
    values = inner.get("values") if isinstance(inner, Mapping) else None
    if kind == "kvlistValue":
        return _by_name(values)
    return list(map(_plain, values)) if isinstance(values, list) else inner


def _with_lists(attributes: Record) -> Record:
    nested = opened_value(attributes)
    lists = dict(attributes)
    for name in _LISTS:
        items = value_at(nested, name)
        if isinstance(items, list):
            lists = {key: value for key, value in lists.items() if not key.startswith(f"{name}.")}
            lists[name] = [_unwrapped(item) for item in items]
    return lists


def _unwrapped(item: object) -> object:
    if isinstance(item, Mapping):
        for holder in ("document", "message"):
            if isinstance(item.get(holder), Mapping):
                return {**item, **item[holder]}
    return item


def _events_of(events: object) -> list[Record]:
    named = []
    for event in events if isinstance(events, list) else []:
        if isinstance(event, Mapping):
            named.append({**event, **_by_name(event.get("attributes")), "name": event.get("name")})
    return named
