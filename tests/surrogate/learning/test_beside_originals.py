"""Predicted ratings of systems whose wording is that of judged ones."""

from types import SimpleNamespace

import numpy as np
import pytest

from surrogate.learning.system_ridge import MOSTLY_COPIED, beside_originals

RATED = np.array([2.0, 0.0, -2.0])
FIELD = SimpleNamespace(
    is_self=np.eye(3, dtype=bool),
    mean_cosines=np.array([[1.0, 0.5, 0.5], [0.5, 1.0, 0.5], [0.5, 0.5, 1.0]]),
)


def rated_with(cosines, prediction):
    view = SimpleNamespace(is_self=np.zeros((1, 3), dtype=bool), mean_cosines=np.array([cosines]))
    return float(beside_originals(np.array([prediction]), view, FIELD, RATED)[0])


@pytest.mark.parametrize("cosines", [[0.5, 0.5, 0.5], [0.4, 0.4, 0.4], [0.1, 0.1, 0.1]])
def test_systems_no_liker_than_judged_ones_are_rated_as_predicted(cosines):
    assert rated_with(cosines, 3.5) == pytest.approx(3.5)


@pytest.mark.parametrize("cosine", [0.8, 0.9, 0.95, 1.0])
def test_a_disguised_copy_is_rated_at_most_as_its_original(cosine):
    assert rated_with([cosine, 0.5, 0.5], 3.5) <= RATED[0]


@pytest.mark.parametrize("known", [0.1, 0.5, 0.9])
def test_a_copy_in_letters_that_nobody_else_writes_is_rated_as_its_original(known):
    assert rated_with([known, 0.5 * known, 0.5 * known], 3.5) <= RATED[0]


def test_a_system_unlike_all_others_gains_nothing_by_the_one_it_is_least_unlike():
    assert rated_with([0.3, 0.1, 0.1], -1.0) == -1.0


def test_a_disguised_copy_that_lost_by_its_disguise_stays_below():
    half = 0.5 + 0.5 * 0.5
    assert rated_with([half, 0.5, 0.5], -1.0) == pytest.approx(0.5)


def test_a_mixture_of_two_moves_towards_both():
    moved = rated_with([0.7, 0.7, 0.5], 3.5)
    assert moved == pytest.approx(0.2 * 3.5 + 0.4 * 2.0 + 0.4 * 0.0)


def test_a_little_of_anothers_wording_moves_a_rating_a_little():
    share = MOSTLY_COPIED / 2
    moved = rated_with([0.5 + 0.5 * share, 0.5, 0.5], 3.0)
    assert moved == pytest.approx((1 - share) * 3.0 + share * 2.0)


def test_a_judged_system_of_another_script_hides_no_copy():
    """It is known by a small part, as a copy in other letters is."""
    cosines = np.array([[1.0, 0.5, 0.1], [0.5, 1.0, 0.02], [0.1, 0.02, 1.0]])
    field = SimpleNamespace(is_self=np.eye(3, dtype=bool), mean_cosines=cosines)
    copy = SimpleNamespace(is_self=np.zeros((1, 3), dtype=bool), mean_cosines=cosines[:1])
    assert beside_originals(np.array([3.5]), copy, field, RATED)[0] == pytest.approx(RATED[0])
