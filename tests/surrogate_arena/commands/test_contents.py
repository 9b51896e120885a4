"""What an arena holds: counts and lengths of table 1, and citations of no passage."""

import math

import pandas as pd
import pytest

from arena import Arena, ArenaInfo
from surrogate_arena.commands.contents import arena_contents, citation_remarks


def passage(number, text, label, title=None):
    return {"passage_id": str(number), "text": text, "title": title, "relevance": label}


@pytest.fixture
def arena():
    queries = pd.DataFrame(
        [
            ("1", "en", "Where is it?", [passage(1, "one two", 1), passage(2, "three", 0, "A b")]),
            ("2", "en", "Who?", [passage(1, "four five six seven", 0), passage(2, "x", None)]),
            ("1", "yo", "Tani?", []),
        ],
        columns=["query_id", "language", "query", "passages"],
    )
    answers = pd.DataFrame(
        [
            ("1", "en", "m1", "##Reason: It says [1].\n##Answer: In Rome."),
            ("1", "en", "m2", "There, of all places"),
            ("2", "en", "m1", "Nobody"),
        ],
        columns=["query_id", "language", "system", "answer"],
    )
    judgments = pd.DataFrame(
        [("1", "en", "m1", "m2", "a", "j")],
        columns=["query_id", "language", "system_a", "system_b", "winner", "judge"],
    )
    info = ArenaInfo(name="a", languages=("en", "yo"), systems=("m1", "m2"))
    return Arena(info, queries, answers, judgments)


def test_counts_and_mean_lengths(arena):
    english, yoruba = arena_contents(arena).to_dict(orient="records")
    assert english == {
        "language": "en",
        "questions": 2,
        "question_length": 2.0,  # three words, one word
        "relevant_passages": 0.5,
        "other_passages": 1.0,
        "unlabeled_passages": 0.5,
        "passage_length": 10 / 4,  # titles count
        "context_length": 5.0,
        "systems": 2,
        "answers": 3,
        "reason_length": 3.0,
        "answer_length": (2 + 4 + 1) / 3,
        "judgments": 1,
    }
    assert (yoruba["questions"], yoruba["answers"], yoruba["judgments"]) == (1, 0, 0)
    assert all(math.isnan(yoruba[name]) for name in ("passage_length", "answer_length"))


QUESTIONS = pd.DataFrame({"query_id": list("abcdef"), "query": [f"What is {x}?" for x in "abcdef"]})


@pytest.mark.parametrize(
    ("passage_ids", "cited", "is_named"),
    [
        (["doc-17", "doc-4"], "[1]", True),
        (["doc-17", "doc-4"], "[doc-4]", False),
        (["1", "2"], "[1]", False),
        ([], "[1]", False),
        (["doc-17", "doc-4"], "", False),
    ],
)
def test_citations_that_are_no_ids_of_passages_are_named(passage_ids, cited, is_named):
    passages = [passage(passage_id, "text", 1) for passage_id in passage_ids]
    questions = QUESTIONS.assign(passages=[passages] * len(QUESTIONS))
    said = pd.DataFrame({"query_id": QUESTIONS["query_id"], "system": "x"})
    said = said.assign(answer=f"So it is {cited}.")
    found = list(citation_remarks(Arena.from_frames(questions, said, language="en")))
    assert [item.subject for item in found] == ["en"] * is_named
    assert all("[1]" in item.sentence and "doc-17" in item.sentence for item in found)
