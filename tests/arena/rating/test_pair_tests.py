"""What is concluded of systems that win, or lose, (nearly) all."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from arena.rating.battles import Battles
from arena.rating.group_ratings import separated_systems
from arena.rating.intervals import ranks_and_tiers, wald_p_values
from arena.rating.ratings import rate

TURNED = {"a": "b", "b": "a"}


def star(n_battles, n_rivals, *, winner="a", lost=0, questions=None):
    """A champion (or a loser) against rivals, on alternating sides; a question each by default."""
    rows = []
    for rival in range(n_rivals):
        for battle in range(n_battles):
            verdict = TURNED[winner] if battle < lost else winner
            pair = ("champion", f"rival{rival:02}")
            if battle % 2:
                pair, verdict = pair[::-1], TURNED[verdict]
            number = len(rows) if questions is None else battle % questions
            rows.append((f"q{number}", *pair, verdict))
    return pd.DataFrame(rows, columns=["query_id", "system_a", "system_b", "winner"])


def bounds_of(table, system="champion"):
    row = rate(table).table.set_index("system").loc[system]
    return int(row["rank_low"]), int(row["rank_high"])


@pytest.mark.parametrize("n_battles", [6, 7, 20, 50])
def test_rivals_that_are_beaten_as_clearly_never_undo_a_first_place(n_battles):
    assert [bounds_of(star(n_battles, n_rivals)) for n_rivals in (1, 2, 3, 6, 12)] == [(1, 1)] * 5


@pytest.mark.parametrize("n_rivals", [1, 3, 12])
def test_few_wins_decide_as_an_exact_sign_test_does(n_rivals):
    for n_battles in (3, 4, 5, 7, 20):
        is_shown = binomtest(n_battles, n_battles).pvalue <= 0.1
        expected = (1, 1) if is_shown else (1, n_rivals + 1)
        assert bounds_of(star(n_battles, n_rivals)) == expected, n_battles


def test_who_loses_all_is_last_and_one_loss_does_not_undo_a_first_place():
    assert bounds_of(star(40, 12, winner="b")) == (13, 13)
    assert bounds_of(star(20, 6, lost=1)) == (1, 1)


def test_systems_that_lost_to_more_rivals_stay_last():
    last = [bounds_of(star(7, n_rivals, winner="b")) for n_rivals in (1, 2, 3, 6, 12)]
    assert last == [(2, 2), (3, 3), (4, 4), (7, 7), (13, 13)]


def test_many_wins_on_one_question_decide_nothing():
    assert bounds_of(star(20, 2, questions=1)) == (1, 3)
    assert bounds_of(star(20, 2, questions=4)) == (1, 3)


def test_champion_among_rivals_that_differ_is_first_and_sides_do_not_matter():
    table = star(12, 3)
    rivals = [("rival00", "rival01"), ("rival01", "rival02"), ("rival02", "rival00")]
    rows = [(f"r{n}", *rivals[n % 3], "ab"[n % 2]) for n in range(18)]
    met = pd.DataFrame(rows, columns=table.columns)
    together = pd.concat([table, met], ignore_index=True)
    assert bounds_of(together) == bounds_of(together.assign(sides="none")) == (1, 1)


def test_a_pair_differs_by_its_own_test_however_many_there_are():
    ratings = np.array([3.0, 2.0, 1.0, 0.9, 0.8, 0.7])
    p_values = np.ones((6, 6))
    p_values[0, 1:] = p_values[1:, 0] = 0.09
    found = ranks_and_tiers(ratings, np.eye(6), p_values=p_values)
    assert found["rank_low"].tolist() == [1, 2, 2, 2, 2, 2]
    assert found["rank_high"].tolist() == [1, 6, 6, 6, 6, 6]
    assert found["tier"].tolist() == [1, 2, 2, 2, 2, 2]
    p_values[0, 1] = p_values[1, 0] = 0.11
    found = ranks_and_tiers(ratings, np.eye(6), p_values=p_values)
    assert found["rank_low"].tolist() == [1, 1, 2, 2, 2, 2]
    unknown = np.full((6, 6), np.nan)
    assert set(ranks_and_tiers(ratings, np.eye(6), p_values=unknown)["rank_low"]) == {1}


def test_exact_ratings_differ_wherever_they_are_not_the_same():
    ratings = np.array([1.0, 1.0, 0.0])
    p_values = wald_p_values(ratings, np.zeros((3, 3)))
    assert p_values[0, 1] == 1.0
    assert p_values[0, 2] == 0.0
    assert list(ranks_and_tiers(ratings, np.zeros((3, 3)))["rank_low"]) == [1, 1, 3]


def separated(*beaten):
    """Names of the systems that battles do not bound, given who beat whom."""
    table = pd.DataFrame([tuple(pair) for pair in beaten], columns=["system_a", "system_b"])
    battles = Battles.from_judgments(table.assign(winner="a"))
    flags = separated_systems(battles.items)
    return "".join(name for name, flag in zip(battles.systems, flags, strict=True) if flag)


def test_battles_do_not_bound_who_won_all_and_groups_that_won_all_against_the_others():
    circle = ["ab", "bc", "ca"]
    assert separated(*circle) == ""
    assert separated(*circle, "xa", "xb") == "x"
    assert separated(*circle, "cz") == "z"
    # x and y beat each other, and lose only to each other.
    assert separated(*circle, "xy", "yx", "ya") == "xy"
    # Two groups of the same size: neither is more the scale's than the other.
    assert separated("ab", "ba", "ca", "cd", "dc") == "abcd"
    assert separated("ab") == "ab"


def test_intervals_of_groups_that_never_lost_to_the_others_are_open_too():
    pairs = [("a", "b"), ("b", "c"), ("c", "a"), ("x", "y"), ("y", "x")] * 6
    cut = [("x", "a"), ("y", "b")] * 12

    def width_of_x(*beaten):
        table = pd.DataFrame([*pairs, *cut, *beaten], columns=["system_a", "system_b"])
        rated = rate(table.assign(winner="a", sides="none")).table.set_index("system")
        return rated.loc["x", "high"] - rated.loc["x", "low"]

    assert width_of_x(("x", "a")) > 1.5 * width_of_x(("a", "x"))
