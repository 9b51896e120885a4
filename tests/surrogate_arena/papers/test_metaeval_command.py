"""``surrogate-arena metaeval`` as a user runs it: MEMERAG, statistics, runs."""

import pytest
from chat_server import completion
from memerag_samples import answered, labeled, lines_of
from metaeval_command import run, run_json

from arena import UsageError
from surrogate_arena.cli.app import main
from surrogate_arena.cli.judging_records import read_metaevaluations
from surrogate_arena.papers.memerag.benchmark import LabelVerdict
from surrogate_arena.papers.records import read_run
from surrogate_arena.papers.reports import judges_of

YES, NO = "Supported", "Not Supported"
JUDGE = """
def context(question, passages, answer, sentence):
    return None if sentence == "Perhaps." else "Relevant"
def always(question, passages, answer, sentence):
    return "Supported"
def knows(question, passages, answer, sentence):
    return "Supported" if sentence in passages else "Not Supported"
"""


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "memerag"
    folder.mkdir()
    unrelated = "Unrelated to the question"
    rows = [
        answered(
            f"q{number}",
            labeled("Paris is in France.", YES, "Direct paraphrase"),
            labeled("Bananas are yellow.", NO, "Adds new information", unrelated, 1),
            labeled("Perhaps.", "Challenging to determine", number=2),
        )
        for number in range(6)
    ]
    for language in ("en", "de"):
        (folder / f"{language}.jsonl").write_text(lines_of(*rows))
    return folder


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "claim_judges.py").write_text(JUDGE)
    monkeypatch.syspath_prepend(tmp_path)
    return "python:claim_judges:"


def test_judges_side_by_side(folder, tmp_path, module, quick):
    out, arena = tmp_path / "run.jsonl", tmp_path / "arena"
    arena.mkdir()
    judges = ("--judge", f"{module}knows", "--judge", f"{module}always", "--config", quick)
    found = run_json("memerag", folder, *judges, "--out", out, "--arena", arena)
    scores = {(row["judge"], row["language"]): row for row in found["scores"]}
    assert scores[f"{module}knows", "macro"]["value"] == 1
    assert scores[f"{module}always", "en"]["value"] == 0.5
    assert scores[f"{module}knows", "en"]["n"] == 12
    assert found["left_out"] == 12
    assert found["usage"] == []
    labels = {row["fine"] for row in found["fine_grained"]}
    assert labels == {"Direct paraphrase", "Adds new information"}
    assert len(judges_of(read_run(out, LabelVerdict))) == 2
    assert "CC BY-NC" in out.read_text()
    known = read_metaevaluations(arena)
    assert [(each.judge, each.dataset, each.n) for each in known] == [
        (f"{module}{name}", "memerag", 24) for name in ("always", "knows")
    ]
    printed = run("memerag", folder, *judges).stdout
    assert "Balanced accuracy in percent" in printed
    assert "Left out: 12 sentences challenging to determine" in printed


@pytest.mark.slow
def test_a_run_stands_beside_other_judges(folder, tmp_path, module, quick):
    out, knows = tmp_path / "run.jsonl", ["--judge", f"{module}knows"]
    always = ["--judge", f"{module}always", "--config", quick]
    run("memerag", folder, *knows, "--out", out, "--config", quick)
    both = run_json("memerag", folder, "--judge", f"run:{out}", *always)
    assert both["scores"] == run_json("memerag", folder, *knows, *always)["scores"]
    with pytest.raises(UsageError, match="knows is given twice"):
        run("memerag", folder, "--judge", f"run:{out}", *knows)


def test_what_cannot_be_compared_or_written_is_said_before_anyone_is_asked(
    folder, tmp_path, module, quick, serve
):
    out, server = tmp_path / "run.jsonl", serve(lambda prompt, _: completion("Supported"))
    run("memerag", folder, "--judge", f"{module}always", "--out", out, "--config", quick)
    asked = ["memerag", folder, "--judge", "llm:m", "--base-url", server.url]
    asked += ["--config", f"store={tmp_path}/s.sqlite"]
    kept = out.read_text()
    for old, new, message in (
        ('"Supported", "fine"', '"Not Supported", "fine"', "holds other human labels"),
        ('"query_id": "q', '"query_id": "p', "judges nothing of what is judged here"),
    ):
        out.write_text(kept.replace(old, new))
        assert out.read_text() != kept, old
        with pytest.raises(UsageError, match=message):
            run(*asked, "--judge", f"run:{out}")
    with pytest.raises(UsageError, match="use a name such as run"):
        run(*asked, "--out", tmp_path / "run.csv")
    assert run(*asked, "--arena", tmp_path / "nowhere").exit_code == 2
    assert not server.bodies


