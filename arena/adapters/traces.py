"""Spans of traces, joined to one record for each question answered.

Spans come as OpenTelemetry exports them (OTLP as JSON, with events and log records), or as rows of
a table, as Phoenix writes them. Attributes are those of OpenInference, of OpenTelemetry's own
conventions for generative AI (``gen_ai.*``), and of OpenLLMetry.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from arena.adapters.collected import Place, Record
from arena.adapters.record_values import ASSISTANT, USER, opened_value, text_of

KIND = "openinference.span.kind"
LISTS = ("retrieval.documents", "reranker.output_documents")
"""Attributes that hold documents: those of several spans are joined."""

_OUTPUTS = ("output.value", "traceloop.entity.output")
_QUESTIONS = ("gen_ai.input.messages", "gen_ai.prompt")
_MESSAGES = ("gen_ai.output.messages", "gen_ai.completion")
"""Attributes of a span that answers: whatever it holds, or messages with a text among them."""
_NO_ANSWERS = {
    KIND: ("RETRIEVER", "EMBEDDING", "RERANKER", "TOOL", "GUARDRAIL", "EVALUATOR"),
    "gen_ai.operation.name": ("embeddings", "execute_tool", "retrieval"),
    "traceloop.span.kind": ("tool",),
}
_PARTS = (
    *("resourceSpans", "scopeSpans", "instrumentationLibrarySpans", "spans"),
    *("resourceLogs", "scopeLogs", "logRecords"),
)
_INDEXED = (
    *LISTS,
    *("gen_ai.prompt", "gen_ai.completion", "llm.input_messages", "llm.output_messages"),
)
"""Attributes that are lists, written as one attribute for each leaf."""
_LEAF = re.compile(rf"({'|'.join(map(re.escape, _INDEXED))})\.(\d+)\.(.+)")
_WRAPPERS = ("document", "message")
_PROMPT, _COMPLETION = "gen_ai.prompt", "gen_ai.completion"
_MESSAGE_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
}
_CHOICE_EVENT = "gen_ai.choice"
_CONTENT_EVENTS = {"gen_ai.content.prompt": _PROMPT, "gen_ai.content.completion": _COMPLETION}
_DETAILS_EVENT = "gen_ai.client.inference.operation.details"
_RESULT_EVENTS = ("db.query.result", "db.search.result")
_RESULT_TEXTS = ("db.query.result.document", "db.search.result.document")
_COLUMNS, _SCORES = "attributes.", "eval."
"""How columns of tables of spans begin: those of attributes, and those of evaluations."""
_LEVELS = 8

Found = tuple[Place, Record]


@dataclass
class _Span:
    """A span: where it stands, its ids, when it ended, and its attributes by name."""

    place: Place
    trace_id: str
    span_id: str
    parent_id: str
    end: str
    status: object
    attributes: Record
    events: list[Record] = field(default_factory=list)
    is_log: bool = False


def joined_spans(records: Iterable[Found]) -> Iterator[Found]:
    """Yield a record for each span that answers and is within no other that does.

    It holds the attributes of that span and its resource, and what these lack of the spans within
    it (of the whole trace, if it has one answer); documents as lists, each once, those of several
    retrievers joined; messages of events as ``gen_ai.prompt`` and ``gen_ai.completion``; and
    ``status``.

    Args:
        records: Exports (``resourceSpans``, ``scopeSpans``, ``spans``, ``resourceLogs``), or rows
            of a table of spans.
    """
    traces: dict[str, list[_Span]] = {}
    for place, record in records:
        for span in _spans_of(place, record):
            traces.setdefault(span.trace_id, []).append(span)
    for spans in traces.values():
        yield from _answers_of_trace(_with_logs(spans))


def with_retrieved(records: Iterable[Found]) -> Iterator[Found]:
    """Yield records of Langfuse, with what the retrievers of their trace found as ``retrieved``.

    Args:
        records: Traces, which may hold their ``observations``; or observations with a ``traceId``.
    """
    listed = list(records)
    by_trace: dict[str, list[Any]] = {}
    for _, record in listed:
        output = _retrieved(record)
        if output:
            by_trace.setdefault(str(record.get("traceId")), []).append(output)
    for place, record in listed:
        observations = opened_value(record.get("observations"))
        inner = observations if isinstance(observations, list) else []
        outputs = [output for each in inner if (output := _retrieved(opened_value(each)))]
        outputs = outputs or by_trace.get(str(record.get("traceId") or record.get("id")), [])
        if not outputs:
            yield place, record
            continue
        yield place, {"retrieved": outputs[0] if len(outputs) == 1 else outputs, **record}


def _retrieved(observation: object) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the output of an observation that retrieves, or None."""
    if not isinstance(observation, Mapping) or observation.get("type") != "RETRIEVER":
        return None
    return opened_value(observation.get("output"))


