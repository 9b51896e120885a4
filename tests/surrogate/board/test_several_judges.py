"""What a board learns from the verdicts of several judges."""

import numpy as np

from arena.rating.ratings import rate
from surrogate import rank_systems
from surrogate.learning.other_judges import learn_from_other_judges


def test_a_machine_s_many_verdicts_bring_ratings_nearer_to_what_people_would_say(
    board_of_many, judged_by_many
):
    ratings = board_of_many.ratings.set_index("system")
    known = rate(judged_by_many.judged_by("gpt <4>").judgments).table.set_index("system")["rating"]
    by_both, by_people = ((ratings[name] - known).std() for name in ("rating", "rating_by:people"))
    assert by_both < 0.95 * by_people


def test_what_others_tell_is_nothing_where_nothing_is_shared(judged_by_many):
    own = judged_by_many.judgments
    people, machine = (own[own["judge"].str.startswith(name)] for name in ("person", "gpt"))
    asked = people["query_id"].unique()
    apart = learn_from_other_judges(people, machine[~machine["query_id"].isin(asked)])
    assert apart.slopes == {"gpt <4>": 0.0}
    assert not apart.expected.any()
    assert learn_from_other_judges(people, machine).slopes["gpt <4>"] > 1


def test_a_judge_of_opposite_taste_is_turned_round(judged_by_many):
    own = judged_by_many.judgments
    people, machine = (own[own["judge"].str.startswith(name)] for name in ("person", "gpt"))
    turned = machine.assign(winner=machine["winner"].replace({"a": "b", "b": "a"}))
    alike = learn_from_other_judges(people, machine)
    opposite = learn_from_other_judges(people, turned)
    assert opposite.slopes["gpt <4>"] < -1
    assert np.corrcoef(alike.expected, opposite.expected)[0, 1] > 0.99


def test_verdicts_of_a_judge_that_stands_beside_are_left_out_of_a_new_system_s_rating(
    board_of_many, judged_by_many
):
    name, answers, own = board_of_many.systems[2], judged_by_many.answers, judged_by_many.judgments
    answers = answers[answers["system"] == name].assign(system="new")
    own = own[own["system_a"] == name].assign(system_a="new")
    told = own[own["judge"].isin(["person:Ada", "gpt <4>"])]
    ranked = rank_systems(board_of_many, answers, judged_by_many, judgments=told)
    left = int((told["judge"] == "gpt <4>").sum())
    assert any(f"{left} judgments left out, by judges" in note for note in map(str, ranked.remarks))
    assert ranked.new["judgments"].sum() == len(told) - left
