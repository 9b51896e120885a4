"""Systems with retrievers of their own: passages of an answer instead of the question's."""

import json

import pytest

from arena import read_arena, write_arena
from arena.data.errors import DataError
from features import extract

SHARED = [
    {"passage_id": "p1", "text": "Ada wrote the first program.", "title": None, "relevance": 1},
    {"passage_id": "p2", "text": "Oslo is cold in winter.", "title": None, "relevance": 0},
    {"passage_id": "p3", "text": "Bern has 140,000 people.", "title": "Bern", "relevance": 1},
]
OWN = [
    {"passage_id": "1", "text": "Ada died in 1852.", "title": None, "relevance": None},
    {"passage_id": "p1", "text": "Ada wrote the first program.", "title": None, "relevance": None},
]
ANSWERS = {
    "given": "Ada wrote the first program [p1].",
    "chosen": "Bern has 140,000 people [p3] [p1].",
    "own": "Ada died in 1852 [1].",
}
PASSAGES = {"given": None, "chosen": ["p3", "p2"], "own": OWN}


@pytest.fixture
def folder(tmp_path):
    info = {"name": "own", "languages": ["en"], "systems": list(ANSWERS)}
    (tmp_path / "arena.json").write_text(json.dumps(info))
    write_lines(
        tmp_path / "queries.jsonl",
        [{"query_id": "q", "language": "en", "query": "Who was Ada?", "passages": SHARED}],
    )
    write_lines(tmp_path / "answers.jsonl", [row(name) for name in ANSWERS])
    return tmp_path


def row(name, passages=None):
    return {
        "query_id": "q",
        "language": "en",
        "system": name,
        "answer": ANSWERS.get(name, "?"),
        "passages": PASSAGES.get(name) if passages is None else passages,
    }


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_ids_are_looked_up_and_labels_are_those_of_the_question(folder):
    answers = read_arena(folder).answers.set_index("system")["passages"]
    assert answers["given"] is None
    assert answers["chosen"] == [SHARED[2], SHARED[1]]
    assert [passage["relevance"] for passage in answers["own"]] == [None, 1]


@pytest.mark.parametrize("suffix", [".jsonl.gz", ".parquet"])
def test_they_come_back_as_written(folder, suffix, tmp_path):
    arena = read_arena(folder)
    write_arena(arena, tmp_path / "again", suffix)
    again = read_arena(tmp_path / "again")
    assert again.answers["passages"].tolist() == arena.answers["passages"].tolist()


@pytest.mark.parametrize(
    ("passages", "fault"),
    [
        (["p9"], "no passage 'p9' is among those of the question"),
        ("p1", "Input should be a valid list"),
        ([SHARED[0], "p1"], "passage_id 'p1' appears twice"),
        ([{"passage_id": "x"}], "passages.0.text: Field required"),
        ([7], "passages.0: "),
        ([{"passage_id": "x", "text": "\ud800"}], "holds half a surrogate pair"),
    ],
)
def test_what_is_wrong_is_said(folder, passages, fault):
    write_lines(folder / "answers.jsonl", [row("given"), row("own", passages)])
    with pytest.raises(DataError) as error:
        read_arena(folder)
    problem = error.value.problems[0]
    assert (problem.source, problem.line, problem.field) == ("answers.jsonl", 2, "passages")
    assert fault in problem.fault


def values(arena, features, answers=None):
    return extract(arena, features, answers=answers).set_index("system")


def test_features_look_at_what_the_system_was_given(folder):
    features = "citation_recall,invalid_citations,ngram_coverage@1,unsupported_numbers"
    measured = values(read_arena(folder), features)
    assert measured.loc["given", "citation_recall@10"] == 0.5  # of p1 and p3
    assert measured.loc["chosen", "citation_recall@10"] == 1.0  # p3 is all that it was given
    assert measured["invalid_citations"].to_dict() == {"given": 0, "chosen": 1, "own": 0}
    assert measured.loc["own", "unsupported_numbers"] == 0.0  # 1852 stands in its own passage


def test_retrieval_is_measured_against_all_that_is_known_to_be_relevant(folder):
    features = values(read_arena(folder), "retrieval")
    assert features.loc["given", "retrieval_recall@10:missing"] == "passages shared by all systems"
    assert features.loc["chosen", "retrieval_recall@10"] == 0.5  # p3 of p1 and p3
    assert features.loc["chosen", "retrieval_map@10"] == 0.5  # first of two
    assert features.loc["own", "retrieval_recall@10"] == 0.5
    assert features.loc["own", "retrieval_map@10"] == 0.25  # second of two, half of it
