"""What a judge likes besides quality, as shares of the verdicts."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from arena import write_arena
from arena.rating.biases import SIDE
from arena.rating.traits import LENGTH
from surrogate import build_board
from surrogate_arena.pages.site import write_site


def verdicts_by_side(arena, preference, seed=0):
    """The arena's judge decides again: by nothing but the side."""
    random = np.random.default_rng(seed)
    is_first = random.random(len(arena.judgments)) < expit(preference)
    return replace(arena, judgments=arena.judgments.assign(winner=np.where(is_first, "a", "b")))


@pytest.mark.slow
@pytest.mark.parametrize(("preference", "is_shown"), [(0.7, True), (9.0, False)])
def test_a_board_shows_preferences_unless_its_judge_names_one_side_alone(
    preference, is_shown, tiny_arena, tmp_path
):
    arena = verdicts_by_side(tiny_arena, preference)
    board = build_board(arena, surrogate="linear", features="answer_length", tournaments=3)
    assert bool(board.judge_report.preferences) == is_shown
    write_arena(arena, tmp_path / "arena")
    board.save(tmp_path / "board")
    report = json.loads((tmp_path / "board" / "judge_report.json").read_text())
    assert [entry["trait"] for entry in report["preferences"]] == [SIDE, LENGTH] * is_shown
    page = (write_site(board, tmp_path / "site").parent / "judge.html").read_text()
    assert ("the one on side A wins" in page) == is_shown
    assert ("the one twice as long wins" in page) == is_shown
