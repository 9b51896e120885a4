"""What is measured on answers: values by hand, and the same by plain loops."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from features.text.sentences import breaks_off
from surrogate.integrity.evidence import COPIED, copied_words, read_evidence
from surrogate.integrity.measures import MEASURES, REPEATED_WORDS, measured
from surrogate.integrity.references import PRIOR, learn_references
from surrogate.integrity.texts import AnswerBatch, read_words

NAMES = [measure.name for measure in MEASURES]
PASSAGE = "The tower was built for the fair of 1889 and stood taller than any building before it."
OTHERS = (
    ("It was built for the fair of 1889 [1].", "Bread is baked in a hot oven for 45 minutes."),
    ("The tower was built in 1889.", "An oven bakes the bread in 45 minutes or so."),
    ("They built the tower for a fair.", "Put the bread into the oven for 45 minutes."),
)
texts = st.lists(st.sampled_from(["a", "b", "cc", "d", "e"]), max_size=40).map(" ".join)


def queries():
    asked = {"q0": "When was the tower built?", "q1": "How is bread baked?"}
    passages = {"q0": [{"passage_id": "1", "text": PASSAGE, "title": None}], "q1": []}
    return pd.DataFrame(
        [{"query_id": key, "query": asked[key], "passages": passages[key]} for key in asked]
    )


def batch(*answers):
    return AnswerBatch.of(answers, np.arange(len(answers)), [("1",)] * len(answers))


def values(*answers):
    known = learn_references([batch(*own) for own in OTHERS], 2).all
    evidence = read_evidence(queries(), ["q0", "q1"])
    return pd.DataFrame(measured(batch(*answers), known, evidence), columns=NAMES)


def test_values_by_hand():
    found = values(
        "When was the tower built? When was the tower built?",
        "Bake it in 45 or 60 minutes, and",
    )
    first, second = found.to_dict("records")
    assert first["question"] == pytest.approx(8 / 9)  # of its 9 pairs only "built when" is new
    assert first["repetition"] == pytest.approx(1 / 6)  # of 6 runs of five words the last is again
    assert (first["cut"], second["cut"]) == (0.0, 1.0)
    assert math.isnan(first["numbers"])
    assert second["numbers"] == pytest.approx(1 / 2)  # 45 is in other answers, 60 nowhere
    assert math.isnan(second["passages"])  # this question has none
    assert math.isnan(second["citations"])
    assert first["empty"] == second["empty"] == 0.0


def test_answers_to_other_questions_are_nearer_to_those():
    assert list(values(*OTHERS[0])["other_questions"]) == [0.0, 0.0]
    assert list(values(*OTHERS[0][::-1])["other_questions"]) == [1.0, 1.0]
    assert list(values("", "")["other_questions"]) == [0.5, 0.5]


def test_empty_and_copied_answers():
    found = values("", "A")
    assert list(found["empty"]) == [1.0, 1.0]
    copied = values(f"He said: {PASSAGE}", "")
    assert copied.loc[0, "passages"] == pytest.approx(17 / 19)


def test_citations_are_counted_against_words():
    assert values("It was [1][2] built [1].", "x")["citations"][0] == pytest.approx(3 / 23)


def test_ids_that_look_like_words_are_citations_where_passages_have_them():
    asked = queries()
    asked.at[0, "passages"] = [{"passage_id": "web_12#34_x", "text": PASSAGE, "title": None}]
    evidence = read_evidence(asked, ["q0", "q1"])
    text = "It was built for a fair. [web_12#34_x]"
    citing, plain = (
        AnswerBatch.of([text], np.array([place]), evidence.passage_ids) for place in (0, 1)
    )
    assert (list(citing.citations), list(plain.citations)) == ([1.0], [0.0])
    assert citing.plain == ("It was built for a fair.",)
    assert len(citing.numbers[0]) == 0  # those of an id are no numbers of the answer


@pytest.mark.parametrize(
    ("text", "is_broken_off"),
    [
        ("राजधानी दिल्ली है", 1.0),
        ("రాజధాని హైదరాబాదు", 1.0),
        ("پایتخت تهران است\u200f", 1.0),
        ("राजधानी दिल्ली है।", 0.0),
        ("Certainly! 👍\ufe0f", 0.0),
        ("Cities:\n- Paris\n- Lyon", 0.0),
        ("Run it:\n```\nprint(1)", 1.0),
        ("The cities are:", 1.0),
        ("It is [1]. And [1]", 1.0),
    ],
)
def test_where_an_answer_breaks_off_is_the_rule_of_features(text, is_broken_off):
    found = batch(text)
    assert list(found.broken_off) == [is_broken_off] == [breaks_off(found.plain[0])]


@pytest.mark.parametrize("text", ["", "ดีมาก"])
def test_nothing_and_scripts_without_full_stops_do_not_break_off(text):
    assert math.isnan(batch(text).broken_off[0])


@given(texts)
def test_repetition_is_that_of_a_loop(text):
    words, seen, again = text.split(), set(), []
    for place in range(len(words) - REPEATED_WORDS + 1):
        run = tuple(words[place : place + REPEATED_WORDS])
        again.append(run in seen)
        seen.add(run)
    expected = np.mean(again) if again else 0.0
    assert values(text, "x")["repetition"][0] == pytest.approx(expected)


@given(texts, texts)
def test_copied_words_are_those_of_a_loop(text, source):
    asked = pd.DataFrame(
        [{"query_id": "q", "query": "", "passages": [{"passage_id": "1", "text": source}]}]
    )
    words, shown = read_words([text]), source.split()
    runs = {tuple(shown[place : place + COPIED]) for place in range(len(shown) - COPIED + 1)}
    own, expected = text.split(), set()
    for place in range(len(own) - COPIED + 1):
        if tuple(own[place : place + COPIED]) in runs:
            expected |= set(range(place, place + COPIED))
    found = copied_words(words, np.zeros(1, np.intp), read_evidence(asked, ["q"]))
    assert set(np.flatnonzero(found)) == expected


def test_word_order_is_the_shrunk_mutual_information_of_pairs():
    known = learn_references([batch("a b a b a b", "b a"), batch("a b c", "a b")], 2).all
    pairs = pd.Series([*(["ab"] * 5), *(["ba"] * 3), "bc"])
    counts = pairs.value_counts()
    totals = {"first": {"a": 6, "b": 5, "c": 1}, "second": {"a": 4, "b": 6, "c": 2}}  # and one each
    table = dict(zip(known.words.tolist(), range(3), strict=True))
    place = dict(zip("abc", [table[int(h)] for h in read_words(["a b c"]).hashes], strict=True))
    found = known.order.reshape(3, 3)
    for one, first in totals["first"].items():
        for other, second in totals["second"].items():
            share = second / 12
            expected = first * share
            prior = PRIOR * share
            value = math.log((counts.get(one + other, 0) + prior) / (expected + prior))
            assert found[place[one], place[other]] == pytest.approx(value)


def test_what_is_left_out_is_as_if_it_had_not_been_there():
    batches = [batch(*own) for own in OTHERS]
    without = learn_references(batches, 2).without(1)
    alone = learn_references([batches[0], batches[2]], 2).all
    assert list(without.answers) == list(alone.answers)
    np.testing.assert_allclose(without.lengths, alone.lengths)
    assert set(without.numbers.tolist()) == set(alone.numbers.tolist())
    assert without.pairs.sum() == alone.pairs.sum()
