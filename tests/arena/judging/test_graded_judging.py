"""Marks and orders in the place of pairs: verdicts, ties, failures, resuming, agreement."""

import re
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from chat_server import broken, completion
from hypothesis import given
from hypothesis import strategies as st
from judged_systems import QUALITY, build_arena, judge_arena

from arena.judging import JudgingSettings, MarkPrompt, OrderPrompt, choose_pairs, dry_run_judge
from arena.judging.forms import prompt_of
from arena.judging.verdict_parsing import read_order
from arena.llm import Budget, UnparsableError

FORMS = ("pointwise", "listwise")
_ANSWER = re.compile(r"\[The Start of (?:the Answer|Answer (\d+)) \w{12}\]\n(.*?)\n\[The End", re.S)


def graded(form, **fields):
    return prompt_of(JudgingSettings(model="m", form=form, **fields))


def shown(prompt):
    return [text for _, text in _ANSWER.findall(prompt)]


def quality(text):
    return QUALITY.get(text.split()[0], 0)


def knowing(prompt, _=None):
    """Mark an answer by its system's quality, or put all of them in order, equal ones too."""
    texts = shown(prompt)
    if len(texts) == 1:
        return completion(f"It is so. [[{quality(texts[0]) + 1}]]")
    order = sorted(range(len(texts)), key=lambda place: -quality(texts[place]))
    said = str(order[0] + 1)
    for before, after in pairwise(order):
        sign = "=" if quality(texts[before]) == quality(texts[after]) else ">"
        said += f" {sign} {after + 1}"
    return completion(f"They differ. [[{said}]]")


def winners(judged):
    """Return the winner of each pair, by name."""
    return {
        (row.query_id, *sorted((row.system_a, row.system_b))): {
            "a": row.system_a, "b": row.system_b, "tie": "tie",
        }[row.winner]
        for row in judged.judgments.itertuples()
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_marks_and_orders_become_verdicts_on_the_pairs(serve, judge_at, store, form):
    arena = build_arena({("q1", "poor"): "fair but in other words"}, questions=3)
    server = serve(knowing)
    judged = judge_arena(arena, judge_at(server, prompt=graded(form)), choose_pairs(arena), store)
    found = winners(judged)
    assert found["q0", "fair", "good"] == found["q0", "good", "poor"] == "good"
    assert found["q1", "fair", "poor"] == "tie"
    assert len(found) == judged.summary.pairs == 9
    assert set(judged.judgments["judge"]) == {f"test-judge:{form}"}
    assert len(server.bodies) == {"pointwise": 9, "listwise": 3}[form]
    assert judged.judgments["prompt"].str.startswith(f"{form}.v1@").all()
    assert set(judged.judgments["sides"]) == {"none"}
    sentences = [test.sentence for test in judged.summary.check.tests]
    assert not [text for text in sentences if "order" in text or "side A" in text]


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_neither_rows_nor_seeds_nor_names_change_a_verdict(serve, judge_at, store, form):
    """Of the same answers in any order of rows the same is asked; its own order decides nothing."""
    arena = build_arena(questions=3)
    turned = type(arena)(
        arena.info, arena.queries.iloc[::-1], arena.answers.iloc[::-1], arena.judgments
    )
    server = serve(knowing)
    judges = [judge_at(server, prompt=graded(form, seed=seed)) for seed in (0, 0, 1, 2, 3)]
    runs = [
        judge_arena(each, judge, choose_pairs(each), store)
        for each, judge in zip((arena, turned, arena, arena, arena), judges, strict=True)
    ]
    assert runs[1].summary.usage.calls == 0
    assert all(winners(run) == winners(runs[0]) for run in runs)
    texts = [tuple(shown(prompt)) for prompt in server.asked]
    assert len(set(texts)) == len(texts)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_identical_answers_are_ties_and_shown_once(serve, judge_at, store, form):
    arena = build_arena({("q0", "good"): "same", ("q0", "fair"): "same"}, questions=1)
    server = serve(knowing)
    judged = judge_arena(arena, judge_at(server, prompt=graded(form)), choose_pairs(arena), store)
    assert winners(judged)["q0", "fair", "good"] == "tie"
    assert judged.summary.identical == 1
    assert sorted(text for prompt in server.asked for text in shown(prompt)) == [
        "poor answer to q0",
        "same",
    ]


@pytest.mark.parametrize(
    ("form", "reply", "reason"),
    [
        ("pointwise", "[[6]]", "unparsable"),
        ("listwise", "[[1 > 2]]", "unparsable"),
        ("listwise", None, "server_error"),
    ],
)
def test_what_has_no_mark_or_order_is_a_counted_failure(
    serve, judge_at, store, form, reply, reason
):
    def behave(prompt, earlier):
        if "q1?" not in prompt:
            return knowing(prompt)
        return broken() if reply is None else completion(reply)

    arena = build_arena(questions=3)
    judge = judge_at(serve(behave), prompt=graded(form))
    judged = judge_arena(arena, judge, choose_pairs(arena), store)
    asked = 3 if form == "pointwise" else 1
    assert judged.summary.usage.failures == {reason: asked}
    assert len(judged.judgments) == 6
    assert set(judged.failures["query_id"]) == {"q1"}
    assert set(judged.failures["reason"]) == {reason}
    assert judged.failures["key"].str.len().eq(64).all()


@pytest.mark.parametrize("form", FORMS)
def test_a_run_that_goes_on_pays_nothing_twice(serve, judge_at, store, form):
    arena = build_arena(questions=4)
    server = serve(knowing)
    judge, pairs = judge_at(server, prompt=graded(form)), choose_pairs(arena)
    first = judge_arena(arena, judge, pairs, store, budget=Budget(2))
    assert sum(server.asked.values()) == 2
    later = type(arena)(arena.info, arena.queries, arena.answers, first.judgments)
    dry = dry_run_judge(later, judge, pairs, store)
    second = judge_arena(later, judge, pairs, store)
    whole = {"pointwise": 12, "listwise": 4}[form]
    assert second.summary.usage.calls == dry.calls == whole - 2
    assert set(server.asked.values()) == {1}
    assert len(winners(first) | winners(second)) == 12
    again = judge_arena(arena, judge, pairs, store)
    assert again.summary.usage.calls == 0
    assert winners(again) == winners(first) | winners(second)


@given(st.permutations(range(1, 6)), st.lists(st.sampled_from(">="), min_size=4, max_size=4))
def test_orders_are_read_as_written(order, signs):
    steps = zip(["", *signs], order, strict=True)
    plain = " ".join(f"{sign} {number}".strip() for sign, number in steps)
    places = read_order(f"First [1] and [2]. [[{plain}]]")
    for (before, after), sign in zip(pairwise(order), signs, strict=True):
        if sign == ">":
            assert places[before - 1] < places[after - 1]
        else:
            assert places[before - 1] == places[after - 1]
    listed = plain
    for number in order:
        listed = re.sub(rf"(?<!\[)\b{number}\b", f"[{number}]", listed)
    assert read_order(listed) == places
    assert read_order(f"[[{plain}]] (so 1 > 2 and 3 > 4)") == places
    assert read_order(f"**Ranking:** {listed}") == places
    assert read_order(f"[[{plain.replace('>', '&gt;')}]]") == places
    named = re.sub(r"(\d)", r"Answer \1", plain)
    assert read_order(f"【【{named}】】".replace(">", ">>")) == places


@pytest.mark.parametrize(
    ("reply", "places"),
    [
        ("[[2 > 1]]. By length it would be 1 > 2.", (2, 1)),
        ("[[2 > 1]]\n\n[[1 > 2]] would be fair if length counted.", (2, 1)),
        ("At first [[1 > 2]].\nSo: [[2 > 1]].", (2, 1)),
        ("[1] = [2]", (1, 1)),
    ],
)
def test_of_several_orders_the_stated_one_counts(reply, places):
    assert read_order(reply) == places


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("[[2 > 1]] or [[1 > 2]]", "which of several is its order"),
        ("Answer 1 gets 2 points, answer 2 gets 1, and 2 > 1.", "no order"),
        ("Answer 1 = 2 points, answer 2 = 1 point", "no order"),
        ("[[1 ≥ 2 > 3]]", "no order"),
        ("[[2 > 1, 3]]", "no order"),
        ("[[B > A]]", "no order"),
    ],
)
def test_no_order_is_made_up(reply, why):
    with pytest.raises(UnparsableError, match=why):
        read_order(reply)


