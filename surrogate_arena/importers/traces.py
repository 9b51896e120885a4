"""Spans and observations of traces, joined to one record for each question answered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from math import fsum
from typing import Any

from arena.data.types import Record
from surrogate_arena.importers.collected import PlacedRecord
from surrogate_arena.importers.field_maps import kinds
from surrogate_arena.importers.record_values import (
    ASSISTANT,
    USER,
    opened_list,
    opened_value,
    text_of,
)
from surrogate_arena.importers.spans import (
    COMPLETION,
    DOCUMENTS,
    KIND,
    PROMPT,
    SCORES,
    SECONDS,
    Span,
    read_events,
    spans_of,
)
from surrogate_arena.importers.values import number_of

_OUTPUTS = ("output.value", "traceloop.entity.output")
"""Attributes of a span that answers, whatever they hold."""
_MESSAGES = ("gen_ai.output.messages", COMPLETION)
"""Attributes of a span that answers if a message has a text."""
_SUMMED_FIELDS = ("cost_usd", "tokens", "input_tokens", "output_tokens")
"""Fields of which a trace states the parts."""
_NO_ANSWERS = {
    KIND: ("RETRIEVER", "EMBEDDING", "RERANKER", "TOOL", "GUARDRAIL", "EVALUATOR"),
    "gen_ai.operation.name": ("embeddings", "execute_tool", "retrieval"),
    "traceloop.span.kind": ("tool",),
}
"""Attributes to the values of spans that do not answer."""


def joined_spans(records: Iterable[PlacedRecord]) -> Iterator[PlacedRecord]:
    """Yield a record for each span that answers and is within no other that does.

    It holds the attributes of that span and its resource, and what these lack of the spans within
    it (of the whole trace, if it has one answer); documents as lists, each once, those of several
    retrievers joined; messages of events as ``gen_ai.prompt`` and ``gen_ai.completion``; sums of
    costs and tokens, how long it took (``span.seconds``); and ``status``.

    Args:
        records: Exports (``resourceSpans``, ``scopeSpans``, ``spans``, ``resourceLogs``), or rows
            of a table of spans.
    """
    traces: dict[str, list[Span]] = {}
    for place, record in records:
        for span in spans_of(place, record):
            traces.setdefault(span.trace_id, []).append(span)
    for spans in traces.values():
        yield from _answers_of_trace(_with_logs(spans))


def _with_logs(spans: list[Span]) -> list[Span]:
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


def _answers_of_trace(spans: list[Span]) -> Iterator[PlacedRecord]:
    for span in spans:
        read_events(span)
    by_id = {span.span_id: span for span in spans}
    # The outermost is last, also where ends are equal or missing.
    spans.sort(key=lambda span: (span.end, -len(list(_around(span, by_id)))))
    groups: dict[str, list[Span]] = {}
    for span in spans:
        outermost_answer = ""
        for outer in _around(span, by_id):
            if _is_answer(outer.attributes):
                outermost_answer = outer.span_id
        groups.setdefault(outermost_answer, []).append(span)
    groups = _by_question(groups, by_id)
    answering = [span_id for span_id in groups if span_id]
    if not answering:
        yield _joined(spans, None)
        return
    if len(answering) == 1:
        yield _joined(spans, by_id[answering[0]])
        return
    # Spans around several answers are none themselves.
    for span_id in answering:
        yield _joined(groups[span_id], by_id[span_id])


def _around(span: Span, by_id: Mapping[str, Span]) -> Iterator[Span]:
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
    return _has_output(attributes) or any(
        text_of(attributes.get(name), ASSISTANT) is not None for name in _MESSAGES
    )


def _has_output(attributes: Record) -> bool:
    return any(attributes.get(name) not in (None, "", []) for name in _OUTPUTS)


def _by_question(
    groups: Mapping[str, list[Span]], by_id: Mapping[str, Span]
) -> dict[str, list[Span]]:
    """Join calls of LLMs that answer the same question one after another: the last one counts."""
    questions: dict[str, str] = {}
    last_calls: dict[str, str] = {}
    for span_id in groups:
        if not span_id:
            continue  # spans around no answer
        question = _question_of_call(by_id[span_id].attributes)
        if question is None:
            continue
        questions[span_id] = question
        earlier = last_calls.get(question)
        if earlier is None or by_id[span_id].end >= by_id[earlier].end:
            last_calls[question] = span_id
    joined: dict[str, list[Span]] = {}
    for span_id, group in groups.items():
        last_call = last_calls[questions[span_id]] if span_id in questions else span_id
        joined.setdefault(last_call, []).extend(group)
    for group in joined.values():
        group.sort(key=lambda span: span.end)
    return joined


def _question_of_call(attributes: Record) -> str | None:
    """Return the question of a call whose only outputs are messages, or None."""
    if _has_output(attributes):
        return None
    for name in ("gen_ai.input.messages", PROMPT):
        question = text_of(attributes.get(name), USER)
        if question is not None:
            return question
    return None


def _joined(spans: list[Span], answer: Span | None) -> PlacedRecord:
    """Join spans; outer ones overrule inner ones, but the answering one says their kind."""
    record: Record = {}
    for span in spans:
        # Spans come in the order of their ends, so that outer ones overwrite inner ones.
        is_answer = _is_answer(span.attributes)
        for name, value in span.attributes.items():
            if name.startswith(SCORES) and not is_answer and name in record:
                continue  # a score of what was retrieved, say
            if name in DOCUMENTS and isinstance(value, list) and name in record:
                value = record[name] + value
            record[name] = value
    if answer is not None:
        for name in _NO_ANSWERS:
            record[name] = answer.attributes.get(name)
    for name in DOCUMENTS:
        if isinstance(record.get(name), list):
            record[name] = _distinct(record[name])
    for field in _SUMMED_FIELDS:
        for name in kinds()["opentelemetry"].fields[field]:
            amount = _sum_of(spans, name)
            if amount is not None:
                record[name] = amount
    record[SECONDS] = spans[-1].seconds
    record["status"] = spans[-1].status
    return spans[-1].place, record


def _sum_of(spans: list[Span], name: str) -> float | None:
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


def with_retrieved(records: Iterable[PlacedRecord]) -> Iterator[PlacedRecord]:
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
        outputs = list(filter(None, map(_retrieved, opened_list(record.get("observations")))))
        if not outputs:
            outputs = by_trace.get(str(record.get("traceId") or record.get("id")), [])
        if outputs:
            retrieved = outputs[0] if len(outputs) == 1 else outputs
            record = {"retrieved": retrieved, **record}
        yield place, record


def _retrieved(observation: object) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the output of an observation that retrieves, or None."""
    observation = opened_value(observation)
    if not isinstance(observation, Mapping) or observation.get("type") != "RETRIEVER":
        return None
    return opened_value(observation.get("output"))
