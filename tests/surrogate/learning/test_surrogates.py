"""One interface: what any surrogate does with tables of features and ratings."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from arena.data.errors import UsageError
from surrogate.learning.saving import load_surrogate, save_surrogate
from surrogate.learning.surrogate import SURROGATE_NAMES, find_surrogate, reseeded

KEYS = ["language", "system"]


@pytest.fixture(scope="module")
def data(simulated, table, data_of):
    return data_of(simulated.arena, table)


@pytest.fixture(scope="module")
def ratings(data):
    return {item.language: item.tournaments for item in data}


@pytest.fixture(scope="module")
def held(data):
    return data[0].systems[:3]


def named(name, **options):
    if name == "xgboost":
        pytest.importorskip("xgboost", reason="install the extra xgboost")
    return find_surrogate(name, **options)


@pytest.mark.slow
@pytest.mark.parametrize("name", SURROGATE_NAMES)
def test_every_surrogate_fits_predicts_is_saved_and_loaded(name, table, ratings, held, tmp_path):
    known, new = table[~table["system"].isin(held)], table[table["system"].isin(held)]
    shuffled = known.sample(frac=1, random_state=0)
    surrogate = named(name, seed=4).fit(shuffled, ratings)
    assert not set(held) & {system for names in surrogate.systems_.values() for system in names}
    predicted = surrogate.predict(new)
    assert list(predicted.columns[:4]) == [*KEYS, "rating", "answers"]
    assert np.isfinite(predicted["rating"]).all()
    assert (predicted["answers"] == 10).all()
    again = named(name, seed=4).fit(known, ratings).predict(new)
    np.testing.assert_allclose(again["rating"], predicted["rating"], atol=1e-9)

    save_surrogate(surrogate, tmp_path / "surrogate.zip")
    loaded = load_surrogate(tmp_path / "surrogate.zip")
    np.testing.assert_allclose(loaded.predict(new)["rating"], predicted["rating"], atol=1e-9)
    assert loaded.signature == surrogate.signature
    assert (loaded.features_, loaded.systems_, loaded.left_out_) == (
        *(surrogate.features_, surrogate.systems_, surrogate.left_out_),
    )
    pd.testing.assert_frame_equal(loaded.importances(), surrogate.importances())


@pytest.mark.parametrize("name", ["random-forest", "default"])
def test_a_table_of_ratings_serves_as_well(name, data, table):
    parts = [
        pd.DataFrame(
            {"language": item.language, "system": item.systems, "rating": item.arena_ratings}
        )
        for item in data
    ]
    rated = pd.concat(parts, ignore_index=True).assign(variance=0.1)
    surrogate = named(name).fit(table, rated)
    predicted = surrogate.predict(table).merge(rated, on=KEYS, suffixes=("", "_arena"))
    assert np.corrcoef(predicted["rating"], predicted["rating_arena"])[0, 1] > 0.8


@pytest.mark.parametrize("name", SURROGATE_NAMES)
def test_a_language_that_cannot_be_learned_from_leaves_the_others_as_they_are(
    name, table, ratings, tmp_path
):
    few = sorted(table["system"].unique())[:2]
    part = table[(table["language"] != "sw") | table["system"].isin(few)]
    surrogate = named(name).fit(part, ratings)
    assert "sw: 2 systems" in surrogate.failures_["sw"]
    predicted = surrogate.predict(table).groupby("language")["rating"]
    assert predicted.apply(lambda rows: rows.notna().all()).to_dict() == {"en": True, "sw": False}
    save_surrogate(surrogate, tmp_path / "surrogate.zip")
    assert load_surrogate(tmp_path / "surrogate.zip").failures_ == surrogate.failures_
    with pytest.raises(UsageError, match="2 systems"):
        named(name).fit(part, {"sw": ratings["sw"]})


@pytest.mark.parametrize("name", ["random-forest", "linear"])
def test_a_system_without_values_has_no_rating_and_a_lost_feature_is_said(
    name, table, ratings, held
):
    empty = table.assign(empty=np.nan)
    new = empty[empty["system"] == held[0]].assign(close=np.nan, nothing=np.nan)
    surrogate = named(name).fit(empty[empty["system"] != held[0]], ratings)
    assert surrogate.predict(new)["rating"].isna().all()
    assert surrogate.left_out_["en"] == {"empty": "no training answer has a value"}
    pd.testing.assert_frame_equal(surrogate.predict(table), surrogate.predict(empty))
    with pytest.raises(UsageError, match="the feature table lacks close"):
        surrogate.predict(empty.drop(columns="close"))


def test_copies_are_unfitted_and_follow_their_seed():
    surrogate = find_surrogate("linear", rows="overall", seed=3)
    copy = reseeded(surrogate, 5, trees=7, unknown=1)
    assert (copy.seed, copy.trees, copy.rows) == (5, 7, "overall")
    assert clone(surrogate).get_params() == surrogate.get_params()
    zero = find_surrogate("linear", rows="overall", missing="zero")
    assert zero.signature == "surrogate:linear|rows:overall|missing:zero"
    for wrong in ({"name": "oracle"}, {"rows": "answer"}, {"missing": "zero"}):
        with pytest.raises(UsageError):
            find_surrogate(**wrong)


def test_systems_hidden_from_training_still_take_part_in_the_tournaments(data):
    item, held = data[0], data[0].systems[:3]
    hidden, left = item.without_answers_of(held), item.without_systems(held)
    assert hidden.tournaments is item.tournaments
    assert not set(held) & set(hidden.X["system"])
    assert left.tournaments.systems == item.systems[3:]
    assert left.origin_of(left) == 0.0


@pytest.mark.parametrize("rows", ["system", "overall"])
def test_who_is_rated_beside_a_system_changes_nothing_where_missing_answers_count_0(
    rows, table, ratings, held
):
    """With partial answers, the questions of others once counted as its own."""
    is_held = table["system"].isin(held)
    zero = find_surrogate("linear", rows=rows, missing="zero").fit(table[~is_held], ratings)
    few = table[table["query_id"].isin(sorted(table["query_id"].unique())[:4])]
    alone = few[few["system"] == held[0]]
    beside = pd.concat([alone, table[table["system"] == held[1]]])
    expected = zero.predict(alone)["rating"]
    own = zero.predict(beside)
    np.testing.assert_allclose(own.loc[own["system"] == held[0], "rating"], expected, rtol=1e-12)
    asked = {language: tuple(part["query_id"]) for language, part in alone.groupby("language")}
    assert (zero.predict(alone, asked)["rating"] - expected).abs().min() > 1e-3
