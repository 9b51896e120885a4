"""How well ratings fit: held-out battles, and judges that disagree."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from arena.rating.battles import Battles
from arena.rating.ratings import rate
from surrogate_arena.diagnosis.lack_of_fit import disagreement_test
from surrogate_arena.diagnosis.parts import rate_parts

STRENGTHS = np.array([1.2, 0.4, -0.3, -1.3])


def battles(n_questions=60, disagreement=0.0, seed=0, ties=0.0):
    """Every pair once a question, by two judges."""
    random = np.random.default_rng(seed)
    rows = []
    for question, (i, j) in itertools.product(
        range(n_questions), itertools.combinations(range(len(STRENGTHS)), 2)
    ):
        if random.random() < 0.5:
            i, j = j, i
        judge = random.integers(2)
        difference = STRENGTHS[i] - STRENGTHS[j]
        difference += disagreement * judge * ((i == 0) * 1 - (j == 0) * 1)
        winner = "a" if random.random() < expit(difference) else "b"
        if random.random() < ties:
            winner = "tie"
        rows.append((f"q{question}", f"s{i}", f"s{j}", winner, f"judge-{judge}"))
    return pd.DataFrame(rows, columns=["query_id", "system_a", "system_b", "winner", "judge"])


def log_likelihoods(table, ratings):
    difference = table["system_a"].map(ratings) - table["system_b"].map(ratings)
    return np.log(expit(difference.where(table["winner"] == "a", -difference)))


def test_held_out_battles_are_predicted_nearly_as_well_as_by_the_truth():
    table = battles(n_questions=150).assign(judge="one")
    truth = {f"s{index}": value for index, value in enumerate(STRENGTHS)}
    folds = pd.factorize(table["query_id"])[0] % 5
    predicted = []
    for fold in range(5):
        ratings = rate(table[folds != fold]).table.set_index("system")["rating"]
        predicted.append(log_likelihoods(table[folds == fold], ratings))
    likelihood = pd.concat(predicted).mean()
    assert likelihood == pytest.approx(log_likelihoods(table, truth).mean(), abs=0.02)
    assert likelihood > np.log(0.5)


def test_judges_that_disagree_are_found_and_what_departs_most_is_named():
    fitting = disagreement_test(Battles.from_judgments(battles()), "judges")
    assert fitting.statistic > 0.05
    found = disagreement_test(Battles.from_judgments(battles(disagreement=2.0)), "judges")
    assert found.statistic < 0.01
    assert "judge-1 rates s0 higher" in found.sentence or "judge-0 rates s0 lower" in found.sentence


def test_parts_by_judge_test_whether_judges_disagree():
    table = battles(disagreement=2.0)
    assert rate_parts(table, "judge", judge="all").test.statistic < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("dependence", [0.0, 1.0])
def test_judges_that_agree_are_said_to_disagree_as_often_as_stated(dependence):
    """Also where verdicts on a question hang together, and with few battles a pair."""
    n_disagree = 0
    rounds = 40
    for seed in range(rounds):
        random = np.random.default_rng(seed)
        strengths = random.normal(size=12)
        rows = []
        for question in range(50):
            on_question = strengths + dependence * random.normal(size=12)
            for _ in range(8):
                i, j = random.choice(12, 2, replace=False)
                winner = "a" if random.random() < expit(on_question[i] - on_question[j]) else "b"
                rows.append((f"q{question}", f"s{i}", f"s{j}", winner, f"j{random.integers(2)}"))
        columns = ["query_id", "system_a", "system_b", "winner", "judge"]
        simulated = Battles.from_judgments(pd.DataFrame(rows, columns=columns))
        n_disagree += disagreement_test(simulated, "judges").statistic < 0.05
    assert n_disagree <= 6


def test_neither_sides_nor_names_nor_the_order_of_rows_change_the_test():
    def tested(table):
        return disagreement_test(Battles.from_judgments(table), "judges").statistic

    table = battles(n_questions=12, ties=0.2, disagreement=0.5)
    other = {"a": "b", "b": "a", "tie": "tie"}
    mirrored = table.rename(columns={"system_a": "system_b", "system_b": "system_a"}).assign(
        winner=table["winner"].map(other)
    )
    renamed = table.replace({"s0": "z", "s3": "b"})
    shuffled = table.sample(frac=1, random_state=3)
    for changed in (mirrored, renamed, shuffled):
        # A few of the thousand sums may lie as far out as that of the verdicts, but for rounding.
        assert tested(changed) == pytest.approx(tested(table), abs=0.005)


def test_few_questions_and_one_judge_are_not_tested():
    for table in (battles(n_questions=9), battles().assign(judge="one")):
        assert disagreement_test(Battles.from_judgments(table), "judges") is None
