"""Spans of traces, joined to one record for each question answered.

Spans are those that OpenTelemetry exports (OTLP as JSON), or rows of Phoenix's tables. Attributes
are those of OpenInference, of OpenTelemetry's conventions for generative AI (``gen_ai.*``), and of
OpenLLMetry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import islice
from math import fsum
from typing import Any

from arena.data.types import Record
from surrogate_arena.importers.collected import Place, PlacedRecord
from surrogate_arena.importers.contract import FILE, value_at
from surrogate_arena.importers.conversations import last_exchange
from surrogate_arena.importers.opened import found, opened_record, opened_value
from surrogate_arena.importers.values import number_of

_KIND = "openinference.span.kind"
_PROMPT = "gen_ai.prompt"
_COMPLETION = "gen_ai.completion"
_RETRIEVED = "retrieval.documents"
_DOCUMENTS = (_RETRIEVED, "reranker.output_documents")
"""Attributes that hold documents: those of several spans are joined."""
_LISTS = (*_DOCUMENTS, _PROMPT, _COMPLETION, "llm.input_messages", "llm.output_messages")
"""Attributes that are lists, also where each leaf is an attribute of its own."""
_OUTPUTS = ("output.value", "traceloop.entity.output")
"""Attributes of a span that answers, whatever they hold."""
_MESSAGES = ("gen_ai.output.messages", _COMPLETION)
"""Attributes of a span that answers if a message has a text."""
_AMOUNTS = (
    "llm.cost.total",
    "gen_ai.usage.cost",
    "llm.token_count.total",
    "gen_ai.usage.total_tokens",
    "llm.usage.total_tokens",
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.token_count.prompt",
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
)
"""Attributes of which a trace states the parts."""
_NO_ANSWERS = {
    _KIND: ("RETRIEVER", "EMBEDDING", "RERANKER", "TOOL", "GUARDRAIL", "EVALUATOR"),
    "gen_ai.operation.name": ("embeddings", "execute_tool", "retrieval"),
    "traceloop.span.kind": ("tool",),
}
"""Attributes to the values of spans that do not answer."""
_EVALUATION = "gen_ai.evaluation.result"
_EVALUATIONS = "evaluations"
_EVALUATED = "eval."
"""Start of the columns of evaluations in a table of spans."""
_SECONDS = "span.seconds"
_WHOLE = ("input.value", "output.value", "metadata")
"""Attributes whose records stay records."""
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
class _Span:
    """A span of a trace, or a log record that belongs to one.

    Attributes:
        place: Its file and line.
        trace_id: The trace.
        span_id: The span, within its trace.
        parent_id: The span around it; an id of no span for the outermost.
        end: When it ended, as a text that sorts by time.
        status: Whether it failed, as the file has it.
        attributes: Its attributes by name.
        events: Its events, each with a ``name``.
        is_log: Whether it is a log record.
        seconds: How long it took; None where a time is missing.
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


def joined_spans(records: Iterable[PlacedRecord]) -> Iterator[PlacedRecord]:
    """Yield a record for each span that answers and is within no other that does.

    It holds the attributes of that span and its resource, and what these lack of the spans within
    it (of the whole trace, if it has one answer); documents as lists, each once, those of several
    retrievers joined; messages of events as ``gen_ai.prompt`` and ``gen_ai.completion``; results of
    evaluations as ``evaluations``; sums of costs and tokens, how long it took (``span.seconds``);
    and ``status``. A record of anything else is yielded as it is.

    Args:
        records: Exports (``resourceSpans``, ``scopeSpans``, ``spans``, ``resourceLogs``), or rows
            of a table of spans.
    """
    traces: dict[str, list[_Span]] = {}
    for place, record in records:
        is_export = any(isinstance(record.get(part), list) for part in _PARTS)
        if is_export or "traceId" in record:
            for span in _spans_of_export(place, record, {}):
                traces.setdefault(span.trace_id, []).append(span)
        elif "context" in record or "attributes" in record:
            span = _span_of_row(place, record)
            traces.setdefault(span.trace_id, []).append(span)
        else:
            yield place, record
    for spans in traces.values():
        yield from _answers_of_trace(_with_logs(spans))


# Spans of files


