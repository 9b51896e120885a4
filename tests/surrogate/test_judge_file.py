"""The judge file: round trip, and refusal of what cannot be trusted."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
import skops.io
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression

from arena.data.errors import UsageError
from surrogate import load_judge, save_judge


class Foreign:
    """A type no judge file may hold."""


def test_a_judge_reads_back_as_saved(small_board, tmp_path):
    path = tmp_path / "judge.skops"
    save_judge(small_board.surrogate, path)
    judge = load_judge(path)
    assert judge.signature == small_board.surrogate.signature
    assert judge.features == small_board.surrogate.features
    for language, item in small_board.surrogate.languages.items():
        assert judge.languages[language].systems == item.systems
        assert judge.languages[language].recipe == item.recipe
        assert judge.languages[language].left_out == item.left_out
    np.testing.assert_array_equal(
        judge.predict(small_board.features)["rating"],
        small_board.surrogate.predict(small_board.features)["rating"],
    )


def test_an_unknown_format_is_refused(tmp_path):
    path = tmp_path / "judge.skops"
    skops.io.dump({"format": 99}, path)
    with pytest.raises(UsageError, match=r"judge.skops is of format 99; this version reads 1"):
        load_judge(path)


def test_untrusted_types_are_refused(tmp_path):
    path = tmp_path / "judge.skops"
    skops.io.dump({"format": 1, "estimators": {"en": Foreign()}}, path)
    with pytest.raises(UsageError, match=r"types that are not trusted \(.*Foreign\)"):
        load_judge(path)


@pytest.mark.parametrize(
    "content",
    [b"", b"not a zip file", pickle.dumps({"format": 1}), b"PK\x03\x04 cut short"],
    ids=["empty", "text", "pickle", "cut"],
)
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "judge.skops"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="is not a trained judge"):
        load_judge(path)


def test_other_contents_are_refused(tmp_path):
    path = tmp_path / "judge.skops"
    for content in ([1, 2], {"format": 1}, {"format": 1, "description": "{"}):
        skops.io.dump(content, path)
        with pytest.raises(UsageError, match="is not a trained judge"):
            load_judge(path)


def test_broken_trees_are_refused_before_they_are_asked(small_board, tmp_path):
    path = tmp_path / "judge.skops"
    broken_children = copy.deepcopy(small_board.surrogate)
    tree = broken_children.languages["en"].estimator.estimators_[7].tree_
    for bad_child in (0, tree.node_count, -7):
        state = tree.__getstate__()
        state["nodes"]["left_child"][0] = bad_child
        tree.__setstate__(state)
        save_judge(broken_children, path)
        with pytest.raises(UsageError, match="not a trained judge: its forest holds a broken tree"):
            load_judge(path)
    other_feature = copy.deepcopy(small_board.surrogate)
    tree = other_feature.languages["en"].estimator.estimators_[0].tree_
    state = tree.__getstate__()
    state["nodes"]["feature"][0] = 99
    tree.__setstate__(state)
    save_judge(other_feature, path)
    with pytest.raises(UsageError, match="broken tree"):
        load_judge(path)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0]), "a LinearRegression, not a Random"),
        (RandomForestRegressor(), "its forest is not fitted on the features it names"),
        (RandomForestRegressor(2).fit([[0.0], [1.0]], [0.0, 1.0]), "not fitted on the features"),
    ],
    ids=["other estimator", "not fitted", "other features"],
)
def test_other_estimators_are_refused(small_board, tmp_path, estimator, message):
    path = tmp_path / "judge.skops"
    english = replace(small_board.surrogate.languages["en"], estimator=estimator)
    save_judge(replace(small_board.surrogate, languages={"en": english}), path)
    with pytest.raises(UsageError, match=message):
        load_judge(path)


def test_an_absent_file_is_said(tmp_path):
    with pytest.raises(UsageError, match="there is no trained judge at"):
        load_judge(tmp_path / "judge.skops")
