"""LMArena's battles that were published with both conversations, or with prompt and responses."""

import json

import pandas as pd
import pytest

from arena import DataError, UsageError, import_arena, write_arena

USER, MODEL = "user", "assistant"


def turns(*contents):
    roles = (USER, MODEL) * len(contents)
    return [{"role": role, "content": text} for role, text in zip(roles, contents, strict=False)]


CONVERSED = {
    "question_id": "q1",
    "model_a": "x",
    "model_b": "y",
    "winner": "model_b",
    "judge": "u1",
    "conversation_a": turns("Hi?", "x says", "Why?", "x adds"),
    "conversation_b": turns("Hi?", "y says", "Why?", "y adds"),
    "language": "English",
    "tstamp": 1,
}


def write(folder, *rows, name="battles.jsonl"):
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_turns_are_joined(tmp_path):
    failed = CONVERSED | {"question_id": "q2", "winner": None, "conversation_a": None}
    read = import_arena("lmarena", [write(tmp_path, CONVERSED, failed)])
    assert read.arena.queries["query"].tolist() == ["Hi?\n\nWhy?"]
    answers = dict(zip(read.arena.answers["system"], read.arena.answers["answer"], strict=True))
    assert answers == {"x": "x says\n\nx adds", "y": "y says\n\ny adds"}
    assert read.arena.info.note == ""
    assert set(read.skipped["reason"]) == {
        "'tstamp' is no column of this schema",
        "it has no winner",
    }
    write_arena(read.arena, tmp_path / "arena")


def test_prompts_with_one_column_a_winner(tmp_path):
    rows = [
        ("7", "x", "y", json.dumps(["Who?"]), json.dumps(["She"]), json.dumps([None]), 1, 0, 0),
        ("8", "x", "y", "[1] plain", "One", "Two", 0, 0, 1),
        ("9", "x", "y", "None", "a", "b", 0, 0, 0),
    ]
    columns = ["id", "model_a", "model_b", "prompt", "response_a", "response_b"]
    columns += ["winner_model_a", "winner_model_b", "winner_tie"]
    pd.DataFrame(rows, columns=columns).to_csv(tmp_path / "train.csv", index=False)
    read = import_arena("lmarena", [tmp_path / "train.csv"], language="en")
    assert read.arena.queries["query"].tolist() == ["Who?", "[1] plain"]
    assert read.arena.judgments["winner"].tolist() == ["a", "tie"]
    assert read.arena.answers["answer"].tolist() == ["She", "", "One", "Two"]
    assert read.skipped["reason"].tolist() == ["it has no winner"]


def test_several_files_are_read_together(tmp_path):
    other = CONVERSED | {"question_id": "q2", "model_a": "z"}
    write(tmp_path, CONVERSED, name="one.jsonl")
    write(tmp_path, other, name="two.jsonl")
    arena = import_arena("lmarena", [tmp_path], judge="crowd").arena
    assert arena.info.systems == ("x", "y", "z")
    assert set(arena.judgments["judge"]) == {"crowd"}
    assert len(arena.answers) == 4


@pytest.mark.parametrize(
    ("cell", "fault"),
    [
        ("[{", "holds a turn without a role and content"),
        (5, "is no list of turns"),
        ([{"role": USER}], "holds a turn without a role and content"),
        ([5], "holds a turn without a role and content"),
    ],
)
def test_what_is_no_conversation_is_told(tmp_path, cell, fault):
    path = write(tmp_path, CONVERSED, CONVERSED | {"question_id": "q2", "conversation_b": cell})
    with pytest.raises(DataError, match=rf"battles.jsonl:2: conversation_a = .*: {fault}; write"):
        import_arena("lmarena", [path])


def test_an_unknown_reading_of_two_bad_answers_is_refused(tmp_path):
    with pytest.raises(UsageError, match="unknown reading of two bad answers 'loss'; use one of"):
        import_arena("lmarena", [write(tmp_path, CONVERSED)], both_bad="loss")
