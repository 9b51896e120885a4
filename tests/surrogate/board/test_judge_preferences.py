"""What a judge likes besides quality, as shares of the verdicts."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from arena.rating.biases import SIDE, SIDE_PRECISION, JudgeBias
from arena.rating.traits import LENGTH
from surrogate.board.equal_length import equal_length_ratings
from surrogate.board.judge_preferences import judge_preferences


def bias(trait=SIDE, coefficient=0.0, error=0.1):
    return JudgeBias("j", trait, coefficient, error)


def test_a_coefficient_is_the_share_that_its_answer_wins():
    (side,) = judge_preferences([bias(coefficient=math.log(3))])
    assert side.share == pytest.approx(0.75)
    assert side.low == pytest.approx(expit(math.log(3) - 1.96 * 0.1), abs=1e-4)
    assert "75% (95% interval" in side.sentence
    assert "languages" not in side.sentence
    # Twice as long: the coefficient is of the logarithm of lengths.
    (length,) = judge_preferences([bias(LENGTH, coefficient=1.0)])
    assert length.share == pytest.approx(2 / 3)


def test_languages_are_averaged_and_their_errors_are_independent():
    four = [bias(coefficient=value) for value in (-0.2, 0.0, 0.4, 0.6)]
    (side,) = judge_preferences(four)
    assert side.share == pytest.approx(expit(0.2))
    assert side.high == pytest.approx(expit(0.2 + 1.96 * 0.1 / 2), abs=1e-4)
    assert side.sentence.startswith("in the mean over 4 languages")


def test_nothing_is_claimed_of_what_verdicts_do_not_tell():
    assert judge_preferences([]) == ()
    assert judge_preferences([bias(error=SIDE_PRECISION**-0.5), bias("lists")]) == ()


def verdicts_by_side(arena, preference, seed=0):
    """The arena's judge decides again: by nothing but the side."""
    random = np.random.default_rng(seed)
    is_first = random.random(len(arena.judgments)) < expit(preference)
    return replace(arena, judgments=arena.judgments.assign(winner=np.where(is_first, "a", "b")))


def test_the_side_that_a_judge_prefers_is_estimated(small_arena):
    made = equal_length_ratings(verdicts_by_side(small_arena, 0.7), "half")
    side, *_ = judge_preferences(made.biases)
    assert side.low < expit(0.7) < side.high
    assert side.high - side.low < 0.1
