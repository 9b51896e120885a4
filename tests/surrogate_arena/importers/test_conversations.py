"""Conversations as tables and multi-turn RAG sets hold them."""

import json

import pytest

from arena import DataError, import_arena


def turns(*contents):
    roles = ("user", "assistant") * len(contents)
    return [{"role": role, "content": text} for role, text in zip(roles, contents, strict=False)]


def write(folder, files):
    for name, rows in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


def test_turns_before_a_question_in_a_table(tmp_path):
    row = {"question": "Why?", "system": "x", "answer": "So.", "history": turns("Hi?", "Hello.")}
    other = row | {"history": turns("Who?", "She.")}
    rows = [row, row | {"system": "y"}, other, other | {"history": None}]
    path = write(tmp_path, {"answers.jsonl": rows}) / "answers.jsonl"
    arena = import_arena("csv", [path]).arena
    assert arena.queries["history"].tolist() == [
        turns("Hi?", "Hello."),
        turns("Who?", "She."),
        None,
    ]
    assert arena.queries["query_id"].nunique() == 3
    assert "history" not in arena.answers
    write(tmp_path, {"answers.jsonl": [row, row | {"system": "y", "history": turns("Hi?")}]})
    with pytest.raises(DataError, match="ends with the user's turn") as caught:
        import_arena("csv", [path])
    assert [(problem.line, problem.field) for problem in caught.value.problems] == [(2, "history")]


def test_a_set_of_conversations_keeps_turns_and_the_passages_of_each(tmp_path):
    spoken = [
        {"speaker": "user", "text": "Who won?"},
        {"speaker": "agent", "text": "The Cardinals."},
        {"speaker": "user", "text": "When?"},
    ]
    tasks = [
        {
            "task_id": f"c::{n}",
            "input": spoken[: 2 * n - 1],
            "predictions": [{"text": f"reply {n}"}],
        }
        | {"contexts": [{"document_id": f"d{n}", "text": f"Passage {n}.", "title": "T"}]}
        | {"targets": [{"speaker": "agent", "text": f"target {n}"}], "model_id": "m"}
        for n in (1, 2)
    ]
    arena = import_arena("mtrag", [write(tmp_path, {"m.jsonl": tasks})]).arena
    first, second = arena.queries.to_dict("records")
    assert (first["query"], second["query"]) == ("Who won?", "When?")
    assert first["history"] is None
    assert second["history"] == turns("Who won?", "The Cardinals.")
    assert [passage["passage_id"] for passage in second["passages"]] == ["d2"]
    assert second["reference"] == "target 2"
    assert arena.answers["answer"].tolist() == ["reply 1", "reply 2"]


def test_an_empty_cell_of_a_battle_is_an_empty_answer(tmp_path):
    path = tmp_path / "battles.csv"
    path.write_text("question,system_a,system_b,response_a,response_b,winner\nWhy?,x,y,So.,,x\n")
    arena = import_arena("lmarena", [path]).arena
    texts = dict(zip(arena.answers["system"], arena.answers["answer"], strict=True))
    assert texts == {"x": "So.", "y": ""}
