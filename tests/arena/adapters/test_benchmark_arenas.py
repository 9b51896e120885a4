"""MEMERAG, WikiEval and GroUSE as arenas."""

import json

import pytest

from arena import DataError, UsageError, import_arena

MEMERAG = {
    "query_id": 34,
    "query": "Why?",
    "context": [{"text": "Because."}, {"text": "So."}],
    "answer": [
        {"sentence_id": 0, "sentence": "Because. ", "factuality": "Supported"},
        {"sentence_id": 1, "sentence": "Truly.", "factuality": ["Supported", "Not Supported"]},
    ],
}
WIKIEVAL = {
    "question": "Who?",
    "source": "https://en.wikipedia.org/wiki/X",
    "context_v1": ["She was."],
    "context_v2": ["She was.", "And more."],
    "answer": "She, it says.",
    "ungrounded_answer": "He.",
    "poor_answer": "She.",
}
GROUSE = {
    "input": "Where?",
    "actual_output": "Here [1]",
    "expected_output": "Here, it says [1]",
    "references": ["It is here.", "It is there."],
    "conditions": {"faithfulness_condition": "==1"},
    "metadata": {"test_type": 3},
}


def write(path, *records):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_memerag(tmp_path):
    write(tmp_path / "en.jsonl", MEMERAG)
    write(tmp_path / "hi.jsonl", MEMERAG | {"query_id": "x#1"})
    read = import_arena("memerag", [tmp_path])
    assert read.arena.info.languages == ("en", "hi")
    assert read.arena.info.systems == ("memerag",)
    query = read.arena.queries.iloc[0]
    assert [item["text"] for item in query["passages"]] == ["Because.", "So."]
    assert read.arena.answers["answer"].tolist() == ["Because. Truly."] * 2
    assert read.skipped["count"].sum() == 4
    write(tmp_path / "ext" / "en.jsonl", MEMERAG)
    with pytest.raises(DataError, match="query_id = '34': stands in the files before; give one"):
        import_arena("memerag", [tmp_path])
    unnamed = write(tmp_path / "somewhere" / "rows.jsonl", MEMERAG)
    with pytest.raises(UsageError, match=r"the language of .*rows\.jsonl is not known"):
        import_arena("memerag", [unnamed])


@pytest.mark.parametrize("column", ["answer", "grounded_answer"])
def test_wikieval(tmp_path, column):
    row = {column if name == "answer" else name: value for name, value in WIKIEVAL.items()}
    read = import_arena("wikieval", [write(tmp_path / "train.jsonl", row)])
    arena = read.arena
    assert arena.info.systems == ("grounded", "poor", "ungrounded")
    assert arena.info.reference_system == "grounded"
    assert arena.queries["passages"][0][0]["text"] == "She was."
    assert len(arena.queries["passages"][0]) == 1
    won = {}
    for row in arena.judgments.itertuples():
        better, worse = row.system_a, row.system_b
        won[row.judge] = (better, worse) if row.winner == "a" else (worse, better)
    assert won == {
        "faithfulness": ("grounded", "ungrounded"),
        "answer_relevance": ("grounded", "poor"),
    }
    assert len(read.skipped) == 2


def test_grouse(tmp_path):
    other = GROUSE | {"metadata": {"test_type": "lost"}, "actual_output": ""}
    elsewhere = GROUSE | {"references": ["It is nowhere."], "metadata": None}
    path = write(tmp_path / "tests.jsonl", GROUSE, other, elsewhere)
    read = import_arena("grouse", [path])
    assert len(read.arena.queries) == 2
    assert read.arena.info.systems == ("3", "expected", "lost", "untyped")
    assert read.arena.info.reference_system == "expected"
    assert len(read.arena.answers) == 5
    assert read.arena.judgments.empty
    assert read.skipped[["item", "count"]].values.tolist() == [["conditions", 3]]
    with pytest.raises(DataError, match=r"metadata.test_type = '3': is the type of another test"):
        import_arena("grouse", [write(tmp_path / "tests.jsonl", GROUSE, GROUSE)])


@pytest.mark.parametrize(
    ("kind", "record", "message"),
    [
        ("memerag", {**MEMERAG, "context": []}, "context = .*: List should have at least 1 item"),
        ("wikieval", {**WIKIEVAL, "poor_answer": None}, "poor_answer = None"),
        ("grouse", {**GROUSE, "references": "one"}, "references = 'one': Input should be a valid"),
        ("grouse", {**GROUSE, "metadata": {"language": "English"}}, "metadata.language = 'Engl"),
    ],
)
def test_faults_name_line_and_field(tmp_path, kind, record, message):
    path = write(tmp_path / "en.jsonl", record)
    with pytest.raises(DataError, match=f"en.jsonl:1: {message}"):
        import_arena(kind, [path])
