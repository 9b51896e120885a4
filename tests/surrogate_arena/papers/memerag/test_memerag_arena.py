"""MEMERAG's answers as an arena."""

import json

import pytest

from arena import DataError, UsageError, import_arena
from surrogate_arena.papers import read_memerag_answers

ROW = {
    "query_id": 34,
    "query": "Why?",
    "context": [{"text": "Because."}, {"text": "So."}],
    "answer": [
        {"sentence_id": 0, "sentence": "Because.", "factuality": "Supported"},
        {"sentence_id": 1, "sentence": "Truly.", "factuality": ["Supported", "Not Supported"]},
    ],
}


def write(path, *records):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_questions_passages_and_answers_of_one_system(tmp_path):
    write(tmp_path / "en.jsonl", ROW)
    write(tmp_path / "hi.jsonl", ROW | {"query_id": "x#1"})
    arena = import_arena(read_memerag_answers, [tmp_path]).arena
    assert arena.info.languages == ("en", "hi")
    assert arena.info.systems == ("memerag",)
    assert [item["text"] for item in arena.queries["passages"][0]] == ["Because.", "So."]
    assert arena.answers["answer"].tolist() == ["Because. Truly."] * 2


def test_faults_name_line_and_field(tmp_path):
    path = write(tmp_path / "en.jsonl", ROW, {**ROW, "query_id": "2", "context": []}, ROW)
    with pytest.raises(DataError) as caught:
        import_arena(read_memerag_answers, [path])
    assert [(problem.line, problem.field) for problem in caught.value.problems] == [
        *[(2, "context"), (3, "query_id")]
    ]
    unnamed = write(tmp_path / "somewhere" / "rows.jsonl", ROW)
    with pytest.raises(UsageError, match=r"rows\.jsonl holds no LANGUAGE\.jsonl"):
        import_arena(read_memerag_answers, [unnamed])
