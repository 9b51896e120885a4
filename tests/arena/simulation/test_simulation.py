"""Simulating: the same seed gives the same arena, and bad arguments are refused."""

from __future__ import annotations

import os
import subprocess
import sys

import pandas as pd
import pytest

from arena.data.errors import UsageError
from arena.simulation import (
    DEFAULT_SYSTEMS,
    SystemProfile,
    simulate,
)

PERFECT = SystemProfile(name="sim-perfect")
WEAK = SystemProfile(0.2, 0.3, 0.2, 0.4, 0.3, 0.25, name="sim-weak")


@pytest.fixture(scope="module")
def default():
    return simulate()


def test_the_same_seed_gives_the_same_tables_and_another_seed_does_not(default):
    again = simulate()
    for name in ("queries", "answers", "judgments"):
        pd.testing.assert_frame_equal(getattr(again.arena, name), getattr(default.arena, name))
    pd.testing.assert_frame_equal(again.truth, default.truth)
    other = simulate(seed=1)
    assert (other.arena.answers["answer"] != default.arena.answers["answer"]).mean() > 0.2
    pd.testing.assert_frame_equal(other.truth, default.truth)


def test_further_systems_languages_and_questions_change_nothing_else(default):
    some = simulate(DEFAULT_SYSTEMS[2:5][::-1], ["sw", "ja"], questions=7)
    for name, rows in (("answers", 2 * 7 * 3), ("judgments", 2 * 7 * 3)):
        few, all_rows = getattr(some.arena, name), getattr(default.arena, name)
        assert len(few) == rows
        assert len(few.merge(all_rows, how="inner", on=list(few.columns))) == rows
    key = ["language", "query_id"]
    both = some.arena.queries.merge(default.arena.queries, on=key)
    assert len(both) == 14
    assert (both["passages_x"] == both["passages_y"]).all()


@pytest.mark.slow
def test_the_simulation_does_not_depend_on_the_hash_seed():
    script = (
        "import hashlib; from arena.simulation import simulate; s = simulate(questions=2)\n"
        "tables = (s.arena.queries, s.arena.answers, s.arena.judgments, s.truth, s.errors)\n"
        "text = s.arena.info.model_dump_json() + ''.join(t.to_json() for t in tables)\n"
        "print(hashlib.sha256(text.encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for hash_seed in ("1", "2")
    }
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"languages": ["en", "fr"]},
            "languages holds 'fr', which has no facts to simulate with; "
            "choose from ar, en, es, hi, ja, sw",
        ),
        ({"languages": []}, "languages is empty; choose from ar, en, es, hi, ja, sw"),
        ({"languages": ["en", "en"]}, "languages holds en several times; keep one"),
        ({"systems": [PERFECT]}, "systems holds 1 of at least 2 to compare; add some"),
        (
            {"systems": [PERFECT, WEAK, PERFECT]},
            "systems holds sim-perfect several times; rename all but one",
        ),
        ({"questions": 0}, "questions = 0 is out of range; use 1 to 24"),
        ({"questions": 25}, "questions = 25 is out of range; use 1 to 24"),
        ({"judge_noise": -0.1}, "judge_noise = -0.1 is out of range; use 0 or more"),
        ({"judge_noise": float("nan")}, "judge_noise = nan is out of range; use 0 or more"),
        ({"seed": -1}, "seed = -1 is negative; use 0 or more"),
        (
            {"systems": [PERFECT, SystemProfile(omission=0.6, elsewhere=2.0, name="sim-x")]},
            "sim-x in ar: omission = 1.2 is outside 0 to 1; change the rate or its factor 2 to fit",
        ),
    ],
)
def test_arguments_out_of_range_are_refused(arguments, message):
    with pytest.raises(UsageError) as raised:
        simulate(**arguments)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("profile", "message"),
    [
        ({"omission": 1.5}, "sim-x: omission = 1.5 is outside 0 to 1; change the rate to fit"),
        (
            {"truncation": -0.1},
            "sim-x: truncation = -0.1 is outside 0 to 1; change the rate to fit",
        ),
        (
            {"wrong_language": float("nan")},
            "sim-x: wrong_language = nan is outside 0 to 1; change the rate to fit",
        ),
        (
            {"missing_citation": 0.6, "wrong_citation": 0.6},
            "sim-x: missing_citation + wrong_citation = 1.2 is above 1, and no citation is both; "
            "change the rate to fit",
        ),
        ({"elsewhere": -1.0}, "sim-x: elsewhere = -1 is no factor; use 0 or more"),
        (
            {"by_language": {"ja": float("inf")}},
            "sim-x: by_language['ja'] = inf is no factor; use 0 or more",
        ),
        ({"name": " "}, "name of a system is empty; give it one such as 'sim-small'"),
    ],
)
def test_profiles_out_of_range_are_refused(profile, message):
    with pytest.raises(UsageError) as raised:
        SystemProfile(**{"name": "sim-x", **profile})
    assert str(raised.value) == message
