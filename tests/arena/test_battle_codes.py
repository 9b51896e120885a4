"""Battles read by columns from Parquet, against the same battles read by rows."""

import numpy as np
import pandas as pd
import pytest

from arena.data.errors import DataError, UsageError
from arena.rating.battle_codes import code_judgments, is_large_file, read_battle_codes
from arena.rating.likelihoods import Counts
from arena.rating.outcomes import count_outcomes

ROWS = pd.DataFrame(
    [
        ("q1", "x", "y", "a"),
        ("q1", "y", "x", "tie"),
        ("q2", "z", "x", "b"),
        ("q2", "y", "z", "a"),
    ],
    columns=["query_id", "system_a", "system_b", "winner"],
)


def write(table, tmp_path):
    path = tmp_path / "judgments.parquet"
    table.to_parquet(path, index=False)
    return path


def test_columns_give_the_same_codes_as_rows(tmp_path):
    by_columns = read_battle_codes(write(ROWS, tmp_path))
    by_rows = code_judgments(ROWS)
    assert by_columns.systems == by_rows.systems == ("x", "y", "z")
    for name in ("side_a", "side_b", "winner", "question"):
        np.testing.assert_array_equal(getattr(by_columns, name), getattr(by_rows, name))
    assert by_columns.n_questions == 2


def test_outcomes_are_counted_a_pair_and_a_question():
    outcomes = count_outcomes(code_judgments(ROWS))
    assert [*zip(outcomes.first, outcomes.second, strict=True)] == [(0, 1), (0, 2), (1, 2)]
    totals = outcomes.totals
    assert isinstance(totals, Counts)
    np.testing.assert_array_equal(totals.wins, [[1, 1, 1]])
    np.testing.assert_array_equal(totals.losses, [[0, 0, 0]])
    np.testing.assert_array_equal(totals.ties, [[1, 0, 0]])
    np.testing.assert_array_equal(outcomes.per_question.sum(axis=1), [2, 2])


def test_sides_are_kept_apart_where_they_matter():
    outcomes = count_outcomes(code_judgments(ROWS), by_side=True)
    assert [*zip(outcomes.first, outcomes.second, strict=True)] == [(0, 1), (1, 0), (1, 2), (2, 0)]
    np.testing.assert_array_equal(outcomes.totals.losses, [[0, 0, 0, 1]])


def test_without_questions_every_battle_is_its_own(tmp_path):
    codes = read_battle_codes(write(ROWS.drop(columns="query_id"), tmp_path))
    assert codes.question is None
    assert codes.n_questions == 4
    assert count_outcomes(codes).per_question is None


@pytest.mark.parametrize("has_questions", [True, False])
def test_resamples_have_the_right_mean_and_size(has_questions):
    codes = code_judgments(
        pd.concat([ROWS] * 5, ignore_index=True).assign(
            query_id=[f"q{row // 2 if has_questions else row}" for row in range(20)]
        )
    )
    outcomes = count_outcomes(codes)
    assert (outcomes.per_question is not None) == has_questions
    blocks = list(outcomes.resampled(4_000, np.random.default_rng(0)))
    wins = np.concatenate([block.wins for block in blocks])
    assert wins.shape == (4_000, 3)
    np.testing.assert_allclose(wins.mean(axis=0), outcomes.totals.wins[0], rtol=0.05)


def test_a_language_and_a_judge_are_chosen(tmp_path):
    table = ROWS.assign(language=["en", "en", "fi", "fi"], judge=["j", "k", "j", "k"])
    path = write(table, tmp_path)
    with pytest.raises(UsageError, match=r"several languages, choose one \(or all\): en, fi"):
        read_battle_codes(path)
    with pytest.raises(UsageError, match="no judge 'm' here; there is j, k"):
        read_battle_codes(path, "fi", "m")
    assert len(read_battle_codes(path, "fi", "j").winner) == 1
    assert len(read_battle_codes(path, "all", "all").winner) == 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"winner": ["a", "A", "b", "a"]}, "parquet:2: winner = 'A': is not a winner; write 'a'"),
        (
            {"winner": ["a", None, "b", "a"]},
            "parquet:2: winner = None: is missing; give it",
        ),
        ({"system_b": ["y", "x", "z", "z"]}, "parquet:3: system_b = 'z': is judged against itself"),
    ],
)
def test_bad_rows_are_named(tmp_path, change, message):
    with pytest.raises(DataError, match=message):
        read_battle_codes(write(ROWS.assign(**change), tmp_path))


def test_missing_columns_and_empty_files_are_said(tmp_path):
    with pytest.raises(DataError, match="winner = None: this column is missing; add it"):
        read_battle_codes(write(ROWS.drop(columns="winner"), tmp_path))
    with pytest.raises(UsageError, match=r"judgments\.parquet holds no judgments"):
        read_battle_codes(write(ROWS.iloc[:0].astype("str"), tmp_path))
    assert not is_large_file(tmp_path / "judgments.parquet")
    assert not is_large_file(tmp_path)
