"""Copies of judged systems are told; systems that merely agree are none."""

import pandas as pd
import pytest

from surrogate.integrity import notes
from surrogate.integrity.notes import near_copies

LONG = (
    "The tower was finished in 1889 for the fair and stood taller than any building before it [{}]."
)
OTHER = "It opened when the world's fair of Paris began, and nothing higher had been built [{}]."


def answers(system, texts, language="en"):
    rows = {"query_id": [f"q{number}" for number in range(len(texts))], "answer": list(texts)}
    return pd.DataFrame(rows).assign(language=language, system=system)


@pytest.fixture
def known():
    one = answers("one", [LONG.format(number) for number in range(10)])
    return pd.concat([one, answers("two", [OTHER.format(number) for number in range(10)])])


def test_with_other_spaces_and_case_and_one_other_answer_it_is_still_a_copy(known):
    texts = [
        LONG.format(number).replace("and stood", "and  Stood").rstrip(".") for number in range(9)
    ]
    assert near_copies(answers("new", texts), known) == {("en", "new"): "one"}
    texts.append("Something else was said here, at length.")
    assert near_copies(answers("new", texts), known) == {("en", "new"): "one"}
    assert near_copies(answers("new", texts[2:]), known) == {}


def test_other_words_other_questions_and_short_answers_are_no_copies(known):
    own = answers("new", ["Paris held a fair, for which a tower was made."] * 8)
    assert near_copies(own, known) == {}
    later = known.assign(query_id="later-" + known["query_id"])
    assert near_copies(answers("new", later["answer"][:8]), later) == {}
    short = answers("one", ["I do not know."] * 8)
    assert near_copies(short.assign(system="new"), short) == {}
    assert near_copies(answers("new", []), known) == {}


def test_neither_the_order_of_rows_nor_how_many_are_compared_at_a_time_matters(known, monkeypatch):
    new = answers("new", [LONG.format(number) for number in range(8)])
    shuffled = known.sample(frac=1, random_state=1)
    found = near_copies(new, known)
    monkeypatch.setattr(notes, "PART", 1)
    both = pd.concat([new, new.assign(system="newer")])
    assert near_copies(both.sample(frac=1, random_state=2), shuffled) == {
        **found,
        ("en", "newer"): "one",
    }


def test_thoughts_before_an_answer_hide_no_copy(known):
    texts = [
        f"<think>Number {number} is about another tower, {'a' * number} say.</think>"
        + LONG.format(number)
        for number in range(10)
    ]
    assert near_copies(answers("new", texts), known) == {("en", "new"): "one"}
