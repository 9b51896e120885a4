"""Answers of a RAG system: what is asked, kept, counted, and asked again."""

import pytest
from asked_questions import build_queries
from chat_server import broken, completion, filtered, refused

from arena import Arena, ArenaInfo
from arena.data.frames import as_rows, checked_answers
from arena.judging import choose_pairs
from arena.judging.choosing.drawn_questions import choose_questions
from arena.text.answers import parse_answer
from surrogate_arena.generation import generate_answers

REPLY = "##Reason: the first passage says so [1#0] ##Answer: The Weekly Newes [1#0]."


def good(prompt, earlier):
    return completion(REPLY)


def test_answers_are_native_and_can_be_parsed(serve, system_at, store):
    queries = build_queries(3, ("en", "fi"))
    system = system_at(serve(good), name="my-system")
    generated = generate_answers(queries, system, store)
    checked = checked_answers(as_rows(generated.answers, "answers"), queries)
    assert len(checked) == 6
    assert set(checked["system"]) == {"my-system"}
    parsed = parse_answer(checked["answer"][0])
    assert parsed.is_marked
    assert parsed.text == "The Weekly Newes [1#0]."
    assert parsed.reason == "the first passage says so [1#0]"
    assert set(generated.answers["prompt"]) == {system.version}
    assert len(generated.answers) == generated.usage.calls == 6


def test_failures_are_counted_and_asked_again_where_they_may_pass(serve, system_at, store):
    def behave(prompt, earlier):
        if "Question 0" in prompt:
            return refused()
        if "Question 1" in prompt:
            return broken() if earlier < 2 else good(prompt, earlier)
        return filtered() if "Question 2" in prompt else good(prompt, earlier)

    server = serve(behave)
    system, queries = system_at(server, retries=1), build_queries(4)
    first = generate_answers(queries, system, store)
    assert list(first.answers["query_id"]) == ["q3"]
    assert first.counts()["failures"] == {"refusal": 1, "server_error": 1, "content_filter": 1}
    assert dict(zip(first.failures["query_id"], first.failures["reason"], strict=True)) == {
        "q0": "refusal",
        "q1": "server_error",
        "q2": "content_filter",
    }
    second = generate_answers(queries, system, store)
    assert list(second.answers["query_id"]) == ["q1", "q3"]
    assert second.usage.calls == 1
    assert second.usage.from_store == 3


MARKED_THOUGHTS = [
    *["<think>hm</think>", "hm</think>", "[THINK]hm[/THINK]", "◁think▷hm◁/think▷"],
    "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>",
]


@pytest.mark.parametrize("reason", ["length", "MAX_TOKENS"])
@pytest.mark.parametrize("thoughts", MARKED_THOUGHTS)
def test_what_limits_the_answers_is_said(serve, system_at, store, thoughts, reason):
    server = serve(lambda *_: completion(f"{thoughts} Paris", finish_reason=reason))
    queries = build_queries(1, passages=())
    remarks = generate_answers(queries, system_at(server), store).remarks
    assert [remark.name for remark in remarks] == ["cut", "thoughts"]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (completion("Paris is the", finish_reason="error"), "broken_off"),
        (completion("<think>Paris is", finish_reason="length"), "empty"),
        (completion("<think>Paris</think>", finish_reason="stop"), "empty"),
        (completion("Paris", finish_reason="SAFETY"), "content_filter"),
    ],
)
def test_what_is_no_whole_answer_is_a_counted_failure(serve, system_at, store, reply, reason):
    server = serve(lambda *_: reply)
    generated = generate_answers(build_queries(2, passages=()), system_at(server), store)
    assert len(generated.answers) == 0
    assert list(generated.failures["reason"]) == [reason] * 2


def test_the_questions_drawn_are_those_that_would_be_judged():
    queries = build_queries(30, ("en", "fi"))
    chosen = choose_questions(queries, questions=4, seed=5)
    answers = queries[["query_id", "language"]].assign(answer="x")
    both = [answers.assign(system=name, answer=name) for name in ("s", "t")]
    import pandas as pd

    info = ArenaInfo(name="a", languages=["en", "fi"], systems=["s", "t"])
    arena = Arena(info, queries, pd.concat(both), pd.DataFrame())
    pairs = choose_pairs(arena, questions=4, seed=5).table
    assert set(zip(chosen["language"], chosen["query_id"], strict=True)) == set(
        zip(pairs["language"], pairs["query_id"], strict=True)
    )
    assert len(chosen) == 8
    assert set(choose_questions(queries, ["fi"])["language"]) == {"fi"}
