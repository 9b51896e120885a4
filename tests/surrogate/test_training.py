"""Training rows a system and a question, and predictions from both."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from arena.data.errors import UsageError
from surrogate.learning.tensor import FeatureTensor
from surrogate.learning.training import checked_row_kind, predict_systems, training_rows


def tensor(values, answered=None):
    values = np.asarray(values, dtype=float)
    answered = np.isfinite(values).any(axis=2) if answered is None else np.asarray(answered)
    systems = tuple(f"s{index}" for index in range(values.shape[0]))
    questions = tuple(f"q{index}" for index in range(values.shape[1]))
    features = tuple(f"f{index}" for index in range(values.shape[2]))
    return FeatureTensor("en", systems, questions, features, values, answered)


TWO_SYSTEMS = tensor([[[1.0], [3.0]], [[10.0], [np.nan]]])
DRAWS = np.array([[1, 1], [2, 0]])
COEFFICIENTS = np.array([[0.5, -0.5], [0.7, np.nan]])


def test_a_row_a_system_holds_its_features_averaged_over_the_tournament():
    rows = training_rows(TWO_SYSTEMS, DRAWS, COEFFICIENTS, "system")
    np.testing.assert_array_equal(rows.features[:, 0], [2.0, 10.0, 1.0])
    np.testing.assert_array_equal(rows.targets, [0.5, -0.5, 0.7])
    np.testing.assert_array_equal(rows.weights, [1.0, 1.0, 1.0])
    assert rows.systems == 2


def test_a_row_a_question_holds_an_answer_weighted_by_its_draws():
    rows = training_rows(TWO_SYSTEMS, DRAWS, COEFFICIENTS, "question")
    np.testing.assert_array_equal(rows.features[:, 0], [1.0, 3.0, 10.0])
    np.testing.assert_allclose(rows.targets, [0.6, 0.6, -0.5])
    np.testing.assert_array_equal(rows.weights, [3.0, 1.0, 3.0])


def test_unknown_rows_are_refused():
    assert checked_row_kind("question") == "question"
    with pytest.raises(UsageError, match="unknown rows 'answer'; use one of system, question"):
        training_rows(TWO_SYSTEMS, DRAWS, COEFFICIENTS, "answer")


def test_predictions_average_over_answers_and_are_missing_without_any():
    held = tensor([[[1.0], [3.0]], [[5.0], [np.nan]], [[np.nan], [np.nan]]])
    line = LinearRegression().fit([[0.0], [1.0]], [0.0, 2.0])
    for kind in ("system", "question"):
        np.testing.assert_allclose(predict_systems(line, held, kind), [4.0, 10.0, np.nan])
        weighted = predict_systems(line, held, kind, np.array([1, 3]))
        np.testing.assert_allclose(weighted, [5.0, 10.0, np.nan])
