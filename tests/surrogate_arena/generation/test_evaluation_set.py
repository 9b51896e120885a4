"""Evaluation sets: hard questions, draws, words, one answer a question."""

from collections import Counter

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena import Arena, ArenaInfo, UsageError
from surrogate_arena.generation import SetRules, evaluation_set
from surrogate_arena.generation.evaluation_sets import (
    EASY,
    NOT_DRAWN,
    answer_words,
    one_answer_each,
)

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


def select(arena, **rules):
    """Return what is kept, and counts of what is left out by reason."""
    kept, counts = evaluation_set(arena, SetRules(**rules))
    return kept, dict(zip(counts["reason"], counts["count"], strict=True))


def test_questions_without_a_passage_that_is_not_relevant_are_left_out():
    arena = arena_of([(1, 0), (1,), (1, None), (0,)])
    kept, counts = select(arena, only_hard=True)
    assert kept.queries["query_id"].tolist() == ["q0", "q3"]
    assert counts == {EASY: 2}
    whole, counts = select(arena)
    assert len(whole.queries) == 4
    assert not counts


def test_a_language_with_too_few_is_filled_up_as_telugu_was():
    arena = arena_of([(1, 0)] * 3 + [(1,)] * 9, languages=("te",))
    kept, counts = select(arena, only_hard=True, at_least=5)
    assert len(kept.queries) == 5
    assert {"q0", "q1", "q2"} <= set(kept.queries["query_id"])
    assert counts == {EASY: 7}
    assert len(select(arena, only_hard=True, at_least=2)[0].queries) == 3


def test_a_sample_is_drawn_by_content_not_order():
    arena = arena_of([(1, 0)] * 30, systems=("a",))
    found, counts = select(arena, questions=10, seed=1)
    assert counts == {NOT_DRAWN: 20}
    kept = set(found.queries["query_id"])
    assert set(found.answers["query_id"]) == kept
    mixed = arena.queries.sample(frac=1, random_state=3).reset_index(drop=True)
    shuffled = Arena(arena.info, mixed, arena.answers, arena.judgments)
    assert set(select(shuffled, questions=10, seed=1)[0].queries["query_id"]) == kept
    assert set(select(arena, questions=10, seed=2)[0].queries["query_id"]) != kept


def test_one_short_answer_takes_its_question_out():
    assert answer_words(LONG) == 10
    arena = arena_of([(1, 0)] * 4, systems=("a", "b"))
    arena.answers.loc[3, "answer"] = "Nine words are not as many as ten is."
    kept, counts = select(arena, least_words=10)
    assert kept.queries["query_id"].tolist() == ["q0", "q2", "q3"]
    assert len(kept.answers) == 6
    assert counts == {"questions with an answer of fewer words than 10": 1}
    with pytest.raises(UsageError, match="no question is left"):
        select(arena, least_words=11)


def test_250_questions_of_which_50_a_model():
    systems = [f"m{number}" for number in range(5)]
    arena = arena_of([(1, 0)] * 300, systems, languages=("de", "en"))
    found, _ = select(arena, questions=250, one_answer=True)
    assert not found.answers.duplicated(["language", "query_id"]).any()
    counts = Counter(zip(found.answers["language"], found.answers["system"], strict=True))
    assert set(counts.values()) == {50}
    assert len(counts) == 10


@settings(max_examples=15)
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
