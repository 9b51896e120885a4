"""MIRACL's topics, relevance files and corpus; evaluation sets made of them."""

import json

import pytest

from arena import DataError, UsageError, import_arena
from surrogate_arena.importers import read_corpus

TOPICS = "1#0\tWhere is Oslo?\n2#0\tWho was she?\n3#0\tUnjudged?\n"
QRELS = "1#0\tQ0\t5#1\t1\n1#0\tQ0\t5#2\t0\n2#0 Q0 6#0 1\n2#0\tQ0\t9#9\t0\n8#0\tQ0\t5#1\t1\n"
CORPUS = [
    {"docid": "5#1", "title": "Oslo", "text": "Oslo is in Norway."},
    {"docid": "5#2", "title": "Rome", "text": "Rome is in Italy."},
    {"docid": "6#0", "title": "", "text": "She was a queen."},
    {"docid": "7#0", "title": "Other", "text": "Nobody judged this."},
]


@pytest.fixture
def clone(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    write("topics/topics.miracl-v1.0-en-dev.tsv", TOPICS)
    write("qrels/qrels.miracl-v1.0-en-dev.tsv", QRELS)
    write("en/docs-0.jsonl", "".join(json.dumps(line) + "\n" for line in CORPUS))
    return tmp_path


def read(clone):
    return import_arena("miracl", [clone / "topics", clone / "qrels", clone / "en"])


def test_questions_with_their_judged_passages(clone):
    foreign = read(clone)
    assert foreign.arena.info.languages == ("en",)
    first, second = foreign.arena.queries.to_dict(orient="records")
    assert first["query"] == "Where is Oslo?"
    assert [(p["passage_id"], p["relevance"], p["title"]) for p in first["passages"]] == [
        ("5#1", 1, "Oslo"),
        ("5#2", 0, "Rome"),
    ]
    assert [p["text"] for p in second["passages"]] == ["She was a queen."]
    assert foreign.skipped[["item", "reason", "count"]].values.tolist() == [
        ["passage", "it is in no corpus file", 1],
        ["question", "its text is in no file of topics", 1],
        ["question", "it has no judged passage with a text", 1],
    ]


def test_a_whole_corpus(clone):
    corpus = read_corpus([clone / "en"])
    assert corpus["passage_id"].tolist() == ["5#1", "5#2", "6#0", "7#0"]
    assert set(corpus["language"]) == {"en"}
    assert read_corpus([clone / "en"], languages=["de"]).empty


def test_every_fault_names_file_and_line(clone):
    (clone / "topics" / "topics.miracl-v1.0-en-dev.tsv").write_bytes(
        b"1#0\tWhere?\nno tab\n1#0\tAgain?\n2#0\t \n"
    )
    (clone / "qrels" / "qrels.miracl-v1.0-en-dev.tsv").write_text(
        "1#0\tQ0\t5#1\t1\n1#0\tQ0\t5#1\t0\n1#0\tQ0\t5#2\t3\n1#0 Q0\n"
    )
    with (clone / "en" / "docs-0.jsonl").open("a") as stream:
        stream.write('{"docid": "5#1"}\n{"docid": "8#0"}\nno JSON\n')
    with pytest.raises(DataError) as caught:
        read(clone)
    problems = caught.value.problems
    assert [(problem.source[:4], problem.line, problem.field) for problem in problems] == [
        *[("topi", 2, None), ("topi", 3, "query_id"), ("topi", 4, "query")],
        *[("qrel", 2, "passage"), ("qrel", 3, "label"), ("qrel", 4, None)],
        *[("docs", 5, "text"), ("docs", 7, None)],
    ]


def test_what_cannot_be_read_is_told(clone, tmp_path):
    with pytest.raises(UsageError, match="no question has a judged passage with a text; add"):
        import_arena("miracl", [clone / "topics", clone / "qrels"])
    (tmp_path / "plain.tsv").write_text(TOPICS)
    with pytest.raises(UsageError, match=r"the language of .*plain\.tsv is not known"):
        import_arena("miracl", [tmp_path / "plain.tsv"])
