"""``surrogate-arena metaeval pairs`` as a user runs it: a server, functions, recorded verdicts."""

import json
import re
from collections import Counter

import pandas as pd
import pytest
from chat_server import broken, completion
from metaeval_command import run, run_json
from pair_samples import pair_rows
from shared_data import shared_path

from arena import UsageError
from arena.data.errors import UnusableRepliesError
from arena.data.folder import read_arena
from arena.data.judges import is_person
from surrogate_arena.cli.judging_records import read_metaevaluations
from surrogate_arena.papers.figures import study_drawings

JUDGES = """
def knows(question, passages, answer_a, answer_b):
    return "a" if "Ada" in answer_a else "b"
def first(question, passages, answer_a, answer_b):
    return "a"
def longer(question, passages, answer_a, answer_b):
    if len(answer_a) == len(answer_b):
        return None
    return "a" if len(answer_a) > len(answer_b) else "b"
def letter(question, passages, answer_a, answer_b):
    return "A"
"""


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in pair_rows()), encoding="utf-8")
    return path


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "pair_judges.py").write_text(JUDGES)
    monkeypatch.syspath_prepend(tmp_path)
    return "python:pair_judges:"


def of(scores, judge, split="all"):
    """Values, bounds and numbers of a judge's scores by name, and the counts of its verdicts."""
    rows = [row for row in scores if (row["judge"], row["split"]) == (judge, split)]
    values = {"failures": rows[0]["failures"], "not_asked": rows[0]["not_asked"]}
    for row in rows:
        name = row["score"]
        values |= {name: row["value"], f"{name}_low": row["low"], f"{name}_n": row["n"]}
    return values


def better_first(prompt):
    """Which of the two answers in a prompt is the better one of ``pair_rows``."""
    return prompt.index("Ada wrote") < prompt.index("Bob wrote")


def test_functions_are_scored_by_split(table, module, quick):
    judges = [f"{module}{name}" for name in ("knows", "first", "longer")]
    asked = [option for judge in judges for option in ("--judge", judge)]
    content = run_json("pairs", table, *asked, "--config", quick)
    scores = content["scores"]
    assert of(scores, judges[0])["consistent_accuracy"] == 1
    always_a = of(scores, judges[1])
    assert (always_a["consistent_accuracy"], always_a["accuracy"]) == (0, 0.5)
    assert (always_a["flip_rate"], always_a["share_a"]) == (1, 1)
    longer = {split: of(scores, judges[2], split) for split in ("long", "short", "equal")}
    assert longer["long"]["consistent_accuracy"] == 1
    assert longer["short"]["consistent_accuracy"] == 0
    assert longer["equal"]["failures"] == longer["equal"]["accuracy_n"] == 8
    assert longer["equal"]["accuracy"] == 0  # no verdict is wrong
    assert of(scores, judges[2])["share_longer"] == 1
    assert "soft_pairwise_accuracy" not in {row["score"] for row in scores}
    printed = run("pairs", table, *asked, "--config", quick).stdout
    assert "by split" in printed
    assert "verdicts without a winner, counted as errors: 8" in printed


def test_the_published_splits_are_scored_apart(tmp_path, module, quick):
    data = tmp_path / "ContextualJudgeBench"
    data.mkdir()
    splits = ("conciseness_qa", "faithfulness_summ", "refusal_answerable")
    for split in splits:
        rows = [
            {
                "problem_id": f"{split}_{number}",
                "question": f"Who wrote book {number}?",
                "context": f"Book {number} is by Ada, as all books here are.",
                "positive_response": f"Ada wrote book {number}.",
                "negative_response": f"Bob wrote book {number}, or Carl, or nobody.",
            }
            for number in range(4)
        ]
        pd.DataFrame(rows).to_parquet(data / f"{split}-00000-of-00001.parquet")
    judge = f"{module}knows"
    content = run_json("pairs", data, "--judge", judge, "--limit", 2, "--config", quick)
    assert {row["split"] for row in content["scores"]} == {"all", *splits}
    for split in splits:
        assert of(content["scores"], judge, split)["consistent_accuracy"] == 1
        assert of(content["scores"], judge, split)["accuracy_n"] == 4
    assert of(content["scores"], judge)["accuracy_n"] == 12


def test_an_llm_is_asked_both_orders_once(table, tmp_path, quick, serve):
    server = serve(lambda prompt, _: completion("So [[A]]" if better_first(prompt) else "[[B]]"))
    prices, out, arena = tmp_path / "prices.json", tmp_path / "run.jsonl", tmp_path / "arena"
    prices.write_text('{"m": {"tokens_in": 3, "tokens_out": 10}}')
    arena.mkdir()
    asked = ["pairs", table, "--judge", "llm:m", "--base-url", server.url, "--config", quick]
    asked += ["--config", f"store={tmp_path}/s.sqlite", "--prices", prices]
    content = run_json(*asked, "--out", out, "--arena", arena)
    assert of(content["scores"], "llm:m")["consistent_accuracy"] == 1
    assert len(server.bodies) == 24
    (usage,) = content["usage"]
    # Every call has 10 tokens in and 3 out.
    assert usage["cost"] == pytest.approx(24 * (10 * 3 + 3 * 10) / 1e6)
    texts = [body["messages"][0]["content"] for body in server.bodies]
    assert sum(map(better_first, texts)) == 12
    assert all("The shelf says so." in text for text in texts)
    assert not any("positive" in text or re.search(r"\bbetter\n", text) for text in texts)
    again = run_json(*asked)
    assert len(server.bodies) == 24
    assert again["scores"] == content["scores"]
    from_file = run_json("pairs", table, "--judge", f"run:{out}", "--config", quick)
    assert from_file["scores"] == content["scores"]
    with pytest.raises(UsageError, match="tables but no figure"):
        list(study_drawings(out))
    entries = {entry.metric: entry for entry in read_metaevaluations(arena)}
    assert set(entries) == {"consistent_accuracy", "accuracy"}
    assert entries["consistent_accuracy"].dataset == "pairs"


