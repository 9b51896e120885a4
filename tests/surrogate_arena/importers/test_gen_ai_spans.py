"""Spans of OpenTelemetry's gen_ai conventions and of OpenLLMetry, and Phoenix's tables of spans."""

import json

import pandas as pd
import pytest
from table_files import write_table

from arena import UsageError, import_arena

QUESTION = "How deep is the lake?"
ANSWERS = {"large": "It is 40 m deep.", "small": "About 45 m."}
PASSAGES = ["The lake is 40 m deep.", "Pikes live in it."]


def value(content):
    if isinstance(content, bool):
        return {"boolValue": content}
    if isinstance(content, int):
        return {"intValue": str(content)}
    if isinstance(content, list):
        return {"arrayValue": {"values": [value(element) for element in content]}}
    if isinstance(content, dict):
        return {"kvlistValue": {"values": pairs(content)}}
    return {"stringValue": content}


def pairs(attributes):
    return [{"key": name, "value": value(content)} for name, content in attributes.items()]


def span(trace, number, attributes, parent="", events=()):
    return {
        "traceId": trace,
        "spanId": f"{trace}-{number}",
        "parentSpanId": parent and f"{trace}-{parent}",
        "endTimeUnixNano": str(10**18 + int(number)),
        "attributes": pairs(attributes),
        "events": [{"name": name, "attributes": pairs(values)} for name, values in events],
    }


