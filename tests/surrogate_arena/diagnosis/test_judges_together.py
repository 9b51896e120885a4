"""Several judges: juries, two by two, and where they disagree."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from surrogate_arena.diagnosis.agreement import agreement_with_reference
from surrogate_arena.diagnosis.disagreement import (
    agreement_by,
    disagreement_by_question,
    shared_verdicts,
)
from surrogate_arena.diagnosis.jury import BEST, JURY, MAJORITY, WEIGHTED, jury

REFERENCE = ["people"]


def judged(chances, n_questions=60, language="en", seed=0, hard=()):
    """Judges that are right about people by chances; on hard questions all toss coins."""
    random = np.random.default_rng(seed)
    pairs = list(combinations("abcde", 2))
    keys = [(f"q{question}", *pair) for question in range(n_questions) for pair in pairs]
    table = pd.DataFrame(keys, columns=["query_id", "system_a", "system_b"])
    table = table.assign(language=language)
    truth = random.integers(0, 2, len(table))
    is_hard = table["query_id"].isin(hard).to_numpy()
    parts = []
    for judge, chance in {"people": 1.0, **chances}.items():
        by_item = np.where(is_hard & (judge != "people"), 0.5, chance)
        is_right = random.random(len(table)) < by_item
        winner = np.array(["a", "b"])[np.where(is_right, truth, 1 - truth)]
        parts.append(table.assign(judge=judge, winner=winner))
    return pd.concat(parts, ignore_index=True)


def test_three_fair_judges_together_are_better_than_each():
    table = jury(judged({"j": 0.7, "k": 0.7, "l": 0.7}), REFERENCE).set_index("judge")
    # Two or three of three are right in .7^3 + 3 * .7^2 * .3 = .784.
    assert table.loc[MAJORITY, "right"] == pytest.approx(0.784, abs=0.03)
    assert (table.loc[["j", "k", "l", BEST], "low"] > 0).all()
    assert table.loc[MAJORITY, "low"] <= 0 <= table.loc[MAJORITY, "high"]
    assert table["weight"].sum() == pytest.approx(1)


def test_weights_find_the_one_judge_that_agrees_with_people():
    table = jury(judged({"good": 0.9, "coin": 0.5, "toss": 0.5}), REFERENCE).set_index("judge")
    assert table.loc["good", "weight"] > 0.8
    assert table.loc[MAJORITY, "low"] > 0
    assert table.loc[WEIGHTED, "right"] == pytest.approx(table.loc["good", "right"], abs=0.01)


def test_tosses_of_coins_make_no_jury():
    chances = {f"coin {number}": 0.5 for number in range(8)}
    shares = [
        jury(judged(chances, 10, seed=seed), REFERENCE).set_index("judge").loc[WEIGHTED, "right"]
        for seed in range(20)
    ]
    # Weights learned on the pairs that they are tried on would be right in more than half.
    assert np.mean(shares) == pytest.approx(0.5, abs=0.03)


def test_the_gain_is_a_difference_of_shares():
    table = jury(judged({"j": 0.8, "k": 0.6}), REFERENCE).set_index("judge")
    others = table.drop(index=WEIGHTED)
    differences = table.loc[WEIGHTED, "right"] - others["right"]
    assert others["jury_gain"].to_numpy() == pytest.approx(differences.to_numpy())


def test_a_jury_needs_two_judges_on_the_same_pairs():
    one = judged({"j": 0.8})
    assert list(jury(one, REFERENCE)) == JURY
    assert jury(one, REFERENCE).empty
    panel = one[one["judge"] == "j"].assign(judge="panel(j)")
    assert jury(pd.concat([one, panel]), REFERENCE).empty


def test_two_judges_agree_as_one_with_the_other_as_the_reference():
    judgments = judged({"j": 0.8, "k": 0.6})
    shared = shared_verdicts(judgments, REFERENCE, "people")
    by_two = agreement_by(shared, ["judge", "judge_other"]).set_index(["judge", "judge_other"])
    other = agreement_with_reference(judgments, ["k"]).set_index("judge")
    assert by_two.loc[("j", "k"), "kappa"] == pytest.approx(other.loc["j", "kappa"])
    assert by_two["kappa"].is_monotonic_decreasing


def test_judges_agree_less_in_the_language_that_they_are_bad_at():
    judgments = pd.concat([judged({"j": 0.9, "k": 0.9}), judged({"j": 0.6, "k": 0.6}, 60, "sw")])
    table = agreement_by(shared_verdicts(judgments, REFERENCE, "people"), ["language"])
    assert table["language"].tolist() == ["en", "sw"]
    assert table["low"][0] > table["high"][1]


def test_hard_questions_are_found_and_others_are_not():
    judgments = judged({"j": 0.95, "k": 0.95, "l": 0.95}, hard=["q3", "q7"])
    table = disagreement_by_question(shared_verdicts(judgments, REFERENCE, "people"))
    assert set(table.loc[table["p"] < 0.05, "query_id"]) == {"q3", "q7"}
    assert len(table) == 60
    assert (table["disagreement"][:2] > table["expected"][:2]).all()


def test_questions_that_are_alike_are_seldom_found():
    n_found = 0
    for seed in range(20):
        shared = shared_verdicts(judged({"j": 0.8, "k": 0.8}, 10, seed=seed), REFERENCE, "people")
        n_found += (disagreement_by_question(shared)["p"] < 0.05).any()
    assert n_found <= 4  # of 20, by chance in fewer than one of a hundred such tests


def test_judges_that_never_disagree_have_no_such_question():
    shared = shared_verdicts(judged({"j": 1.0}), REFERENCE, "people")
    table = disagreement_by_question(shared)
    assert table["p"].isna().all()
    assert (table["disagreement"] == 0).all()
