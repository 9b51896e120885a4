"""Judges that say the same of every pair, or nothing, are stopped after a few dozen calls."""

from itertools import count

import pytest
from chat_server import completion
from judged_systems import better, build_arena

from arena.judging import AdaptivePairs, JudgingSettings, choose_pairs, judge_pairs

SAME = {
    "a side": ("[[B]]", "verdicts of test-judge are side B, whatever the answers are"),
    "a tie": ("[[C]]", "verdicts of test-judge are a tie, whatever the answers are"),
    "nothing": ("I cannot judge this.", "gave no verdict on the .* pairs .*unparsable"),
}


def fixed(arena):
    return choose_pairs(arena, audit=0.1)


def adaptive(arena):
    settings = JudgingSettings(name="test-judge", budget=400, until=1e-6)
    return AdaptivePairs(arena, settings)


@pytest.mark.parametrize(
    ("choose", "reply"), [*((fixed, reply) for reply in SAME), (adaptive, "a side")]
)
def test_a_judge_of_one_verdict_is_stopped(serve, judge_at, store, choose, reply):
    text, sentence = SAME[reply]
    numbers = count()
    server = serve(lambda *_: completion(f"{next(numbers)}. {text}"))
    arena = build_arena(questions=20)
    judging = judge_pairs(arena, judge_at(server), choose(arena), store)
    assert 30 <= sum(server.asked.values()) <= 50
    assert len(judging.judgments) + len(judging.failures) == sum(server.asked.values())
    assert judging.reason == str(judging.error)
    with pytest.raises(type(judging.error), match=sentence):
        raise judging.error


def test_a_judge_that_decides_is_asked_about_all_pairs(serve, judge_at, store):
    server = serve(lambda prompt, _: completion(f"[[{better(prompt)}]]"))
    arena = build_arena(questions=20)
    judging = judge_pairs(arena, judge_at(server), choose_pairs(arena), store)
    assert (len(judging.judgments), judging.error, judging.reason) == (60, None, "")


def test_two_systems_may_be_tied_on_every_question(serve, judge_at, store):
    server = serve(lambda *_: completion("[[C]]"))
    arena = build_arena(questions=50, systems=("good", "fair"))
    judging = judge_pairs(arena, judge_at(server), choose_pairs(arena), store)
    assert (len(judging.judgments), judging.error) == (50, None)


def test_it_is_said_how_many_pairs_have_no_verdict(serve, judge_at, store):
    server = serve(lambda prompt, _: completion("Hm." if "q1?" in prompt else "[[A]]"))
    arena = build_arena(questions=3)
    judging = judge_pairs(arena, judge_at(server), adaptive(arena), store)
    assert judging.reason.startswith("every pair that may tell more was asked; 3 got no verdict")