def _answers_of_trace(spans: list[_Span]) -> Iterator[Found]:
    for span in spans:
        _read_events(span)
    by_id = {span.span_id: span for span in spans}
    # The outermost is last, also where ends are equal or not given.
    spans.sort(key=lambda span: (span.end, -_depth(span, by_id)))
    groups: dict[str, list[_Span]] = {}
    for span in spans:
        groups.setdefault(_answer_around(span, by_id), []).append(span)
    groups = _by_question(groups, by_id)
    answering = [name for name in groups if name]
    if len(answering) < 2:
        yield _joined(spans, by_id.get(answering[0]) if answering else None)
        return
    for name in answering:  # spans around several answers are none themselves
        yield _joined(groups[name], by_id[name])


def _by_question(
    groups: Mapping[str, list[_Span]], by_id: Mapping[str, _Span]
) -> dict[str, list[_Span]]:
    """Join calls of LLMs that answer the same question one after another: the last one counts."""
    last: dict[str, str] = {}
    for name in groups:
        question = _asked(by_id[name].attributes) if name else None
        if question is not None:
            earlier = last.get(question)
            is_later = earlier is None or by_id[name].end >= by_id[earlier].end
            last[question] = name if is_later else str(earlier)
    joined: dict[str, list[_Span]] = {}
    for name, group in groups.items():
        question = _asked(by_id[name].attributes) if name else None
        joined.setdefault(name if question is None else last[question], []).extend(group)
    return {name: sorted(group, key=lambda span: span.end) for name, group in joined.items()}


def _asked(attributes: Record) -> str | None:
    """Return the question of a call whose only outputs are messages, or None."""
    if any(attributes.get(name) not in (None, "", []) for name in _OUTPUTS):
        return None
    for name in _QUESTIONS:
        question = text_of(attributes.get(name), USER)
        if question is not None:
            return question
    return None


def _joined(spans: list[_Span], answer: _Span | None) -> Found:
    """Join spans; what an outer one says counts, and of their kind what the answering one says."""
    record: Record = {}
    for span in spans:
        is_answer = _is_answer(span.attributes)
        for name, value in span.attributes.items():
            if name.startswith(_SCORES) and not is_answer and name in record:
                continue  # of what was retrieved, say
            is_joined = name in LISTS and isinstance(value, list) and name in record
            record[name] = record[name] + value if is_joined else value
    if answer is not None:
        record |= {name: answer.attributes.get(name) for name in _NO_ANSWERS}
    for name in LISTS:
        if isinstance(record.get(name), list):
            record[name] = _distinct(record[name])
    return spans[-1].place, record | {"status": spans[-1].status}


def _distinct(documents: list[Any]) -> list[Any]:
    """Return documents without those whose text is there already."""
    kept: dict[str, Any] = {}
    for document in documents:
        text = document.get("content", document) if isinstance(document, Mapping) else document
        kept.setdefault(str(text), document)
    return list(kept.values())


def _answer_around(span: _Span, by_id: Mapping[str, _Span]) -> str:
    """Return the id of the outermost span that answers around a span, itself included, or none."""
    found = ""
    for _ in by_id:  # no more, where spans are within each other
        if _is_answer(span.attributes):
            found = span.span_id
        if span.parent_id not in by_id:
            break
        span = by_id[span.parent_id]
    return found