def otlp(spans):
    resource = {"attributes": pairs({"service.name": "service"})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": spans}]}]}


def message(role, text):
    parts = [{"type": "reasoning", "content": "Hm."}, {"type": "text", "content": text}]
    return {"role": role, "parts": parts}


def asked(form, answer):
    """Return attributes and events of a call in one of the forms of the conventions."""
    if form == "indexed":
        return {
            "gen_ai.prompt.0.role": "system",
            "gen_ai.prompt.0.content": "Be brief.",
            "gen_ai.prompt.1.role": "user",
            "gen_ai.prompt.1.content": QUESTION,
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.content": answer,
        }, ()
    messages = ([message("user", QUESTION)], [message("assistant", answer)])
    names = ("gen_ai.input.messages", "gen_ai.output.messages")
    if form == "messages":
        return dict(zip(names, messages, strict=True)), ()
    if form == "messages as text":
        return dict(zip(names, map(json.dumps, messages), strict=True)), ()
    details = dict(zip(names, messages, strict=True))
    return {}, [("gen_ai.client.inference.operation.details", details)]


FORMS = ["indexed", "messages", "messages as text", "details"]


def answers(read):
    rows = read.arena.answers.to_dict(orient="records")
    return {row["system"]: row["answer"] for row in rows}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_conventions_is_read(tmp_path, form):
    spans = []
    for model, answer in ANSWERS.items():
        attributes, events = asked(form, answer)
        attributes |= {"gen_ai.request.model": model, "gen_ai.operation.name": "chat"}
        spans.append(span(model, "1", attributes, events=events))
    (tmp_path / "spans.json").write_text(json.dumps(otlp(spans)))
    read = import_arena("opentelemetry", [tmp_path])
    assert read.arena.queries["query"].tolist() == [QUESTION]
    assert answers(read) == ANSWERS


def test_a_workflow_around_calls_is_the_answer_with_what_was_found(tmp_path):
    spans = []
    for model, answer in ANSWERS.items():
        events = [("db.query.result", {"db.query.result.document": text}) for text in PASSAGES]
        call = {"gen_ai.request.model": model, "gen_ai.prompt.0.content": f"... {QUESTION}"}
        call |= {"gen_ai.prompt.0.role": "user", "gen_ai.completion.0.content": "draft"}
        outer = {"traceloop.span.kind": "workflow", "traceloop.entity.output": json.dumps(answer)}
        outer["traceloop.entity.input"] = json.dumps({"args": [QUESTION], "kwargs": {}})
        spans += [
            span(model, "1", {"db.system": "chroma"}, "3", events),
            span(model, "2", call, "3"),
        ]
        spans.append(span(model, "3", outer))
    (tmp_path / "spans.json").write_text(json.dumps(otlp(spans)))
    read = import_arena("opentelemetry", [tmp_path])
    assert read.arena.queries["query"].tolist() == [QUESTION]
    assert answers(read) == ANSWERS
    assert [passage["text"] for passage in read.arena.queries["passages"][0]] == PASSAGES


def test_calls_of_tools_are_no_answers(tmp_path):
    call = [{"role": "assistant", "parts": [{"type": "tool_call", "name": "search"}]}]
    asked_first, _ = asked("messages", "")
    first = asked_first | {"gen_ai.output.messages": json.dumps(call)}
    documents = {"openinference.span.kind": "RETRIEVER"}
    documents |= {"retrieval.documents.0.document.content": PASSAGES[0]}
    last, _ = asked("messages", "Deep.")
    spans = [
        span("t", "1", first | {"gen_ai.request.model": "large"}, "9"),
        span("t", "2", documents, "9"),
        span("t", "3", last | {"gen_ai.request.model": "large"}, "9"),
        span("t", "9", {"gen_ai.operation.name": "invoke_agent"}),
    ]
    (tmp_path / "spans.json").write_text(json.dumps(otlp(spans)))
    read = import_arena("opentelemetry", [tmp_path])
    assert answers(read) == {"large": "Deep."}
    assert [passage["text"] for passage in read.arena.queries["passages"][0]] == PASSAGES[:1]
    assert read.skipped.empty


def test_the_last_of_several_calls_for_a_question_is_the_answer(tmp_path):
    spans = [span("t", "9", {"gen_ai.operation.name": "invoke_agent"})]
    for number, text in ((2, "Deep."), (1, "I will think of it.")):
        attributes, _ = asked("messages", text)
        spans.append(span("t", number, attributes | {"gen_ai.request.model": "large"}, "9"))
    other, _ = asked("indexed", "Wide.")
    other |= {"gen_ai.prompt.1.content": "How wide?", "gen_ai.request.model": "large"}
    spans.append(span("t", "3", other, "9"))
    (tmp_path / "spans.json").write_text(json.dumps(otlp(spans)))
    read = import_arena("opentelemetry", [tmp_path])
    assert sorted(read.arena.answers["answer"]) == ["Deep.", "Wide."]


def test_embeddings_are_left_out(tmp_path):
    attributes, _ = asked("indexed", "Yes.")
    spans = [span("a", "1", attributes | {"gen_ai.request.model": "large"})]
    spans.append(span("b", "1", {"gen_ai.operation.name": "embeddings"}))
    (tmp_path / "spans.json").write_text(json.dumps(otlp(spans)))
    read = import_arena("opentelemetry", [tmp_path])
    assert read.skipped["reason"].tolist() == ["it retrieves or embeds, and answers nothing"]


def phoenix_rows():
    rows = []
    for model, answer in ANSWERS.items():
        documents = [
            {"document.content": text, "document.id": f"d{number}", "document.score": 0.5}
            for number, text in enumerate(PASSAGES)
        ]
        root = {"input.value": QUESTION, "output.value": answer, "metadata": {"system": model}}
        parts = [
            ("1", "r", "RETRIEVER", {"input.value": QUESTION, "retrieval.documents": documents}),
            ("2", "r", "LLM", {"input.value": "prompt", "output.value": "draft"}),
            ("r", None, "CHAIN", root),
        ]
        for second, (name, parent, kind, attributes) in enumerate(parts):
            rows.append(
                {
                    "context.trace_id": model,
                    "context.span_id": f"{model}-{name}",
                    "parent_id": parent and f"{model}-{parent}",
                    "name": kind.lower(),
                    "span_kind": kind,
                    "status_code": "OK",
                    "end_time": pd.Timestamp("2026-01-01T00:00:00Z") + pd.Timedelta(seconds=second),
                    **{f"attributes.{key}": attribute for key, attribute in attributes.items()},
                }
            )
    return pd.DataFrame(rows)


@pytest.mark.parametrize("kind", ["phoenix", "opentelemetry"])
@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_tables_of_phoenix_are_joined_by_trace(tmp_path, kind, ending):
    table, path = phoenix_rows(), tmp_path / f"spans.{ending}"
    if ending == "csv":
        table.to_csv(path)  # lists and records as Python prints them
    elif ending == "parquet":
        table.to_parquet(path)
    else:
        table.to_json(path, orient="records", lines=True, date_format="iso")
    read = import_arena(kind, [path])
    assert read.arena.queries["query"].tolist() == [QUESTION]
    assert answers(read) == ANSWERS
    passages = read.arena.queries["passages"][0]
    assert [(passage["passage_id"], passage["text"]) for passage in passages] == [
        *(("d0", PASSAGES[0]), ("d1", PASSAGES[1]))
    ]


def test_evaluations_of_phoenix_are_judges(tmp_path):
    table = phoenix_rows()
    scores = {"large-r": 0.0, "small-r": 1.0}
    table["eval.Hallucination.score"] = table["context.span_id"].map(scores)
    table["eval.Hallucination.label"] = "factual"
    table.to_parquet(tmp_path / "spans.parquet")
    read = import_arena("phoenix", [tmp_path])
    assert read.arena.judges == ("Hallucination",)
    row = read.arena.judgments.iloc[0]
    assert row[f"system_{row['winner']}"] == "large"  # a hallucination is 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("order", "ending"),
    [([0, 1, 2], "csv"), ([2, 1, 0], "csv"), ([1, 2, 0], "parquet"), ([1, 2, 0], "jsonl")],
)
def test_tables_of_phoenix_without_times_are_read_by_what_is_within_what(tmp_path, order, ending):
    rows = [row for first in (0, 3) for row in (phoenix_rows().iloc[first + n] for n in order)]
    table = pd.DataFrame(rows).drop(columns="end_time").reset_index(drop=True)
    scores = {"large-r": 0.0, "small-r": 1.0, "large-1": 1.0, "small-1": 0.0}
    table["eval.Hallucination.score"] = table["context.span_id"].map(scores)
    path = tmp_path / f"spans.{ending}"
    write_table(table, path)
    read = import_arena("phoenix", [path])
    assert answers(read) == ANSWERS
    row = read.arena.judgments.iloc[0]
    assert row[f"system_{row['winner']}"] == "large"


