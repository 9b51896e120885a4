"""Features relative to a question's field, and one scale for all languages."""

import numpy as np
import pytest

from surrogate.learning.tensor import (
    FeatureTensor,
    mean_scale,
    question_ranks,
    scale_of,
    standardized_within,
    viewed,
)


def tensor(values, systems, language="en"):
    values = np.asarray(values, dtype=float)[:, :, None]
    questions = tuple(f"q{index}" for index in range(values.shape[1]))
    answered = np.ones(values.shape[:2], dtype=bool)
    return FeatureTensor(language, tuple(systems), questions, ("f",), values, answered)


FIELD = tensor([[1.0, 10.0], [2.0, np.nan], [3.0, 30.0]], "abc")


def test_an_answer_is_ranked_among_the_answers_to_its_question():
    new = tensor([[2.0, 20.0], [9.0, np.nan]], "xy")
    ranks = question_ranks(new, FIELD)[:, :, 0]
    np.testing.assert_allclose(ranks, [[0.0, 0.0], [1.0, np.nan]])


def test_a_system_of_the_field_is_not_compared_with_itself():
    ranks = question_ranks(FIELD, FIELD)[:, :, 0]
    np.testing.assert_allclose(ranks, [[-1.0, -1.0], [0.0, np.nan], [1.0, 1.0]])


def test_what_is_hard_about_a_question_cancels():
    shifted = tensor(FIELD.values[:, :, 0] + np.array([5.0, -7.0]), "abc")
    np.testing.assert_array_equal(question_ranks(shifted, shifted), question_ranks(FIELD, FIELD))


def test_features_are_shown_raw_or_as_ranks():
    assert viewed(FIELD, FIELD, "raw") is FIELD
    ranks = viewed(FIELD, FIELD, "rank")
    assert ranks.features == ("f:rank",)
    np.testing.assert_array_equal(ranks.values, question_ranks(FIELD, FIELD))


def test_features_are_standardized_by_the_means_of_the_fields_systems():
    field = tensor([[0.0, 2.0], [3.0, 5.0]], "ab")
    shown = standardized_within(tensor([[4.0, 1.0]], "x"), field)
    np.testing.assert_allclose(shown.values[0, :, 0], [1.0, -1.0])
    scale = scale_of(np.array([1.0, np.nan, 3.0]))
    assert scale.restore(scale.standardize(np.array(7.0))) == pytest.approx(7.0)
    constant = scale_of(np.array([2.0, 2.0]))
    assert constant.deviation == 1.0
    assert mean_scale([scale, constant]).mean == pytest.approx(2.0)