def _depth(span: _Span, by_id: Mapping[str, _Span]) -> int:
    """Return within how many spans a span is."""
    for depth, _ in enumerate(by_id):
        if span.parent_id not in by_id:
            return depth
        span = by_id[span.parent_id]
    return len(by_id)


def _is_answer(attributes: Record) -> bool:
    for name, values in _NO_ANSWERS.items():
        if attributes.get(name) in values:
            return False
    if any(attributes.get(name) not in (None, "", []) for name in _OUTPUTS):
        return True
    # Messages without a text call a tool.
    return any(text_of(attributes.get(name), ASSISTANT) is not None for name in _MESSAGES)


def _with_logs(spans: list[_Span]) -> list[_Span]:
    """Return spans with the log records that belong to them as their events."""
    by_id = {span.span_id: span for span in spans if not span.is_log}
    kept = [span for span in spans if not span.is_log]
    for span in spans:
        if not span.is_log:
            continue
        if span.span_id in by_id:
            by_id[span.span_id].events += span.events
        else:  # the span itself is not in the files
            span.is_log = False
            by_id[span.span_id] = span
            kept.append(span)
    return kept


def _spans_of(place: Place, record: Record) -> Iterator[_Span]:
    is_export = any(isinstance(opened_value(record.get(part)), list) for part in _PARTS)
    if not is_export and ("context.trace_id" in record or "context" in record):
        yield _span_of_row(place, record)
    else:
        yield from _spans_of_export(place, record, {})


def _spans_of_export(place: Place, record: Mapping[str, Any], around: Record) -> Iterator[_Span]:
    """Yield the spans of an export, their attributes by name, and those of their resource."""
    resource = record.get("resource")
    inherited = dict(around)
    if isinstance(resource, Mapping):
        inherited |= _named(resource.get("attributes"))
    if "file" in record:
        inherited["file"] = record["file"]
    lists = [record[part] for part in _PARTS if isinstance(record.get(part), list)]
    for part in (part for parts in lists for part in parts):
        if isinstance(part, Mapping):
            yield from _spans_of_export(place, part, inherited)
    if lists:
        return
    attributes = _named(record.get("attributes"))
    is_log = "body" in record
    events = record.get("events")
    yield _Span(
        place=place,
        trace_id=str(record.get("traceId")),
        span_id=str(record.get("spanId")),
        parent_id=str(record.get("parentSpanId")),
        end=_time(record.get("endTimeUnixNano") or record.get("timeUnixNano")),
        status=record.get("status"),
        attributes=inherited if is_log else _with_lists(inherited | attributes),
        events=[_log_event(record, attributes)] if is_log else _events(events),
        is_log=is_log,
    )


def _span_of_row(place: Place, record: Record) -> _Span:
    """Return the span of a row of a table, or of an object with ``context`` and ``attributes``."""
    context = opened_value(record.get("context"))
    ids = context if isinstance(context, Mapping) else {}
    given = opened_value(record.get("attributes"))
    attributes = _flat(given) if isinstance(given, Mapping) else {}
    for name, value in record.items():
        if name.startswith(_COLUMNS) and value is not None:
            attributes |= _flat_of(name.removeprefix(_COLUMNS), opened_value(value))
        elif name.startswith(_SCORES) and value is not None:
            attributes[name] = value
    if "file" in record:
        attributes["file"] = record["file"]
    if record.get("span_kind") is not None:
        attributes.setdefault(KIND, str(record["span_kind"]).upper())
    row = f"row {place.line} of {place.source}"
    return _Span(
        place=place,
        trace_id=str(record.get("context.trace_id") or ids.get("trace_id") or row),
        span_id=str(record.get("context.span_id") or ids.get("span_id") or row),
        parent_id=str(record.get("parent_id")),
        end=_time(record.get("end_time")),
        status={"code": record.get("status_code")},
        attributes=_with_lists(attributes),
        events=_events(opened_value(record.get("events"))),
    )


def _time(value: object) -> str:
    """Return a time as a text that sorts as it does: digits, or as ISO 8601 writes it."""
    return str(value).rjust(24)


def _flat(record: Mapping[str, Any]) -> Record:
    flat: Record = {}
    for name, value in record.items():
        flat |= _flat_of(str(name), value)
    return flat


