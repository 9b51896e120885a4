"""A judge's agreement with people, compared with people's agreement with each other."""

import pandas as pd
import pytest
from people_votes import arena_of

from arena.quality import label_judge
from arena.quality.people_agreement import agreement_among_people, agreement_with_people


def test_a_judge_as_good_as_a_person_is_not_faulted_for_its_kappa():
    judgments = arena_of(judge_right=0.72, person_right=0.72)
    agreement = agreement_with_people(judgments, ["j"])
    assert agreement.kappa < 0.4  # which was called doubtful, whatever people had among them
    assert agreement.among_people.is_as_good
    label = label_judge("j", judgments)
    assert label.grade in ("agrees", "not known", "consistent")
    assert not any("kappa" in fault for fault in label.faults)
    assert f"{agreement.among_people.kappa:.2f}" in str(label)


def test_a_judge_that_agrees_less_than_people_do_is_faulted():
    judgments = arena_of(judge_right=0.6, person_right=0.85)
    label = label_judge("j", judgments)
    assert label.grade in ("doubtful", "unreliable")
    assert any("kappa" in fault for fault in label.faults)


def test_kappa_of_two_votes_is_that_of_coins_of_known_bias():
    """Two votes right with chance p agree with p^2 + (1 - p)^2, half of all by chance."""
    judgments = arena_of(judge_right=0.9, person_right=0.8, n_pairs=6000)
    is_judge = judgments["judge"] == "j"
    among = agreement_among_people(judgments[is_judge], judgments[~is_judge])
    assert among.kappa == pytest.approx(2 * (0.8**2 + 0.2**2) - 1, abs=0.03)
    assert among.judge_kappa == pytest.approx(2 * (0.9 * 0.8 + 0.1 * 0.2) - 1, abs=0.03)
    assert among.items == 6000


def test_with_one_person_nothing_is_known_of_people_among_themselves():
    judgments = arena_of(judge_right=0.8, person_right=0.8, n_people=1)
    assert agreement_with_people(judgments, ["j"]).among_people is None


def test_votes_of_one_person_in_both_orders_are_one():
    judgments = arena_of(judge_right=0.8, person_right=0.8, n_people=1)
    by_person = judgments["judge"] != "j"
    turned = judgments[by_person].rename(columns={"system_a": "system_b", "system_b": "system_a"})
    turned["winner"] = turned["winner"].map({"a": "b", "b": "a"})
    both = pd.concat([judgments, turned], ignore_index=True)
    assert agreement_with_people(both, ["j"]).among_people is None


def test_votes_by_people_without_names_are_several_peoples():
    judgments = arena_of(judge_right=0.8, person_right=0.8)
    unnamed = judgments.assign(judge=judgments["judge"].where(judgments["judge"] == "j", "people"))
    among = agreement_with_people(unnamed, ["j"]).among_people
    assert among.kappa == pytest.approx(
        agreement_with_people(judgments, ["j"]).among_people.kappa, abs=0.01
    )
