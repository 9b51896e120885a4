"""Boosted trees that learn an order, with the systems of a tournament as the query group."""

import sys

import numpy as np
import pandas as pd
import pytest

from arena.data.errors import MissingDependencyError
from surrogate.learning.names import find_surrogate
from surrogate.learning.pairs import RankAwareSurrogate
from surrogate.learning.training import training_ratings, training_sets


@pytest.fixture(scope="module")
def data(simulated, table, data_of):
    return data_of(simulated.arena, table)


def fitted(data, **options):
    X = pd.concat([item.X for item in data])
    ratings = {item.language: item.tournaments for item in data}
    return find_surrogate("rank-pairwise", **options).fit(X, ratings)


def test_the_systems_of_one_tournament_are_one_group(data):
    known = training_ratings({"en": data[0].tournaments})
    [only] = training_sets(data[0].X, known, ["close", "nothing"]).values()
    rows = RankAwareSurrogate("rank-pairwise")._rows(only)
    systems, tournaments = len(data[0].systems), len(only.ratings.draws)
    np.testing.assert_array_equal(rows.groups, np.repeat(np.arange(tournaments), systems))
    first = only.ratings.coefficients[0]
    assert rows.grades[:systems][int(np.argmax(first))] == systems - 1
    np.testing.assert_array_equal(np.argsort(rows.grades[:systems]), np.argsort(first))


def test_languages_are_groups_of_their_own_where_they_share_a_model(data):
    pytest.importorskip("xgboost", reason="install the extra xgboost")
    surrogate = fitted(data, pooled=True)
    assert len({id(model) for model in surrogate.models_.values()}) == 1
    rated = surrogate.predict(pd.concat([item.rows() for item in data]))
    for item in data:
        own = rated.loc[rated["language"] == item.language, "rating"].to_numpy()
        assert own.mean() == pytest.approx(item.truth.mean(), abs=1e-5)
        assert own.std() == pytest.approx(item.truth.std(), rel=1e-5)
    elsewhere = surrogate.predict(data[0].rows().assign(language="xx"))
    assert np.isfinite(elsewhere["rating"]).all()


def test_the_same_seed_gives_the_same_bytes(data):
    pytest.importorskip("xgboost", reason="install the extra xgboost")
    one, two = (fitted(data[:1], seed=9).predict(data[0].X) for _ in range(2))
    assert one["rating"].to_numpy().tobytes() == two["rating"].to_numpy().tobytes()


def test_xgboost_is_asked_for_by_its_extra(monkeypatch, data):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    with pytest.raises(MissingDependencyError, match=r"surrogate-arena\[xgboost\]"):
        fitted(data)
