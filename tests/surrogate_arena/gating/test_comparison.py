"""Two systems judged question by question until it is known how they differ."""

import pytest
from chat_server import broken, completion
from judged_systems import better, build_arena, shown_answers

from arena import UsageError
from arena.judging import LlmJudge
from arena.llm import LlmSettings, open_store
from surrogate_arena.gating import compare_systems
from surrogate_arena.gating.comparison import ALL_JUDGED, DECIDED, question_scores
from surrogate_arena.gating.sequential_test import SequentialTest

pytest.importorskip("openai", reason="needs the extra llm")

TEST = SequentialTest()


def honest(prompt, _):
    return completion(f"[[{better(prompt)}]]")


def always_a(*_):
    return completion("[[A]]")


def undecided(*_):
    return completion("[[C]]")


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "replies.sqlite") as store:
        yield store


def judge_at(server):
    return LlmJudge(LlmSettings(model="test-judge", base_url=server.url, api_key_env=None))


@pytest.fixture
def compare(serve, store):
    def compare(behave, systems=("good", "poor"), questions=40, **options):
        server = serve(behave)
        arena = options.pop("arena", None) or build_arena(questions=questions)
        return server, compare_systems(arena, systems, judge_at(server), store, TEST, **options)

    return compare


@pytest.mark.slow
def test_a_clear_difference_is_found_before_all_is_asked(compare):
    server, found = compare(honest)
    assert (found.difference, found.reason) == ("better", DECIDED)
    assert found.win_rate == 1.0
    assert 0.5 < found.low < 1.0 == found.high
    assert len(found.scores) < 21
    assert sum(server.asked.values()) == len(found.judgments) == 2 * len(found.scores)
    _, turned = compare(honest, ("poor", "good"))
    assert turned.difference == "worse"
    assert turned.high == pytest.approx(1 - found.low)


def test_a_judge_that_sees_sides_alone_is_asked_no_more_once_that_shows(compare):
    server, found = compare(always_a, questions=70)
    assert found.difference is None
    assert found.one_side == ("A", 30)
    assert found.reason.startswith("30 of 30 verdicts of test-judge are side A, whatever")
    assert sum(server.asked.values()) == len(found.judgments) == 30


def test_a_judge_that_gives_no_verdict_is_asked_no_more_once_that_shows(compare):
    server, found = compare(lambda *_: completion("I cannot choose."), questions=70)
    assert found.difference is None
    expected = "test-judge gave no verdict on the 30 pairs that it was asked (unparsable)"
    assert found.reason == expected
    assert sum(server.asked.values()) == len(found.failures) == 30


@pytest.mark.slow
def test_a_judge_of_sides_with_few_exceptions_is_stopped_and_a_leaning_one_is_not(compare):
    nearly, _ = compare(lambda prompt, n: completion("[[A]]" if n % 30 else "[[B]]"), questions=70)
    assert sum(nearly.asked.values()) <= 70
    _, found = compare(
        lambda prompt, n: completion("[[A]]" if n % 4 else f"[[{better(prompt)}]]"), questions=20
    )
    assert "whatever the answers are" not in found.reason


@pytest.mark.slow
def test_a_budget_counts_verdicts_and_the_same_run_again_asks_nothing(compare, store):
    server, found = compare(undecided, budget=11)
    assert found.difference is None
    assert found.reason == "the planned 10 verdicts are judged"
    assert sum(server.asked.values()) == 10
    again = compare_again(server, store, 11)
    assert sum(server.asked.values()) == 10
    assert again.scores.equals(found.scores)
    more = compare_again(server, store, 20)
    assert sum(server.asked.values()) == 20
    assert list(more.scores["query_id"][:5]) == list(found.scores["query_id"])


def compare_again(server, store, budget):
    arena = build_arena(questions=40)
    judge = judge_at(server)
    return compare_systems(arena, ("good", "poor"), judge, store, TEST, budget=budget)


def test_identical_answers_are_ties_without_being_asked(compare):
    same = {(f"q{n}", system): "the same" for n in range(8) for system in ("good", "poor")}
    server, found = compare(honest, arena=build_arena(same, questions=8))
    assert not server.asked
    assert found.reason == ALL_JUDGED
    assert list(found.scores["score"]) == [0.5] * 8


@pytest.mark.slow
def test_a_question_without_both_verdicts_has_no_score(compare):
    def behave(prompt, _):
        first, _ = shown_answers(prompt)
        return broken() if "q3" in prompt and first.startswith("good") else honest(prompt, _)

    _, found = compare(behave, questions=6)
    assert (len(found.scores), len(found.failures)) == (5, 1)
    assert "q3" not in set(found.scores["query_id"])
    assert len(found.judgments) == 11


def test_only_questions_that_both_answered_are_asked(compare):
    arena = build_arena({("q1", "poor"): None, ("q2", "good"): None}, questions=5)
    _, found = compare(honest, arena=arena)
    assert found.questions == 3
    with pytest.raises(UsageError, match="good"):
        compare(honest, arena=build_arena({("q0", "good"): None}, questions=1))


def test_scores_average_both_orders(compare):
    def behave(prompt, _):
        first, _ = shown_answers(prompt)
        return completion("[[A]]" if first.startswith("good") else "[[C]]")

    _, found = compare(behave, questions=4)
    assert list(found.scores["score"]) == [0.75] * 4
    assert set(question_scores(found.judgments, "poor").values()) == {0.25}
