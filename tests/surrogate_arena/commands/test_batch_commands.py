"""Commands that send batches, and collect them when they are run again."""

import json

import pandas as pd
import pytest

pytest.importorskip("openai", reason="needs the extra llm")

from batch_server import BatchServer
from chat_server import completion
from memerag_samples import answered, labeled, lines_of

from arena import read_arena, write_arena

AWAITED = 75


@pytest.fixture
def server():
    with BatchServer() as server:
        yield server


@pytest.fixture
def folder(six_systems, tmp_path):
    write_arena(six_systems, tmp_path / "arena")
    return tmp_path / "arena"


@pytest.fixture
def call(run, server, capsys):
    """Run a command at the server; returns its status, output and messages."""

    def call(command, *arguments):
        status = run(command, *arguments, "--base-url", server.url)
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return call


def by_length(prompt, _):
    return completion("[[A]]" if len(prompt) % 3 else "[[B]]", usage=(200, 5))


def test_judge_collects_the_verdicts_of_single_calls(call, server, folder, six_systems, tmp_path):
    server.behave = by_length
    command = ["judge", folder, "--model", "m", "--panel", "n", "--questions", 2, "--pairs", 4]
    command += ["--audit", "1"]
    before = read_arena(folder).judgments
    status, printed, message = call(*command, "--batch")
    assert status == AWAITED
    assert printed == ""
    assert message.startswith("28 replies are awaited; run the same command again to collect:")
    assert "error" not in message
    assert [batch["status"] for batch in server.batches.values()] == ["validating"] * 2
    pd.testing.assert_frame_equal(read_arena(folder).judgments, before)
    assert not (folder / "failed_judgments.jsonl").exists()
    server.work()
    prices = tmp_path / "prices.json"
    price = {"tokens_in": 1, "tokens_out": 4}
    prices.write_text(json.dumps({"m": price, "n": price}))
    status, printed, message = call(*command, "--batch", "--prices", prices, "--json")
    assert status == 0, message
    shown = json.loads(printed)
    assert sum(server.asked.values()) == 28
    for judge in shown["judges"]:
        assert judge["collected"] == 14
        assert judge["cost"] == pytest.approx(14 * (200 * 1 + 5 * 4) / 1e6)
    single = tmp_path / "single"
    write_arena(six_systems, single)
    assert call("judge", single, *command[2:])[0] == 0
    columns = ["query_id", "system_a", "system_b", "winner", "judge"]
    collected, asked = (
        read_arena(each).judgments[columns].sort_values(columns, ignore_index=True)
        for each in (folder, single)
    )
    pd.testing.assert_frame_equal(collected, asked)


def test_pairs_that_follow_verdicts_take_no_batches(call, server, folder):
    command = ["judge", folder, "--model", "m", "--pairs", "adaptive", "--budget", 20]
    status, _, message = call(*command, "--batch")
    assert status == 2
    assert "leave --batch out, or give --pairs all or a number" in message
    assert not server.batches


def test_a_gate_takes_no_batches(call, server, folder, tmp_path):
    config = tmp_path / "gate.toml"
    config.write_text("batch = true\n")
    answers = tmp_path / "new.jsonl"
    answers.write_text("{}\n")
    command = ["gate", "--board", folder, "--candidate", answers, "--model", "m"]
    status, _, message = call(*command, "--config", config)
    assert status == 2
    assert "a gate asks for verdicts until it can decide" in message


@pytest.mark.slow
def test_a_dry_run_counts_what_is_awaited(call, server, folder, tmp_path):
    prices = tmp_path / "prices.json"
    prices.write_text('{"m": {"tokens_in": 2, "tokens_out": 8}}')
    command = ["judge", folder, "--model", "m", "--questions", 2, "--pairs", 4, "--batch"]
    command += ["--audit", "1"]
    planning = ["--dry-run", "--prices", prices, "--json"]
    planned = json.loads(call(*command, *planning)[1])["judges"][0]
    assert planned["calls"] > 0
    assert planned["awaited"] == 0
    call(*command)
    left = json.loads(call(*command, *planning)[1])["judges"][0]
    assert (left["calls"], left["awaited"], left["cost_at_most"]) == (0, planned["calls"], 0)
    assert len(server.batches) == 1


def test_generate_filters_then_answers(call, server, folder, tmp_path):
    def behave(prompt, _):
        is_filter = "<label>" in prompt
        return completion("<label>no</label>" if is_filter else "##Reason: so ##Answer: This.")

    server.behave = behave
    config = tmp_path / "generation.toml"
    config.write_text('filter_model = "m"\n')
    out = tmp_path / "answers.jsonl"
    command = ["generate", folder, "--model", "m", "--questions", 3, "--out", out]
    command += ["--config", "batch=true"]
    for _ in range(2):
        assert call(*command, "--config", config)[0] == AWAITED
        assert not out.exists()
        server.work()
    assert call(*command, "--config", config)[0] == 0
    assert len(out.read_text().splitlines()) == 3
    assert set(server.asked.values()) == {1}


def test_metaeval_sends_the_batches_of_all_judges_first(call, server, tmp_path):
    server.behave = lambda *_: completion("label: supported")
    folder = tmp_path / "memerag"
    folder.mkdir()
    rows = [
        answered(f"q{number}", labeled(f"Paris is {number}.", "Supported", "Direct paraphrase"))
        for number in range(4)
    ]
    (folder / "en.jsonl").write_text(lines_of(*rows))
    store = tmp_path / "store.sqlite"
    command = ["metaeval", "memerag", folder, "--judge", "llm:m", "--judge", "llm:n"]
    command += ["--config", tmp_path / "settings.toml"]
    (tmp_path / "settings.toml").write_text(f'store = "{store}"\nbatch = true\nreplicates = 10\n')
    status, _, message = call(*command)
    assert status == AWAITED, message
    assert len(server.batches) == 2
    server.work()
    while call(*command)[0] == AWAITED:  # unreadable replies are asked for again
        server.work()
        assert len(server.batches) < 20


@pytest.mark.slow
def test_features_send_the_batches_of_all_models_first(call, server, folder, tmp_path):
    server.behave = lambda *_: completion("##Rating: 4")
    out = tmp_path / "f.parquet"
    names = "llm_fluency(model=m),llm_fluency(model=n)"
    command = ["features", folder, "--features", names, "--out", out]
    command += ["--config", "batch=true"]
    status, _, message = call(*command)
    assert status == AWAITED, message
    assert len(server.batches) == 2
    assert not out.exists()
    server.work()
    status, _, message = call(*command)
    assert status == 0, message
    assert set(server.asked.values()) == {2}  # once by each model
