"""GroUSE by command: judges, references, annotators, failure modes, scores of one's own answers."""

import csv
import json
import sys

import pytest
from chat_server import completion
from grouse_samples import RightJudge, answer, lines_of, written
from metaeval_command import run, run_json
from scipy.stats import spearmanr
from sklearn.metrics import f1_score

from arena import UsageError
from surrogate_arena.papers.evaluation import evaluate_judges
from surrogate_arena.papers.grouse.benchmark import Grouse, ScoreVerdict
from surrogate_arena.papers.grouse.metrics import METRICS
from surrogate_arena.papers.grouse.scores import failure_mode_rates
from surrogate_arena.papers.grouse.unit_tests import (
    FAILURE_MODES,
    TEST_TYPES,
    UnitTest,
    builtin_tests,
)
from surrogate_arena.papers.records import read_run

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
    assert "checks missing: left out" in printed


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


def test_shares_of_other_tools_are_held_against_what_people_found(tmp_path):
    """Table 2 and figure 3: Ragas' and DeepEval's shares come in files."""
    tests = builtin_tests(["en"])[:4]
    header = "test_id,annotator,answer_relevancy,faithfulness\n"
    people = [f"{test.test_id},{name},,{share}" for test in tests for name, share in PEOPLE]
    (tmp_path / "people.csv").write_text(header + "\n".join(people))
    tool = [f"{test.test_id},,0.9,{share}" for test, share in zip(tests, SHARES, strict=True)]
    (tmp_path / "ragas.csv").write_text(header + "\n".join(tool))
    config = tmp_path / "shares.toml"
    config.write_text(f'shares = "{tmp_path / "people.csv"}"\n')
    judge = f"labels:{tmp_path / 'ragas.csv'}"
    asked = ["grouse", "--languages", "en", "--judge", judge, "--config", config]
    found = run_json(*asked, "--out", tmp_path / "run.jsonl")
    assert [row["passed"] for row in found["scores"]] == [True, True, False, False]
    assert {row["condition"] for row in found["scores"]} == {"0.05 ± 0.2"}
    (rate,) = [row for row in found["pass_rates"] if row["metric"] == "faithfulness"]
    assert (rate["passed"], rate["failures"]) == (2, 1)
    assert len(read_run(tmp_path / "run.jsonl", ScoreVerdict)) == 4
    assert "Tests passed, by type" in run(*asked).stdout
    with pytest.raises(UsageError, match="gives no shares"):
        run("grouse", "--judge", "python:math:sqrt", "--config", config)
    (tmp_path / "people.csv").write_text(header + "other,a,,0.5\n")
    with pytest.raises(UsageError, match="no share of any of the tests"):
        run(*asked)


PEOPLE = (("a", 0.0), ("b", 0.1))
SHARES = ("0.05", "0.24", "0.26", "")


def scorer(body):
    """Answer as GPT-4 does: refusals have null relevancy; one reply cannot be read."""
    told = body["messages"][-1]["content"]
    metric = body["response_format"]["json_schema"]["name"]
    if "Broken" in told and metric == "faithfulness":
        return "I cannot say."
    scores = {"answer_relevancy": 4, "completeness": 2, "usefulness": 1, "faithfulness": 1}
    refuses = "No document" in told.rpartition("start of answer 2")[2]
    score = None if refuses and metric == "answer_relevancy" else scores[metric]
    return json.dumps({"answer_2": {"score": score}})


def test_answers_of_ones_own_are_scored_by_six_metrics(tmp_path, serve):
    """Section 4.4: means where a metric is defined, what could be read, calls and cost."""
    answers = ["Oslo [1].", "Oslo is one [1].", "No document answers.", "Broken [1]."]
    path, prices = tmp_path / "samples.jsonl", tmp_path / "prices.json"
    lines = [written(actual_output=text) for text in answers]
    for line in lines:
        del line["conditions"], line["metadata"]
    path.write_text(lines_of(*lines))
    prices.write_text('{"m": {"tokens_in": 1000, "tokens_out": 0}}')
    server = serve(lambda prompt, _: completion(scorer(server.bodies[-1])))
    asked = ["grouse", path, "--judge", "llm:m", "--base-url", server.url, "--prices", prices]
    asked += ["--config", f"store={tmp_path}/s.sqlite"]
    found = run_json(*asked)
    means = {row["metric"]: (row["value"], row["answers"]) for row in found["means"]}
    expected = {"answer_relevancy": (4, 3), "completeness": (2, 4), "usefulness": (1, 1)}
    expected |= {"faithfulness": (1, 3), "positive_acceptance": (0, 1)}
    expected |= {"negative_rejection": (None, 0), "mean": ((4 + 2 + 1 + 1 + 0) / 5, 12)}
    assert means == expected
    readable = {row["metric"]: row["readable"] for row in found["means"]}
    assert (readable["faithfulness"], readable["completeness"]) == (0.75, 1)
    assert sum(usage["calls"] for usage in found["usage"]) == len(server.bodies) == 4 + 4 + 1 + 4
    assert sum(usage["cost"] for usage in found["usage"]) > 0
    printed = run(*asked).stdout
    assert "Scores of 4 answers, on average" in printed
    assert "cost 0.0\n" in printed  # all from the store
    prices.write_text('{"another": {"tokens_in": 1, "tokens_out": 1}}')
    assert "cost unknown" in run(*asked).stdout


def test_replies_may_end_in_a_result(tmp_path, serve):
    """Prometheus 2 writes feedback, and ends in [RESULT] and a score (appendix D)."""
    said = {"answer_relevancy": "[RESULT] 4", "completeness": "[RESULT] null.",
            "usefulness": "[RESULT] 1", "faithfulness": "[RESULT] 4.5"}  # fmt: skip
    templates = []
    for metric in said:
        path = tmp_path / f"{metric}.txt"
        path.write_text(f"{metric}: {{{{ input }}}} {{{{ actual_output }}}}")
        templates += ["--template", f"{metric}={path}"]
    server = serve(lambda prompt, _: completion(f"Fine. [RESULT] 2? {said[prompt.split(':')[0]]}"))
    store = ["--base-url", server.url, "--config", f"store={tmp_path}/s.sqlite"]
    asked = ["grouse", "--languages", "en", "--limit", 1, "--judge", "llm:m", *store]
    with pytest.raises(UsageError, match="--template answer_relevancy=FILE"):
        run(*asked, "--replies", "result")
    assert not server.bodies
    found = run_json(*asked, *templates, "--replies", "result")
    values = {row["metric"]: (row["value"], row["failure"]) for row in found["scores"]}
    assert values["answer_relevancy"] == (4, None)
    assert values["completeness"] == values["usefulness"] == (None, None)
    assert values["faithfulness"] == (None, "unparsable")
    assert "response_format" not in server.bodies[0]
