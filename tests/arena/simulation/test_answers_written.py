"""Simulated answers: clean ones, and the errors that can be seen in the others."""

import py3langid
import pytest

from arena.simulation import SystemProfile, simulate
from arena.simulation.facts import FACTS_PER_ENTITY
from arena.text.answers import parse_answer
from arena.text.citations import cited_passages

PERFECT = SystemProfile(name="sim-perfect")
EXTRACTIVE = SystemProfile(name="sim-extractive", is_extractive=True, reasons=False)


@pytest.fixture(scope="module")
def clean():
    return simulate([PERFECT, EXTRACTIVE])


def with_passages(simulation):
    """Pair every answer with the passages of its question."""
    key = ["language", "query_id"]
    passages = simulation.arena.queries[[*key, "passages"]]
    return simulation.arena.answers.merge(passages, on=key, validate="many_to_one")


def ids(passages, relevance=None):
    return [
        passage["passage_id"]
        for passage in passages
        if relevance is None or passage["relevance"] == relevance
    ]


def test_clean_answers_are_in_the_language_of_the_question(clean):
    found = clean.arena.answers["answer"].map(lambda answer: py3langid.classify(answer)[0])
    right = (found == clean.arena.answers["language"]).groupby(clean.arena.answers["language"])
    assert right.mean().min() >= 0.95


def test_clean_answers_cite_exactly_the_relevant_passages(clean):
    for row in with_passages(clean).itertuples():
        answer = parse_answer(row.answer)
        assert answer.is_marked
        assert (answer.reason is None) == (row.system == "sim-extractive")
        cited = cited_passages(answer.text, ids(row.passages))
        assert set(cited.known) == set(ids(row.passages, relevance=1))
        assert cited.unknown == ()
        assert cited.mentions == FACTS_PER_ENTITY


def test_the_wrong_language_is_english_and_for_english_another():
    lost = SystemProfile(wrong_language=1.0, name="sim-lost")
    answers = simulate([PERFECT, lost]).arena.answers
    answers = answers[answers["system"] == "sim-lost"]
    found = answers["answer"].map(lambda answer: py3langid.classify(answer)[0])
    is_english = answers["language"] == "en"
    assert (found[~is_english] == "en").all()
    assert set(found[is_english]) == {"ar", "es", "hi", "ja", "sw"}


def test_wrong_citations_are_irrelevant_or_invented():
    wrong = SystemProfile(wrong_citation=1.0, name="sim-wrong")
    rows = with_passages(simulate([PERFECT, wrong]))
    rows = rows[rows["system"] == "sim-wrong"]
    known = unknown = 0
    for row in rows.itertuples():
        cited = cited_passages(parse_answer(row.answer).text, ids(row.passages))
        assert not set(cited.known) & set(ids(row.passages, relevance=1))
        known += len(cited.known) > 0
        unknown += len(cited.unknown) > 0
    assert known > 100
    assert unknown > 100
