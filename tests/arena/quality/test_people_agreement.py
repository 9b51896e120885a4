"""A judge's agreement with people, compared with people's agreement with each other."""

import numpy as np
import pandas as pd
import pytest

from arena.quality import label_judge
from arena.quality.people_agreement import (
    agreement_among_people,
    agreement_with_one_vote,
    agreement_with_people,
)

WINNERS = np.array(["a", "b"])


def votes_of(judge, truth, chance_right, random):
    """One verdict on each of the pairs, right with a given chance."""
    is_right = random.random(len(truth)) < chance_right
    return pd.DataFrame(
        {
            "query_id": [f"q{number}" for number in range(len(truth))],
            "language": "en",
            "system_a": np.array(["s", "s", "t"])[np.arange(len(truth)) % 3],
            "system_b": np.array(["t", "u", "u"])[np.arange(len(truth)) % 3],
            "winner": WINNERS[np.where(is_right, truth, 1 - truth)],
            "judge": judge,
        }
    )


def arena_of(judge_right, person_right, n_people=3, n_pairs=600):
    random = np.random.default_rng(0)
    truth = random.integers(0, 2, n_pairs)
    people = [votes_of(f"person:{n}", truth, person_right, random) for n in range(n_people)]
    return pd.concat([votes_of("j", truth, judge_right, random), *people], ignore_index=True)


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


def test_the_table_of_single_votes_has_the_kappas_of_the_label():
    judgments = arena_of(judge_right=0.6, person_right=0.85)
    other = judgments[judgments["judge"] == "j"].assign(judge="k")
    people = [name for name in judgments["judge"].unique() if name != "j"]
    table = agreement_with_one_vote(pd.concat([judgments, other]), people)
    among = agreement_with_people(judgments, ["j"]).among_people
    assert table["judge"].tolist() == ["j", "k"]
    assert table["kappa"].to_numpy() == pytest.approx(among.judge_kappa)
    assert table["kappa_of_people"].to_numpy() == pytest.approx(among.kappa)
    assert (table["high"] < 0).all()  # people agree more with each other than with either judge
    assert table["difference"].to_numpy() == pytest.approx(among.judge_kappa - among.kappa)
    with_one_person = judgments[judgments["judge"].isin(["j", people[0]])]
    assert agreement_with_one_vote(with_one_person, people[:1]).empty
