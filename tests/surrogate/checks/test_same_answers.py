"""Answers that are no own ones are named."""

import pandas as pd
import pytest

from arena import Arena
from surrogate.checks.copies import same_answer_remarks

QUESTIONS = pd.DataFrame({"query_id": list("abcdef"), "query": [f"What is {x}?" for x in "abcdef"]})


def told(**answers):
    """One system an argument: what it says to each question."""
    rows = [
        (query_id, system, text)
        for system, texts in answers.items()
        for query_id, text in zip(QUESTIONS["query_id"], texts, strict=True)
    ]
    said = pd.DataFrame(rows, columns=["query_id", "system", "answer"])
    return Arena.from_frames(QUESTIONS, said, language="en")


def own(name):
    return [f"{name} says {number}" for number in range(6)]


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ([f" what is {x}? " for x in "ABCDEF"], "6 of 6 answers repeat the question"),
        (["Sorry."] * 4 + ["a", "b"], "4 of 6 answers are the same text"),
    ],
)
def test_one_system(texts, words):
    (found,) = same_answer_remarks(told(x=texts, y=own("y"), z=own("z")))
    assert (found.subject, found.sentence) == ("en, x", words)
    assert found.severity == "warning"


def test_systems_that_agree_word_for_word_are_named_together():
    copied = own("x")
    found = list(same_answer_remarks(told(x=copied, y=own("y"), z=[*copied[:4], "1", "2"])))
    assert [(item.subject, item.sentence.split("from ")[1]) for item in found] == [("en", "x, z")]


def test_honest_and_empty_answers_are_not_named():
    assert not list(same_answer_remarks(told(x=own("x"), y=[""] * 6, z=own("z"))))
    some = own("x")[:3]
    assert not list(same_answer_remarks(told(x=own("x"), y=[*some, "1", "2", "3"])))
