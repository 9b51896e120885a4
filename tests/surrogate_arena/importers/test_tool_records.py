"""Records of other tools; the files were written by Inspect and LangSmith, or as the others do."""

import json
from pathlib import Path

import pandas as pd
import pytest

from arena import DataError, UsageError, import_arena

FILES = Path(__file__).with_name("files")


def answers(read):
    return read.arena.answers.set_index(["query_id", "system"])["answer"].to_dict()


def wins(read, judge):
    """Return the winner, or None for a tie, of each question that a judge has."""
    judged = read.arena.judgments
    rows = judged[judged["judge"] == judge].to_dict(orient="records")
    return {row["query_id"]: row.get(f"system_{row['winner']}") for row in rows}


def skipped(read):
    return dict(zip(read.skipped["reason"], read.skipped["count"], strict=True))


def test_inspect_logs():
    read = import_arena("inspect", [FILES / "inspect"], language="en", repeats="first")
    gpt, small = "openai/gpt-4o", "mistral/small"
    assert read.arena.info.systems == (gpt, small)
    questions = read.arena.queries.set_index("query_id")
    assert questions.loc["q2", "reference"] == "Switzerland"  # the first of two targets
    assert questions.loc["q2", "query"] == "Where is Bern?"  # the user's message, not the system's
    assert [passage["text"] for passage in questions.loc["q2", "passages"]] == [
        "Bern is in Switzerland.",
        "Bern lies on the Aare.",
    ]
    assert wins(read, "model_graded_fact") == {"q1": gpt, "q2": small}  # C over P, C over I
    assert wins(read, "f1") == {"q1": gpt, "q2": small}
    assert skipped(read) == {
        "it ended in an error": 1,
        "its system has answered the question before: the first answer is kept": 1,
    }
    assert "system from 'export.eval.model'" in read.arena.info.note


def test_promptfoo_results():
    read = import_arena("promptfoo", [FILES / "promptfoo/results.json"])
    assert read.arena.info.systems == ("openai:gpt-4o", "ollama:llama3")
    assert read.arena.judges == ("promptfoo", "right")
    assert set(wins(read, "right").values()) == {"openai:gpt-4o"}
    assert skipped(read) == {"its call failed": 1}
    assert sorted(answers(read).values()) == ["In Norway.", "In Switzerland", "Oslo"]
    assert sorted(read.arena.queries["reference"]) == ["Norway", "Switzerland"]
    assert "Oslo is the capital" in read.arena.queries["passages"].iloc[0][0]["text"]


@pytest.mark.parametrize("name", ["traces.json", "traces.csv"])
def test_langfuse_traces(name):
    read = import_arena("langfuse", [FILES / "langfuse" / name])
    assert read.arena.info.systems == ("base", "rerank")
    assert set(read.arena.queries["query"]) == {"Where is Oslo?", "Where is Bern?"}
    assert list(read.arena.answers["answer"]) == [
        "In Norway.",
        "I do not know.",
        "It is in Norway.",
        "In Switzerland.",
    ]
    assert sorted(wins(read, "correctness").values(), key=str) == [None, "rerank"]
    assert read.arena.queries["passages"].map(len).tolist() == [1, 2]
    assert skipped(read) == {"its call failed": 1}


def test_langsmith_runs():
    read = import_arena("langsmith", [FILES / "langsmith/runs.jsonl"])
    assert read.arena.info.systems == ("base", "rerank")
    assert sorted(wins(read, "correctness").values(), key=str) == [None, "rerank"]
    assert read.arena.queries["passages"].iloc[1][0]["title"] == "Cities"
    assert skipped(read) == {"its run failed": 1}


def test_langsmith_experiments_are_systems_by_their_files():
    paths = [FILES / "langsmith/base.jsonl", FILES / "langsmith/rerank.jsonl"]
    read = import_arena("langsmith", paths)
    assert read.arena.info.systems == ("base", "rerank")
    assert "system from 'file'" in read.arena.info.note
    assert "In Switzerland." in set(answers(read).values())
    assert "Norway" in set(read.arena.queries["reference"])
    assert sorted(wins(read, "correctness").values(), key=str) == [None, "rerank"]


