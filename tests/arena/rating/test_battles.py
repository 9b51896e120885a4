"""Battles read by columns from Parquet, against the same battles read by rows."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest

from arena.data.errors import DataError, UsageError
from arena.rating.battle_files import is_large_file, read_battle_columns
from arena.rating.battles import Battles
from arena.rating.pairs import connected_groups, is_strongly_connected
from arena.rating.posterior import BattleLikelihood

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
    by_columns = read_battle_columns(write(ROWS, tmp_path))
    by_rows = Battles.from_judgments(ROWS)
    assert by_columns.systems == by_rows.systems == ("x", "y", "z")
    for name in ("side_a", "side_b", "winner", "question"):
        np.testing.assert_array_equal(getattr(by_columns, name), getattr(by_rows, name))
    assert by_columns.n_questions == 2


def test_wins_are_counted_a_pair_and_a_question():
    counts = Battles.from_judgments(ROWS).count()
    assert [*zip(counts.pairs.first, counts.pairs.second, strict=True)] == [(0, 1), (0, 2), (1, 2)]
    np.testing.assert_array_equal(counts.totals.wins, [[1], [1], [1]])
    np.testing.assert_array_equal(counts.totals.losses, [[0], [0], [0]])
    np.testing.assert_array_equal(counts.totals.ties, [[1], [0], [0]])
    np.testing.assert_array_equal(counts.counted.sum(axis=0), [2, 2])


def test_points_and_counts_by_question():
    rows = [
        ("q1", "beta", "alpha", "a"),
        ("q1", "alpha", "gamma", "tie"),
        ("q2", "alpha", "beta", "a"),
        ("q2", "beta", "alpha", "b"),
    ]
    battles = Battles.from_judgments(pd.DataFrame(rows, columns=ROWS.columns))
    assert battles.systems == ("alpha", "beta", "gamma")
    assert battles.questions == ("q1", "q2")
    items = battles.items
    np.testing.assert_array_equal([items.pairs.first, items.pairs.second], [[0, 0], [1, 2]])
    assert len(items) == 3, "a pair that nobody judged on a question is no item"
    np.testing.assert_array_equal(items.table(items.points), [[0.0, 0.5], [2.0, 0.0]])
    np.testing.assert_array_equal(items.table(items.counts), [[1.0, 1.0], [2.0, 0.0]])
    np.testing.assert_array_equal(items.totals, [[2.0, 0.5], [3.0, 1.0]])
    twice = battles.by_question.weighted([[2, 0], [1, 1]])
    np.testing.assert_array_equal(twice.points, [[0.0, 2.0], [1.0, 0.5]])


def test_they_take_the_memory_of_what_was_judged():
    systems, questions, each = 400, 1_500, 4
    random = np.random.default_rng(0)
    side_a = random.integers(systems, size=questions * each)
    side_b = (side_a + random.integers(1, systems, size=len(side_a))) % systems
    names = [f"{number:03}" for number in range(systems)]
    battles = Battles.from_codes(
        *(side_a, names, side_b, names, random.integers(3, size=len(side_a))),
        np.repeat(np.arange(questions), each),
    )
    tracemalloc.start()
    likelihood = BattleLikelihood(battles.items.among(range(1, systems)))
    scores = likelihood.scores(np.zeros(systems - 1))
    assert tracemalloc.get_traced_memory()[1] < 3 * 8 * np.prod(scores.shape)
    tracemalloc.stop()
    table_size = questions * len(likelihood.pairs) * 8
    assert table_size > 10 * 8 * np.prod(scores.shape), (
        "of the questions by pairs, that is not there"
    )


def test_sides_are_kept_apart_where_they_matter():
    counts = Battles.from_judgments(ROWS).count(by_side=True)
    met = [*zip(counts.pairs.first, counts.pairs.second, strict=True)]
    assert met == [(0, 1), (1, 0), (1, 2), (2, 0)]
    np.testing.assert_array_equal(counts.totals.losses[:, 0], [0, 0, 0, 1])


def test_counting_by_a_table_of_all_pairs_is_the_same():
    rows = pd.concat([ROWS] * 5, ignore_index=True).drop(columns="query_id")
    for by_side in (False, True):
        short = Battles.from_judgments(rows).count(by_side)
        long = Battles.from_judgments(rows).count(by_side, by_question=True)
        for name in ("wins", "losses", "ties"):
            of_short, of_long = getattr(short.totals, name), getattr(long.totals, name)
            np.testing.assert_array_equal(of_short, of_long)
        assert short.counted is None


def test_systems_ties_and_questions_are_left_out():
    battles = Battles.from_judgments(ROWS)
    among = battles.among(["x", "y"])
    assert (among.systems, among.questions, len(among)) == (("x", "y"), ("q1", "q2"), 2)
    assert among.on_battled_questions().questions == ("q1",)
    decided = battles.decided()
    assert (len(decided), decided.systems) == (3, ("x", "y", "z"))
    only_ties = ROWS.assign(winner="tie")
    with pytest.raises(UsageError, match="no judgments to count"):
        Battles.from_judgments(only_ties).decided()


def test_questions_of_two_languages_are_two():
    rows = ROWS.assign(language=["en", "fi", "en", "fi"])
    assert Battles.from_judgments(rows).questions == ("en/q1", "en/q2", "fi/q1", "fi/q2")


def test_groups_are_numbered_from_the_largest():
    first, second = np.array([0, 2, 3]), np.array([1, 3, 4])
    np.testing.assert_array_equal(connected_groups(first, second, 5), [1, 1, 0, 0, 0])
    np.testing.assert_array_equal(connected_groups(first, second, 6), [1, 1, 0, 0, 0, 2])
    one_way = connected_groups(np.array([0, 1, 2]), np.array([1, 2, 1]), 3, one_way=True)
    np.testing.assert_array_equal(one_way, [1, 0, 0])


def test_wins_lead_from_every_system_to_every_other_or_do_not():
    pairs = Battles.from_judgments(ROWS).by_question.pairs
    assert is_strongly_connected(pairs, [1, 0, 1], [0, 1, 0])
    assert not is_strongly_connected(pairs, [1, 1, 1], [0, 0, 1])


def test_without_questions_every_battle_is_its_own(tmp_path):
    battles = read_battle_columns(write(ROWS.drop(columns="query_id"), tmp_path))
    assert battles.question is None
    assert battles.n_questions == 4
    assert battles.count().counted is None


@pytest.mark.parametrize("has_questions", [True, False])
def test_resamples_have_the_right_mean_and_size(has_questions):
    table = pd.concat([ROWS] * 5, ignore_index=True).assign(
        query_id=[f"q{row // 2 if has_questions else row}" for row in range(20)]
    )
    counts = Battles.from_judgments(table).count()
    assert (counts.counted is not None) == has_questions
    blocks = list(counts.resampled(4_000, np.random.default_rng(0)))
    wins = np.concatenate([block.wins for block in blocks], axis=1)
    assert wins.shape == (3, 4_000)
    np.testing.assert_allclose(wins.mean(axis=1), counts.totals.wins[:, 0], rtol=0.05)


def test_a_language_and_a_judge_are_chosen(tmp_path):
    table = ROWS.assign(language=["en", "en", "fi", "fi"], judge=["j", "k", "j", "k"])
    path = write(table, tmp_path)
    with pytest.raises(UsageError, match=r"several languages, choose one \(or all\): en, fi"):
        read_battle_columns(path)
    with pytest.raises(UsageError, match="no judge 'm' here; there is j, k"):
        read_battle_columns(path, "fi", "m")
    assert len(read_battle_columns(path, "fi", "j").winner) == 1
    assert len(read_battle_columns(path, "all", "all").winner) == 4


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
        read_battle_columns(write(ROWS.assign(**change), tmp_path))


def test_missing_columns_and_empty_files_are_said(tmp_path):
    with pytest.raises(DataError, match="winner = None: this column is missing; add it"):
        read_battle_columns(write(ROWS.drop(columns="winner"), tmp_path))
    with pytest.raises(UsageError, match=r"judgments\.parquet holds no judgments"):
        read_battle_columns(write(ROWS.iloc[:0].astype("str"), tmp_path))
    assert not is_large_file(tmp_path / "judgments.parquet")
    assert not is_large_file(tmp_path)


def test_a_file_that_is_joined_twice_counts_once_and_judges_asked_again_count_each_time():
    once = Battles.from_judgments(ROWS)
    twice = Battles.from_judgments(pd.concat([ROWS, ROWS], ignore_index=True))
    pd.testing.assert_frame_equal(once.records(), twice.records())
    other = ROWS.assign(winner=ROWS["winner"].map({"a": "b", "b": "tie", "tie": "a"}))
    both = Battles.from_judgments(pd.concat([ROWS, ROWS, other], ignore_index=True))
    assert len(both) == 3 * len(once)
