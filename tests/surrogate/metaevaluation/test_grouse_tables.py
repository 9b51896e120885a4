"""GroUSE's tables by command: several judges, references, annotators, failure modes, features."""

import csv
import json
import sys

import pytest
from grouse_samples import RightJudge, answer, lines_of, written
from metaeval_command import run, run_json
from scipy.stats import spearmanr
from sklearn.metrics import f1_score

from surrogate.metaevaluation.evaluation import evaluate_judges
from surrogate.metaevaluation.grouse.grouse import Grouse, ScoreVerdict
from surrogate.metaevaluation.grouse.scores import failure_mode_rates
from surrogate.metaevaluation.grouse.unit_tests import (
    FAILURE_MODES,
    METRICS,
    TEST_TYPES,
    UnitTest,
    builtin_tests,
)
from surrogate.metaevaluation.records import read_run

FIGURE_4 = {  # failure modes of the test types
    8: "FM1", 9: "FM1 FM2", 10: "FM3", 11: "FM3 FM4", 12: "FM3 FM4", 13: "FM5", 14: "FM6",
    15: "FM6", 16: "FM7",
}  # fmt: skip


def test_failure_modes_are_those_of_figure_4():
    modes = {number: " ".join(kind.failure_modes) for number, kind in enumerate(TEST_TYPES, 1)}
    assert modes == {number: FIGURE_4.get(number, "") for number in range(1, 17)}
    assert [mode.name for mode in FAILURE_MODES] == [f"FM{number}" for number in range(1, 8)]


def test_modes_are_counted_by_the_metric_that_finds_them():
    tests = builtin_tests(["en"])[:16]
    wrong = {("low_completeness_2", "completeness"), ("low_faithfulness_3", "faithfulness")}
    tests = [
        UnitTest(test.test_id, test.test_type, answer(test.test_type), test.conditions, "en", "t")
        for test in tests
    ]
    judge = RightJudge(wrong)
    found = failure_mode_rates(evaluate_judges(Grouse(tests), [judge]).verdicts)
    counts = {row.failure_mode: (row.passed, row.tests) for row in found.itertuples()}
    assert counts == {
        "FM1": (2, 2), "FM2": (1, 1), "FM3": (2, 3), "FM4": (2, 2), "FM5": (1, 1), "FM6": (2, 2),
        "FM7": (0, 1),
    }  # fmt: skip


def test_types_are_known_by_their_published_names_and_others_are_said(tmp_path, module):
    """The data card writes "Low answer relevancy 1" for type 8 of figure 4."""
    names = ["Low answer relevancy 1", "Low answer relevancy 2", "Low usefulness 1", "Mine", "Mine"]
    path = tmp_path / "tests.jsonl"
    path.write_text(lines_of(*(written(metadata={"test_type": name}) for name in names)))
    asked = ["grouse", path, "--judge", f"python:{module}:gold"]
    found = run_json(*asked)
    assert [row["failure_mode"] for row in found["failure_modes"]] == ["FM1", "FM2", "FM5"]
    assert "in no failure mode: 2 Mine" in run(*asked).stdout
    chosen = run_json(*asked, "--kinds", "Low answer relevancy 1,8")
    assert {row["test_id"] for row in chosen["scores"]} == {"tests.jsonl:1"}


@pytest.fixture
def labels(tmp_path):
    """Two annotators of eight English tests; the second one differs in two scores."""
    tests = builtin_tests(["en"])[:8]
    path = tmp_path / "labels.csv"
    rows = [
        ["test_id", "annotator", "answer_relevancy", "completeness", "usefulness", "faithfulness"]
    ]
    for annotator in ("first", "second"):
        for place, test in enumerate(tests):
            scores = ["" if (bound := test.conditions[metric].bound) is None else f"{bound:.0f}"
                      for metric in METRICS[:4]]  # fmt: skip
            if annotator == "second" and place in (0, 3):
                scores[0] = "3"
            rows.append([test.test_id, annotator, *scores])
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows(rows)
    return path