def test_verdicts_that_fail_are_wrong_and_those_not_reached_are_left_out(
    table, tmp_path, quick, serve
):
    def behave(prompt, earlier):
        if "book 0" in prompt:
            return completion("I cannot say.")
        return broken() if "book 1" in prompt else completion("[[A]]")

    server = serve(behave)
    asked = ["pairs", table, "--judge", "llm:m", "--base-url", server.url, "--config", quick]
    quick.write_text(quick.read_text() + "retries = 0\n")
    scores = run_json(*asked, "--config", f"store={tmp_path}/s.sqlite")["scores"]
    row = of(scores, "llm:m")
    assert (row["accuracy_n"], row["failures"], row["not_asked"]) == (18, 6, 6)
    assert row["accuracy"] == pytest.approx(6 / 18)
    assert row["flip_rate_n"] == 6


def test_a_template_and_a_limit_hold_for_pairs(table, tmp_path, quick, serve):
    server = serve(lambda prompt, _: completion("[[A]]"))
    template = tmp_path / "mine.jinja"
    template.write_text("{{question}} {{answer_a}} | {{answer_b}} [[A]] or [[B]]?")
    asked = ["pairs", table, "--judge", "llm:m", "--base-url", server.url, "--config", quick]
    asked += ["--config", f"store={tmp_path}/s.sqlite", "--template", f"pairwise={template}"]
    content = run_json(*asked, "--limit", 1)
    assert len(server.bodies) == 6  # a pair of each split, in both orders
    assert "mine" in content["scores"][0]["prompt"]


def test_what_cannot_be_asked_is_refused(table, module, quick):
    for words, message in {
        ("--judge", f"{module}letter"): "returned 'A'; return a, b or tie",
        ("--judge", "recorded:gpt"): "no judge 'gpt' here",
        (): "give a --judge: llm:MODEL",
        ("--judge", f"{module}first", "--reference", "people"): "the table says who is better",
    }.items():
        with pytest.raises(UsageError, match=message):
            run("pairs", table, *words, "--config", quick)


@pytest.fixture(scope="module")
def vicuna():
    return shared_path("data/arenas/vicuna80")


@pytest.mark.slow
def test_recorded_judges_are_compared_with_people_without_a_call(vicuna, quick):
    content = run_json("pairs", vicuna, "--config", quick)
    judges = {row["judge"] for row in content["scores"]}
    scores = {judge: of(content["scores"], judge) for judge in judges}
    assert set(scores) == {"bard", "claude", "gpt-4", "gpt35"}
    votes = Counter()
    verdicts = {}
    for row in read_arena(vicuna).judgments.itertuples():
        winner = {"a": row.system_a, "b": row.system_b, "tie": "tie"}[row.winner]
        pair = (row.query_id, *sorted((row.system_a, row.system_b)))
        if is_person(row.judge):
            votes[pair, winner] += 1
            votes[pair] += 1
        elif row.judge == "gpt-4":
            verdicts.setdefault(pair, []).append(winner)
    # Computed apart: the better answer has more than half of the votes.
    both = []
    for pair, winners in verdicts.items():
        better = [system for system in pair[1:] if 2 * votes[pair, system] > votes[pair]]
        if better and len(winners) == 2:
            both.append(winners == better * 2)
    assert scores["gpt-4"]["consistent_accuracy_n"] == len(both)
    expected = sum(both) / len(both)
    assert scores["gpt-4"]["consistent_accuracy"] == pytest.approx(expected)
    assert scores["gpt-4"]["consistent_accuracy_low"] < expected


@pytest.mark.slow
def test_rankings_of_recorded_judges_are_compared_with_those_by_people(vicuna, quick):
    content = run_json("pairs", vicuna, "--judge", "recorded:gpt-4", "--config", quick)
    scores = of(content["scores"], "gpt-4")
    assert 0.6 < scores["soft_pairwise_accuracy"] < 0.85
    assert scores["soft_pairwise_accuracy_n"] == 28
    printed = run("pairs", vicuna, "--judge", "recorded:gpt-4", "--config", quick).stdout
    assert "by chance" in printed
    assert "no majority for either answer" in printed


def test_the_crowd_and_gpt_4o_hardly_agree(vicuna, quick, tmp_path):
    content = run_json("pairs", vicuna.parent / "crowd-rag", "--config", quick, "--arena", tmp_path)
    judges = {row["judge"] for row in content["scores"]}
    scores = {judge: of(content["scores"], judge) for judge in judges}
    assert set(scores) == {"gpt-4o-combined", "gpt-4o-individual"}
    for row in scores.values():
        assert row["accuracy_low"] < 0.6
        assert row["consistent_accuracy_n"] == 146
    metrics = {entry.metric for entry in read_metaevaluations(tmp_path)}
    assert metrics == {"consistent_accuracy", "accuracy", "soft_pairwise_accuracy"}
    assert {entry.dataset for entry in read_metaevaluations(tmp_path)} == {"people"}


def test_an_unreachable_server_is_an_error_and_not_a_score(table, tmp_path, quick, serve):
    server = serve(lambda prompt, _: completion("No verdict."))
    asked = ["pairs", table, "--judge", "llm:m", "--base-url", server.url, "--config", quick]
    with pytest.raises(UnusableRepliesError, match="llm:m gave no verdict: 24 unparsable"):
        run(*asked, "--config", f"store={tmp_path}/s.sqlite")
