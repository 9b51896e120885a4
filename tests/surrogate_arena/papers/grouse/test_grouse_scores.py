"""Pass rates, the matrix, calls, and calibration, against values computed by hand."""

import math

import numpy as np
import pytest
from grouse_samples import RightJudge, TableJudge, unit_test
from scipy.special import expit

from surrogate_arena.papers.evaluation import Evaluation, evaluate_judges
from surrogate_arena.papers.grouse.benchmark import Grouse
from surrogate_arena.papers.grouse.metrics import METRICS
from surrogate_arena.papers.grouse.scores import (
    pass_rates,
    type_matrix,
)
from surrogate_arena.papers.grouse.unit_tests import TEST_TYPES
from surrogate_arena.papers.judges import FunctionJudge
from surrogate_arena.papers.verdict import Verdict

NAMES = [each.name for each in TEST_TYPES]


def verdicts_of(judges, tests):
    return evaluate_judges(Grouse(tests), judges).verdicts


def entries_of(verdicts):
    return Grouse().report(Evaluation(verdicts)).metaevaluations


def all_types_of(*questions):
    return [
        unit_test(name, f"{question}/{name}", question) for question in questions for name in NAMES
    ]


def test_a_right_judge_passes_all():
    verdicts = verdicts_of([RightJudge()], all_types_of("Why?", "How?"))
    rates, matrix = pass_rates(verdicts), type_matrix(verdicts)
    assert rates["value"].tolist() == [1.0] * 7
    assert rates["n"].tolist() == [32] * 6 + [192]
    assert rates["standard_error"].tolist() == [0.0] * 7
    assert (matrix["passed"] == matrix["tests"]).all()
    assert list(dict.fromkeys(matrix["test_type"])) == NAMES
    assert list(dict.fromkeys(matrix["metric"])) == list(METRICS)
    (entry,) = entries_of(verdicts)
    assert (entry.dataset, entry.metric) == ("grouse-builtin", "pass_rate")
    assert (entry.value, entry.standard_error) == (1, 0)
    assert (entry.n, entry.languages, entry.failures) == (192, ["en"], 0)


def test_a_wrong_score_fails_what_depends_on_it():
    wrong = {("highest_marks_1", "answer_relevancy"), ("low_faithfulness_2", "faithfulness")}
    verdicts = verdicts_of([RightJudge(wrong)], all_types_of("Why?"))
    failed = verdicts[~verdicts["passed"].astype(bool)]
    assert set(zip(failed["test_type"], failed["metric"], strict=True)) == wrong
    counts = type_matrix(verdicts).set_index(["test_type", "metric"])["passed"]
    assert counts["low_faithfulness_2", "faithfulness"] == 0
    total = pass_rates(verdicts).iloc[-1]
    assert total["value"] == pytest.approx(94 / 96)
    assert math.isnan(total["standard_error"])
    assert total["reason"] == "all tests are of one topic"


def test_errors_take_topics_for_units_in_whatever_language():
    """Two of four topics passed on 3 of 4 tests, two on 1 of 4, by hand."""
    tests = [
        unit_test("highest_marks_1", f"{topic}{place}", str(topic), language)
        for topic in range(4)
        for place, language in enumerate(["de", "de", "en", "en"])
    ]
    passing = {f"{topic}{place}" for topic in range(4) for place in range(3 - topic % 2 * 2)}

    def judge(metric, *texts):
        if metric == "usefulness":
            return None
        if metric == "faithfulness":
            return 1
        passes = metric == "completeness" or texts[-1].split()[1] in passing
        return 5 if passes else 4

    rates = pass_rates(verdicts_of([FunctionJudge("f", judge)], tests))
    row = rates.set_index("metric").loc["answer_relevancy"]
    assert row["value"] == 0.5
    sums = np.array([1, -1, 1, -1])  # passed minus half of the tests, a topic each
    error = np.sqrt(4 / 3 * (sums**2).sum()) / 16
    assert row["standard_error"] == pytest.approx(error)
    # Student's t of 3 degrees of freedom, in logits
    assert row["low"] == pytest.approx(expit(-3.182446 * error / 0.25))


def test_failures_are_not_passed_and_the_unreached_left_out():
    tests = all_types_of("Why?", "How?")[:17]
    failing = TableJudge(answer_relevancy=Verdict(None, "unparsable"), completeness=None)
    timeout = Verdict(None, "timeout", was_asked=False)
    unreached = TableJudge(answer_relevancy=timeout, completeness=timeout)
    unreached.name = "away"
    verdicts = verdicts_of([failing, unreached], tests)
    rates = pass_rates(verdicts).set_index(["judge", "metric"])
    relevancy = rates.loc[("table", "answer_relevancy")]
    assert (relevancy["passed"], relevancy["n"], relevancy["failures"]) == (0, 17, 17)
    assert rates.loc[("table", "faithfulness"), "failures"] == 17
    away = rates.loc[("away", "total")]
    assert (away["n"], away["not_asked"]) == (0, 17 * 6)
    assert math.isnan(away["value"])
    assert away["reason"] == "the judge could not be reached"
    assert set(type_matrix(verdicts)["judge"]) == {"table"}
    (entry,) = entries_of(verdicts)
    assert (entry.judge, entry.failures) == ("table", 17 * 5)
    null = verdicts[verdicts["judge"] == "away"]["passed"]
    assert all(each is None for each in null)