def test_spans_of_phoenix_api_are_read(tmp_path):
    root = {"input": {"value": QUESTION}, "output": {"value": "Yes."}}
    spans = [
        {
            "name": name,
            "context": {"trace_id": "t", "span_id": name},
            "parent_id": parent,
            "span_kind": kind,
            "end_time": f"2026-01-01T00:00:0{second}Z",
            "attributes": attributes,
        }
        for second, (name, parent, kind, attributes) in enumerate(
            [
                ("r", "root", "RETRIEVER", {"retrieval.documents.0.document.content": PASSAGES[0]}),
                ("root", None, "CHAIN", root),
            ]
        )
    ]
    (tmp_path / "spans.json").write_text(json.dumps({"data": spans}))
    read = import_arena("phoenix", [tmp_path])
    assert read.arena.answers["answer"].tolist() == ["Yes."]
    assert read.arena.info.systems == ("spans",)
    assert [passage["text"] for passage in read.arena.queries["passages"][0]] == PASSAGES[:1]


def test_spans_without_an_answer_are_said(tmp_path):
    (tmp_path / "spans.json").write_text(json.dumps(otlp([span("a", "1", {"x": "y"})])))
    with pytest.raises(UsageError, match="question or answer"):
        import_arena("opentelemetry", [tmp_path])
