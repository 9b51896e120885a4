"""People and machines judge one arena: one board, the judges side by side."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from simulations import small_simulation

from arena.rating.ratings import rate
from surrogate import rank_systems
from surrogate.board.build import build_board
from surrogate.learning.ratings import learn_from_other_judges

COLUMNS = ["rating_by:people", "rating_by:coin", "rating_by:gpt <4>"]


@pytest.fixture(scope="module")
def judged_by_many():
    """Two people on few questions, a machine that says the same on all, a coin, and one verdict."""
    arena = small_simulation(range(6), ["en"], questions=24).arena
    own = arena.judgments.reset_index(drop=True)
    few = own["query_id"].isin(sorted(own["query_id"].unique())[:6])
    people = own[few].assign(judge=np.where(np.arange(few.sum()) % 2, "person:Ada", "person:Bo"))
    coin = np.random.default_rng(0).choice(["a", "b"], len(own))
    tables = [people, own.assign(judge="gpt <4>"), own.assign(judge="coin", winner=coin)]
    tables += [own.iloc[:1].assign(judge="lone")]
    return replace(arena, judgments=pd.concat(tables, ignore_index=True))


@pytest.fixture(scope="module")
def board(judged_by_many):
    return build_board(judged_by_many, features="answer_length,citations", tournaments=20)


def test_a_machine_s_many_verdicts_bring_ratings_nearer_to_what_people_would_say(
    board, judged_by_many
):
    ratings = board.ratings.set_index("system")
    known = rate(judged_by_many.judged_by("gpt <4>").judgments).table.set_index("system")["rating"]
    by_both, by_people = ((ratings[name] - known).std() for name in ("rating", COLUMNS[0]))
    assert by_both < 0.95 * by_people


def test_what_others_tell_is_nothing_where_nothing_is_shared(judged_by_many):
    own = judged_by_many.judgments
    people, machine = (own[own["judge"].str.startswith(name)] for name in ("person", "gpt"))
    asked = people["query_id"].unique()
    apart = learn_from_other_judges(people, machine[~machine["query_id"].isin(asked)])
    assert apart.slopes == {"gpt <4>": 0.0}
    assert not apart.expected.any()
    assert learn_from_other_judges(people, machine).slopes["gpt <4>"] > 1
    assert learn_from_other_judges(people, own.iloc[:0]) is None


def test_a_judge_of_opposite_taste_is_turned_round(judged_by_many):
    own = judged_by_many.judgments
    people, machine = (own[own["judge"].str.startswith(name)] for name in ("person", "gpt"))
    turned = machine.assign(winner=machine["winner"].replace({"a": "b", "b": "a"}))
    alike = learn_from_other_judges(people, machine)
    opposite = learn_from_other_judges(people, turned)
    assert opposite.slopes["gpt <4>"] < -1
    assert np.corrcoef(alike.expected, opposite.expected)[0, 1] > 0.99


def test_verdicts_of_a_judge_that_stands_beside_are_left_out_of_a_new_system_s_rating(
    board, judged_by_many
):
    name, answers, own = board.systems[2], judged_by_many.answers, judged_by_many.judgments
    answers = answers[answers["system"] == name].assign(system="new")
    own = own[own["system_a"] == name].assign(system_a="new")
    told = own[own["judge"].isin(["person:Ada", "gpt <4>"])]
    ranked = rank_systems(board, answers, judged_by_many, judgments=told)
    left = int((told["judge"] == "gpt <4>").sum())
    assert any(f"{left} judgments left out, by judges" in note for note in ranked.notes)
    assert ranked.new["judgments"].sum() == len(told) - left
