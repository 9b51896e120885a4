"""Integer codes of a table's values, against numpy and pandas."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.computing.codes import (
    coded_judgments,
    distinct,
    repeated_rows,
    row_keys,
    stable_order,
    text_codes,
    value_codes,
)

CELLS = st.sampled_from(["a", "b", "ä", "", "1", None])
TABLES = st.lists(st.tuples(CELLS, CELLS, st.integers(0, 2)), min_size=1, max_size=30).map(
    lambda rows: pd.DataFrame(rows, columns=["first", "second", "third"])
)


@given(st.lists(st.integers(0, 50), max_size=40), st.sampled_from([51, 10**5, 2**40]))
def test_distinct_numbers_equal_numpys(numbers, n_possible):
    array = np.array(numbers, dtype=np.intp)
    if n_possible > 51:
        array *= n_possible // 51
    ours = distinct(array, n_possible)
    values, first_rows, codes = np.unique(array, return_index=True, return_inverse=True)
    np.testing.assert_array_equal(ours.values, values)
    np.testing.assert_array_equal(ours.codes, codes)
    np.testing.assert_array_equal(ours.first_rows, first_rows)
    np.testing.assert_array_equal(ours.sums(None), np.bincount(codes, minlength=len(values)))


@given(st.lists(st.integers(0, 2**50 - 1), max_size=40), st.sampled_from([2**50, 2**62]))
def test_order_equals_that_of_a_stable_sort(numbers, n_possible):
    array = np.array(numbers, dtype=np.intp)
    expected = np.argsort(array, kind="stable")
    np.testing.assert_array_equal(stable_order(array, n_possible), expected)


@pytest.mark.slow
@given(TABLES)
def test_repeated_rows_equal_those_of_pandas(table):
    expected = table.duplicated().to_numpy()
    np.testing.assert_array_equal(repeated_rows(table), expected)
    coded = table.astype({"first": "category", "second": "category"})
    np.testing.assert_array_equal(repeated_rows(coded), expected)


def test_rows_with_lists_are_compared_as_text():
    table = pd.DataFrame({"name": ["x", "x", "x"], "parts": [["a"], ["a"], ["b"]]})
    assert repeated_rows(table).tolist() == [False, True, False]


@given(TABLES)
def test_sorted_keys_are_in_the_order_of_rows(table):
    keys, n_possible = row_keys(table, is_sorted=True)
    assert keys.max() < n_possible
    groups = table.groupby(list(table), dropna=False, sort=True).ngroup()
    # pandas puts missing values last, and keys put them first.
    complete = table.notna().all(axis=1).to_numpy()
    ranks = pd.Series(keys[complete]).rank(method="dense")
    assert ranks.tolist() == groups[complete].rank(method="dense").tolist()


def test_keys_of_many_columns_stay_within_64_bits():
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.integers(5_000, size=(20_000, 7)))
    table.iloc[10_000:] = table.iloc[:10_000].to_numpy()
    is_repeated = repeated_rows(table)
    assert not is_repeated[:10_000].any()
    assert is_repeated[10_000:].all()


def test_categories_without_a_row_have_no_code():
    values = pd.Series(pd.Categorical(["c", None, "a", "c"], categories=["a", "b", "c"]))
    codes, categories = value_codes(values)
    assert codes.tolist() == [1, -1, 0, 1]
    assert list(categories) == ["a", "c"]


def test_numbers_and_texts_that_are_written_alike_have_one_code():
    codes, texts = text_codes(pd.Series([1, "1", 2, None], dtype=object))
    assert codes.tolist() == [0, 0, 1, -1]
    assert texts == ["1", "2"]


@pytest.mark.parametrize("kind", ["str", "object"])
def test_coded_judgments_hold_the_same_values(kind):
    table = pd.DataFrame({"system_a": ["x", "y", "x"], "note": ["n", "m", "n"]}, dtype=kind)
    coded = coded_judgments(table)
    assert isinstance(coded["system_a"].dtype, pd.CategoricalDtype)
    assert coded["note"].dtype == table["note"].dtype
    assert coded["system_a"].tolist() == table["system_a"].tolist()
    assert coded_judgments(coded).equals(coded)
