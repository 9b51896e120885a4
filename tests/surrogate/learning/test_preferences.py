"""What judges of other arenas liked: the file, the prior that it gives, and its limits."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_answers_surrogate import arena, known, scored_language, without

from features.measures.registry import FEATURES
from surrogate.learning.answers_surrogate import AnswersSurrogate
from surrogate.learning.peers import CONSENSUS
from surrogate.learning.question_scores import (
    QuestionScores,
    preference_slopes,
    reads_passages,
    shipped_preferences,
    shipped_weights,
    solved_language,
)
from surrogate.learning.saving import load_surrogate, save_surrogate

OPEN_LICENSES = {"Apache-2.0", "MIT", "CC BY 4.0"}
WEIGHTS = {"length": 0.5, "noise": -0.2}


@pytest.fixture(scope="module")
def judged():
    return arena()


def slopes(scored, preferences):
    return QuestionScores.fit({"en": scored}, np.array(preferences)).slopes


def test_the_shipped_file_names_open_arenas_and_features_that_need_no_passages():
    shipped = shipped_preferences()
    assert {source["license"] for source in shipped["arenas"]} <= OPEN_LICENSES
    for name in shipped["weights"]:
        assert name == CONSENSUS or name in FEATURES
        assert not reads_passages(name)


@given(st.permutations(["answer_length", "my_feature", "consensus", "repetition"]))
def test_weights_follow_the_order_of_features_and_unknown_ones_count_nothing(names):
    found = preference_slopes(shipped_weights(), names, np.ones(4, dtype=bool))
    by_name = dict(zip(names, found, strict=True))
    assert by_name.pop("my_feature") == 0
    assert by_name == {name: shipped_weights()[name] for name in by_name}


def test_no_weight_counts_where_a_feature_of_the_passages_has_values():
    names = ["answer_length", "ngram_coverage@2"]
    assert preference_slopes(shipped_weights(), names, np.array([True, True])).tolist() == [0, 0]
    assert preference_slopes(shipped_weights(), names, np.array([True, False]))[0] > 0


def test_weights_of_features_that_an_arena_lacks_change_nothing(judged):
    X, rows = judged
    plain = AnswersSurrogate(preferences={}).fit(X, known(rows))
    strange = AnswersSurrogate(preferences={"elsewhere": 1.0}).fit(X, known(rows))
    pd.testing.assert_frame_equal(plain.predict(X), strange.predict(X))


@pytest.mark.parametrize("preferences", [[0.0, 0.0, 0.0], [0.3, 0.1, -0.2], [30.0, 0.0, 5.0]])
def test_slopes_are_those_of_a_ridge_with_one_more_feature(judged, preferences):
    """Its slope has variance 1 and is shared out to the features by their weights."""
    scored = scored_language(judged)
    part = solved_language(scored)
    columns = np.column_stack([np.eye(3), preferences])
    precision = np.diag([3.0, 3.0, 3.0, 1.0])
    extended = np.linalg.solve(
        columns.T @ part.normal @ columns + precision, columns.T @ part.target
    )
    np.testing.assert_allclose(slopes(scored, preferences), columns @ extended, rtol=1e-6)


def test_an_arena_of_opposite_preferences_turns_the_weights_round(judged):
    X, rows = judged
    opposite = rows.replace({"winner": {"a": "b", "b": "a"}})
    new = X[X["system"].isin(["system-2", "system-7"])]
    table, held = X, ["system-2", "system-7"]
    ratings = {}
    for name, judgments in (("same", rows), ("opposite", opposite)):
        surrogate = AnswersSurrogate(preferences=WEIGHTS)
        surrogate.fit(without(table, held), known(without(judgments, held)))
        ratings[name] = surrogate.predict(new)["rating"].to_numpy()
    np.testing.assert_allclose(ratings["same"], -ratings["opposite"], atol=1e-6)
    turned = {name: -weight for name, weight in WEIGHTS.items()}
    surrogate = AnswersSurrogate(preferences=turned)
    surrogate.fit(without(table, held), known(without(rows, held)))
    np.testing.assert_allclose(surrogate.predict(new)["rating"], ratings["same"], atol=1e-9)


def test_few_verdicts_lean_on_the_weights_and_many_do_not():
    X, rows = arena(questions=30, languages=("en",))
    few = rows[rows["query_id"] == "q0"]
    spreads = {}
    for name, judgments in (("few", few), ("many", rows)):
        added = []
        for weights in ({}, {"noise": 1.0}):
            surrogate = AnswersSurrogate(preferences=weights).fit(X, known(judgments))
            added.append(surrogate.scores_.slopes[surrogate.features_.index("noise")])
        spreads[name] = abs(added[1] - added[0])
    assert spreads["many"] < 0.2 * spreads["few"]


def test_a_saved_surrogate_holds_the_weights_that_it_was_built_with(judged, tmp_path, monkeypatch):
    X, rows = judged
    fitted = AnswersSurrogate(preferences=WEIGHTS).fit(X, known(rows))
    save_surrogate(fitted, tmp_path / "surrogate.zip")
    monkeypatch.setattr("surrogate.learning.question_scores.shipped_weights", dict)
    loaded = load_surrogate(tmp_path / "surrogate.zip")
    assert loaded.preferences == WEIGHTS
    np.testing.assert_allclose(loaded.scores_.slopes, fitted.scores_.slopes, rtol=1e-2)
