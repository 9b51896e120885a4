"""Spans as OpenTelemetry exports them, with the attributes of OpenInference."""

import json

import pytest

from arena import DataError, UsageError, import_arena


def span(number, parent, kind, trace="t", status=0, **attributes):
    """Return a span; later numbers end later."""
    named = {name.replace("__", "."): value for name, value in attributes.items()}
    attributes = {"openinference.span.kind": kind, **named}
    end = 1_700_000_000_000_000_000 + number
    return {"trace": trace, "id": number, "parent": parent, "end": end, "status": status} | {
        "attributes": attributes
    }


def documents(*texts, kind="retrieval__documents"):
    attributes = {}
    for number, text in enumerate(texts):
        attributes[f"{kind}__{number}__document__content"] = text
        attributes[f"{kind}__{number}__document__id"] = f"d-{text}"
        attributes[f"{kind}__{number}__document__metadata"] = json.dumps({"title": text.upper()})
    return attributes


def rag(number, question, answer, trace="t", parent=None, **more):
    """Return the spans of one answer, as they end."""
    prompt = json.dumps({"query": question, "k": 2})
    root = number + 3
    return [
        span(number, root, "RETRIEVER", trace, output__value="[]", **documents("one", "two")),
        span(number + 1, root, "RETRIEVER", trace, **documents("two", "three")),
        span(number + 2, root, "LLM", trace, input__value="prompt", output__value="{raw}"),
        span(root, parent, "CHAIN", trace, input__value=prompt, output__value=answer, **more),
    ]


def otlp(spans, service="mine"):
    def value(content):
        return {"intValue": str(content)} if isinstance(content, int) else {"stringValue": content}

    def listed(attributes):
        return [{"key": name, "value": value(content)} for name, content in attributes.items()]

    written = [
        {
            "traceId": entry["trace"],
            "spanId": str(entry["id"]),
            **({"parentSpanId": str(entry["parent"])} if entry["parent"] is not None else {}),
            "name": "run",
            "endTimeUnixNano": str(entry["end"]),
            "status": {"code": entry["status"]} if entry["status"] else {},
            "attributes": listed(entry["attributes"]),
        }
        for entry in spans
    ]
    resource = {"attributes": listed({"service.name": service})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": written}]}]}


SPANS = [
    *rag(0, "Where is Oslo?", "In Norway.", "t1"),
    *rag(10, "Where is Bern?", "In Switzerland.", "t2"),
    *rag(20, "Where is Rome?", "", "t3", status=2),
    span(30, None, "EMBEDDING", "t4", input__value="x"),
]


@pytest.mark.parametrize("is_one_file", [True, False])
def test_spans_become_answers_with_what_was_retrieved(tmp_path, is_one_file):
    if is_one_file:
        (tmp_path / "spans.json").write_text(json.dumps(otlp(SPANS)))
    else:  # an export a line, and a trace in two of them
        lines = (json.dumps(otlp(part)) for part in (SPANS[3:], SPANS[:3]))
        (tmp_path / "spans.jsonl").write_text("\n".join(lines))
    read = import_arena("opentelemetry", [tmp_path])
    assert dict(zip(read.arena.queries["query"], read.arena.answers["answer"], strict=True)) == {
        "Where is Oslo?": "In Norway.",
        "Where is Bern?": "In Switzerland.",
    }
    assert read.arena.info.systems == ("mine",)
    for passages in read.arena.queries["passages"]:
        assert [(passage["passage_id"], passage["text"]) for passage in passages] == [
            *(("d-one", "one"), ("d-two", "two"), ("d-three", "three")),
        ]
        assert [passage["title"] for passage in passages] == ["ONE", "TWO", "THREE"]
    assert dict(zip(read.skipped["reason"], read.skipped["count"], strict=True)) == {
        "its call failed": 1,
        "it retrieves or embeds, and answers nothing": 1,
    }


def test_the_last_reranker_has_the_last_word(tmp_path):
    spans = rag(0, "Why?", "So.")
    kind = "reranker__output_documents"
    spans.insert(2, span(1, 3, "RERANKER", "t", **documents("three", kind=kind)))
    (tmp_path / "a.json").write_text(json.dumps(otlp(spans)))
    read = import_arena("opentelemetry", [tmp_path])
    assert [passage["text"] for passage in read.arena.queries["passages"][0]] == ["three"]


def test_several_answers_in_one_trace_stay_apart(tmp_path):
    outer = span(99, None, "CHAIN")
    spans = [*rag(0, "One?", "1", parent=99), *rag(10, "Two?", "2", parent=99), outer]
    (tmp_path / "a.json").write_text(json.dumps(otlp(spans)))
    read = import_arena("opentelemetry", [tmp_path])
    assert sorted(read.arena.answers["answer"]) == ["1", "2"]
    assert set(read.arena.queries["query"]) == {"One?", "Two?"}


def test_fields_of_inner_spans_can_be_named(tmp_path):
    spans = rag(0, "Why?", '{"replies": ["<Message>"]}')
    spans[2]["attributes"]["llm.output_messages.0.message.content"] = "So."
    (tmp_path / "a.json").write_text(json.dumps(otlp(spans)))
    columns = {"answer": "llm.output_messages.0.message.content"}
    read = import_arena("opentelemetry", [tmp_path], columns=columns)
    assert list(read.arena.answers["answer"]) == ["So."]


@pytest.mark.parametrize("export", [{"resourceSpans": []}, [], {"spans": [{"a": 1}]}])
def test_an_export_without_an_answer_is_said(tmp_path, export):
    (tmp_path / "a.json").write_text(json.dumps(export))
    with pytest.raises((DataError, UsageError)):
        import_arena("opentelemetry", [tmp_path])