def test_long_replies_without_an_order_take_no_long_time():
    for reply in (
        "[[" + "1" * 200_000,
        "[[1 " * 50_000,
        ":" * 200_000 + "x 1 > 2",
        "1 > " * 50_000,
    ):
        with pytest.raises(UnparsableError):
            read_order(reply + "\n")


def test_an_order_that_was_cut_off_is_none():
    with pytest.raises(UnparsableError, match="cut off before its order"):
        read_order("Answer 2 is best: [[2 > 1", is_cut=True)


def test_higher_marks_are_more_probable_winners(serve, judge_at, store):
    arena = build_arena(questions=2)
    judge = judge_at(serve(knowing), prompt=graded("pointwise"))
    judged = judge_arena(arena, judge, choose_pairs(arena), store).judgments
    difference = judged["system_a"].map(QUALITY) - judged["system_b"].map(QUALITY)
    ordered = judged.assign(difference=difference).sort_values("difference")
    probabilities = ordered["probability_a"]
    assert (probabilities.diff()[ordered["difference"].diff() > 0] > 0).all()
    assert ((probabilities > 0.5) == (ordered["winner"] == "a")).all()
    np.testing.assert_allclose(judged["probability_a"] + judged["probability_b"], 1.0)


@dataclass(frozen=True)
class GroupedMarks(OrderPrompt):
    """Marks of several answers at once, in groups of answers by their place in the content."""

    groups_of_indices: tuple[tuple[int, ...], ...] = ()

    log_odds = MarkPrompt.log_odds

    def grouped(self, question, answers):
        return [tuple(answers[i] for i in indices) for indices in self.groups_of_indices]

    def read(self, completion):
        return tuple(map(int, completion.text.strip("[]").split(",")))


def grouped_marks(*groups):
    return GroupedMarks(OrderPrompt.replaceable[0].packaged(), groups_of_indices=groups)


@pytest.mark.slow
@pytest.mark.parametrize("groups", [[(0, 1, 2)], [(2, 0), (1,)], [(1,), (2,), (0,)]])
def test_marks_are_compared_across_any_groups(serve, judge_at, store, groups):
    def behave(prompt, _):
        return completion(str([quality(text) + 1 for text in shown(prompt)]))

    arena = build_arena({("q1", "poor"): "fair but in other words"}, questions=2)
    judge = judge_at(serve(behave), prompt=grouped_marks(*groups))
    judged = judge_arena(arena, judge, choose_pairs(arena), store)
    singly = judge_at(serve(knowing), model="singly", prompt=graded("pointwise"))
    expected = judge_arena(arena, singly, choose_pairs(arena), store)
    columns = ["winner", "probability"]
    assert judged.judgments[columns].equals(expected.judgments[columns])