def _spans_of_export(place: Place, record: Mapping[str, Any], outer: Record) -> Iterator[_Span]:
    """Yield the spans of an export, with the attributes of their resource."""
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
    is_log = "body" in record
    end = record.get("endTimeUnixNano") or record.get("timeUnixNano")
    yield _Span(
        place=place,
        trace_id=str(record.get("traceId")),
        span_id=str(record.get("spanId")),
        parent_id=str(record.get("parentSpanId")),
        end=_sortable(end),
        status=record.get("status"),
        attributes=inherited if is_log else _with_lists({**inherited, **attributes}),
        events=[_log_event(record, attributes)] if is_log else _events(record.get("events")),
        is_log=is_log,
        seconds=_seconds(record.get("startTimeUnixNano"), record.get("endTimeUnixNano")),
    )


def _span_of_row(place: Place, record: Record) -> _Span:
    """Return the span of a row of a table, or of an object with ``context`` and ``attributes``."""
    start = "attributes."
    attributes = {
        name.removeprefix(start): value
        for name, value in record.items()
        if name.startswith((start, _EVALUATED)) and value is not None
    }
    if not any(name.startswith(start) for name in record):
        attributes.update(_by_name(record.get("attributes")))
    if FILE in record:
        attributes[FILE] = record[FILE]
    if record.get("span_kind") is not None:
        attributes.setdefault(_KIND, str(record["span_kind"]).upper())
    # A row without ids is a trace of its own.
    row = f"row {place.line} of {place.source}"
    return _Span(
        place=place,
        trace_id=str(found(record, "context.trace_id") or row),
        span_id=str(found(record, "context.span_id") or row),
        parent_id=str(record.get("parent_id")),
        end=_sortable(record.get("end_time")),
        status={"code": record.get("status_code")},
        attributes=_with_lists(attributes),
        events=_events(record.get("events")),
        seconds=_seconds(record.get("start_time"), record.get("end_time")),
    )


