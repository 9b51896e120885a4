"""What an arena holds: counts and lengths of table 1."""

import math

import pandas as pd
import pytest

from arena import Arena, ArenaInfo
from surrogate_arena.commands.contents import arena_contents


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
