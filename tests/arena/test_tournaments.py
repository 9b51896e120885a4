"""Battles, bootstrapped tournaments and the ratings they give."""

import itertools

import choix
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.data.errors import UsageError
from arena.rating.battles import components, count_battles
from arena.rating.tournaments import ALL_LOST, ALL_WON, NOT_CONNECTED, bootstrap_tournaments


def judgments(rows, language="en"):
    table = pd.DataFrame(rows, columns=["query_id", "system_a", "system_b", "winner"])
    return table.assign(language=language, judge="judge")


def round_robin(systems, questions, seed=0, noise=1.0):
    """Judgments of systems whose strength falls in the order given."""
    random = np.random.default_rng(seed)
    rows = []
    for question in range(questions):
        for (i, one), (j, other) in itertools.combinations(enumerate(systems), 2):
            better = (j - i) + noise * random.logistic()
            winner = "tie" if abs(better) < 0.2 else "a" if better > 0 else "b"
            if random.random() < 0.5:
                rows.append((f"q{question}", one, other, winner))
            else:
                swapped = {"a": "b", "b": "a", "tie": "tie"}[winner]
                rows.append((f"q{question}", other, one, swapped))
    return judgments(rows)


def test_counts_points_per_question_and_pair():
    battles = count_battles(
        judgments(
            [
                ("q1", "beta", "alpha", "a"),
                ("q1", "alpha", "gamma", "tie"),
                ("q2", "alpha", "beta", "a"),
                ("q2", "beta", "alpha", "b"),
            ]
        )
    )
    assert battles.systems == ("alpha", "beta", "gamma")
    assert battles.questions == ("q1", "q2")
    np.testing.assert_array_equal([battles.first, battles.second], [[0, 0], [1, 2]])
    np.testing.assert_array_equal(battles.points, [[0.0, 0.5], [2.0, 0.0]])
    np.testing.assert_array_equal(battles.counts, [[1.0, 1.0], [2.0, 0.0]])
    wins, losses = battles.wins_and_losses()
    np.testing.assert_array_equal(wins, [2.5, 1.0, 0.5])
    np.testing.assert_array_equal(losses, [1.5, 2.0, 0.5])


def test_unknown_winners_and_systems_are_refused():
    rows = judgments([("q1", "x", "y", "c")])
    with pytest.raises(UsageError, match="judgments hold an unknown winner: c"):
        count_battles(rows)
    with pytest.raises(UsageError, match="judgments hold an unknown system: y"):
        count_battles(rows.assign(winner="a"), systems=["x", "z"])


def test_dropped_ties_are_counted():
    rows = [("q1", "x", "y", "tie"), ("q2", "x", "y", "a")]
    battles = count_battles(judgments(rows), ties="drop")
    assert battles.dropped_ties == 1
    assert battles.counts.sum() == 1
    with pytest.raises(UsageError, match="no judgments to count"):
        count_battles(judgments(rows[:1]), ties="drop")
    with pytest.raises(UsageError, match="unknown tie rule 'win'; use one of half, drop"):
        count_battles(judgments(rows), ties="win")


def test_components_label_the_largest_group_first():
    battles = count_battles(
        judgments([("q", "a", "b", "a"), ("q", "c", "d", "a"), ("q", "d", "e", "a")])
    )
    np.testing.assert_array_equal(components(battles, battles.counts.sum(axis=0)), [1, 1, 0, 0, 0])


def test_each_tournament_equals_choix_on_its_list_of_comparisons():
    table = round_robin(["s1", "s2", "s3", "s4"], 20, noise=2.0)
    held = bootstrap_tournaments(table[table["winner"] != "tie"], 5, 20, ridge=0.0, seed=3)
    position = {system: index for index, system in enumerate(held.systems)}
    for draws, coefficients in zip(held.draws, held.coefficients, strict=True):
        listed = []
        for question, times in zip(held.battles.questions, draws, strict=True):
            for row in table[table["query_id"] == question].itertuples():
                if row.winner != "tie":
                    pair = (position[row.system_a], position[row.system_b])
                    listed += [pair if row.winner == "a" else pair[::-1]] * int(times)
        expected = choix.ilsr_pairwise(4, listed)
        np.testing.assert_allclose(coefficients, expected - expected.mean(), atol=1e-6)