def _sortable(time: object) -> str:
    """Return a time as a text that sorts as it does: digits, or as ISO 8601 writes it."""
    return str(time).rjust(24)


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
    since = moment.replace(tzinfo=moment.tzinfo or UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return Fraction(since / timedelta(microseconds=1)) / 10**6


# Attributes and events


def _flat(attributes: Mapping[str, Any], outer: str = "") -> Record:
    """Return attributes in records by their dotted names."""
    flat: Record = {}
    for inner, value in attributes.items():
        name = f"{outer}{inner}"
        if isinstance(value, Mapping) and name not in _WHOLE:
            flat.update(_flat(value, f"{name}."))
        else:
            flat[name] = value
    return flat


def _by_name(attributes: object) -> Record:
    """Return a list of ``{key, value}`` as a record."""
    if isinstance(attributes, Mapping):
        return _flat(attributes)
    pairs = attributes if isinstance(attributes, list) else []
    return {
        str(pair.get("key")): opened_value(_plain(pair.get("value")))
        for pair in pairs
        if isinstance(pair, Mapping)
    }


def _plain(value: Any) -> Any:  # noqa: ANN401 - of JSON
    """Return a value (``stringValue``, ``arrayValue`` ...) as plain JSON."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return value
    ((kind, inner),) = value.items()
    values = inner.get("values") if isinstance(inner, Mapping) else None
    if kind == "kvlistValue":
        return _by_name(values)
    return list(map(_plain, values)) if isinstance(values, list) else inner


def _with_lists(attributes: Record) -> Record:
    """Return attributes with each list as one attribute, whose items are plain records."""
    nested = opened_record(attributes)
    lists = dict(attributes)
    for name in _LISTS:
        items = value_at(nested, name)
        if isinstance(items, list):
            lists = {key: value for key, value in lists.items() if not key.startswith(f"{name}.")}
            lists[name] = [_unwrapped(item) for item in items]
    return lists


def _unwrapped(item: object) -> object:
    """Return ``{document: {content}}`` with what the document, or message, holds."""
    if isinstance(item, Mapping):
        for holder in ("document", "message"):
            if isinstance(item.get(holder), Mapping):
                return {**item, **item[holder]}
    return item


def _events(events: object) -> list[Record]:
    """Return the events of a span, each with its ``name`` and its attributes."""
    named = []
    for event in events if isinstance(events, list) else []:
        if isinstance(event, Mapping):
            attributes = _by_name(event.get("attributes"))
            name = event.get("name") or event.get("event.name") or attributes.get("event.name")
            named.append({**event, **attributes, "name": name})
    return named


def _log_event(record: Mapping[str, Any], attributes: Record) -> Record:
    """Return a log record as an event."""
    body = _plain(record.get("body"))
    content = body if isinstance(body, Mapping) else {"content": body}
    name = record.get("eventName") or attributes.get("event.name")
    return {**content, **attributes, "name": name}


_MESSAGE_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
}
"""Name of an event to the role of its message."""
_CONTENT_EVENTS = {"gen_ai.content.prompt": _PROMPT, "gen_ai.content.completion": _COMPLETION}
_RESULT_EVENTS = ("db.query.result", "db.search.result")


def _read_events(span: _Span) -> None:
    """Add to a span's attributes what its events say: messages, documents and evaluations."""
    lists: dict[str, list[Record]] = {}
    # Logfire writes events as an attribute.
    for event in [*_events(span.attributes.get("events")), *span.events]:
        name = str(event["name"])
        if name in _MESSAGE_EVENTS:
            message = {
                "role": event.get("role") or _MESSAGE_EVENTS[name],
                "content": _content(event),
            }
            lists.setdefault(_PROMPT, []).append(message)
        elif name == "gen_ai.choice":
            message = {"role": "assistant", "content": _content(event)}
            lists.setdefault(_COMPLETION, []).append(message)
        elif name in _CONTENT_EVENTS:
            attribute = _CONTENT_EVENTS[name]
            if event.get(attribute) is not None:
                span.attributes.setdefault(attribute, event[attribute])
        elif name == "gen_ai.client.inference.operation.details":
            # Attributes of the span itself count more than those of its events.
            span.attributes = {**event, **span.attributes}
        elif name == _EVALUATION:
            score = {
                "name": event.get("gen_ai.evaluation.name"),
                "score": event.get("gen_ai.evaluation.score.value"),
                "label": event.get("gen_ai.evaluation.score.label"),
            }
            lists.setdefault(_EVALUATIONS, []).append(score)
        elif name in _RESULT_EVENTS:
            texts = [event.get(f"{result}.document") for result in _RESULT_EVENTS]
            documents = [{"content": text} for text in texts if isinstance(text, str)]
            lists.setdefault(_RETRIEVED, []).extend(documents)
    for attribute, items in lists.items():
        span.attributes.setdefault(attribute, items)


def _content(event: Record) -> object:
    """Return the content of an event's message: its own, or that of its ``message``."""
    message = event.get("message")
    if isinstance(message, Mapping):
        return message.get("content")
    return event.get("content") if message is None else message


# Answers of traces


def _with_logs(spans: list[_Span]) -> list[_Span]:
    """Return spans with the log records that belong to them as their events."""
    with_events = [span for span in spans if not span.is_log]
    by_id = {span.span_id: span for span in with_events}
    for span in spans:
        if not span.is_log:
            continue
        if span.span_id in by_id:
            by_id[span.span_id].events += span.events
            continue
        # The span itself is not in the files: its first log record takes its part.
        span.is_log = False
        by_id[span.span_id] = span
        with_events.append(span)
    return with_events


def _answers_of_trace(spans: list[_Span]) -> Iterator[PlacedRecord]:
    for span in spans:
        _read_events(span)
    by_id = {span.span_id: span for span in spans}
    # The outermost is last, also where ends are equal or missing.
    spans.sort(key=lambda span: (span.end, -len(list(_around(span, by_id)))))
    groups: dict[str, list[_Span]] = {}
    for span in spans:
        outermost_answer = ""
        for outer in _around(span, by_id):
            if _is_answer(outer.attributes):
                outermost_answer = outer.span_id
        groups.setdefault(outermost_answer, []).append(span)
    groups = _by_question(groups, by_id)
    answering = [span_id for span_id in groups if span_id]
    if len(answering) <= 1:
        yield _joined(spans, by_id[answering[0]] if answering else None)
        return
    # Spans around several answers are none themselves.
    for span_id in answering:
        yield _joined(groups[span_id], by_id[span_id])


def _around(span: _Span, by_id: Mapping[str, _Span]) -> Iterator[_Span]:
    """Yield a span and those around it, from inside to outside."""
    for _ in by_id:  # an end also where spans are within each other
        yield span
        if span.parent_id not in by_id:
            return
        span = by_id[span.parent_id]


def _is_answer(attributes: Record) -> bool:
    for name, values in _NO_ANSWERS.items():
        if attributes.get(name) in values:
            return False
    # Messages without a text call a tool.
    return _has_output(attributes) or any(_reply_in(attributes.get(name)) for name in _MESSAGES)


def _reply_in(value: object) -> str:
    return value if isinstance(value, str) else last_exchange(value).reply


def _has_output(attributes: Record) -> bool:
    return any(attributes.get(name) not in (None, "", []) for name in _OUTPUTS)


def _by_question(
    groups: Mapping[str, list[_Span]], by_id: Mapping[str, _Span]
) -> dict[str, list[_Span]]:
    """Join calls of LLMs that answer the same question one after another: the last one counts."""
    questions: dict[str, str] = {}
    last_calls: dict[str, str] = {}
    for span_id in filter(None, groups):
        question = _question_of_call(by_id[span_id].attributes)
        if not question:
            continue
        questions[span_id] = question
        earlier = last_calls.get(question)
        if earlier is None or by_id[span_id].end >= by_id[earlier].end:
            last_calls[question] = span_id
    joined: dict[str, list[_Span]] = {}
    for span_id, group in groups.items():
        last_call = last_calls[questions[span_id]] if span_id in questions else span_id
        joined.setdefault(last_call, []).extend(group)
    for group in joined.values():
        group.sort(key=lambda span: span.end)
    return joined


def _question_of_call(attributes: Record) -> str:
    """Return the question of a call whose only outputs are messages, or an empty text."""
    if _has_output(attributes):
        return ""
    names = ("gen_ai.input.messages", _PROMPT)
    return next(filter(None, (last_exchange(attributes.get(n)).question for n in names)), "")


def _joined(spans: list[_Span], answer: _Span | None) -> PlacedRecord:
    """Join spans; outer ones overrule inner ones, but the answering one says their kind."""
    record: Record = {}
    for span in spans:
        # Spans come in the order of their ends, so that outer ones overwrite inner ones.
        is_answer = _is_answer(span.attributes)
        for name, value in span.attributes.items():
            if name.startswith(_EVALUATED) and not is_answer and name in record:
                continue  # a score of what was retrieved, say
            if name in (*_DOCUMENTS, _EVALUATIONS) and isinstance(value, list) and name in record:
                value = record[name] + value
            record[name] = value
    if answer is not None:
        for name in _NO_ANSWERS:
            record[name] = answer.attributes.get(name)
    for name in _DOCUMENTS:
        if isinstance(record.get(name), list):
            record[name] = _distinct(record[name])
    for name in _AMOUNTS:
        amount = _sum_of(spans, name)
        if amount is not None:
            record[name] = amount
    record[_SECONDS] = spans[-1].seconds
    record["status"] = spans[-1].status
    return spans[-1].place, opened_record(record)


def _sum_of(spans: list[_Span], name: str) -> float | None:
    """Sum an amount over the innermost spans that state it: outer ones repeat their sum."""
    by_id = {span.span_id: span for span in spans}
    amounts: dict[str, float] = {}
    for span in spans:
        amount = number_of(span.attributes.get(name))
        if amount is not None:
            amounts[span.span_id] = amount
    outer: set[str] = set()
    for span_id in amounts:
        outer.update(around.span_id for around in islice(_around(by_id[span_id], by_id), 1, None))
    inner = [amount for span_id, amount in amounts.items() if span_id not in outer]
    return fsum(inner) if inner else None


def _distinct(documents: list[Any]) -> list[Any]:
    """Return documents without those whose text an earlier one has."""
    by_text: dict[str, Any] = {}
    for document in documents:
        text = document.get("content", document) if isinstance(document, Mapping) else document
        by_text.setdefault(str(text), document)
    return list(by_text.values())