def test_comments_of_annotators_stand_beside_the_verdicts(folder, tmp_path, module, quick):
    (folder / "de.jsonl").unlink()
    said = labeled("Oslo.", [YES] * 5, ["Other"] * 5) | {"comments": ["", "No date.", None, " "]}
    one = labeled("Bergen.", [NO] * 5, ["Other mistake"] * 5, number=1) | {"comments": "Not said."}
    (folder / "en.jsonl").write_text(lines_of(answered("q", said, one)))
    out = tmp_path / "run.jsonl"
    run("memerag", folder, "--judge", f"{module}always", "--out", out, "--config", quick)
    assert read_run(out, LabelVerdict)["comments"].tolist() == [["No date."], ["Not said."]]


def test_relevance_is_a_benchmark_of_its_own(folder, tmp_path, module, quick):
    asked = ["memerag-relevance", folder, "--judge", f"{module}context", "--config", quick]
    found = run_json(*asked, "--arena", tmp_path)
    scores = {row["language"]: row for row in found["scores"]}
    # Of 12 relevant sentences 6 are found, and none of the 6 that are not.
    assert scores["en"]["value"] == pytest.approx((6 / 12 + 0) / 2)
    assert (scores["en"]["n"], scores["en"]["failures"]) == (18, 6)
    assert {row["truth"] for row in found["fine_grained"]} == {"Relevant", "Irrelevant"}
    (entry,) = read_metaevaluations(tmp_path)
    assert (entry.dataset, entry.metric) == ("memerag-relevance", "balanced_accuracy")


def test_what_cannot_be_asked_is_refused(folder, tmp_path):
    for asked, message in {
        ("memerag", "--judge", "oracle"): "there is no judge 'oracle'",
        ("memerag", "--judge", "llm:m", "--prompts", "few_shot"): "unknown prompt 'few_shot'",
        ("memerag", "--judge", "python:math:sqrt", "--languages", "en,fr"): "unknown language 'fr'",
        ("memerag", "--statistics", "--judge", "python:math:sqrt"): "give a --judge",
        ("other", "--judge", "python:math:sqrt"): "unknown benchmark 'other'",
        ("wikieval", "--statistics"): "is for memerag",
    }.items():
        store = ["--config", f"store={tmp_path}/s.sqlite"]
        with pytest.raises(UsageError, match=message):
            run(asked[0], folder, *asked[1:], *store)
    with pytest.raises(UsageError, match="give the path of the data of memerag"):
        run("memerag", "--judge", "python:math:sqrt")
    (tmp_path / "bad.toml").write_text("replicate = 3\n")
    with pytest.raises(UsageError, match="did you mean 'replicates'"):
        run("memerag", folder, "--judge", "python:math:sqrt", "--config", tmp_path / "bad.toml")


def test_a_dry_run_says_what_the_run_would_ask(folder, tmp_path, serve, quick, monkeypatch):
    monkeypatch.chdir(tmp_path)
    server = serve(lambda prompt, _: completion("Answer: Supported"))
    prices = tmp_path / "prices.json"
    prices.write_text('{"m": {"tokens_in": 1, "tokens_out": 1}}')
    asked = ["memerag", folder, "--judge", "llm:m", "--base-url", server.url, "--config", quick]
    asked += ["--prompts", "zero_shot,ag_cot", "--prices", prices]
    planned = run_json(*asked, "--limit", 5, "--dry-run")
    assert not server.asked
    assert not (tmp_path / "metaevaluation.sqlite").exists()
    run(*asked, "--limit", 5)
    sent = sum(server.asked.values())
    assert sum(row["calls"] for row in planned["judges"]) == sent
    assert all(row["cost_at_most"] > 0 for row in planned["judges"])
    # What was paid for is not counted again.
    later = run_json(*asked, "--dry-run")["judges"]
    assert sum(row["in_store"] for row in later) == sent
    run(*asked)
    assert sum(server.asked.values()) == sent + sum(row["calls"] for row in later)


def test_a_dry_run_of_grouse_asks_each_answer_four_times_at_most(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    training = tmp_path / "training.toml"
    training.write_text("training = true")
    asked = ["grouse", "--config", training, "--judge", "llm:m", "--dry-run"]
    (row,) = run_json(*asked)["judges"]
    assert row["prompts"] == 4 * 16
    assert row["cost_at_most"] is None
    assert "Dry run" in run(*asked).stdout


def test_a_judge_without_one_readable_reply_fails_the_command(
    folder, tmp_path, quick, serve, capsys
):
    server = serve(lambda prompt, _: completion("I would rather not say."))
    told = f"--base-url={server.url}", "--config", quick, "--config", f"store={tmp_path}/s.sqlite"
    with pytest.raises(SystemExit) as stop:
        main([*map(str, ("metaeval", "memerag", folder, "--judge", "llm:m", *told))])
    assert stop.value.code == 1
    assert "llm:m gave no verdict: 24 unparsable" in capsys.readouterr().err
