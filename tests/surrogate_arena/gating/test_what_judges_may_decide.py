"""What a judge may decide: nothing that its refusals leave open, nor what people contradict."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from chat_server import completion
from judged_systems import build_arena

from arena.judging import LlmJudge
from arena.llm import LlmSettings, open_store
from arena.quality.judge_report import JudgeLabel, JudgeTest
from arena.quality.people_agreement import PeopleAgreement
from surrogate_arena.gating import GateJudging
from surrogate_arena.gating.comparison import bounded_difference, bounded_interval
from surrogate_arena.gating.gate import gate
from surrogate_arena.gating.sequential_test import SequentialTest

pytest.importorskip("openai", reason="needs the extra llm")

N_QUESTIONS = 60
GOOD = "The tower number {} was built by people of the town long ago, and all may visit it."
BAD = "Ask somebody else about the tower number {}, for I have had enough of such questions."


def arena_of(n_bad, judgments=()):
    """Return versions with the same answers, but for one in other words and some bad ones."""
    texts = {}
    for number in range(N_QUESTIONS):
        for system in ("oldest", "older", "old"):
            texts[f"q{number}", system] = GOOD.format(number)
        new = GOOD.format(number) if number else f"{GOOD.format(number)} Tickets are cheap."
        texts[f"q{number}", "new"] = BAD.format(number) if 0 < number <= n_bad else new
    systems = ("oldest", "older", "old", "new")
    arena = build_arena(texts, questions=N_QUESTIONS, systems=systems)
    columns = ["query_id", "language", "system_a", "system_b", "winner", "judge"]
    return replace(arena, judgments=pd.DataFrame(list(judgments), columns=columns, dtype=object))


@pytest.fixture
def gated(serve, tmp_path):
    def gated(behave, arena):
        settings = LlmSettings(model="m", base_url=serve(behave).url, api_key_env=None)
        with open_store(tmp_path / "replies.sqlite") as store:
            return gate(arena=arena, judging=GateJudging(LlmJudge(settings), store))

    return gated


def refuses_the_bad(prompt, _):
    text = "I am not able to evaluate this content." if "had enough" in prompt else "[[C]]"
    return completion(text)


def sides_of(prompt):
    sides = []
    for side in "AB":
        _, _, rest = prompt.partition(f"[The Start of Assistant {side}'s Answer ")
        sides.append(rest.partition(f"[The End of Assistant {side}'s")[0])
    return sides


def likes_what_is_bad(prompt, _):
    first, second = sides_of(prompt)
    if ("had enough" in first) == ("had enough" in second):
        return completion("[[C]]")
    return completion("[[A]]" if "had enough" in first else "[[B]]")


def test_a_judge_that_refuses_the_bad_answers_does_not_make_them_pass(gated):
    found = gated(refuses_the_bad, arena_of(11))
    assert (found.verdict, found.status) == ("cannot say", 4)
    assert (found.verdicts.unscored, found.verdicts.differing) == (11, 12)
    reason = "cannot say: 11 of the 12 pairs that differ have no verdict"
    assert found.reasons == (reason,)
    assert "Cannot say: 11 of the 12 pairs that differ have no verdict." in found.sentences
    assert found.verdicts.low < 0.5 - 11 / 120


def test_a_few_missing_verdicts_leave_a_large_difference_clear(gated):
    def refuses_some(prompt, number):
        refused = "number 2 " in prompt or "number 4 " in prompt
        return completion("No.") if refused else likes_what_is_bad(prompt, number)

    found = gated(refuses_some, arena_of(50))
    assert found.verdict == "better"


def test_a_judge_that_nobody_checked_is_said_to_be_so_in_the_first_line(gated):
    found = gated(likes_what_is_bad, arena_of(50))
    assert found.verdict == "better"
    first = found.sentences[0]
    assert "new's win rate is 97%" in first
    assert "No person has checked this judge." in first


@pytest.mark.parametrize(
    ("judge", "sentence"),
    [
        ("human", ""),
        ("unknown", "Who judged is unknown: if people did,"),
        ("gpt-4o", "No person has checked this judge."),
    ],
)
def test_people_need_no_check_by_people(judge, sentence):
    rows = []
    for number in range(N_QUESTIONS):
        sides = ("new", "old") if number % 2 else ("old", "new")
        rows.append((f"q{number}", "en", *sides, "a" if number % 3 else "b", judge))
    found = gate(arena=arena_of(50, rows))
    first = found.sentences[0]
    assert sentence in first
    assert ("judge" in first or "judged" in first) == bool(sentence)


@pytest.mark.parametrize(("n_shared", "verdict"), [(40, "cannot say"), (20, "better")])
def test_a_judge_that_agrees_with_people_by_chance_decides_nothing(gated, n_shared, verdict):
    """Both judged older versions, from some number of pairs on enough to see it."""
    rows = []
    for number in range(n_shared):
        sides = ("oldest", "older") if number % 2 else ("older", "oldest")
        for judge, is_a in (("person:Ada", number % 4 < 2), ("m", number % 8 < 4)):
            rows.append((f"q{number}", "en", *sides, "a" if is_a else "b", judge))
    found = gated(likes_what_is_bad, arena_of(50, rows))
    assert found.people.items == n_shared
    assert found.verdict == verdict
    if verdict == "cannot say":
        assert found.win_rate is None
        assert "the judge does not agree with people beyond chance (kappa" in found.reasons[0]
    else:
        assert "People have checked this judge on only 20 pairs." in found.sentences[0]


def test_people_who_agree_let_a_judge_decide(gated):
    found = gated(likes_what_is_bad, arena_of(50))
    agreeing = replace(found, people=PeopleAgreement(0.5, 0.1, 40))
    assert not agreeing.judge_doubt
    assert not agreeing.is_judge_unchecked
    assert "checked" not in agreeing.sentences[0]


def test_a_judge_that_decides_by_length_decides_nothing(gated):
    found = gated(likes_what_is_bad, arena_of(50))
    length = JudgeTest("length", "unreliable", "the longer one wins 99%")
    by_length = replace(found, judge=JudgeLabel("m", "unreliable", (length,)))
    assert by_length.judge_doubt
    assert by_length.win_rate is None


def test_bounds_hold_whatever_the_missing_questions_would_have_shown():
    test = SequentialTest()
    random = np.random.default_rng(0)
    for _ in range(50):
        scores = random.choice([0.0, 0.5, 1.0], size=80, p=[0.1, 0.3, 0.6])
        missing = int(random.integers(0, 40))
        known = scores[missing:]
        low, high = bounded_interval(test.interval, known, missing)
        whole = test.interval(scores)
        assert low <= whole[0]
        assert whole[1] <= high
        decided = bounded_difference(test.decide, known, missing)
        assert decided in (None, test.decide(scores))
