"""A machine that likes length decides only what holds at equal length."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from judged_systems import build_arena
from scipy.special import expit

from surrogate_arena.gating.gate import gate
from surrogate_arena.gating.gate_result import Gate

N_QUESTIONS = 120
SENTENCE = "The old tower was built by the people of the town, who came here long ago. "


def gated(
    strength: float, liking: float, mean_excess: float, judge: str = "gpt-4o", seed: int = 0
) -> Gate:
    """Gate a system of a known strength that writes more, by a judge that likes length."""
    random = np.random.default_rng(seed)
    texts = {}
    rows = []
    for number in range(N_QUESTIONS):
        words = int(random.integers(200, 400))
        excess = random.normal(mean_excess, 0.35)
        lengths = {"old": words // 10, "new": round(words * np.exp(excess)) // 10}
        for system, length in lengths.items():
            texts[f"q{number}", system] = f"{system} {number}: " + SENTENCE * length
        logit = strength + liking * np.sign(lengths["new"] - lengths["old"]) + random.normal(0, 0.5)
        for sides in (("new", "old"), ("old", "new")):
            new_wins = random.random() < expit(logit)
            winner = "a" if new_wins == (sides[0] == "new") else "b"
            rows.append((f"q{number}", "en", *sides, winner, judge))
    columns = ["query_id", "language", "system_a", "system_b", "winner", "judge"]
    arena = build_arena(texts, questions=N_QUESTIONS, systems=("old", "new"))
    judgments = pd.DataFrame(rows, columns=columns, dtype=object)
    return gate(arena=replace(arena, judgments=judgments))


def test_an_equal_system_that_writes_more_is_not_better():
    found = [gated(0, 2.5, 0.3, seed=seed) for seed in range(8)]
    assert all(result.status == 4 for result in found)
    assert all(result.verdicts.difference == "better" for result in found)
    assert all(result.judge_doubt in result.reasons[0] for result in found)


def test_a_better_system_that_writes_more_may_still_be_better():
    found = [gated(2, 2, 0.2, seed=seed) for seed in range(8)]
    verdicts = [result.verdict for result in found]
    assert verdicts.count("better") >= 6
    assert all(0.5 < result.equal_length.low < result.equal_length.win_rate for result in found)


@pytest.mark.parametrize(("judge", "is_unknown"), [("gpt-4o", True), ("people", False)])
def test_where_one_always_writes_more_a_machine_may_like_length(judge, is_unknown):
    result = gated(1, 0, 3, judge=judge)
    assert result.verdict == "better"
    assert (result.equal_length is not None) == is_unknown


def test_a_judge_that_does_not_like_length_needs_no_such_test():
    result = gated(1.5, 0, 0.3)
    assert result.verdict == "better"
    assert result.equal_length is None


def test_length_does_not_explain_why_a_system_that_writes_less_wins():
    found = [gated(2.5, 1.5, -0.3, seed=seed) for seed in range(8)]
    assert all(result.judge.test("length").low > 0.5 for result in found)
    assert all(result.verdict == "better" and result.equal_length is None for result in found)
