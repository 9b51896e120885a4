"""Whatever a file of others holds: it is read, or refused with its place; nothing else happens."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena import import_arena, read_arena
from arena.data.errors import ArenaError
from surrogate_arena.importers import write_import
from surrogate_arena.papers import read_memerag_answers, read_mirage

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(["en", "A", "tie", "model_a", "\ud800", "[", '["x"]', "\x00"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                [
                    *("text", "role", "content", "model", "output", "docid", "sentence"),
                    *("question", "answer", "messages", "contexts", "value", "id"),
                ]
            )
            | st.text(max_size=4),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=8,
)
SCHEMAS = {
    "lmarena": (
        *("model_a", "model_b", "winner", "question_id", "language", "judge"),
        *("conversation_a", "conversation_b"),
    ),
    read_memerag_answers: ("query_id", "query", "context", "answer"),
    "csv": (
        "question",
        "system",
        "answer",
        "verdict",
        "judge",
        "passages",
        "reference",
        "query_id",
    ),
    "promptfoo": ("vars", "provider", "response", "score", "namedScores", "promptIdx", "error"),
    "inspect": ("input", "eval", "output", "target", "scores", "metadata", "id", "error"),
    "langfuse": ("input", "output", "metadata", "name", "scores", "level", "quality"),
    "langsmith": ("inputs", "outputs", "name", "feedback_stats", "extra", "parent_run_id"),
    "opentelemetry": ("resourceSpans", "scopeSpans", "spans", "resource", "attributes", "traceId"),
    "miracl": ("docid", "title", "text"),
    read_mirage: ("query_id", "prompt", "positive_ids", "negative_ids"),
}


def test_ids_that_are_no_unicode_text_are_refused(tmp_path):
    path = tmp_path / "en.jsonl"
    path.write_text(json.dumps({"id": "\ud800"}), encoding="utf-8")
    with pytest.raises(ArenaError):
        import_arena("inspect", [tmp_path])


@pytest.mark.parametrize("kind", SCHEMAS)
@given(data=st.data())
@settings(
    max_examples=10,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_any_rows_are_read_or_refused(kind, data, tmp_path):
    row = st.fixed_dictionaries({}, optional=dict.fromkeys(SCHEMAS[kind], VALUES))
    rows = data.draw(st.lists(row, max_size=3))
    path = tmp_path / "en.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    try:
        read = import_arena(kind, [tmp_path])
    except ArenaError:
        return
    write_import(read, tmp_path / "out" / "arena", is_replaced=True)
    again = read_arena(tmp_path / "out" / "arena")
    assert len(again.answers) == len(read.arena.answers)


def test_half_an_emoji_that_cut_an_answer_is_replaced_and_counted(tmp_path):
    path = tmp_path / "cut.jsonl"
    row = {"question": "Is it fixed?", "system": "a", "answer": "It is fixed \ud83d"}
    path.write_text(json.dumps(row), encoding="utf-8")
    read = import_arena("csv", [path])
    assert read.arena.answers["answer"].tolist() == ["It is fixed \ufffd"]
    assert read.skipped["item"].tolist() == ["half a surrogate pair"]