def _flat_of(name: str, value: object, levels: int = _LEVELS) -> Record:
    """Return a value by its dotted name; a record also by the names of what it holds."""
    flat: Record = {name: value}
    if isinstance(value, Mapping) and levels:
        for inner, held in value.items():
            flat |= _flat_of(f"{name}.{inner}", held, levels - 1)
    return flat


def _with_lists(attributes: Record) -> Record:
    """Return attributes with lists of records where one attribute for each leaf is written."""
    indexed: dict[str, dict[int, Record]] = {}
    for name, value in attributes.items():
        leaf = _LEAF.fullmatch(name)
        if leaf is not None:
            items = indexed.setdefault(leaf[1], {})
            items.setdefault(int(leaf[2]), {})[leaf[3]] = value
    found = dict(attributes)
    for name, items in indexed.items():
        found[name] = [_unwrapped(items[place]) for place in sorted(items)]
    for name in _INDEXED:
        value = opened_value(found.get(name))
        if isinstance(value, list) and name not in indexed:
            found[name] = [_unwrapped(item) for item in value]
    return found


def _unwrapped(item: object) -> object:
    """Return ``{content}`` of ``{document: {content}}`` or ``{document.content}``."""
    if not isinstance(item, Mapping):
        return item
    inner: Record = {}
    for name, value in item.items():
        first, dot, rest = str(name).partition(".")
        if first not in _WRAPPERS:
            inner[str(name)] = value
        elif dot:
            inner[rest] = value
        elif isinstance(value, Mapping):
            inner |= value
        else:
            inner[first] = value
    return inner


def _events(events: object) -> list[Record]:
    """Return the events of a span, each with its ``name`` and its attributes."""
    found = []
    for event in events if isinstance(events, list) else ():
        if not isinstance(event, Mapping):
            continue
        given = event.get("attributes")
        attributes = dict(given) if isinstance(given, Mapping) else _named(given)
        name = event.get("name") or event.get("event.name") or attributes.get("event.name")
        found.append({**event, **attributes, "name": name})
    return found


def _log_event(record: Mapping[str, Any], attributes: Record) -> Record:
    """Return a log record as an event."""
    body = _plain(record.get("body"), _LEVELS)
    named = body if isinstance(body, Mapping) else {"content": body}
    name = record.get("eventName") or attributes.get("event.name")
    return {**named, **attributes, "name": name}


def _read_events(span: _Span) -> None:
    """Add to a span's attributes what its events say: messages, and documents that were found."""
    logged = opened_value(span.attributes.get("events"))  # as Logfire writes them
    prompt: list[Record] = []
    completion: list[Record] = []
    documents: list[Record] = []
    for event in [*_events(logged), *span.events]:
        name = str(event["name"])
        if name in _MESSAGE_EVENTS:
            role = event.get("role") or _MESSAGE_EVENTS[name]
            prompt.append({"role": role, "content": _content(event)})
        elif name == _CHOICE_EVENT:
            completion.append({"role": "assistant", "content": _content(event)})
        elif name in _CONTENT_EVENTS:
            attribute = _CONTENT_EVENTS[name]
            if event.get(attribute) is not None:
                span.attributes.setdefault(attribute, event[attribute])
        elif name == _DETAILS_EVENT:
            span.attributes = {**event, **span.attributes}
        elif name in _RESULT_EVENTS:
            texts = [event[key] for key in _RESULT_TEXTS if isinstance(event.get(key), str)]
            documents += [{"content": text} for text in texts]
    for attribute, value in ((_PROMPT, prompt), (_COMPLETION, completion), (LISTS[0], documents)):
        if value:
            span.attributes.setdefault(attribute, value)


def _content(event: Record) -> object:
    """Return what a message of an event says: its content, or that of its ``message``."""
    message = opened_value(event.get("message"))
    if isinstance(message, Mapping):
        return message.get("content")
    return event.get("content") if message is None else message


def _named(attributes: object, levels: int = _LEVELS) -> Record:
    """Return a list of ``{key, value}`` as a record."""
    if isinstance(attributes, Mapping):
        return _flat(attributes)
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
