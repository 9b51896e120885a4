"""Battles, what they are counted into, and which systems they connect."""

import numpy as np
import pandas as pd
import pytest

from arena.data.errors import UsageError
from arena.rating.battles import Battles
from arena.rating.pairs import connected_groups, is_strongly_connected

ROWS = pd.DataFrame(
    [
        ("q1", "x", "y", "a"),
        ("q1", "y", "x", "tie"),
        ("q2", "z", "x", "b"),
        ("q2", "y", "z", "a"),
    ],
    columns=["query_id", "system_a", "system_b", "winner"],
)


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
    np.testing.assert_array_equal([items.question, items.pair], [[0, 0, 1], [0, 1, 0]])
    np.testing.assert_array_equal([items.points, items.counts], [[0.0, 0.5, 2.0], [1, 1, 2]])
    np.testing.assert_array_equal(items.totals, [[2.0, 0.5], [3.0, 1.0]])
    ((points, counts),) = items.in_blocks(np.array([[2, 0], [1, 1]]))
    np.testing.assert_array_equal(points, [[0.0, 2.0], [1.0, 0.5]])
    np.testing.assert_array_equal(counts, [[2.0, 3.0], [2.0, 1.0]])
    by_side = battles.items_by_side
    met = [*zip(by_side.pairs.first, by_side.pairs.second, strict=True)]
    assert met == [(0, 1), (0, 2), (1, 0)]
    np.testing.assert_array_equal(by_side.totals, [[1.0, 0.5, 1.0], [1.0, 1.0, 2.0]])
    records = battles.records().set_index("system")
    assert records.loc["beta"].to_dict() == {"wins": 1, "losses": 2, "ties": 0}
    assert records.loc["gamma"].to_dict() == {"wins": 0, "losses": 0, "ties": 1}


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
    pairs, every = Battles.from_judgments(ROWS).items.pairs, np.ones(3)
    assert is_strongly_connected(pairs, np.array([1.0, 0.0, 1.0]), every)
    assert not is_strongly_connected(pairs, np.array([1.0, 1.0, 0.5]), every)


def test_a_file_that_is_joined_twice_counts_once_and_judges_asked_again_count_each_time():
    once = Battles.from_judgments(ROWS)
    twice = Battles.from_judgments(pd.concat([ROWS, ROWS], ignore_index=True))
    pd.testing.assert_frame_equal(once.records(), twice.records())
    other = ROWS.assign(winner=ROWS["winner"].map({"a": "b", "b": "tie", "tie": "a"}))
    both = Battles.from_judgments(pd.concat([ROWS, ROWS, other], ignore_index=True))
    assert len(both) == 3 * len(once)


@pytest.mark.parametrize("has_questions", [True, False])
def test_resamples_have_the_right_mean_and_size(has_questions):
    table = pd.concat([ROWS] * 5, ignore_index=True).assign(
        query_id=[f"q{row // 2}" for row in range(20)]
    )
    if not has_questions:
        table = table.drop(columns="query_id")
    battles = Battles.from_judgments(table)
    assert battles.n_questions == (10 if has_questions else 20)
    blocks = list(battles.items.resampled(4_000, np.random.default_rng(0)))
    points = np.concatenate([block[0] for block in blocks], axis=1)
    assert points.shape == (3, 4_000)
    np.testing.assert_allclose(points.mean(axis=1), battles.items.totals[0], rtol=0.05)
