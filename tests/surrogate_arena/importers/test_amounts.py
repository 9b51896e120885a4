"""Costs, latencies and tokens that tables and tools state, as columns of an arena."""

import json
from pathlib import Path

import pytest

from arena import import_arena, read_answers

FILES = Path(__file__).parent / "files"
NANOSECONDS = 1_700_000_000_000_000_000


def amounts(arena):
    """Return cost, currency, latency and tokens of each system's first answer; None if absent."""
    columns = ["cost", "currency", "latency", "tokens"]
    first = arena.answers.drop_duplicates("system").set_index("system")
    table = first.reindex(columns=columns).astype(object)
    return table.where(table.notna(), None).T.to_dict("list")


def test_columns_of_tables_are_read_in_the_unit_that_their_names_state(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text(
        "question,system,answer,cost_usd,latency_ms,prompt_tokens,completion_tokens\n"
        "Why?,a,yes,0.002,1500,10,5\n"
        "Why?,b,no,,n/a,7,\n"
    )
    read = import_arena("csv", [path])
    assert amounts(read.arena) == {"a": [0.002, "USD", 1.5, 15.0], "b": [None, None, None, 7.0]}


def test_units_in_brackets_are_read_and_those_in_cells_are_counted(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text(
        "Question,System,Answer,Cost (USD),Latency [ms],Total Tokens\n"
        "Why?,a,yes,0.002,1500,15\n"
        "Why?,b,no,$0.01,2.5 s,7\n"
    )
    read = import_arena("csv", [path])
    assert amounts(read.arena) == {
        "a": [0.002, "USD", 1.5, 15.0],
        "b": [None, None, None, 7.0],
    }
    assert read.skipped.query("item == 'amount'")["count"].sum() == 2


def test_a_column_states_the_currency(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text(
        "question,system,answer,cost,currency,latency,tokens\n"
        'Why?,a,yes,"0,500",EUR,2,9\n'
        "Why?,b,no,1,,3,8\n"
    )
    read = import_arena("csv", [path])
    assert amounts(read.arena) == {"a": [0.5, "EUR", 2.0, 9.0], "b": [1.0, None, 3.0, 8.0]}


def test_what_is_no_amount_is_counted_and_left_out(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("question,system,answer,cost,latency\nWhy?,a,yes,-1,fast\nWhy?,b,no,0,2\n")
    read = import_arena("csv", [path])
    assert amounts(read.arena) == {"a": [None] * 4, "b": [0.0, None, 2.0, None]}
    assert read.skipped[["item", "reason", "count"]].to_numpy().tolist() == [
        ["amount", "'cost' is no number of 0 or more", 1],
        ["amount", "'latency' is no number of 0 or more", 1],
    ]


def test_amounts_that_an_arena_refuses_are_left_out_of_an_import(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text(
        "question,system,answer,cost,latency_ms,prompt_tokens,completion_tokens\n"
        "Why?,a,yes,1e300,1e-14,900000000,900000000\nWhy?,b,no,1,2000,1,1\n"
    )
    read = import_arena("csv", [path])
    assert amounts(read.arena) == {"a": [None] * 4, "b": [1.0, None, 2.0, 2.0]}
    assert read.skipped.query("item == 'amount'")["count"].sum() == 3


def test_a_new_systems_file_keeps_its_amounts(tmp_path):
    path = tmp_path / "old.csv"
    path.write_text("query_id,question,system,answer\n1,Why?,a,yes\n")
    arena = import_arena("csv", [path]).arena
    new = tmp_path / "new.jsonl"
    row = {"query_id": "1", "answer": "no", "cost_usd": 0.1, "latency_ms": 20, "tokens": 3}
    new.write_text(json.dumps(row))
    (answer,) = read_answers(new, arena.queries).to_dict("records")
    read = [answer[name] for name in ("system", "cost", "currency", "latency", "tokens")]
    assert read == ["new", 0.1, "USD", 0.02, 3.0]


@pytest.mark.parametrize(
    ("tool", "file", "expected"),
    [
        ("langfuse", "langfuse/traces.json", [None, None, 0.5, 15.0]),
        ("langfuse", "langfuse/traces.csv", [None, None, 0.5, 15.0]),
        ("promptfoo", "promptfoo/results.json", [0.0001, "USD", 0.012, 9.0]),
    ],
)
def test_exports_of_tools(tool, file, expected):
    read = amounts(import_arena(tool, [FILES / file]).arena)
    assert next(iter(read.values())) == pytest.approx(expected)


def test_a_path_of_amounts_may_be_named(tmp_path):
    path = tmp_path / "results.json"
    results = json.loads((FILES / "promptfoo/results.json").read_text())
    for row in results["results"]["results"]:
        row["bill"] = {"cents": 4}
    path.write_text(json.dumps(results))
    read = import_arena("promptfoo", [path], columns={"cost": "bill.cents"})
    assert next(iter(amounts(read.arena).values()))[:2] == [4.0, None]


def span(number, parent, seconds, **attributes):
    named = {name.replace("__", "."): value for name, value in attributes.items()}
    return {
        "traceId": "t",
        "spanId": str(number),
        "parentSpanId": str(parent),
        "startTimeUnixNano": str(NANOSECONDS),
        "endTimeUnixNano": str(NANOSECONDS + int(seconds * 10**9)),
        "attributes": [
            {"key": name, "value": {"doubleValue": value}}
            if isinstance(value, float)
            else {"key": name, "value": {"stringValue": value}}
            for name, value in named.items()
        ],
    }


def test_a_trace_costs_what_its_innermost_calls_cost_and_takes_as_long_as_the_outermost(tmp_path):
    spans = [
        span(1, 3, 0.5, openinference__span__kind="EMBEDDING", llm__cost__total=0.25),
        span(2, 3, 1.0, llm__cost__total=0.5, gen_ai__usage__input_tokens=10.0),
        # An agent repeats the sum of its calls.
        span(3, 4, 1.5, llm__cost__total=0.75, gen_ai__usage__input_tokens=10.0),
        span(4, "", 2.5, input__value="Why?", output__value="So.", llm__model_name="m"),
    ]
    spans[1]["attributes"].append({"key": "gen_ai.usage.output_tokens", "value": {"intValue": "4"}})
    path = tmp_path / "spans.json"
    path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}))
    read = import_arena("opentelemetry", [path])
    assert amounts(read.arena) == {"m": [0.75, "USD", 2.5, 14.0]}


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("2026-01-02T03:04:05+00:00", "2026-01-02T03:04:06.250000Z"),
        ("2026-01-02 03:04:05", "2026-01-02 03:04:06.250000"),
        (1_767_323_045_000, 1_767_323_046_250),
    ],
)
def test_rows_of_phoenix_state_times_in_any_form(tmp_path, start, end):
    row = {
        "context.trace_id": "t",
        "context.span_id": "s",
        "span_kind": "LLM",
        "start_time": start,
        "end_time": end,
        "attributes.input.value": "Why?",
        "attributes.output.value": "So.",
        "attributes.llm.model_name": "m",
        "attributes.llm.token_count.total": 8,
    }
    path = tmp_path / "spans.jsonl"
    path.write_text(json.dumps(row))
    assert amounts(import_arena("phoenix", [path]).arena) == {"m": [None, None, 1.25, 8.0]}
