"""How well ratings fit: held-out battles, circles, judges that disagree."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

from arena.data.errors import UsageError
from arena.rating.battles import Battles
from surrogate_arena.diagnosis.lack_of_fit import disagreement_test, pairs_test
from surrogate_arena.diagnosis.model_check import check_model

STRENGTHS = np.array([1.2, 0.4, -0.3, -1.3])


def battles(n_questions=60, circle=0.0, disagreement=0.0, seed=0, ties=0.0):
    """Every pair once a question, by two judges; on ``circle``, s0 > s1 > s2 > s0 on top."""
    random = np.random.default_rng(seed)
    rows = []
    for question, (i, j) in itertools.product(
        range(n_questions), itertools.combinations(range(len(STRENGTHS)), 2)
    ):
        if random.random() < 0.5:
            i, j = j, i
        judge = random.integers(2)
        difference = STRENGTHS[i] - STRENGTHS[j]
        if max(i, j) < 3:
            difference += circle * (1 if (j - i) % 3 == 1 else -1)
        difference += disagreement * judge * ((i == 0) * 1 - (j == 0) * 1)
        winner = "a" if random.random() < expit(difference) else "b"
        if random.random() < ties:
            winner = "tie"
        rows.append((f"q{question}", f"s{i}", f"s{j}", winner, f"judge-{judge}"))
    return pd.DataFrame(rows, columns=["query_id", "system_a", "system_b", "winner", "judge"])


def test_held_out_battles_are_predicted_nearly_as_well_as_by_the_truth():
    table = battles(n_questions=150)
    found = check_model(table, judge="all")
    strength = {f"s{index}": value for index, value in enumerate(STRENGTHS)}
    a = table["system_a"].map(strength) - table["system_b"].map(strength)
    shares = expit(a.where(table["winner"] == "a", -a))
    assert found.log_likelihood == pytest.approx(np.log(shares).mean(), abs=0.02)
    assert found.accuracy == pytest.approx((shares > 0.5).mean(), abs=0.02)
    assert found.predicted == found.battles == len(table)
    assert np.log(0.5) < found.log_likelihood < 0
    assert "on questions that they have not seen" in found.sentences[0]


def test_verdicts_by_chance_are_predicted_no_better_than_by_chance():
    random = np.random.default_rng(0)
    table = battles().assign(winner=lambda rows: random.choice(["a", "b", "tie"], len(rows)))
    found = check_model(table, judge="all")
    assert found.log_likelihood == pytest.approx(np.log(0.5), abs=0.02)
    assert found.accuracy == pytest.approx(0.5, abs=0.1)


def test_circles_and_judges_that_disagree_are_found_each_by_its_test():
    def p_values(**options):
        tests = check_model(battles(**options), judge="all").tests
        return {test.name: test.statistic for test in tests}

    fitting = p_values()
    assert min(fitting.values()) > 0.05
    with_circle = p_values(circle=1.2)
    assert with_circle["pairs"] < 0.01 < with_circle["disagreement"]
    disagreeing = p_values(disagreement=2.0)
    assert disagreeing["disagreement"] < 0.01 < disagreeing["pairs"]


def test_what_departs_most_is_named():
    table = Battles.from_judgments(battles(circle=1.5))
    assert "s0 wins" in pairs_test(table).sentence or "s1 wins" in pairs_test(table).sentence
    table = Battles.from_judgments(battles(disagreement=2.0))
    sentence = disagreement_test(table).sentence
    assert "judge-1 rates s0 higher" in sentence or "judge-0 rates s0 lower" in sentence


@pytest.mark.slow
@pytest.mark.parametrize("dependence", [0.0, 1.0])
def test_verdicts_of_the_model_are_called_circular_as_often_as_stated(dependence):
    """Also where verdicts on a question hang together, and with few battles a pair."""
    n_found = n_disagree = 0
    rounds = 100
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
        n_found += pairs_test(simulated).statistic < 0.05
        n_disagree += disagreement_test(simulated).statistic < 0.05
    assert max(n_found, n_disagree) <= 12


def test_neither_sides_nor_names_nor_the_order_of_rows_change_a_check():
    table = battles(n_questions=12, ties=0.2, circle=0.5)
    expected = check_model(table, judge="all")
    other = {"a": "b", "b": "a", "tie": "tie"}
    mirrored = table.rename(columns={"system_a": "system_b", "system_b": "system_a"}).assign(
        winner=table["winner"].map(other)
    )
    renamed = table.replace({"s0": "z", "s3": "b"})
    shuffled = table.sample(frac=1, random_state=3)
    for changed in (mirrored, renamed, shuffled):
        found = check_model(changed, judge="all")
        assert found.log_likelihood == pytest.approx(expected.log_likelihood, abs=1e-7)
        assert found.accuracy == pytest.approx(expected.accuracy)
        # A few of the thousand sums may lie as far out as that of the verdicts, but for rounding.
        for ours, theirs in zip(found.tests, expected.tests, strict=True):
            assert ours.statistic == pytest.approx(theirs.statistic, abs=0.005)


def test_what_cannot_be_predicted_or_tested_is_left_out():
    rows = [(f"q{number}", "a", "b", "a", "j") for number in range(12)]
    rows += [(f"q{number}", "b", "a", "a", "j") for number in range(5)]
    rows.append(("q20", "b", "rare", "a", "j"))
    columns = ["query_id", "system_a", "system_b", "winner", "judge"]
    found = check_model(pd.DataFrame(rows, columns=columns))
    assert (found.predicted, found.battles) == (len(rows) - 1, len(rows))
    assert found.tests == ()
    with pytest.raises(UsageError, match="folds"):
        check_model(pd.DataFrame(rows[:3], columns=columns), folds=4)


@pytest.mark.slow
def test_the_plain_model_is_checked_by_its_own_ratings():
    table = battles(n_questions=20)
    found = check_model(table, judge="all", ridge=1e-6)
    assert logit(np.exp(found.log_likelihood)) > 0
    assert found.log_likelihood != check_model(table, judge="all").log_likelihood
