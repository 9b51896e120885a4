"""What a board says in plain words of its own scores, and the intervals that decide it."""

import pytest

from surrogate.board.summary import (
    GAIN_UNSURE,
    GAINED,
    LOST,
    NOT_GAINED,
    NOT_SPLIT,
    UNSEEN_BY_CHANCE,
    UNSEEN_RANKED,
    UNSEEN_UNKNOWN,
    Agreements,
)
from surrogate.learning.languages import TournamentSettings
from surrogate.validation import validate


@pytest.mark.parametrize(
    ("unseen", "low", "high", "conclusion"),
    [
        (0.6, 0.1, 0.9, UNSEEN_RANKED),
        (0.6, -0.1, 0.9, UNSEEN_BY_CHANCE),  # however high, if it may be chance
        (0.05, 0.01, 0.2, UNSEEN_RANKED),
        (-0.5, -0.9, -0.1, UNSEEN_BY_CHANCE),
        (0.9, None, None, UNSEEN_UNKNOWN),
        (None, None, None, UNSEEN_UNKNOWN),
    ],
)
def test_intervals_decide_what_is_said_of_unseen_systems(unseen, low, high, conclusion):
    found = Agreements(tau_unseen=unseen, tau_unseen_low=low, tau_unseen_high=high)
    assert found.conclusions[0] == conclusion
    assert (conclusion.sentence in found.warnings) == conclusion.is_warning
    assert conclusion.is_warning == (conclusion is not UNSEEN_RANKED)


@pytest.mark.parametrize(
    ("gain", "low", "high", "conclusion"),
    [
        (0.02, 0.01, 0.03, GAINED),
        (0.02, -0.01, 0.04, NOT_GAINED),
        (0.02, -0.2, 0.3, GAIN_UNSURE),
        (0.0, 0.0, 0.0, NOT_GAINED),
        (-0.1, -0.2, -0.05, LOST),
        (float("nan"), None, None, NOT_SPLIT),
    ],
)
def test_intervals_over_systems_decide_what_is_said_of_the_gain(gain, low, high, conclusion):
    found = Agreements(gain=gain, gain_low=low, gain_high=high)
    assert found.conclusions[1] == conclusion


def test_tau_of_unseen_systems_has_the_interval_that_validate_gives(small_arena, small_board):
    found = validate(
        *(small_arena, "leave-systems-out", "answers"),
        feature_table=small_board.features,
        tournaments=TournamentSettings(tournaments=10, seed=3),
        repeats=5,
    )
    for language, item in small_board.summary.languages.items():
        scores = found.of(language)
        assert item.tau_unseen == pytest.approx(scores["tau"])
        assert item.tau_unseen_low == pytest.approx(scores["tau_low"])
        assert item.tau_unseen_high == pytest.approx(scores["tau_high"])
    macro = small_board.summary.macro
    assert macro.tau_unseen_low == pytest.approx(found.of()["tau_low"])
    assert macro.tau_unseen_low < macro.tau_unseen < macro.tau_unseen_high
