"""Systems with retrievers of their own: passages of an answer instead of the question's."""

import json

import pytest

from arena import read_arena
from arena.judging.answer_pairs import ArenaTexts
from arena.judging.pairwise import pairwise_prompt
from surrogate.checks.inspection import with_passages_of

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


def test_a_judge_is_told_whose_passages_are_whose(folder):
    texts = ArenaTexts(read_arena(folder))
    comparison = texts.comparison(("en", "q", "chosen", "own"))
    whose = {passage.text: passage.given_to for passage in comparison.passages}
    assert whose[SHARED[2]["text"]] == "A"
    assert whose[OWN[0]["text"]] == "B"
    prompt = pairwise_prompt().prompt_for(comparison).messages[-1].content
    assert "[1] (given to assistant B) Ada died in 1852." in prompt
    assert "[p3] (given to assistant A) Bern: Bern has 140,000 people." in prompt


def test_evidence_is_what_any_of_the_answers_was_given(folder):
    arena = read_arena(folder)
    (measured,) = with_passages_of(arena.queries, arena.answers)["passages"]
    assert [passage["passage_id"] for passage in measured] == ["p1", "p2", "p3", "1"]
    plain = arena.answers.drop(columns="passages")
    assert with_passages_of(arena.queries, plain) is arena.queries
