"""Ratings at equal style."""

import numpy as np
import pandas as pd
import pytest

from arena.data.errors import UsageError
from arena.rating.controls import log_citations, log_length, log_markup, style_differences
from arena.rating.ratings import rate

SYSTEMS = ("plain", "wordy", "weak")


def battles(questions=120, seed=0):
    """``wordy`` is no better than ``plain`` but longer, and the judge likes long answers."""
    random = np.random.default_rng(seed)
    skill = {"plain": 0.5, "wordy": 0.5, "weak": -1.0}
    scale = {"plain": 60, "wordy": 240, "weak": 60}
    answers, judgments = [], []
    for number in range(questions):
        size = {name: int(random.lognormal(np.log(scale[name]), 0.5)) + 1 for name in SYSTEMS}
        answers += [("en", f"q{number}", name, "x" * size[name]) for name in SYSTEMS]
        for one, other in (("plain", "wordy"), ("plain", "weak"), ("wordy", "weak")):
            logits = skill[one] - skill[other] + np.log(size[one] / size[other])
            won = random.logistic() < logits
            judgments.append(("en", f"q{number}", one, other, "a" if won else "b", "judge"))
    return (
        pd.DataFrame(answers, columns=["language", "query_id", "system", "answer"]),
        pd.DataFrame(
            judgments,
            columns=["language", "query_id", "system_a", "system_b", "winner", "judge"],
        ),
    )


def test_control_of_length_takes_out_that_longer_wins():
    answers, judgments = battles()
    plain = rate(judgments, rounds=60).table.set_index("system")["rating"]
    assert plain["wordy"] - plain["plain"] > 0.8
    held = rate(judgments, rounds=60, controls=["length"], answers=answers)
    equal = held.table.set_index("system")["rating"]
    assert abs(equal["wordy"] - equal["plain"]) < 0.45
    assert equal["plain"] - equal["weak"] > 0.8
    effect = held.controls.set_index("control").loc["length"]
    assert 0 < effect["low"] < effect["effect"] < effect["high"]
    assert "controls:length" in held.signature


def test_style_is_measured_on_the_answer():
    assert log_length("##Reason: long words ##Answer: abc [1].") == pytest.approx(np.log1p(4))
    assert log_citations("a [1, 2] b [3]") == pytest.approx(np.log1p(3))
    assert log_markup("# Title\n- one\n- two\nsome **bold** text\n1. first") == pytest.approx(
        np.log(6)
    )
    assert log_length("") == log_citations("") == log_markup("") == 0.0


def test_judgments_of_absent_answers_are_left_out_and_counted():
    answers, judgments = battles(5)
    found = rate(judgments, rounds=0, controls=["length"], answers=answers.iloc[1:])
    assert found.notes[0] == "2 judgments of absent answers left out"
    assert found.table["wins"].sum() == len(judgments) - 2


def test_unknown_controls_are_refused():
    answers, judgments = battles(2)
    with pytest.raises(UsageError, match="controls of style need the answers"):
        rate(judgments, controls=["length"])
    with pytest.raises(UsageError, match="unknown control tone; use some of length, citations"):
        style_differences(judgments, answers, ["tone"])
