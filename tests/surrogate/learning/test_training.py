"""Training rows a system and a question, and predictions from both."""

import numpy as np
import pandas as pd
import pytest

from arena.data.errors import UsageError
from arena.rating.tournaments import bootstrap_tournaments
from surrogate.learning.names import find_surrogate
from surrogate.learning.tensor import FeatureTensor
from surrogate.learning.training import (
    training_ratings,
    training_rows,
    training_sets,
)


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


def test_a_row_overall_holds_the_mean_over_all_questions_and_the_mean_coefficient():
    rows = training_rows(TWO_SYSTEMS, DRAWS, COEFFICIENTS, "overall")
    np.testing.assert_array_equal(rows.features[:, 0], [2.0, 10.0])
    np.testing.assert_array_equal(rows.targets, [0.6, -0.5])
    np.testing.assert_array_equal(rows.weights, [1.0, 1.0])


def test_a_row_a_question_holds_an_answer_weighted_by_its_draws():
    rows = training_rows(TWO_SYSTEMS, DRAWS, COEFFICIENTS, "question")
    np.testing.assert_array_equal(rows.features[:, 0], [1.0, 3.0, 10.0])
    np.testing.assert_allclose(rows.targets, [0.6, 0.6, -0.5])
    np.testing.assert_array_equal(rows.weights, [3.0, 1.0, 3.0])


def test_unknown_rows_are_refused():
    assert find_surrogate("ridge", rows="question").rows == "question"
    with pytest.raises(
        UsageError, match="unknown rows 'answer'; use one of system, overall, question"
    ):
        find_surrogate("ridge", rows="answer")


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


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pd.DataFrame({"language": ["en"], "system": ["a"]}), "lacks rating"),
        (
            pd.DataFrame({"language": ["en"] * 2, "system": ["a"] * 2, "rating": [0.0, 1.0]}),
            "has a system twice",
        ),
    ],
)
def test_tables_of_ratings_that_cannot_be_used_are_refused(table, message):
    with pytest.raises(UsageError, match=message):
        training_ratings(table)


def test_what_has_answers_and_ratings_is_learned_from():
    X = pd.DataFrame(
        [("en", name, f"q{number}", number) for name in "abc" for number in range(2)],
        columns=["language", "system", "query_id", "f"],
    )
    table = pd.DataFrame(
        [("en", name, index) for index, name in enumerate("bcd")] + [("fi", "a", 0)],
        columns=["language", "system", "rating"],
    )
    [only] = training_sets(X, training_ratings(table), ["f"]).values()
    assert only.answers.systems == only.ratings.systems == ("b", "c")
    assert only.ratings.questions == ("q0", "q1")
    np.testing.assert_array_equal(only.ratings.draws, [[1, 1]])
