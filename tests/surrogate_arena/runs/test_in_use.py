"""A board that knows the version in use says first how often the best other one beats it."""

import re

import pytest

from arena import read_arena
from surrogate_arena.gating.gate import gate
from surrogate_arena.runs.records import RunRecords


@pytest.fixture
def make_with(configure, make):
    def run(in_use, further=""):
        boards = configure(f"[boards.a]\narena = 'arena'\nin_use = '{in_use}'\n{further}")
        return make(boards)["a"], boards

    return run


def test_the_win_rate_against_it_comes_first(make_with, place):
    arena = read_arena(place / "arena")
    in_use = arena.info.systems[0]
    _, boards = make_with(in_use, "publish = true")
    sentence = RunRecords.read(boards.out).boards["a"].conclusion
    first = sentence.partition(" against ")[0]
    assert sentence.startswith(f"{first} against {in_use}: ")
    expected = gate(arena=arena.judged_by(), candidate=first, baseline=in_use)
    assert sentence.startswith(expected.sentences[0])
    assert f"{first}'s win rate is {expected.win_rate:.0%}" in sentence
    page = (boards.out / "_site" / "a" / "index.html").read_text(encoding="utf-8")
    (headline,) = re.findall('<p class="strong">(.*?)</p>', page)
    assert headline.startswith(f"{first} against {in_use}: ")


def test_a_system_that_is_not_there_is_named(make_with):
    outcome, _ = make_with("v99")
    assert outcome.state == "failed"
    assert "there is no system 'v99' to compare with" in outcome.error


def test_a_board_is_made_again_for_another_version(make_with, place):
    systems = read_arena(place / "arena").info.systems
    make_with(systems[0])
    outcome, _ = make_with(systems[1])
    assert outcome.reasons == [f"in use: {systems[0]} → {systems[1]}"]
