"""The unit tests that come with the project."""

from collections import Counter
from difflib import SequenceMatcher
from itertools import product

import pytest
from py3langid import classify

from arena.text.citations import cited_passages, find_citations, strip_citations
from surrogate.metaevaluation.grouse.grouse import Grouse
from surrogate.metaevaluation.grouse.lexical import refuses, sentences
from surrogate.metaevaluation.grouse.pass_rates import call_counts, pass_rates, type_matrix
from surrogate.metaevaluation.grouse.test_files import LANGUAGES, TOPICS, builtin_tests
from surrogate.metaevaluation.grouse.unit_tests import TEST_TYPES
from surrogate.metaevaluation.runner import evaluate_judges

TYPES = {each.name: each for each in TEST_TYPES}
TESTS = builtin_tests()
BY_ID = {test.test_id: test for test in TESTS}
SETS = list(product(LANGUAGES, TOPICS))
REFUSING = {f"highest_marks_{number}" for number in (2, 3, 5, 7)} | {
    "low_completeness_2",
    "low_completeness_3",
    "low_usefulness_1",
}
PLAIN_REFUSALS = {"highest_marks_2", "highest_marks_5", "low_completeness_2"}


def sample(language, topic, name):
    return BY_ID[f"{language}/{topic}/{name}"].sample


def texts_of(test):
    return [test.sample.question, *test.sample.references, test.sample.expected, test.sample.answer]


def test_each_type_topic_and_language_is_there_once():
    found = Counter((test.language, test.topic, test.test_type) for test in TESTS)
    assert set(found) == set(product(LANGUAGES, TOPICS, TYPES))
    assert set(found.values()) == {1}
    assert len(TESTS) == 16 * 4 * 3


def test_all_texts_are_in_their_language():
    found = {text: classify(text)[0] for test in TESTS for text in dict.fromkeys(texts_of(test))}
    wrong = [
        (test.test_id, found[text], text)
        for test in TESTS
        for text in texts_of(test)
        if found[text] != test.language
    ]
    assert not wrong


def test_citations_are_of_references_that_are_there():
    for test in TESTS:
        ids = [str(number) for number, _ in enumerate(test.sample.references, start=1)]
        for text in (test.sample.expected, test.sample.answer):
            assert not cited_passages(text, ids).unknown, test.test_id


@pytest.mark.parametrize("name", sorted(TYPES))
def test_answers_refuse_where_their_type_does(name):
    for language, topic in SETS:
        text = sample(language, topic, name).answer
        assert refuses(text) == (name in REFUSING), (language, topic)
        assert (not list(find_citations(text))) == (name in PLAIN_REFUSALS), (language, topic)


@pytest.mark.parametrize(("language", "topic"), SETS)
def test_answers_differ_from_the_expected_one_as_their_type_says(language, topic):
    def of(name):
        return sample(language, topic, name)

    def stated(text):
        return [strip_citations(each) for each in sentences(text)]

    right = of("highest_marks_1")
    assert right.answer != right.expected
    full = stated(right.expected)
    added = stated(of("low_relevancy_1").answer)
    assert len(added) == len(full) + 1
    assert len(stated(of("low_completeness_1").answer)) == len(full) - 1
    concise = of("highest_marks_4")
    assert len(concise.answer) < len(concise.expected)
    assert len(concise.references) > len(right.references)
    wrong, missing = of("low_faithfulness_1").answer, of("low_faithfulness_2").answer
    assert stated(wrong) == stated(missing) == full
    assert citations(wrong) != citations(right.expected)
    assert len(citations(wrong)) == len(citations(right.expected)) == len(citations(missing)) + 1
    distorted = of("low_faithfulness_3").answer
    assert citations(distorted) == citations(right.expected)
    assert distorted != right.expected
    assert SequenceMatcher(None, distorted, right.expected, autojunk=False).ratio() > 0.8


def citations(text):
    return [each for marker in find_citations(text) for each in marker.ids]


def test_the_lexical_baseline_passes_what_words_give_away():
    verdicts = evaluate_judges(Grouse(), ["lexical"]).verdicts
    rates = pass_rates(verdicts).set_index("metric")["value"]
    assert rates["total"] == 0.875
    assert (rates["positive_acceptance"], rates["negative_rejection"]) == (1, 1)
    assert rates["faithfulness"] < 0.8
    counts = type_matrix(verdicts).set_index(["test_type", "metric"])["passed"]
    assert counts["low_faithfulness_2", "faithfulness"] == 12
    assert counts["highest_marks_4", "completeness"] == 0
    assert counts["low_faithfulness_3", "faithfulness"] < 8
    calls = call_counts(verdicts)
    assert calls[["answers", "calls", "saved"]].iloc[0].tolist() == [192, 624, 144]