def test_annotators_are_judges_and_agree_by_metric(labels):
    asked = ["grouse", "--languages", "en", "--judge", f"labels:{labels}#second"]
    found = run_json(*asked, "--reference", f"labels:{labels}#first")
    exact = {row["metric"]: row["exact"] for row in found["calibration"]}
    assert exact["answer_relevancy"] == 6 / 8
    assert exact["completeness"] == exact["positive_acceptance"] == 1
    rates = {
        row["judge"].rpartition("#")[2]: row for row in found["pass_rates"]
        if row["metric"] == "answer_relevancy"
    }  # fmt: skip
    assert (rates["first"]["passed"], rates["second"]["passed"]) == (7, 5)  # type 8: less than 5
    assert (rates["first"]["n"], rates["first"]["not_asked"]) == (8, 56)
    printed = run(*asked, "--reference", f"labels:{labels}#first").stdout
    assert "in percent" in printed
    assert "checks got no answer: left out" in printed


SAMPLES = 40
MODULE = """
import zlib
def drawn(name, metric, answer):
    is_graded = metric in ("answer_relevancy", "completeness")
    scale = [1, 2, 3, 4, 5, None] if is_graded else [0, 1, None]
    return scale[zlib.crc32(f"{name}{metric}{answer}".encode()) % len(scale)]
def gold(metric, question, references, expected, answer):
    return drawn("gold", metric, answer)
def near(metric, question, references, expected, answer):
    if zlib.crc32(answer.encode()) % 4:
        return drawn("gold", metric, answer)
    return drawn("near", metric, answer)
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "graders.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    yield "graders"
    sys.modules.pop("graders", None)


@pytest.fixture
def samples(tmp_path):
    """Answers that call for no scores, as those that table 4 compares judges on."""
    path = tmp_path / "samples.jsonl"
    lines = [written(actual_output=f"Answer {number}.") for number in range(SAMPLES)]
    for line in lines:
        del line["conditions"]
    path.write_text(lines_of(*lines))
    return path


def test_table_4_against_scipy_and_sklearn(samples, module, tmp_path):
    asked = ["grouse", samples, "--judge", f"python:{module}:near"]
    asked += ["--reference", f"python:{module}:gold", "--out", tmp_path / "run.jsonl"]
    found = run_json(*asked)
    assert "pass_rates" not in found
    table = read_run(tmp_path / "run.jsonl", ScoreVerdict)
    both = {
        name: table[table["judge"] == f"python:{module}:{name}"].set_index(["metric", "test_id"])
        for name in ("gold", "near")
    }
    values = {
        (row["judge"].rpartition(":")[2], row["metric"]): row["value"]
        for row in found["calibration"]
    }
    for metric in METRICS:
        gold, near = (both[name].loc[metric, "value"].astype(float) for name in ("gold", "near"))
        if metric in ("answer_relevancy", "completeness"):
            known = gold.notna() & near.notna()
            expected = spearmanr(gold[known], near[known]).statistic
        else:
            expected = f1_score(gold.fillna(9), near.fillna(9), average="macro")
        assert values["near", metric] == pytest.approx(expected), metric
    counted = sum(row["answers"] for row in found["confusion"] if row["judge"].endswith("near"))
    assert counted == SAMPLES * len(METRICS)
    printed = run(*asked).stdout
    assert f"Calibration against python:{module}:gold" in printed
    assert "Pass rate" not in printed


def test_features_are_held_against_what_people_found(tmp_path):
    path = tmp_path / "proportions.jsonl"
    tests = builtin_tests(["en"])[:4]
    rows = [
        {
            "test_id": test.test_id,
            "annotator": name,
            "faithfulness": share,
            "answer_relevancy": None,
        }
        for test in tests
        for name, share in (("a", 0.0), ("b", 0.1))
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = tmp_path / "shares.toml"
    config.write_text(f'shares = "{path}"\n')
    asked = ["grouse", "--languages", "en", "--judge", "feature:faithfulness=ngram_coverage"]
    found = run_json(*asked, "--config", config, "--out", tmp_path / "run.jsonl")
    assert len(found["scores"]) == 4
    for row in found["scores"]:
        assert row["condition"] == "0.05 ± 0.2"
        is_near = row["value"] is not None and abs(row["value"] - 0.05) < 0.2
        assert row["passed"] == is_near
        assert (row["value"] is None) == (row["failure"] is not None)
    (rate,) = [row for row in found["pass_rates"] if row["metric"] == "faithfulness"]
    assert rate["passed"] == sum(row["passed"] for row in found["scores"])
    assert len(read_run(tmp_path / "run.jsonl", ScoreVerdict)) == 4
    assert "Tests passed by feature:ngram_coverage@2" in run(*asked, "--config", config).stdout
