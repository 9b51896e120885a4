"""Who reads what of an answer: judges, people, checks, features, the surrogate, and copies."""

import pandas as pd
import pytest

from arena import Arena
from arena.judging.answer_pairs import ArenaTexts
from arena.judging.ballots import ballot_pair
from features.declare.sample import Question, Sample
from features.measures.overlap import words_and_marks
from surrogate.checks.copies import near_copies
from surrogate.learning.training_data import with_answers

HIDDEN = "<think>a thought</think>"
OUTPUT = HIDDEN + "A **bold** wo\u200brd, cited [1](https://e.org/an-address)."
VISIBLE = "A **bold** word, cited [1](https://e.org/an-address)."
AS_READ = "A **bold** word, cited 1."


@pytest.fixture(scope="module")
def arena():
    rows = [("q", "one", OUTPUT), ("q", "two", "Another answer.")]
    answers = pd.DataFrame(rows, columns=["query_id", "system", "answer"])
    questions = pd.DataFrame({"query_id": ["q"], "query": ["Why?"]})
    return Arena.from_frames(questions, answers, language="en", name="read")


@pytest.fixture(scope="module")
def texts(arena):
    return ArenaTexts(arena)


@pytest.fixture(scope="module")
def sample():
    return Sample(Question("en", "q", "Why?", (), ""), OUTPUT)


def read_by_surrogate(arena):
    keys = arena.answers[["language", "query_id", "system"]]
    return with_answers(keys, arena.answers).set_index("system").loc["one", "answer"]


def test_judges_and_people_read_what_is_visible(texts):
    key = ("en", "q", "one", "two")
    assert texts.comparison(key).answer_a == VISIBLE
    assert ballot_pair(texts, key).comparison.answer_a == VISIBLE


def test_checks_and_features_of_markup_and_citations_read_what_is_visible(sample):
    assert sample.part("output") == sample.part("answer") == VISIBLE
    assert sample.citations.ranking == ("1",)


def test_features_of_papers_read_the_answer_without_citations(sample):
    assert sample.text == "A **bold** word, cited."
    assert words_and_marks(sample.text)[1:4] == ["*", "*", "bold"]


def test_features_of_wording_read_words(sample):
    assert sample.wording == "A **bold** word, cited."
    assert sample.folded_words == ["a", "bold", "word", "cited"]


def test_the_surrogate_reads_what_a_page_shows(arena):
    assert read_by_surrogate(arena) == AS_READ


def test_copies_are_told_by_words():
    words = "The tower was finished in 1889 for the fair and stood taller than any before it {}."
    judged = [words.format(number) for number in range(6)]
    marked = [f"**{text}** [1](https://e.org/other-words-{'x' * 40})" for text in judged]
    tables = []
    for system, answers in (("one", judged), ("new", marked)):
        rows = pd.DataFrame({"query_id": [f"q{n}" for n in range(6)], "answer": answers})
        tables.append(rows.assign(language="en", system=system))
    assert near_copies(tables[1], tables[0]) == {("en", "new"): "one"}
