"""Boards of verdicts with probabilities: temperatures, remarks, one setting, and ranks."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit
from simulations import small_simulation

from arena.data.schema import PROBABILITIES
from arena.rating.soft_verdicts import DEFAULT_TEMPERATURE
from surrogate.board.board import Board
from surrogate.board.build import build_board
from surrogate.ranking.rank import rank_systems

OPTIONS = {"features": "answer_length,citations", "tournaments": 2}


@pytest.fixture(scope="module")
def whole():
    return small_simulation(range(6), ["en"], questions=6).arena


@pytest.fixture(scope="module")
def soft(whole):
    """The arena with probabilities whose likelier side is the winner."""
    judgments = whole.judgments
    random = np.random.default_rng(3)
    sign = judgments["winner"].map({"a": 1.0, "b": -1.0, "tie": 0.0}).to_numpy()
    probability_a = expit(sign * random.exponential(6.0, len(sign)))
    columns = {"probability_a": probability_a, "probability_b": 1.0 - probability_a}
    return replace(whole, judgments=judgments.assign(**columns))


@pytest.fixture(scope="module")
def board(soft):
    return build_board(soft, **OPTIONS)


def test_a_board_says_how_probabilities_count(board, soft, tmp_path):
    (judge,) = soft.judges
    assert board.summary.settings.temperatures == {judge: DEFAULT_TEMPERATURE}
    assert f"temperatures:{judge}={DEFAULT_TEMPERATURE:g}|" in board.summary.signature
    assert any("at temperature 4" in str(remark) for remark in board.summary.macro.remarks)
    board.save(tmp_path / "board")
    loaded = Board.load(tmp_path / "board")
    assert loaded.summary == board.summary
    assert loaded.surrogate.ratings_["en"].items.soft_counts is not None


@pytest.mark.slow
def test_hard_verdicts_give_the_board_of_the_winners(whole, soft):
    hard = build_board(soft, **OPTIONS, hard_verdicts=True)
    winners = build_board(whole, **OPTIONS)
    pd.testing.assert_frame_equal(hard.ratings, winners.ratings)
    assert hard.summary.settings.temperatures == {}
    assert "hard_verdicts:True" in hard.summary.signature
    assert "hard_verdicts" not in winners.summary.signature
    assert winners.summary.settings.temperatures == {}


def test_rank_takes_new_verdicts_at_the_temperature_of_the_board(soft):
    *known_systems, new = soft.info.systems
    known = soft.select(systems=known_systems)
    board = build_board(known, **OPTIONS)
    is_new = (soft.judgments[["system_a", "system_b"]] == new).any(axis=1)
    judgments = soft.judgments[is_new]
    answers = soft.answers[soft.answers["system"] == new]
    placed = rank_systems(board, answers, known, judgments=judgments)
    assert placed.new["judgments"].sum() == len(judgments)
    log_odds = logit(np.clip(judgments["probability_a"], 1e-6, 1 - 1e-6))
    expected = expit(log_odds / DEFAULT_TEMPERATURE)
    np.testing.assert_allclose(placed.judgments["probability_a"], expected, atol=1e-6)
    # How likely a winner is decides the rating, not the winner alone.
    mild = {name: 0.5 + (judgments[name] - 0.5) / 50 for name in PROBABILITIES}
    milder = rank_systems(board, answers, known, judgments=judgments.assign(**mild))
    assert milder.new["rating"].iloc[0] != placed.new["rating"].iloc[0]
    assert (placed.new["rating"] != placed.new["surrogate_rating"]).all()
