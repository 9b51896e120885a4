"""Evaluation sets: hard questions, draws, words, one answer a question."""

from collections import Counter

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import Arena, ArenaInfo, UsageError
from arena.generation import AnswerRules, QuestionRules, select_answers, select_questions
from arena.generation.evaluation_set import EASY, NOT_DRAWN, answer_words, one_answer_each

LONG = "##Reason: none. ##Answer: these are ten words, no more, and no less, here"


def passage(number, label):
    return {"passage_id": f"p{number}", "text": "text", "title": None, "relevance": label}


def arena_of(labels, systems=(), answer=LONG, languages=("en",)):
    """Make an arena whose questions have passages with these labels."""
    queries = [
        (f"q{number}", language, f"Question {number}?", [passage(*each) for each in enumerate(of)])
        for language in languages
        for number, of in enumerate(labels)
    ]
    table = pd.DataFrame(queries, columns=["query_id", "language", "query", "passages"])
    answers = pd.DataFrame(
        [(row[0], row[1], system, answer) for row in queries for system in systems],
        columns=["query_id", "language", "system", "answer"],
    )
    judged = ["query_id", "language", "system_a", "system_b", "winner", "judge"]
    info = ArenaInfo(name="a", languages=languages, systems=tuple(systems))
    return Arena(info, table, answers, pd.DataFrame(columns=judged))


def counted(found):
    return dict(zip(found.counts["reason"], found.counts["count"], strict=True))


def test_questions_without_a_passage_that_is_not_relevant_are_left_out():
    arena = arena_of([(1, 0), (1,), (1, None), (0,)])
    found = select_questions(arena, QuestionRules())
    assert found.arena.queries["query_id"].tolist() == ["q0", "q3"]
    assert counted(found) == {EASY: 2}
    whole = select_questions(arena, QuestionRules(only_hard=False))
    assert len(whole.arena.queries) == 4
    assert whole.counts.empty


def test_a_language_with_too_few_is_filled_up_as_telugu_was():
    arena = arena_of([(1, 0)] * 3 + [(1,)] * 9, languages=("te",))
    found = select_questions(arena, QuestionRules(at_least=5))
    assert len(found.arena.queries) == 5
    assert {"q0", "q1", "q2"} <= set(found.arena.queries["query_id"])
    assert counted(found) == {EASY: 7}
    again = select_questions(arena, QuestionRules(at_least=5))
    pd.testing.assert_frame_equal(found.arena.queries, again.arena.queries)
    assert len(select_questions(arena, QuestionRules(at_least=2)).arena.queries) == 3


def test_a_sample_is_drawn_by_content_not_order():
    arena = arena_of([(1, 0)] * 30, systems=("a",))
    found = select_questions(arena, QuestionRules(sample=10, seed=1))
    assert counted(found) == {NOT_DRAWN: 20}
    kept = set(found.arena.queries["query_id"])
    assert set(found.arena.answers["query_id"]) == kept
    mixed = arena.queries.sample(frac=1, random_state=3).reset_index(drop=True)
    shuffled = Arena(arena.info, mixed, arena.answers, arena.judgments)
    again = select_questions(shuffled, QuestionRules(sample=10, seed=1)).arena
    assert set(again.queries["query_id"]) == kept
    other = select_questions(arena, QuestionRules(sample=10, seed=2)).arena
    assert set(other.queries["query_id"]) != kept


def test_one_short_answer_takes_its_question_out():
    assert answer_words(LONG) == 10
    arena = arena_of([(1, 0)] * 4, systems=("a", "b"))
    arena.answers.loc[3, "answer"] = "Nine words are not as many as ten is."
    found = select_answers(arena, AnswerRules(least_words=10))
    assert found.arena.queries["query_id"].tolist() == ["q0", "q2", "q3"]
    assert len(found.arena.answers) == 6
    assert counted(found) == {"questions with an answer of fewer words than 10": 1}
    with pytest.raises(UsageError, match="no question is left; ask for fewer words"):
        select_answers(arena, AnswerRules(least_words=11))


def test_250_questions_of_which_50_a_model():
    systems = [f"m{number}" for number in range(5)]
    arena = arena_of([(1, 0)] * 300, systems, languages=("de", "en"))
    found = select_answers(arena, AnswerRules(questions=250, one_answer=True)).arena
    assert not found.answers.duplicated(["language", "query_id"]).any()
    counts = Counter(zip(found.answers["language"], found.answers["system"], strict=True))
    assert set(counts.values()) == {50}
    assert len(counts) == 10


def test_questions_that_a_system_did_not_answer_are_left_out():
    arena = arena_of([(1, 0)] * 3, systems=("a", "b"))
    fewer = Arena(arena.info, arena.queries, arena.answers.iloc[1:], arena.judgments)
    found = select_answers(fewer, AnswerRules(one_answer=True))
    assert counted(found)["questions that not all systems answered"] == 1
    assert sorted(found.arena.answers["system"]) == ["a", "b"]


@given(st.integers(1, 40), st.integers(1, 7), st.integers(0, 5))
def test_one_answer_each_is_as_even_as_can_be(questions, systems, seed):
    arena = arena_of([(0,)] * questions, [f"m{number}" for number in range(systems)])
    chosen = one_answer_each(arena.answers, seed)
    counts = Counter(chosen["system"])
    assert len(chosen) == questions
    assert chosen["query_id"].is_unique
    assert max(counts.values()) - min(counts.get(f"m{n}", 0) for n in range(systems)) <= 1
    mixed = one_answer_each(arena.answers.sample(frac=1, random_state=seed), seed)
    pairs = ["query_id", "system"]
    assert set(map(tuple, mixed[pairs].values)) == set(map(tuple, chosen[pairs].values))
