"""The recipe for a source of one's own, as CONTRIBUTING has it: a reader, or a map."""

import json
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

from arena import DataError, UsageError, read_arena
from surrogate_arena import importers
from surrogate_arena.importers import READERS, ForeignArena, import_arena, imports, read_tables

COLUMNS = {"query_id": "number", "system": "team", "answer": "reply"}


def read_quiz(paths: Sequence[Path | str], *, language: str = "en") -> ForeignArena:
    """Read the replies of a quiz, of which the one with more points wins."""
    tables = {str(path): pd.read_json(path, lines=True) for path in paths}
    return read_tables(tables, columns=COLUMNS, scores=["points"], language=language)


@pytest.fixture
def quiz(tmp_path):
    rows = [
        {"number": "1", "question": "Where?", "team": "red", "reply": "Paris", "points": 2},
        {"number": "1", "question": "Where?", "team": "blue", "reply": "Oslo", "points": 1},
        {"number": "2", "question": "Why?", "team": "red", "reply": "<p>&nbsp;</p>", "points": 0},
        {"number": "2", "question": "Why?", "team": "blue", "reply": "Thus.", "points": 1},
    ]
    path = tmp_path / "quiz.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_registered_reader_is_a_kind_of_import(run, quiz, tmp_path, monkeypatch, capsys):
    readers = {**READERS, "quiz": read_quiz}
    monkeypatch.setattr(imports, "READERS", readers)
    monkeypatch.setattr(importers, "READERS", readers)  # where it was found once, it stays
    out = tmp_path / "arena"
    assert run("import", "quiz", quiz, "--out", out, "--language", "de") == 0
    assert "1 answer is empty (red 1)" in capsys.readouterr().out
    arena = read_arena(out)
    assert arena.info.languages == ("de",)
    assert set(arena.answers["answer"]) == {"Paris", "Oslo", "<p>&nbsp;</p>", "Thus."}
    first, _ = arena.judgments.to_dict(orient="records")
    assert first["judge"] == "points"
    assert first["winner"] == ("a" if first["system_a"] == "red" else "b")
    assert run("import", "quiz", quiz, "--out", tmp_path / "b", "--judge", "me") == 2
    assert "judge" in capsys.readouterr().err  # no option of this reader


def test_faults_of_a_reader_of_ones_own_name_file_row_and_field(quiz):
    quiz.write_text(
        '{"number": "1", "question": "Where?", "team": "", "reply": "x", "points": 2}\n'
    )
    with pytest.raises(DataError, match=r"quiz.jsonl.* team .*is missing"):
        import_arena(read_quiz, [quiz])


MAP = """
title = "an export of the quiz app"
hint = "export replies as JSON"
records = ["replies"]
[fields]
question = "asked.text"
system = "team"
answer = "reply"
[scores]
named = { points = "points" }
"""


@pytest.fixture
def export(tmp_path):
    replies = [
        {"asked": {"text": "Where?"}, "team": "red", "reply": "Paris", "points": 2},
        {"asked": {"text": "Where?"}, "team": "blue", "reply": "Oslo", "points": 1},
    ]
    path = tmp_path / "export.json"
    path.write_text(json.dumps({"replies": replies}), encoding="utf-8")
    (tmp_path / "quiz-app.toml").write_text(MAP, encoding="utf-8")
    return path


def test_records_of_another_tool_need_a_map_alone(run, export, tmp_path):
    arguments = ("--map", tmp_path / "quiz-app.toml", export, "--out", tmp_path / "arena")
    assert run("import", *arguments) == 0
    arena = read_arena(tmp_path / "arena")
    assert arena.judgments["judge"].tolist() == ["points"]
    assert arena.info.systems == ("red", "blue")


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('answr = "reply"', "answr"),
        ('passages = "a[?"', "fields.passages"),
        ("[scored]", "scored"),
        ("[scores]\ncolumns = 3", "scores.columns"),
    ],
)
def test_a_fault_of_a_map_names_its_key(export, tmp_path, line, key):
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(MAP.partition("[scores]")[0] + line, encoding="utf-8")
    with pytest.raises(UsageError, match=key):
        import_arena(str(wrong), [export])
