"""The facts of the simulated arena: the same in every language, and in the passages."""

from __future__ import annotations

import string

import pytest

from arena.simulation import LANGUAGES, QUESTIONS
from arena.simulation.facts import pose_questions, read_factbook


def fields_of(template):
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_tells_of_the_same_entities(language):
    book, english = read_factbook(language), read_factbook("en")
    assert book.language == language
    assert list(book.kinds) == list(english.kinds)
    for name, kind in book.kinds.items():
        for entity, in_english in zip(kind.entities, english.kinds[name].entities, strict=True):
            assert list(entity) == list(in_english)
            numbers = {key for key, value in in_english.items() if value.isdecimal()} - {"article"}
            assert {key: entity[key] for key in numbers} == {
                key: in_english[key] for key in numbers
            }


@pytest.mark.parametrize("language", LANGUAGES)
def test_both_wordings_of_a_fact_hold_its_values(language):
    for kind in read_factbook(language).kinds.values():
        for fact in kind.facts:
            values = fields_of(fact.answer) - {"name"}
            assert values
            assert values == fields_of(fact.passage) - {"name"}
        for template in (kind.title, kind.subject, kind.query):
            assert fields_of(template) == {"name"}
        stated = {name for fact in kind.facts for name in fields_of(fact.answer)}
        assert stated | {"name"} == set(kind.entities[0]) - {"article"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_sentences_end_with_a_full_stop_and_articles_are_distinct(language):
    book = read_factbook(language)
    end = {"hi": "।", "ja": "。"}.get(language, ".")
    kinds = book.kinds.values()
    sentences = [book.refusal, book.reason, book.reason_without_citations]
    sentences += [text for kind in kinds for text in kind.additions]
    sentences += [
        text for kind in kinds for fact in kind.facts for text in (fact.passage, fact.answer)
    ]
    sentences += [general.text for kind in kinds for general in kind.distractors]
    assert [text for text in sentences if not text.endswith(end) or text != text.strip()] == []
    articles = [entity["article"] for kind in kinds for entity in kind.entities]
    articles += [general.article for kind in kinds for general in kind.distractors]
    assert len(articles) == len(set(articles)) == 36


@pytest.mark.parametrize("language", LANGUAGES)
def test_passages_of_a_question_hold_its_facts(language):
    book = read_factbook(language)
    questions = pose_questions(language, QUESTIONS, seed=0)
    assert len({question.query_id for question in questions}) == QUESTIONS
    for question in questions:
        kind = book.kinds[question.kind]
        values = kind.entities[question.entity]
        texts = {passage.passage_id: passage.text for passage in question.passages}
        assert len(texts) == len(question.passages) == 6
        relevant = {passage.passage_id for passage in question.passages if passage.relevance == 1}
        assert relevant == set(question.supports)
        assert len(relevant) in (2, 3)
        for fact, support in zip(kind.facts, question.supports, strict=True):
            assert fact.passage.format_map(values) in texts[support]
        for addition in kind.additions:
            assert not any(addition.rstrip(".।。") in text for text in texts.values())


def test_irrelevant_passages_do_not_name_the_entity():
    for language in LANGUAGES:
        book = read_factbook(language)
        for question in pose_questions(language, QUESTIONS, seed=0):
            name = book.kinds[question.kind].entities[question.entity]["name"]
            for passage in question.passages:
                assert (name in f"{passage.title} {passage.text}") == (passage.relevance == 1)
