"""Verdicts that the longer answer won nearly always are counted, and no others."""

import itertools

import pandas as pd
import pytest

from surrogate_arena.gating.longer_answers import nearly_all_longer

LENGTHS = {"a": 10, "b": 20, "c": 30}
PAIRS = list(itertools.permutations(LENGTHS, 2))


@pytest.fixture
def answers():
    rows = [(f"q{q}", "en", name, "x" * size) for q in range(4) for name, size in LENGTHS.items()]
    return pd.DataFrame(rows, columns=["query_id", "language", "system", "answer"])


def verdicts(pick, questions=4):
    rows = []
    for q, (one, other) in itertools.product(range(questions), PAIRS):
        winner = "a" if pick(one, other) == one else "b"
        rows.append((f"q{q}", "en", one, other, winner))
    return pd.DataFrame(rows, columns=["query_id", "language", "system_a", "system_b", "winner"])


def longer(one, other):
    return max(one, other, key=LENGTHS.__getitem__)


def test_only_a_judge_that_takes_nearly_every_longer_answer_is_counted(answers):
    assert nearly_all_longer(verdicts(longer), answers) == (24, 24)
    assert nearly_all_longer(verdicts(min), answers) is None


def test_of_few_verdicts_nothing_is_said(answers):
    assert nearly_all_longer(verdicts(longer, questions=1), answers) is None
