"""Spans as OpenTelemetry exports them (OTLP as JSON), or as Phoenix writes them in tables.

Attributes are those of OpenInference, of OpenTelemetry's own conventions for generative AI
(``gen_ai.*``), and of OpenLLMetry.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

from arena.data.types import Record
from surrogate_arena.importers.collected import Place
from surrogate_arena.importers.record_values import at, opened_list, opened_record, opened_value

KIND = "openinference.span.kind"
PROMPT = "gen_ai.prompt"
COMPLETION = "gen_ai.completion"
RETRIEVED = "retrieval.documents"
DOCUMENTS = (RETRIEVED, "reranker.output_documents")
"""Attributes that hold documents: those of several spans are joined."""
SCORES = "eval."
"""Start of the columns of evaluations in a table of spans."""

SECONDS = "span.seconds"
"""Name under which a joined record keeps how long its answer took."""

_ATTRIBUTES = "attributes."
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LEVELS = 8
_PARTS = (
    "resourceSpans",
    "scopeSpans",
    "instrumentationLibrarySpans",
    "spans",
    "resourceLogs",
    "scopeLogs",
    "logRecords",
)
"""Lists of an export, each within another."""


@dataclass
class Span:
    """A span of a trace, or a log record that belongs to one.

    Attributes:
        place: Its file and line.
        trace_id: The trace.
        span_id: The span, within its trace.
        parent_id: The span around it; an id of no span for the outermost.
        end: When it ended, as a text that sorts by time.
        status: Whether it failed, as the file has it.
        seconds: How long it took; None where a time is missing.
        attributes: Its attributes by name.
        events: Its events, each with a ``name``.
        is_log: Whether it is a log record.
    """

    place: Place
    trace_id: str
    span_id: str
    parent_id: str
    end: str
    status: object
    attributes: Record
    events: list[Record] = field(default_factory=list)
    is_log: bool = False
    seconds: float | None = None


def spans_of(place: Place, record: Record) -> Iterator[Span]:
    """Yield the spans and log records of a part of an export, or the span of a row of a table."""
    # Exports and rows of tables both have attributes; only exports have lists of spans.
    is_export = any(isinstance(opened_value(record.get(part)), list) for part in _PARTS)
    if not is_export and ("context.trace_id" in record or "context" in record):
        yield _span_of_row(place, record)
    else:
        yield from _spans_of_export(place, record, {})


def _spans_of_export(place: Place, record: Mapping[str, Any], outer: Record) -> Iterator[Span]:
    """Yield the spans of an export, their attributes by name, and those of their resource."""
    inherited = dict(outer)
    resource = record.get("resource")
    if isinstance(resource, Mapping):
        inherited.update(_by_name(resource.get("attributes")))
    # The file may name the system, also of spans far inside.
    if "file" in record:
        inherited["file"] = record["file"]
    lists = [record[part] for part in _PARTS if isinstance(record.get(part), list)]
    for parts in lists:
        for part in parts:
            if isinstance(part, Mapping):
                yield from _spans_of_export(place, part, inherited)
    if lists:
        return
    attributes = _by_name(record.get("attributes"))
    span = Span(
        place=place,
        trace_id=str(record.get("traceId")),
        span_id=str(record.get("spanId")),
        parent_id=str(record.get("parentSpanId")),
        end=_time(record.get("endTimeUnixNano") or record.get("timeUnixNano")),
        status=record.get("status"),
        attributes=inherited,
        is_log="body" in record,
        seconds=_seconds(record.get("startTimeUnixNano"), record.get("endTimeUnixNano")),
    )
    if span.is_log:
        span.events = [_log_event(record, attributes)]
    else:
        span.events = _events(record.get("events"))
        span.attributes = _with_lists({**inherited, **attributes})
    yield span


def _span_of_row(place: Place, record: Record) -> Span:
    """Return the span of a row of a table, or of an object with ``context`` and ``attributes``."""
    attributes = _flat(opened_record(record.get("attributes")))
    for name, value in record.items():
        if value is None:
            continue
        if name.startswith(_ATTRIBUTES):
            attributes.update(_flat_of(name.removeprefix(_ATTRIBUTES), opened_value(value)))
        elif name.startswith(SCORES):
            attributes[name] = value
    if "file" in record:
        attributes["file"] = record["file"]
    if record.get("span_kind") is not None:
        attributes.setdefault(KIND, str(record["span_kind"]).upper())
    # A row without ids is a trace of its own.
    row = f"row {place.line} of {place.source}"
    return Span(
        place=place,
        trace_id=str(at(record, "context.trace_id") or row),
        span_id=str(at(record, "context.span_id") or row),
        parent_id=str(record.get("parent_id")),
        end=_time(record.get("end_time")),
        status={"code": record.get("status_code")},
        attributes=_with_lists(attributes),
        events=_events(record.get("events")),
        seconds=_seconds(record.get("start_time"), record.get("end_time")),
    )


def _seconds(start: object, end: object) -> float | None:
    """Return the seconds between two times; None where one is missing or comes too early."""
    started = _epoch_seconds(start)
    ended = _epoch_seconds(end)
    if started is None or ended is None or ended < started:
        return None
    return float(ended - started)


def _epoch_seconds(time: object) -> Fraction | None:
    """Return a time in seconds since 1970, of digits in any unit or as ISO 8601 writes it."""
    text = str(time).strip()
    if text.isascii() and text.isdecimal():
        number = int(text)
        # Of this century: programs count nanoseconds, microseconds, milliseconds or seconds.
        for limit, units in ((10**17, 10**9), (10**14, 10**6), (10**11, 10**3)):
            if number >= limit:
                return Fraction(number, units)
        return Fraction(number)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return Fraction((moment.replace(tzinfo=moment.tzinfo or UTC) - _EPOCH) / _MICROSECOND) / 10**6


def _time(value: object) -> str:
    """Return a time as a text that sorts as it does: digits, or as ISO 8601 writes it."""
    return str(value).rjust(24)


def _flat(record: Mapping[str, Any]) -> Record:
    flat: Record = {}
    for name, value in record.items():
        flat.update(_flat_of(str(name), value))
    return flat


def _flat_of(name: str, value: object, levels: int = _LEVELS) -> Record:
    """Return a value by its dotted name; of a record also its values by theirs."""
    flat: Record = {name: value}
    if isinstance(value, Mapping) and levels:
        for inner_name, inner in value.items():
            flat.update(_flat_of(f"{name}.{inner_name}", inner, levels - 1))
    return flat


_INDEXED = (*DOCUMENTS, PROMPT, COMPLETION, "llm.input_messages", "llm.output_messages")
"""Attributes that are lists, written as one attribute for each leaf."""
_LEAF = re.compile(rf"({'|'.join(map(re.escape, _INDEXED))})\.(\d+)\.(.+)")


def _with_lists(attributes: Record) -> Record:
    """Return attributes with a list of records instead of one attribute for each leaf."""
    lists = dict(attributes)
    for name in _INDEXED:
        value = opened_value(attributes.get(name))
        if isinstance(value, list):
            lists[name] = [_unwrapped(element) for element in value]
    indexed: dict[str, dict[int, Record]] = {}
    for name, value in attributes.items():
        leaf = _LEAF.fullmatch(name)
        if leaf is not None:
            items = indexed.setdefault(leaf[1], {})
            items.setdefault(int(leaf[2]), {})[leaf[3]] = value
    for name, items in indexed.items():
        lists[name] = [_unwrapped(items[index]) for index in sorted(items)]
    return lists


def _unwrapped(element: object) -> object:
    """Return ``{content}`` of ``{document: {content}}`` or ``{document.content}``."""
    if not isinstance(element, Mapping):
        return element
    inner: Record = {}
    for name, value in element.items():
        first, dot, rest = str(name).partition(".")
        if first not in ("document", "message"):
            inner[str(name)] = value
        elif dot:
            inner[rest] = value
        elif isinstance(value, Mapping):
            inner.update(value)
        else:
            inner[first] = value
    return inner


def _events(events: object) -> list[Record]:
    """Return the events of a span, each with its ``name`` and its attributes."""
    named = []
    for event in opened_list(events):
        if isinstance(event, Mapping):
            attributes = event.get("attributes")
            if not isinstance(attributes, Mapping):
                attributes = _by_name(attributes)
            name = event.get("name") or event.get("event.name") or attributes.get("event.name")
            named.append({**event, **attributes, "name": name})
    return named


def _log_event(record: Mapping[str, Any], attributes: Record) -> Record:
    """Return a log record as an event."""
    body = _plain(record.get("body"), _LEVELS)
    content = body if isinstance(body, Mapping) else {"content": body}
    name = record.get("eventName") or attributes.get("event.name")
    return {**content, **attributes, "name": name}


_MESSAGE_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
}
"""Name of an event to the role of its message."""
_CONTENT_EVENTS = {"gen_ai.content.prompt": PROMPT, "gen_ai.content.completion": COMPLETION}
_RESULT_EVENTS = ("db.query.result", "db.search.result")


def read_events(span: Span) -> None:
    """Add to a span's attributes what its events say: messages, and retrieved documents."""
    prompt: list[Record] = []
    completion: list[Record] = []
    documents: list[Record] = []
    # Logfire writes events as an attribute.
    for event in [*_events(span.attributes.get("events")), *span.events]:
        name = str(event["name"])
        if name in _MESSAGE_EVENTS:
            role = event.get("role") or _MESSAGE_EVENTS[name]
            prompt.append({"role": role, "content": _content(event)})
        elif name == "gen_ai.choice":
            completion.append({"role": "assistant", "content": _content(event)})
        elif name in _CONTENT_EVENTS:
            attribute = _CONTENT_EVENTS[name]
            if event.get(attribute) is not None:
                span.attributes.setdefault(attribute, event[attribute])
        elif name == "gen_ai.client.inference.operation.details":
            # Attributes of the span itself count more than those of its events.
            span.attributes = {**event, **span.attributes}
        elif name in _RESULT_EVENTS:
            texts = [event.get(f"{result}.document") for result in _RESULT_EVENTS]
            documents += [{"content": text} for text in texts if isinstance(text, str)]
    for attribute, items in ((PROMPT, prompt), (COMPLETION, completion), (RETRIEVED, documents)):
        if items:
            span.attributes.setdefault(attribute, items)


def _content(event: Record) -> object:
    """Return the content of an event's message: its own, or that of its ``message``."""
    message = opened_value(event.get("message"))
    if isinstance(message, Mapping):
        return message.get("content")
    return event.get("content") if message is None else message


def _by_name(attributes: object, levels: int = _LEVELS) -> Record:
    """Return a list of ``{key, value}`` as a record."""
    if isinstance(attributes, Mapping):
        return _flat(attributes)
    values: Record = {}
    for pair in opened_list(attributes):
        if isinstance(pair, Mapping):
            values[str(pair.get("key"))] = _plain(pair.get("value"), levels)
    return values


def _plain(value: Any, levels: int) -> Any:  # noqa: ANN401 - of JSON
    """Return a value (``stringValue``, ``arrayValue`` ...) as plain JSON."""
    if not isinstance(value, Mapping) or len(value) != 1 or not levels:
        return value
    ((kind, inner),) = value.items()
    values = inner.get("values") if isinstance(inner, Mapping) else None
    if kind == "kvlistValue":
        return _by_name(values, levels - 1)
    if isinstance(values, list):
        return [_plain(element, levels - 1) for element in values]
    return inner
