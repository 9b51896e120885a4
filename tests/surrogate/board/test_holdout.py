"""Holding systems out of training."""

from dataclasses import replace

import numpy as np
import pytest
from one_language import one_language

from arena.data.errors import UsageError
from surrogate.board.language_study import study_languages
from surrogate.board.settings import ResolvedSettings
from surrogate.board.view import check_holdout
from surrogate.learning.surrogate import find_surrogate


def test_impossible_holdouts_are_refused():
    assert check_holdout(["b", "a"], ["a", "b", "c", "d", "e"]) == ("a", "b")
    with pytest.raises(UsageError, match="x"):
        check_holdout(["x"], ["a", "b", "c", "d"])
    with pytest.raises(UsageError, match="twice"):
        check_holdout(["a", "a"], ["a", "b", "c", "d"])
    with pytest.raises(UsageError, match="fewer than 3"):
        check_holdout(["a", "b"], ["a", "b", "c", "d"])


def test_the_final_surrogate_never_sees_the_held_out_systems():
    data = one_language(tournaments=3)
    held = data.systems[:2]
    changed = data.X.copy()
    changed.loc[changed["system"].isin(held), "f0"] = 1e6
    probe = data.X[~data.X["system"].isin(held)]
    settings = ResolvedSettings(judge="judge", holdout=held)
    predictions = []
    for X in (data.X, changed):
        surrogate = find_surrogate("linear")
        [fit], _, _ = study_languages([replace(data, X=X)], surrogate, settings, 1, None)
        assert surrogate.systems_["en"] == data.systems[2:]
        assert fit.holdout == held
        predictions.append(surrogate.predict(probe)["rating"])
    np.testing.assert_array_equal(*predictions)