def test_a_table_that_pandas_wrote_is_read_as_its_records(tmp_path):
    rows = pd.read_json(FILES / "langsmith/base.jsonl", lines=True)
    rows.to_csv(tmp_path / "base.csv", index=False)
    named = {"system": "file"}
    original = import_arena("langsmith", [FILES / "langsmith/base.jsonl"], columns=named)
    written = import_arena("langsmith", [tmp_path / "base.csv"], columns=named)
    for table in ("queries", "answers"):
        expected = getattr(original.arena, table)
        assert getattr(written.arena, table).equals(expected)


def test_paths_can_be_named():
    path = FILES / "langfuse/traces.json"
    chosen = {"columns": {"system": "environment"}, "scores": ["helpful"], "repeats": "first"}
    read = import_arena("langfuse", [path], **chosen)
    assert read.arena.info.systems == ("default",)
    assert skipped(read)["its system has answered the question before: the first answer is kept"]
    with pytest.raises(UsageError, match=r"no record has anything at 'input.title'"):
        import_arena("langfuse", [path], columns={"question": "input.title"})
    with pytest.raises(UsageError, match="unknown field of langfuse 'text'"):
        import_arena("langfuse", [path], columns={"text": "input"})
    with pytest.raises(UsageError, match="unknown score 'speed'; use one of correctness, helpful"):
        import_arena("langfuse", [path], scores=["speed"])


def test_what_is_no_record_is_said_with_what_to_export(tmp_path):
    wrong = tmp_path / "results.json"
    for text in ('{"prompts": []}', "[1]", "[]"):
        wrong.write_text(text)
        with pytest.raises((DataError, UsageError)):
            import_arena("promptfoo", [wrong])
    packed = tmp_path / "log.eval"
    packed.write_bytes(b"PK")
    with pytest.raises(UsageError, match=r"log.eval is none of .*inspect log convert --to json"):
        import_arena("inspect", [packed])


def read_second_output(tmp_path, output):
    rows = [{"vars": {"question": q}, "provider": "p"} for q in ("One?", "Two?")]
    rows[0]["response"], rows[1]["response"] = {"output": "One."}, {"output": output}
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return import_arena("promptfoo", [path])


@pytest.mark.parametrize("blank", ["", " \n"])
def test_a_blank_text_where_answers_stand_is_an_empty_answer(tmp_path, blank):
    read = read_second_output(tmp_path, blank)
    assert list(read.arena.answers["answer"]) == ["One.", ""]
    assert "it has no text at 'response.output', for the answer" not in skipped(read)


@pytest.mark.parametrize(
    "empty",
    [
        *({}, {"a": "", "b": []}, {"messages": []}, {"said": "One.", "sources": []}),
        {"choices": [{"message": {"role": "assistant", "content": None}, "index": 0}]},
    ],
)
def test_what_holds_no_text_is_a_missing_answer(tmp_path, empty):
    read = read_second_output(tmp_path, empty)
    assert list(read.arena.answers["answer"]) == ["One."]
    assert skipped(read)["it has no text at 'response.output', for the answer"] == 1


@pytest.mark.parametrize(
    "right",
    [
        {"role": "assistant", "content": "Norway"},
        {"messages": [{"role": "user", "content": "?"}, {"type": "ai", "content": "Norway"}]},
        ["Norway", "Norge"],
    ],
)
def test_a_reference_may_be_what_an_assistant_says(tmp_path, right):
    row = {"inputs": {"question": "Oslo?"}, "outputs": {"answer": "x"}, "session_name": "s"}
    path = tmp_path / "runs.jsonl"
    path.write_text(json.dumps(row | {"reference_outputs": {"answer": right}}))
    read = import_arena("langsmith", [path])
    assert list(read.arena.queries["reference"]) == ["Norway"]


@pytest.mark.parametrize(("depth", "ending"), [(101, ".jsonl"), (10_000, ".json")])
def test_what_is_nested_too_deep_is_said_with_its_place(tmp_path, depth, ending):
    row = json.dumps({"id": 1, "input": "q", "output": "x", "name": "m"})
    deep = '{"messages": [' * (depth // 2) + "1" + "]}" * (depth // 2)
    rows = [row, row.replace('"q"', deep)]
    path = tmp_path / f"traces{ending}"
    path.write_text("\n".join(rows) if ending == ".jsonl" else f"[{','.join(rows)}]")
    with pytest.raises(DataError, match="nested deeper than 100 levels") as caught:
        import_arena("langfuse", [path])
    assert caught.value.problems[0].line == (2 if ending == ".jsonl" else None)
