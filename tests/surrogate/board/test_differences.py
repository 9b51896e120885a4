"""How far each two systems of a board are apart, and how surely one is better."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from surrogate.board.derived_tables import difference_table
from surrogate.board.tables import DIFFERENCES

Z90 = norm.ppf(0.95)


def differences(rating, covariance):
    table = rating.rename("rating").rename_axis("system").reset_index().assign(language="en")
    return difference_table([(table, covariance)])


def test_differences_count_what_ratings_have_in_common():
    rating = pd.Series({"x": 1.0, "y": 0.4, "z": -1.0})
    covariance = pd.DataFrame(
        [[0.25, 0.2, 0.0], [0.2, 0.25, 0.0], [0.0, 0.0, 0.09]], rating.index, rating.index
    )
    table = differences(rating, covariance)
    assert list(table.columns) == list(DIFFERENCES.columns)
    assert list(zip(table["system"], table["opponent"], strict=True)) == [
        ("x", "y"),
        ("x", "z"),
        ("y", "z"),
    ]
    together, apart = table.iloc[0], table.iloc[1]
    assert together["probability"] == pytest.approx(norm.cdf(0.6 / np.sqrt(0.1)))
    assert together["high"] - together["difference"] == pytest.approx(Z90 * np.sqrt(0.1), rel=1e-4)
    assert apart["probability"] == pytest.approx(norm.cdf(2.0 / np.sqrt(0.34)))


@pytest.mark.filterwarnings("error")
def test_ratings_without_an_interval_have_no_probability():
    rating = pd.Series({"x": 1.0, "y": 0.4})
    for unknown in (np.nan, 0.0):
        covariance = pd.DataFrame(unknown, rating.index, rating.index)
        row = differences(rating, covariance).iloc[0]
        assert row["difference"] == pytest.approx(0.6)
        assert row[["low", "high", "probability"]].isna().all()
    assert differences(rating[:1], covariance).empty


def test_a_board_tells_every_pair_once_and_its_draws_agree(small_board):
    ratings = small_board.ratings.set_index(["language", "system"])
    table = small_board.differences
    for language, rows in table.groupby("language"):
        rated = ratings.loc[language, "rating"].notna().sum()
        assert len(rows) == rated * (rated - 1) / 2
    keys = ["language", "system"], ["language", "opponent"]
    first, second = (
        ratings.loc[list(table[key].itertuples(index=False, name=None))].reset_index(drop=True)
        for key in keys
    )
    apart = first["rating"] - second["rating"]
    np.testing.assert_allclose(table["difference"], apart, atol=2e-6)
    assert (table["difference"] >= 0).all()
    assert table["probability"].between(0.5, 1).all()
    # A system outside another's tier of indistinguishable ones is surely better.
    assert table.loc[first["rank_high"] < second["rank_low"], "probability"].min() > 0.9
