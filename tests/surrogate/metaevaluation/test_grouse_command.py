"""``surrogate-arena metaeval grouse`` as a user runs it."""

import json
import sys

import pytest
from grouse_samples import lines_of, written
from metaeval_command import run, run_json

from arena import DataError, UsageError
from surrogate.board.judge.metaevaluations import read_metaevaluations

ALL_ONES = {
    "answer_relevancy": 1,
    "completeness": 1,
    "usefulness": 1,
    "faithfulness": 1,
}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "tests.jsonl"
    path.write_text(
        lines_of(written(), written(input="<How> [b]?", metadata={"test_type": "<x> [red]"}))
    )
    return path


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "my_judges.py").write_text(
        "SEEN = []\n"
        "def refuser(metric, question, references, expected, answer):\n"
        "    SEEN.append((metric, question, tuple(references), expected, answer))\n"
        "    return None\n"
        "not_a_function = 3\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield "my_judges"
    sys.modules.pop("my_judges", None)


def test_the_builtin_tests_by_default(module):
    asked = ["grouse", "--judge", f"python:{module}:refuser"]
    found = run_json(*asked, "--languages", "en,de", "--limit", 1)
    assert (found["source"], found["tests"]) == (None, 32)
    assert {row["language"] for row in found["scores"]} == {"en", "de"}
    assert len(found["scores"]) == 32 * 6
    matrix = {(row["test_type"], row["metric"]): row for row in found["matrix"]}
    assert len(matrix) == 16 * 6
    assert matrix["highest_marks_2", "answer_relevancy"]["passed"] == 2
    total = next(row for row in found["pass_rates"] if row["metric"] == "total")
    assert total["value"] == pytest.approx(0.396, abs=0.001)  # null for everything
    assert found["calls"][0]["calls"] + found["calls"][0]["saved"] == 4 * 32


def test_a_file_and_a_function(file, module):
    found = run_json("grouse", file, "--judge", f"python:{module}:refuser")
    assert found["source"] == str(file)
    assert {row["test_type"] for row in found["matrix"]} == {"highest_marks_2", "<x> [red]"}
    assert found["pass_rates"][-1]["value"] == 1
    assert found["calls"][0]["calls"] == 6
    seen = sys.modules[module].SEEN
    assert seen[0] == (
        "answer_relevancy", "Why?", ("A & B", "C"), "No document answers.", "No document answers."
    )  # fmt: skip
    printed = run("grouse", file, "--judge", f"python:{module}:refuser").stdout
    assert "<x> [red]" in printed
    assert "Tests passed by python:my_judges:refuser" in printed


def test_what_cannot_be_asked_is_refused(file, module, tmp_path):
    for spec, message in {
        "oracle": "there is no judge 'oracle'; give one of llm:MODEL, labels:FILE",
        "llm:": "names no model; write such as llm:MODEL",
    }.items():
        with pytest.raises(UsageError, match=message):
            run("grouse", file, "--judge", spec, "--store", tmp_path / "s.sqlite")
    judge = ["--judge", f"python:{module}:refuser"]
    with pytest.raises(UsageError, match="no unit tests in sw; there are de, en, fr"):
        run("grouse", *judge, "--languages", "sw")
    with pytest.raises(UsageError, match="no unit test has the language en"):
        run("grouse", file, *judge, "--languages", "en")
    with pytest.raises(UsageError, match="no unit test has the test type 17"):
        run("grouse", *judge, "--kinds", "17")
    file.write_text(lines_of(written(references=[])))
    with pytest.raises(DataError, match=r"tests\.jsonl:1: references = \[\]: is an empty list"):
        run("grouse", file, *judge)


@pytest.fixture
def chat(serve):
    from chat_server import completion

    def behave(prompt, earlier):
        said = "Hm." if "<How>" in prompt else json.dumps({"answer_2": ALL_ONES})
        return completion(said)

    return serve(behave)


def test_an_llm_over_http_is_paid_once_and_its_failures_are_told(file, tmp_path, chat, quick):
    asked = [file, "--judge", "llm:tiny", "--base-url", chat.url, "--config", quick]
    asked += ["--store", tmp_path / "s.sqlite"]
    found = run_json("grouse", *asked)
    assert found["scores"][0]["prompt"].startswith("task.v1@")
    rates = {row["metric"]: row for row in found["pass_rates"]}
    assert (rates["answer_relevancy"]["failures"], rates["answer_relevancy"]["passed"]) == (1, 0)
    assert sum(usage["calls"] for usage in found["usage"]) == sum(chat.asked.values()) == 5
    printed = run("grouse", *asked).stdout
    assert sum(chat.asked.values()) == 5
    assert "checks without a score, counted as not passed" in printed
    assert "answer_relevancy: unparsable" in printed
    assert "0 calls to tiny" in printed


def test_the_pass_rate_is_noted_in_the_arena(tmp_path, module):
    judge = f"python:{module}:refuser"
    asked = ["grouse", "--judge", judge, "--languages", "en"]
    run(*asked, "--limit", 2, "--arena", tmp_path)
    (entry,) = read_metaevaluations(tmp_path)
    assert (entry.judge, entry.dataset, entry.metric) == (judge, "grouse-builtin", "pass_rate")
    assert entry.languages == ["en"]
    with pytest.raises(UsageError, match="nowhere"):
        run(*asked, "--limit", 1, "--arena", tmp_path / "nowhere")
