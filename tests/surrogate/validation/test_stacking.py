"""Stacked surrogates: weights from ratings of unseen training systems."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from surrogate.learning.ensembles import (
    SelectedSurrogate,
    StackedSurrogate,
    out_of_fold_ratings,
    stacking_weights,
)
from surrogate.learning.names import find_surrogate
from surrogate.validation.protocols import leave_systems_out
from surrogate.validation.validate import summarize


@pytest.fixture(scope="module")
def field(simulated, table, arenas_of):
    arena = arenas_of(simulated.arena, table)[0]
    return arena.field_without(arena.systems[:3])


class Constant:
    """Rates every system alike."""

    pooled = False

    def fit(self, fields, random_state):
        return self

    def predict(self, tensor, field):
        return np.zeros(len(tensor.systems))

    def for_all_languages(self):
        return self


def test_the_weights_are_those_of_least_squares():
    random = np.random.default_rng(1)
    ratings = random.normal(size=(50, 3))
    found = stacking_weights(ratings, ratings @ [0.7, 0.3, 0.0])
    np.testing.assert_allclose(found, [0.7, 0.3, 0.0], atol=1e-9)
    ratings[0, 0] = np.nan
    assert np.isfinite(stacking_weights(ratings, ratings[:, 1])).all()
    np.testing.assert_array_equal(stacking_weights(np.zeros((4, 2)), np.arange(4.0)), [0.5, 0.5])


@given(
    arrays(np.float64, (8, 3), elements=st.floats(-5, 5)),
    arrays(np.float64, 8, elements=st.floats(-5, 5)),
)
def test_weights_are_shares(ratings, targets):
    weights = stacking_weights(ratings, targets)
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1)


def test_a_useless_candidate_weighs_nothing(field):
    ridge = find_surrogate("ridge")
    fitted = StackedSurrogate((Constant(), ridge)).fit([field], 7)
    np.testing.assert_allclose(
        fitted.predict(field.judged, field.answers),
        ridge.fit([field], 7).predict(field.judged, field.answers),
    )


def test_out_of_fold_ratings_are_of_surrogates_that_did_not_see_the_system(field):
    ridge = find_surrogate("ridge")
    rated = out_of_fold_ratings(ridge, [field], 7)[field.language]
    seen = ridge.fit([field], 7).predict(field.judged, field.answers)
    assert np.isfinite(rated).all()
    assert (rated != seen).all()


def test_a_stack_ranks_unseen_systems(simulated, table, arenas_of):
    quick = StackedSurrogate(tuple(find_surrogate(name) for name in ("ridge", "relative-ridge")))
    outcomes = leave_systems_out(arenas_of(simulated.arena, table), quick, 1, 0)
    assert summarize(outcomes, "", "", 0, "").scores.tau > 0.5


def test_the_stack_that_can_be_asked_for_has_the_candidates_of_the_selection():
    stacked, selected = find_surrogate("stacked"), find_surrogate("selected")
    assert stacked.candidates == selected.candidates
    assert stacked.for_all_languages().pooled


@pytest.mark.parametrize("kind", [SelectedSurrogate, StackedSurrogate])
def test_judgments_of_held_out_systems_have_no_part_in_choice_or_weights(
    kind, simulated, table, arenas_of
):
    judged = simulated.arena.judgments
    held = sorted(simulated.arena.info.systems)[:3]
    touched = judged["system_a"].isin(held) | judged["system_b"].isin(held)
    turned = judged["winner"].replace({"a": "b", "b": "a"})
    flipped = judged.assign(winner=judged["winner"].where(~touched, turned))
    surrogate = kind(tuple(find_surrogate(name) for name in ("ridge", "relative-ridge")))
    rated = []
    for judgments in (judged, flipped):
        arenas = arenas_of(replace(simulated.arena, judgments=judgments), table)
        fields = [arena.field_without(held) for arena in arenas]
        fitted = surrogate.fit(fields, 5)
        unseen = arenas[0].judged.take(systems=held)
        rated.append(fitted.predict(unseen, fields[0].answers))
    assert np.isfinite(rated[0]).all()
    assert rated[0].tobytes() == rated[1].tobytes()
