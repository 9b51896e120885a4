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


def test_neighbors_are_the_nearest_others_and_ties_go_by_name():
    table = neighbors_table(space_of([[0], [1], [2], [3], [10]]), "en").set_index("system")
    assert list(table.loc["s1", "neighbor"]) == ["s0", "s2", "s3"]
    assert list(table.loc["s4", "neighbor"]) == ["s3", "s2", "s1"]
    assert (table["language"] == "en").all()
    assert table.groupby("system")["distance"].is_monotonic_increasing.all()


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