def test_draws_are_multinomial_and_never_exceed_what_was_judged():
    held = bootstrap_tournaments(round_robin(["x", "y", "z"], 8), 50, questions=100)
    assert held.questions_per_tournament == 8
    assert held.draws.shape == (50, 8)
    assert (held.draws.sum(axis=1) == 8).all()
    fewer = bootstrap_tournaments(round_robin(["x", "y", "z"], 8), 50, questions=5)
    assert (fewer.draws.sum(axis=1) == 5).all()


def test_transitive_systems_are_ranked_in_order_with_intervals_around_the_mean():
    systems = ["best", "good", "fair", "poor"]
    ratings = bootstrap_tournaments(round_robin(systems, 60), 100).ratings()
    assert list(ratings["system"]) == systems
    assert list(ratings["rank"]) == [1, 2, 3, 4]
    assert (ratings["low"] < ratings["rating"]).all()
    assert (ratings["rating"] < ratings["high"]).all()
    assert ratings["rating"].sum() == pytest.approx(0.0, abs=1e-9)


def test_systems_that_win_or_lose_all_are_noted_and_finite():
    rows = [(f"q{i}", "top", other, "a") for i in range(4) for other in ("mid", "low")]
    rows += [(f"q{i}", "mid", "low", "a") for i in range(4)]
    held = bootstrap_tournaments(judgments(rows), 20)
    assert held.notes == {"top": ALL_WON, "low": ALL_LOST}
    assert list(held.ratings()["system"]) == ["top", "mid", "low"]
    assert np.abs(held.coefficients).max() < 8


def test_a_group_no_judgment_connects_is_not_rated_on_the_same_scale():
    table = pd.concat(
        [round_robin(["a", "b", "c"], 10), round_robin(["island", "reef"], 10)], ignore_index=True
    )
    ratings = bootstrap_tournaments(table, 20).ratings().set_index("system")
    assert ratings.loc[["island", "reef"], "rating"].isna().all()
    assert ratings.loc[["island", "reef"], "rank"].isna().all()
    assert set(ratings.loc[["island", "reef"], "note"]) == {NOT_CONNECTED}
    assert ratings.loc[["a", "b", "c"], "rating"].notna().all()


def test_a_tournament_without_a_systems_battles_leaves_it_missing_not_zero():
    rows = [(f"q{i}", "a", "b", "a" if i % 2 else "b") for i in range(6)]
    rows.append(("q0", "rare", "a", "a"))
    held = bootstrap_tournaments(judgments(rows), 100)
    rare = held.coefficients[:, held.systems.index("rare")]
    drew_it = held.draws[:, held.battles.questions.index("q0")] > 0
    np.testing.assert_array_equal(np.isnan(rare), ~drew_it)
    assert np.isfinite(held.mean_coefficients).all()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_the_order_of_rows_does_not_matter(seed):
    table = round_robin(["x", "y", "z"], 6, seed=seed)
    shuffled = table.sample(frac=1.0, random_state=seed)
    pd.testing.assert_frame_equal(
        bootstrap_tournaments(table, 10).ratings(), bootstrap_tournaments(shuffled, 10).ratings()
    )


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_mirroring_a_and_b_does_not_matter(seed):
    table = round_robin(["x", "y", "z"], 6, seed=seed)
    mirrored = table.rename(columns={"system_a": "system_b", "system_b": "system_a"}).assign(
        winner=table["winner"].map({"a": "b", "b": "a", "tie": "tie"})
    )
    pd.testing.assert_frame_equal(
        bootstrap_tournaments(table, 10).ratings(), bootstrap_tournaments(mirrored, 10).ratings()
    )


def test_one_seed_gives_one_result_and_languages_draw_differently():
    table = round_robin(["x", "y", "z"], 12)
    one, same, other = (bootstrap_tournaments(table, 30, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.coefficients, same.coefficients)
    assert (one.draws != other.draws).any()
    assert (bootstrap_tournaments(table.assign(language="fi"), 30, seed=1).draws != one.draws).any()
    assert one.signature == "tournaments:30|questions:12|ties:half|ridge:0.1|seed:1"


def test_impossible_requests_are_refused():
    table = round_robin(["x", "y"], 3)
    with pytest.raises(UsageError, match="at least 1"):
        bootstrap_tournaments(table, 0)
    with pytest.raises(UsageError, match="one language at a time, not de, en"):
        bootstrap_tournaments(pd.concat([table, table.assign(language="de")]), 5)
