"""What can be validated can be built into a board, loaded and ranked with."""

from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV

from arena import UsageError
from features import Feature, extract
from surrogate import Board, build_board, rank_systems
from surrogate.board import language_study
from surrogate.learning.surrogate import DEFAULT_SURROGATE, SURROGATE_NAMES, surrogate_name
from surrogate.ranking.rank import place_systems
from surrogate_arena.studies import validate

BOOSTING = GradientBoostingRegressor(max_depth=2, n_estimators=20)
FEATURES = "answer_length,content_coverage,citation_recall@10"
OTHERS = [name for name in SURROGATE_NAMES if name != DEFAULT_SURROGATE]
SETTINGS = {"tournaments": 2, "seed": 3}


def named(name):
    if name == "xgboost" and find_spec("xgboost") is None:
        pytest.skip("install the extra xgboost")
    return name


@pytest.fixture(scope="module")
def table(six_systems):
    return extract(six_systems, FEATURES)


@pytest.mark.parametrize(
    "name",
    [DEFAULT_SURROGATE, BOOSTING, *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)],
)
def test_every_surrogate_is_validated_built_loaded_and_ranks(name, six_systems, table, tmp_path):
    board = build_board(
        six_systems, feature_table=table, tournaments=2, surrogate=named(name), seed=3
    )
    assert board.ratings["rank"].notna().all()
    assert f"|surrogate:{surrogate_name(name)}|rows:system|" in board.summary.signature
    validated = validate(
        *(six_systems, "leave-systems-out", name),
        **{"feature_table": table, "repeats": language_study.SPLITS, **SETTINGS},
    )
    taus = validated.table.set_index("language")["tau"]
    for language, item in board.summary.languages.items():
        assert item.tau_unseen == pytest.approx(taus[language])
    board.save(tmp_path / "board")
    loaded = Board.load(tmp_path / "board")
    rows = table[table["system"] == six_systems.info.systems[0]].assign(system="newcomer")
    placed, again = (place_systems(item, rows, six_systems.queries) for item in (board, loaded))
    assert np.isfinite(placed.new["rating"]).all() or not board.summary.macro.ranks_unseen
    np.testing.assert_allclose(placed.new["rating"], again.new["rating"], atol=1e-6)


def test_a_regressor_that_cannot_learn_from_so_little_is_said(six_systems, table):
    options = {"feature_table": table, "tournaments": 2, "rows": "overall"}
    searched = GridSearchCV(Ridge(), {"alpha": [1.0]}, cv=50)
    board = build_board(six_systems, surrogate=searched, **options)
    assert "cannot learn from this: Cannot" in str(board.summary.languages["en"].remarks[0])
    assert board.ratings["surrogate_rating"].isna().all()


def test_features_of_ones_own_travel_in_memory_and_are_named_in_the_file(six_systems, tmp_path):
    own = Feature("digits", "", "own", (), lambda sample: sum(map(str.isdigit, sample.text)))
    known = {"features": ["answer_length,content_coverage", own]}
    validated = validate(six_systems, repeats=1, **SETTINGS, **known)
    assert "digits" in validated.signature
    board = build_board(six_systems, surrogate="linear", tournaments=2, **known)
    rows = six_systems.answers[six_systems.answers["system"] == six_systems.info.systems[0]]
    placed = rank_systems(board, rows.assign(system="new"), six_systems)
    board.save(tmp_path / "board")
    loaded = Board.load(tmp_path / "board")
    assert "digits" in loaded.summary.settings.features
    with pytest.raises(
        UsageError, match=r"Board\.load\(FOLDER, features=.*`feature_table`.*digits"
    ):
        rank_systems(loaded, rows.assign(system="new"), six_systems)
    loaded = Board.load(tmp_path / "board", features=[own])
    assert rank_systems(loaded, rows.assign(system="new"), six_systems).new.equals(placed.new)
    with pytest.raises(UsageError, match="bleu is one of this package"):
        build_board(six_systems, features=[replace(own, name="bleu")])


@pytest.mark.slow
def test_a_surrogate_without_importances_says_so(six_systems, table):
    board = build_board(six_systems, feature_table=table, tournaments=2, surrogate="svr")
    assert board.importances["importance"].isna().all()
