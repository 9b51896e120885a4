"""A tuned model judges and scores where a model at a server does."""

import json

import pytest

from arena import read_arena, write_arena
from surrogate.cli.app import main


def command(*words, status=0):
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    assert ended.value.code == status


@pytest.fixture(scope="module")
def arena(tmp_path_factory, tiny_arena):
    folder = tmp_path_factory.mktemp("arenas") / "arena"
    write_arena(tiny_arena, folder)
    return folder


@pytest.fixture(scope="module")
def judge(tiny_llama, tmp_path_factory):
    """Tune the tiny model to reply with a letter."""
    folder = tmp_path_factory.mktemp("judges")
    template, rows = folder / "brief.jinja", folder / "rows.jsonl"
    template.write_text("{{ question }} A: {{ answer_a[:20] }} B: {{ answer_b[:20] }} Better?")
    asked = {"role": "user", "content": "Where? A: There. B: Here. Better?"}
    chats = [[asked, {"role": "assistant", "content": letter}] for letter in "ABAB"]
    rows.write_text("".join(json.dumps({"messages": chat}) + "\n" for chat in chats))
    at_once = folder / "at_once.toml"
    at_once.write_text("warmup = 0.0\n")
    fast = ["--learning-rate", "0.02", "--epochs", "12", "--batch", "4", "--config", at_once]
    command("finetune", rows, "--base", tiny_llama, *fast, "--out", folder / "tiny-judge")
    return folder / "tiny-judge", template


def test_a_tuned_model_judges_pairs_under_its_name_and_digest(arena, judge, capsys):
    model, template = judge
    before = read_arena(arena).judgments
    rare = template.with_name("judge.toml")
    rare.write_text('verdict = "logprobs"\n')
    asked = ["--config", rare, "--template", template, "--pairs", "2", "--questions", "3"]
    command("judge", arena, "--model", model, *asked, "--no-both-orders", "--json")
    told = json.loads(capsys.readouterr().out)
    (summary,) = told["judges"]
    assert summary["judge"].startswith("tiny-judge@")
    assert summary["prompts"] == 6 >= summary["calls"] > 0
    own = read_arena(arena).judgments.iloc[len(before) :]
    assert len(own) == 6 - summary["invalid"] > 0
    assert set(own["judge"]) == {summary["judge"]}
    command("judge", arena, "--model", model, *asked, "--no-both-orders", "--json")
    again = json.loads(capsys.readouterr().out)
    assert again["judges"][0]["calls"] == 0


def test_a_tuned_model_takes_the_unit_tests_of_judges(judge, tmp_path, capsys):
    model, _ = judge
    short = tmp_path / "scores.jinja"
    short.write_text("{{ question }} {{ answer_1 }} {{ answer_2 }}")
    rare = tmp_path / "metaeval.toml"
    rare.write_text("max_tokens = 8\n")
    asked, own = ["--judge", f"llm:{model}", "--prompts", "joint"], ["--template", f"all={short}"]
    bounds = ["--languages", "en", "--limit", "1", "--json"]
    store = ["--store", tmp_path / "store.sqlite"]
    out = tmp_path / "verdicts.jsonl"
    command(
        *("metaeval", "grouse", *asked, *own, *bounds, *store, "--config", rare, "--out", out),
        status=1,  # it replies with letters, which are no scores
    )
    scores = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(scores) == 16 * 6
    assert all(each["judge"].startswith("llm:tiny-judge@") for each in scores)
    assert all(each["was_asked"] and each["failure"] for each in scores)
    capsys.readouterr()
    # Nothing holds a model here to the schema that packaged prompts ask for.
    command("metaeval", "grouse", *asked, *bounds, *store, "--config", rare, status=2)
    assert "replies" in capsys.readouterr().err
