"""How many judgments separate two systems, and which questions tell most."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surrogate import Board, rank_systems
from surrogate_arena.diagnosis.advice import advise, judgments_to_separate


def test_a_pair_that_is_won_six_times_in_ten_needs_some_two_hundred_judgments():
    # By hand: ((1.959964 / 2 + 0.841621 * sqrt(0.24)) / 0.1)^2 = 193.8
    assert judgments_to_separate(0.6) == judgments_to_separate(0.4) == 194
    assert judgments_to_separate(0.5) is None


@given(st.floats(0.51, 1))
def test_the_closer_the_more_judgments(win_rate):
    assert judgments_to_separate(win_rate) >= judgments_to_separate(min(1.0, win_rate + 0.05))


def test_the_number_of_judgments_has_the_power_it_is_meant_to_have():
    needed = judgments_to_separate(0.65)
    won = np.random.default_rng(4).binomial(needed, 0.65, size=20_000) / needed
    found = np.abs(won - 0.5) > 1.959964 * 0.5 / np.sqrt(needed)
    assert found.mean() == pytest.approx(0.8, abs=0.05)


@pytest.mark.slow
def test_a_copy_is_never_told_from_its_original_by_more_judgments(board_folder, small_arena):
    board = Board.load(board_folder)
    trained = board.surrogate.systems_["en"][0]
    answers = small_arena.answers[small_arena.answers["system"] == trained].assign(system="copy")
    placed = rank_systems(board, answers, small_arena)
    below = advise(board, placed).neighbors.query("side == 'below'")
    assert set(below["neighbor"]) == {trained}
    assert below["judgments"].isna().all()
    assert (below["reason"] != "").all()
