"""Features as arrays, ratings, and the training rows made of both."""

import numpy as np
import pandas as pd
import pytest

from arena.rating.pairs import JudgedItems
from arena.rating.tournaments import bootstrap_tournaments
from surrogate.learning.training_data import (
    FeatureTensor,
    TrainingRatings,
    feature_tensor,
    training_ratings,
    training_rows,
    zero_filled,
)


def tensor(values, answered=None):
    values = np.asarray(values, dtype=float)
    answered = np.isfinite(values).any(axis=2) if answered is None else np.asarray(answered)
    systems = tuple(f"s{index}" for index in range(values.shape[0]))
    questions = tuple(f"q{index}" for index in range(values.shape[1]))
    rows = np.where(answered, np.cumsum(answered).reshape(answered.shape) - 1, -1)
    return FeatureTensor("en", systems, questions, values, rows)


TWO_SYSTEMS = tensor([[[1.0], [3.0]], [[10.0], [np.nan]]])
RATINGS = TrainingRatings(
    ("s0", "s1"),
    ("q0", "q1"),
    np.array([[1, 1], [2, 0]]),
    np.array([[0.5, -0.5], [0.7, np.nan]]),
    JudgedItems.none(2, 2),
)


def test_a_row_a_system_holds_its_features_averaged_over_the_tournament():
    rows = training_rows(TWO_SYSTEMS, RATINGS, "system")
    np.testing.assert_array_equal(rows.features[:, 0], [2.0, 10.0, 1.0])
    np.testing.assert_array_equal(rows.targets, [0.5, -0.5, 0.7])
    assert rows.systems == 2


def test_a_row_overall_holds_the_mean_over_all_questions_and_the_mean_coefficient():
    rows = training_rows(TWO_SYSTEMS, RATINGS, "overall")
    np.testing.assert_array_equal(rows.features[:, 0], [2.0, 10.0])
    np.testing.assert_array_equal(rows.targets, [0.6, -0.5])


def test_ratings_come_as_tournaments_or_as_a_table():
    table = pd.DataFrame(
        [("en", "b", 1.0, 0.1), ("en", "a", -1.0, 0.2), ("sw", "a", 0.5, 0.3)],
        columns=["language", "system", "rating", "variance"],
    )
    known = training_ratings(table)
    assert known["en"].systems == ("a", "b")
    np.testing.assert_array_equal(known["en"].means, [-1.0, 1.0])
    np.testing.assert_array_equal(known["en"].variance, [0.2, 0.1])
    assert known["sw"].systems == ("a",)
    judgments = pd.DataFrame(
        [("en", f"q{number}", "a", other, "a") for number in range(3) for other in "bc"],
        columns=["language", "query_id", "system_a", "system_b", "winner"],
    )
    tournaments = bootstrap_tournaments(judgments, 4)
    rated = training_ratings({"en": tournaments})["en"]
    np.testing.assert_allclose(rated.means, tournaments.mean_coefficients)
    fewer = rated.take(["c", "a"])
    np.testing.assert_allclose(fewer.means, tournaments.mean_coefficients[[2, 0]])
    assert fewer.items.counts.sum() == 3
    pairs = fewer.items.pairs
    assert {fewer.systems[pairs.first[0]], fewer.systems[pairs.second[0]]} == {"a", "c"}


ROWS = pd.DataFrame(
    [
        ("en", "x", "q1", 1.0, np.nan),
        ("en", "x", "q2", 3.0, 5.0),
        ("en", "y", "q1", 7.0, 2.0),
        ("de", "x", "q1", 99.0, 99.0),
        ("en", "other", "q1", 99.0, 99.0),
    ],
    columns=["language", "system", "query_id", "f", "g"],
)


def arranged(rows=ROWS):
    english = rows[rows["language"] == "en"]
    return feature_tensor(english, "en", ["f", "g"], ["x", "y", "z"], ["q1", "q2"])


def test_values_stand_at_their_system_question_and_feature():
    held = arranged()
    np.testing.assert_array_equal(held.answered, [[True, True], [True, False], [False, False]])
    np.testing.assert_array_equal(held.values[0], [[1.0, np.nan], [3.0, 5.0]])
    assert np.isnan(held.values[2]).all()


def test_places_are_those_of_the_rows_of_the_language_in_any_order():
    shuffled = ROWS.iloc[[3, 4, 2, 0, 1]].reset_index(drop=True)
    held = arranged(shuffled)
    np.testing.assert_array_equal(held.values, arranged().values)
    english = shuffled[shuffled["language"] == "en"]
    for system, question in zip(*np.nonzero(held.answered), strict=True):
        row = english.iloc[held.rows[system, question]]
        assert (row["system"], row["query_id"]) == (held.systems[system], held.questions[question])
    assert (held.rows[~held.answered] == -1).all()


def test_means_weigh_questions_by_their_draws():
    means = arranged().means([[3, 1], [0, 2]])
    np.testing.assert_array_equal(means[0, 0], [1.5, 5.0])
    np.testing.assert_array_equal(means[1], [[3.0, 5.0], [np.nan, np.nan], [np.nan, np.nan]])


def test_a_row_that_stands_twice_counts_twice():
    english = ROWS[ROWS["language"] == "en"]
    twice = pd.concat([english, english.query("system == 'x' and query_id == 'q2'")])
    held = feature_tensor(twice, "en", ["f", "g"], ["x", "y"])
    assert held.questions == ("q1", "q2", "q2")
    np.testing.assert_allclose(held.means()[0], [[7 / 3, 5.0], [7.0, 2.0]])
    np.testing.assert_array_equal(held.answered, [[True, True, True], [True, False, False]])


def test_a_missing_value_may_count_0_and_so_does_an_answer_that_is_not_there():
    X = pd.DataFrame(
        [("en", "s", "q1", 2.0), ("en", "s", "q2", np.nan), ("en", "t", "q3", 6.0)],
        columns=["language", "system", "query_id", "f"],
    )
    tensor = feature_tensor(X, "en", ["f"])
    assert tensor.means()[0].ravel().tolist() == [2.0, 6.0]
    filled = zero_filled(tensor, ["q1", "q2", "q3"])
    assert filled.means()[0].ravel().tolist() == pytest.approx([2 / 3, 2.0])
    assert filled.means([[2, 1, 1]])[0].ravel().tolist() == pytest.approx([1.0, 1.5])
    np.testing.assert_array_equal(filled.answered, tensor.answered)


def test_answers_that_are_not_there_count_0_for_the_questions_asked_alone():
    X = pd.DataFrame(
        [("en", "s", "q1", 2.0), ("en", "s", "q2", np.nan), ("en", "t", "q3", 6.0)],
        columns=["language", "system", "query_id", "f"],
    )
    filled = zero_filled(feature_tensor(X, "en", ["f"]), ["q1", "q4"])
    assert filled.questions == ("q1", "q2", "q3", "q4")
    # s is asked q1 and q4 and answers q2, too; t is asked the same and answers q3.
    assert filled.means()[0].ravel().tolist() == pytest.approx([2 / 3, 6 / 3])
