"""The unit tests that come with the project."""

from collections import Counter
from itertools import product

from py3langid import classify

from arena.text.citations import cited_passages, find_citations
from surrogate.metaevaluation.grouse.unit_tests import LANGUAGES, TYPE_NAMES, builtin_tests

TESTS = builtin_tests()
TOPICS = ("river", "vaccine", "bridge", "composer")
PLAIN_REFUSALS = {"highest_marks_2", "highest_marks_5", "low_completeness_2"}


def texts_of(test):
    return [test.sample.question, *test.sample.references, test.sample.expected, test.sample.answer]


def test_each_type_topic_and_language_is_there_once():
    found = Counter((test.language, test.topic, test.test_type) for test in TESTS)
    assert set(found) == set(product(LANGUAGES, TOPICS, TYPE_NAMES))
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


def test_plain_refusals_cite_nothing_and_all_others_cite():
    for test in TESTS:
        is_plain = test.test_type in PLAIN_REFUSALS
        assert (not list(find_citations(test.sample.answer))) == is_plain, test.test_id
