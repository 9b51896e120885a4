"""Spans of traces, joined to one record per answer.

Attributes are those of OpenInference, of OpenTelemetry's conventions for generative AI
(``gen_ai.*``), and of OpenLLMetry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from math import fsum
from typing import Any

from arena.data.types import Record
from surrogate_arena.importers.collected import PlacedRecord
from surrogate_arena.importers.conversations import last_exchange
from surrogate_arena.importers.opened import opened_value
from surrogate_arena.importers.span_files import (
    COMPLETION,
    DOCUMENTS,
    EVALUATED,
    KIND,
    PROMPT,
    RETRIEVED,
    Span,
    has_spans,
    spans_of_record,
)
from surrogate_arena.importers.values import number_of

_OUTPUTS = ("output.value", "traceloop.entity.output")
"""Attributes of a span that answers, whatever they hold."""
_MESSAGES = ("gen_ai.output.messages", COMPLETION)
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
    KIND: ("RETRIEVER", "EMBEDDING", "RERANKER", "TOOL", "GUARDRAIL", "EVALUATOR"),
    "gen_ai.operation.name": ("embeddings", "execute_tool", "retrieval"),
    "traceloop.span.kind": ("tool",),
}
"""Attributes to the values of spans that do not answer."""
_EVALUATION = "gen_ai.evaluation.result"
_EVALUATIONS = "evaluations"
_SECONDS = "span.seconds"


def joined_spans(records: Iterable[PlacedRecord]) -> Iterator[PlacedRecord]:
    """Yield a record for each span that answers and is within no other that does.

    It holds the attributes of that span and its resource, and what these lack of inner spans (of
    the whole trace, if it has one answer); documents as lists, those of several retrievers joined;
    ``evaluations``; sums of costs and tokens; ``span.seconds`` and ``status``. Records are exports
    (``resourceSpans``, ``scopeSpans``, ``spans``), rows of a table of spans, or anything else,
    which is yielded as it is.
    """
    traces: dict[str, list[Span]] = {}
    for place, record in records:
        if not has_spans(record):
            yield place, record
            continue
        for span in spans_of_record(place, record):
            traces.setdefault(span.trace_id, []).append(span)
    for spans in traces.values():
        yield from _answers_of_trace(spans)


# Events

_RESULT_EVENTS = ("db.query.result", "db.search.result")


def _read_events(span: Span) -> None:
    lists: dict[str, list[Record]] = {}
    for event in span.events:
        name = str(event["name"])
        if name == "gen_ai.client.inference.operation.details":
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
            lists.setdefault(RETRIEVED, []).extend(documents)
    for attribute, items in lists.items():
        span.attributes.setdefault(attribute, items)


# Answers of traces


def _answers_of_trace(spans: list[Span]) -> Iterator[PlacedRecord]:
    for span in spans:
        _read_events(span)
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
    if len(answering) <= 1:
        yield _joined(spans, by_id[answering[0]] if answering else None)
        return
    # Spans around several answers are none themselves.
    for span_id in answering:
        yield _joined(groups[span_id], by_id[span_id])


def _around(span: Span, by_id: Mapping[str, Span]) -> Iterator[Span]:
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
    groups: Mapping[str, list[Span]], by_id: Mapping[str, Span]
) -> dict[str, list[Span]]:
    """Join successive calls of LLMs that answer the same question: the last one counts."""
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
    joined: dict[str, list[Span]] = {}
    for span_id, group in groups.items():
        last_call = last_calls[questions[span_id]] if span_id in questions else span_id
        joined.setdefault(last_call, []).extend(group)
    for group in joined.values():
        group.sort(key=lambda span: span.end)
    return joined


def _question_of_call(attributes: Record) -> str:
    """Return the question of a call that outputs only messages, if any."""
    if _has_output(attributes):
        return ""
    names = ("gen_ai.input.messages", PROMPT)
    return next(filter(None, (last_exchange(attributes.get(n)).question for n in names)), "")


def _joined(spans: list[Span], answer: Span | None) -> PlacedRecord:
    """Join spans; outer ones overrule inner ones, but the answering one tells their kind."""
    record: Record = {}
    for span in spans:
        # Spans come in the order of their ends, so that outer ones overwrite inner ones.
        is_answer = _is_answer(span.attributes)
        for name, value in span.attributes.items():
            if name.startswith(EVALUATED) and not is_answer and name in record:
                continue  # a score of what was retrieved, say
            if name in (*DOCUMENTS, _EVALUATIONS) and isinstance(value, list) and name in record:
                value = record[name] + value
            record[name] = value
    if answer is not None:
        for name in _NO_ANSWERS:
            record[name] = answer.attributes.get(name)
    for name in DOCUMENTS:
        if isinstance(record.get(name), list):
            record[name] = _distinct(record[name])
    for name in _AMOUNTS:
        amount = _sum_of(spans, name)
        if amount is not None:
            record[name] = amount
    record[_SECONDS] = spans[-1].seconds
    record["status"] = spans[-1].status
    return spans[-1].place, opened_value(record)


def _sum_of(spans: list[Span], name: str) -> float | None:
    """Sum an amount over the innermost spans that state it; outer ones repeat it."""
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
    by_text: dict[str, Any] = {}
    for document in documents:
        text = document.get("content", document) if isinstance(document, Mapping) else document
        by_text.setdefault(str(text), document)
    return list(by_text.values())
