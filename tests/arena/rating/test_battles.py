"""Battles, what they are counted into, and which systems they connect."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.data.errors import UsageError
from arena.rating.battles import Battles, system_records
from arena.rating.judgments import copies_of_others
from arena.rating.pairs import connected_groups, winning_groups

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
    records = system_records(battles).set_index("system")
    assert records.loc["beta"].to_dict() == {"wins": 1, "losses": 2, "ties": 0}
    assert records.loc["gamma"].to_dict() == {"wins": 0, "losses": 0, "ties": 1}


def test_systems_ties_and_questions_are_left_out():
    battles = Battles.from_judgments(ROWS)
    among = battles.among(["x", "y"])
    assert (among.systems, among.questions, len(among)) == (("x", "y"), ("q1", "q2"), 2)
    assert among.on_battled_questions().questions == ("q1",)
    decided = battles.counted("drop")
    assert (len(decided), decided.systems) == (3, ("x", "y", "z"))
    only_ties = ROWS.assign(winner="tie")
    with pytest.raises(UsageError, match="no judgments to count"):
        Battles.from_judgments(only_ties).counted("drop")


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
    assert not winning_groups(pairs, np.array([1.0, 0.0, 1.0]), every).any()
    assert winning_groups(pairs, np.array([1.0, 1.0, 0.5]), every).any()


NAMED = {"judge": "gpt-4"}, {"judge": "human", "voter": "17"}, {"judge": "person:anna"}
UNNAMED = {}, {"judge": "unknown"}, {"judge": "human"}, {"judge": "crowd"}, {"judge": "users"}


@pytest.mark.parametrize(
    ("by", "times"), [*((by, 1) for by in NAMED), *((by, 2) for by in UNNAMED)]
)
def test_copies_of_a_named_judge_count_once_and_votes_of_nobody_each(by, times):
    twice = Battles.from_judgments(pd.concat([ROWS, ROWS], ignore_index=True).assign(**by))
    assert len(twice) == times * len(ROWS)


def test_no_judgments_with_a_column_of_voters_have_no_copies():
    empty = ROWS.assign(judge="gpt-4", voter="ann").iloc[:0]
    assert copies_of_others(empty).tolist() == []


@pytest.mark.slow
@given(st.data())
def test_copies_never_depend_on_other_rows(data):
    rows = st.tuples(
        *(st.sampled_from(["q1", "q2"]), st.sampled_from(["gpt-4", "human", "voter_1"])),
        *(st.sampled_from("ab"), st.sampled_from(["a", "b", "tie"])),
    )
    columns = ["query_id", "judge", "system_a", "winner"]
    some, others = (data.draw(st.lists(rows, min_size=1)) for _ in range(2))
    table = pd.DataFrame(some, columns=columns).assign(system_b="c")
    # Rows on other questions can be no copies of these.
    beside = pd.DataFrame(others, columns=columns).assign(system_b="c")
    beside["query_id"] = "other-" + beside["query_id"]
    alone = copies_of_others(table)
    together = copies_of_others(pd.concat([table, beside], ignore_index=True))
    np.testing.assert_array_equal(alone, together[: len(table)])


def test_votes_that_differ_in_any_column_are_no_copies():
    table = pd.concat([ROWS, ROWS], ignore_index=True).assign(judge="gpt-4")
    numbered = table.assign(repeat=[None] * len(ROWS) + ["2"] * len(ROWS))
    assert len(Battles.from_judgments(numbered)) == 2 * len(ROWS)


@pytest.mark.slow
@given(st.lists(st.integers(1, 5), min_size=len(ROWS), max_size=len(ROWS)))
def test_a_weight_is_the_number_of_times_that_a_row_stands_there(weights):
    weighted = Battles.from_judgments(ROWS.assign(weight=weights))
    repeated = Battles.from_judgments(ROWS.loc[np.repeat(ROWS.index, weights)])
    assert weighted.judged == repeated.judged
    pd.testing.assert_frame_equal(system_records(weighted), system_records(repeated))
    for ours, others in zip(weighted.items.totals, repeated.items.totals, strict=True):
        np.testing.assert_allclose(ours, others)


@pytest.mark.parametrize("weight", [0, -1, "many", float("inf")])
def test_a_weight_that_is_no_positive_number_is_refused(weight):
    with pytest.raises(UsageError, match="weight"):
        Battles.from_judgments(ROWS.assign(weight=[weight, *[1] * (len(ROWS) - 1)]))


def test_groups_are_ordered_by_systems_then_battles_never_by_name():
    rows = [("a", "b"), *[("z1", "z2")] * 3, *[("m1", "m2"), ("m2", "m3")]]
    table = pd.DataFrame(rows, columns=["system_a", "system_b"]).assign(winner="a")
    groups = Battles.from_judgments(table).groups()
    assert [group.systems for group in groups] == [("m1", "m2", "m3"), ("z1", "z2"), ("a", "b")]
    heavy = table.assign(weight=[9, 1, 1, 1, 1, 1])
    groups = Battles.from_judgments(heavy).groups()
    assert [group.systems[0] for group in groups] == ["m1", "a", "z1"]


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
