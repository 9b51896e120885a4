"""Neighbors in a surrogate's feature space, and systems outside the field it was trained on."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from surrogate.learning.neighbors import SystemSpace, neighbors_table

FEATURES = ("f0", "f1", "constant")


def space_of(means, trained=None):
    means = np.asarray(means, dtype=float)
    kept = np.ones(len(means), dtype=bool) if trained is None else np.asarray(trained)
    systems = tuple(f"s{index}" for index in range(len(means)))
    return SystemSpace(FEATURES[: means.shape[1]], systems, means, kept)


def test_distances_are_by_hand_and_leave_out_what_does_not_vary():
    space = space_of([[0, 10, 1], [2, 10, 1], [0, 30, 1], [2, 30, 1]])  # deviations 1 and 10
    np.testing.assert_allclose(
        space.distances(np.array([0.0, 10.0, 99.0])), [0, np.sqrt(2), np.sqrt(2), 2]
    )
    assert space.outside(np.array([1.0, 20.0, 99.0])) is None


def test_distances_take_the_features_that_both_have():
    space = space_of([[0, 10], [2, np.nan], [0, 30], [2, 30]])
    distances = space.distances(np.array([0.0, np.nan]))
    np.testing.assert_allclose(distances, [0, 2, 0, 2])
    assert np.isnan(space.distances(np.array([np.nan, np.nan]))).all()


def test_neighbors_are_the_nearest_others_and_ties_go_by_name():
    table = neighbors_table(space_of([[0], [1], [2], [3], [10]]), "en").set_index("system")
    assert list(table.loc["s1", "neighbor"]) == ["s0", "s2", "s3"]
    assert list(table.loc["s4", "neighbor"]) == ["s3", "s2", "s1"]
    assert (table["language"] == "en").all()
    assert table.groupby("system")["distance"].is_monotonic_increasing.all()


def test_systems_that_were_not_trained_on_can_be_neighbors_but_give_no_scale():
    space = space_of([[0], [1], [2], [50]], [True, True, True, False])
    near = space.neighbors(np.array([50.0]))
    assert near[0] == {"neighbor": "s3", "distance": 0.0}
    assert space.outside(np.array([50.0])) == ("f0",)


def test_few_systems_have_few_neighbors():
    assert space_of([[1.0]]).neighbors(np.array([1.0])) == []
    assert len(space_of([[1.0], [2.0]]).neighbors(np.array([1.5]))) == 2


def test_the_features_that_stick_out_are_named_most_foreign_first():
    random = np.random.default_rng(0)
    space = space_of(random.normal(size=(12, 2)))
    assert space.outside(np.array([4.0, -40.0])) == ("f1", "f0")
    assert space.outside(np.array([0.1, -40.0])) == ("f1",)
    assert space.outside(np.array([np.nan, 0.0])) == ("f0",)


def test_an_unusual_combination_of_usual_values_is_outside_too():
    line = np.arange(12.0)[:, None] * [1.0, 1.0]
    assert space_of(line).outside(np.array([0.0, 11.0])) == ()


@given(st.integers(0, 2**32 - 1), st.integers(0, 11))
def test_a_copy_of_a_training_system_is_never_outside(seed, index):
    space = space_of(np.random.default_rng(seed).normal(size=(12, 3)))
    assert space.outside(space.means[index]) is None


def test_systems_of_the_same_kind_are_rarely_called_outside():
    random = np.random.default_rng(3)
    calls = [
        space_of(random.normal(size=(12, 3))).outside(random.normal(size=3)) is not None
        for _ in range(200)
    ]
    assert np.mean(calls) < 1 / 13  # what the largest distance of 12, without a margin, would give


def test_a_field_of_one_system_says_nothing():
    assert space_of([[1.0, 2.0]]).outside(np.array([9.0, 9.0])) is None
