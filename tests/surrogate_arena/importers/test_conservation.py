"""Every record that is read becomes something, or is counted as left out with a reason."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena import DataError, UsageError, import_arena
from surrogate_arena.importers import READERS
from surrogate_arena.importers.collected import OUTCOMES

TEXTS = st.sampled_from(["Why?", "How deep is the lake?", "It is 40 m deep.", "", "a", "b", "tie"])
CELLS = st.one_of(
    TEXTS, st.none(), st.sampled_from([0, 1, 0.5, True, [], ["So."], {"text": "So."}])
)
COLUMNS = {
    "csv": ("question", "system", "answer", "f1", "judge", "verdict"),
    "lmarena": ("model_a", "model_b", "winner", "question"),
    "promptfoo": ("vars", "provider", "response", "score"),
    "inspect": ("id", "input", "target", "output", "scores", "error"),
    "langfuse": ("id", "traceId", "type", "input", "output", "release", "scores", "level"),
    "langsmith": ("id", "parent_run_id", "inputs", "outputs", "session_name", "feedback"),
    "deepeval": ("input", "actualOutput", "metricsData", "turns"),
    "ragchecker": ("query_id", "query", "response", "system", "metrics"),
    "mtrag": ("task_id", "input", "predictions", "model_id"),
    "trec-rag": ("topic_id", "topic", "answer", "run_id", "measure", "value", "grade"),
    "opentelemetry": ("traceId", "spanId", "parentSpanId", "attributes"),
    "phoenix": ("context.trace_id", "attributes.input.value", "attributes.output.value"),
}
HOLDERS = ("vars", "response", "inputs", "outputs", "output", "attributes")


def rows_of(kind):
    cells = {}
    for name in COLUMNS[kind]:
        cells[name] = CELLS
        if name in HOLDERS:
            names = ("question", "answer", "output", "completion", "input.value", "output.value")
            cells[name] = st.one_of(CELLS, st.fixed_dictionaries(dict.fromkeys(names, TEXTS)))
    return st.lists(st.fixed_dictionaries(cells), min_size=1, max_size=8)


@pytest.mark.parametrize("kind", sorted(COLUMNS))
@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_records_in_are_what_they_became_and_what_was_left_out(kind, tmp_path, data):
    rows = data.draw(rows_of(kind))
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    try:
        read = import_arena(kind, [path], language="en")
    except (DataError, UsageError):
        return
    tally = dict(read.tally)
    assert tally.pop("records") == len(rows)
    assert tally.keys() <= set(OUTCOMES)
    assert sum(tally.values()) == len(rows)
    assert read.skipped["count"].sum() >= tally.get("left out", 0)


def test_all_kinds_but_those_of_clones_are_drawn():
    assert {*COLUMNS, "miracl"} == set(READERS)


def test_a_kind_that_leaves_out_most_records_fails(tmp_path):
    rows = [{"id": str(n), "release": "v1", "input": f"{n}?", "output": "So."} for n in range(9)]
    for row in rows[4:]:
        row["level"] = "ERROR"
    path = tmp_path / "traces.json"
    path.write_text(json.dumps(rows))
    with pytest.raises(UsageError, match=r"5 of 9 records would be left out .*its call failed"):
        import_arena("langfuse", [path])


def test_most_answers_may_be_repetitions_if_the_user_says_so(tmp_path):
    rows = [{"id": str(n), "release": "v1", "input": "Why?", "output": f"{n}."} for n in range(9)]
    path = tmp_path / "traces.json"
    path.write_text(json.dumps(rows))
    with pytest.raises(DataError, match="--repeats first"):
        import_arena("langfuse", [path])
    read = import_arena("langfuse", [path], repeats="first")
    assert read.tally == {"records": 9, "answers": 1, "left out": 8}
    assert len(import_arena("langfuse", [path], repeats="each").arena.answers) == 9
