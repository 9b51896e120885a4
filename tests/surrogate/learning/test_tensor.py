"""Feature tables as arrays, and their means over samples of questions."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surrogate.learning.tensor import feature_tensor, zero_filled

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


def tensor(rows=ROWS):
    return feature_tensor(rows, "en", ["f", "g"], ["x", "y", "z"], ["q1", "q2"])


def test_values_stand_at_their_system_question_and_feature():
    held = tensor()
    np.testing.assert_array_equal(held.answered, [[True, True], [True, False], [False, False]])
    np.testing.assert_array_equal(held.values[0], [[1.0, np.nan], [3.0, 5.0]])
    assert np.isnan(held.values[2]).all()


def test_means_leave_missing_values_out_and_never_make_them_zero():
    np.testing.assert_array_equal(tensor().means()[0], [[2.0, 5.0], [7.0, 2.0], [np.nan, np.nan]])


def test_means_weigh_questions_by_their_draws():
    means = tensor().means([[3, 1], [0, 2]])
    np.testing.assert_array_equal(means[0, 0], [1.5, 5.0])
    np.testing.assert_array_equal(means[1], [[3.0, 5.0], [np.nan, np.nan], [np.nan, np.nan]])


def test_take_keeps_the_order_asked_for():
    part = tensor().take(systems=["y", "x"], questions=["q2"], features=["g"])
    assert (part.systems, part.questions, part.features) == (("y", "x"), ("q2",), ("g",))
    np.testing.assert_array_equal(part.values, [[[np.nan]], [[5.0]]])


@settings(deadline=None)
@given(st.permutations(range(len(ROWS))))
def test_the_order_of_rows_does_not_matter(order):
    shuffled = tensor(ROWS.iloc[list(order)])
    np.testing.assert_array_equal(shuffled.values, tensor().values)


def test_a_row_that_stands_twice_counts_twice():
    twice = pd.concat([ROWS, ROWS[(ROWS["system"] == "x") & (ROWS["query_id"] == "q2")]])
    held = feature_tensor(twice, "en", ["f", "g"], ["x", "y"])
    assert held.questions == ("q1", "q2", "q2")
    np.testing.assert_allclose(held.means()[0], [[7 / 3, 5.0], [7.0, 2.0]])
    np.testing.assert_array_equal(held.answered, [[True, True, True], [True, False, False]])


def test_questions_that_are_added_have_no_answers():
    held = tensor().padded(["q2", "q3", "q3"])
    assert held.questions == ("q1", "q2", "q3")
    assert not held.answered[:, 2].any()
    np.testing.assert_array_equal(held.means(), tensor().means())


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
