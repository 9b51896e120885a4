"""Copies of judged systems are found; systems that merely agree are none."""

import pandas as pd
import pytest

from surrogate.checks.copies import near_copies

LONG = (
    "The tower was finished in 1889 for the fair and stood taller than any building before it [{}]."
)
OTHER = "It opened when the world's fair of Paris began, and nothing higher had been built [{}]."


def answers(system, texts, language="en"):
    rows = {"query_id": [f"q{number}" for number in range(len(texts))], "answer": list(texts)}
    return pd.DataFrame(rows).assign(language=language, system=system)


@pytest.fixture
def judged():
    one = answers("one", [LONG.format(number) for number in range(10)])
    return pd.concat([one, answers("two", [OTHER.format(number) for number in range(10)])])


def test_with_other_spaces_and_case_and_one_other_answer_it_is_still_a_copy(judged):
    texts = [
        LONG.format(number).replace("and stood", "and  Stood").rstrip(".") for number in range(9)
    ]
    assert near_copies(answers("new", texts), judged) == {("en", "new"): "one"}
    texts.append("Something else was said here, at greater length than before.")
    assert near_copies(answers("new", texts), judged) == {("en", "new"): "one"}
    assert near_copies(answers("new", texts[2:]), judged) == {}


def test_other_words_other_questions_and_short_answers_are_no_copies(judged):
    new = answers("new", ["Paris held a fair, for which a tower was made."] * 8)
    assert near_copies(new, judged) == {}
    later = judged.assign(query_id="later-" + judged["query_id"])
    assert near_copies(answers("new", later["answer"][:8]), later) == {}
    short = answers("one", ["I do not know."] * 8)
    assert near_copies(short.assign(system="new"), short) == {}
    assert near_copies(answers("new", []), judged) == {}


def test_neither_the_order_of_rows_nor_how_many_are_compared_at_a_time_matters(judged, monkeypatch):
    new = answers("new", [LONG.format(number) for number in range(8)])
    shuffled = judged.sample(frac=1, random_state=1)
    expected = near_copies(new, judged)
    monkeypatch.setattr("surrogate.checks.copies.PART", 1)
    twins = pd.concat([new, new.assign(system="newer")])
    assert near_copies(twins.sample(frac=1, random_state=2), shuffled) == {
        **expected,
        ("en", "newer"): "one",
    }


def test_thoughts_before_an_answer_hide_no_copy(judged):
    texts = [
        f"<think>Number {number} is about another tower, {'a' * number} say.</think>"
        + LONG.format(number)
        for number in range(10)
    ]
    assert near_copies(answers("new", texts), judged) == {("en", "new"): "one"}


def test_one_long_answer_among_short_ones_makes_no_copy(judged):
    shared = LONG.format(0)
    short = [f"In 18{number}." for number in range(80, 91)]
    assert near_copies(answers("new", [shared, *short]), judged) == {}
    enough = [LONG.format(number) for number in range(5)]
    assert near_copies(answers("new", [*enough, *short]), judged) == {("en", "new"): "one"}
    assert near_copies(answers("new", [shared, "In 1889."]), judged) == {("en", "new"): "one"}


def test_a_copy_that_lost_a_third_of_its_answers_is_none(judged):
    texts = [LONG.format(number) for number in range(10)]
    emptied = ["" if number % 3 == 0 else text for number, text in enumerate(texts)]
    assert near_copies(answers("new", emptied), judged) == {}
    assert near_copies(answers("new", [*texts[:9], ""]), judged) == {("en", "new"): "one"}


def test_a_copy_of_a_system_with_empty_answers_is_one():
    texts = ["" if number % 3 == 0 else LONG.format(number) for number in range(10)]
    assert near_copies(answers("new", texts), answers("old", texts)) == {("en", "new"): "old"}
