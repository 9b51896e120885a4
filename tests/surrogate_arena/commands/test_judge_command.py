"""``surrogate-arena judge`` as a user runs it."""

import contextlib
import json
import re
import shutil
import signal
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

pytest.importorskip("openai", reason="needs the extra llm")

from chat_server import ChatServer, completion
from llm_requests import kept

from arena import read_arena, write_arena
from arena.llm import open_store

ROOT = Path(__file__).parents[3]


@pytest.fixture
def folder(six_systems, tmp_path):
    write_arena(six_systems, tmp_path)
    return tmp_path


@pytest.fixture
def serve():
    with contextlib.ExitStack() as stack:
        yield lambda behave=None: stack.enter_context(ChatServer(behave or longer))


def longer(prompt, _):
    """Prefer the longer answer."""
    sides = []
    for side in "AB":
        rest = prompt.partition(f"[The Start of Assistant {side}'s Answer ")[2]
        sides.append(len(rest.partition(f"[The End of Assistant {side}'s")[0]))
    return completion(f"[[{'A' if sides[0] >= sides[1] else 'B'}]]", usage=(200, 5))


@pytest.fixture
def judge(run, folder, capsys):
    def judge(server, *options, config=""):
        arguments = ["--model", "local", "--base-url", server.url, "--questions", 3]
        # Each pair once, unless a test says otherwise.
        text = config if "audit" in config else f"audit = 0.0\n{config}"
        (folder / "config.toml").write_text(text, encoding="utf-8")
        arguments += ["--config", folder / "config.toml"]
        status = run("judge", folder, *arguments, *options)
        printed = capsys.readouterr()
        return status, printed.out if status == 0 else printed.err

    return judge


def test_verdicts_are_added_and_the_second_run_asks_nothing(
    judge, serve, folder, english_arena, run, capsys
):
    write_arena(english_arena, folder)
    before = read_arena(folder).judgments
    server = serve()
    options = ["--pairs", 8, "--audit", 1]
    status, printed = judge(server, *options)
    assert status == 0
    calls = sum(server.asked.values())
    first, *lines, last = printed.splitlines()
    # The result comes first, and then few lines.
    assert first.startswith(f"48 verdicts added to {folder}")
    assert len(lines) <= 12
    assert max(map(len, lines)) <= 80
    assert "Warning: Judge local is doubtful: " in printed
    assert "cost not known; give each model's price (--prices FILE)" in " ".join(lines)
    assert last == f"Next: surrogate-arena board {folder} --judge local --out out/board"
    assert (folder / "judging.sqlite").is_file()
    after = read_arena(folder).judgments
    assert len(after) == len(before) + 48
    assert (after["judge"] == "local").sum() == 48
    assert after.head(len(before))[list(before)].equals(before)
    content = (folder / "judgments.jsonl.gz").read_bytes()
    status, printed = judge(server, *options)
    printed = " ".join(printed.split())
    assert " calls to local" not in printed
    assert printed.startswith("0 verdicts added; 48 were judged before")
    assert sum(server.asked.values()) == calls
    assert (folder / "judgments.jsonl.gz").read_bytes() == content
    assert run("fit", folder, "--judge", "local", "--language", "en") == 0
    assert "Ratings" in capsys.readouterr().out


@pytest.mark.slow
def test_json_holds_every_count(judge, serve, folder):
    def half(prompt, earlier):
        return completion("No idea.") if len(prompt) % 2 else longer(prompt, earlier)

    prices = folder / "prices.json"
    prices.write_text('{"local": {"tokens_in": 1, "tokens_out": 2}}', encoding="utf-8-sig")
    status, printed = judge(serve(half), "--pairs", 5, "--prices", prices, "--json")
    content = json.loads(printed, parse_constant=pytest.fail)
    summary = content["judges"][0]
    assert status == 0
    assert content["pairs"] == 15
    assert sum(summary["verdicts"].values()) + summary["invalid"] == 15
    assert summary["failures"] == {"unparsable": summary["invalid"]}
    assert summary["invalid"] > 0
    assert summary["cost"] > 0
    assert content["added"] == 15 - summary["invalid"]
    rows = (folder / "failed_judgments.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(row)["reason"] for row in rows} == {"unparsable"}
    assert len(rows) == summary["invalid"]
    ties = read_arena(folder).judged_by("local").judgments.query("winner == 'tie'")
    assert len(ties) == summary["identical"]
    assert set(ties["flags"]) <= {"identical"}


@pytest.mark.slow
@pytest.mark.parametrize("pairs", ["4", "adaptive"])
def test_a_run_without_one_verdict_of_the_judge_is_no_success(judge, serve, folder, pairs):
    budget = ["--budget", 20] if pairs == "adaptive" else []
    status, said = judge(serve(lambda *_: completion("No idea.")), "--pairs", pairs, *budget)
    assert status != 0
    assert "no pair that was asked got a verdict" in said
    verdicts = read_arena(folder).judgments.query("judge == 'local'")
    assert (verdicts["winner"] == "tie").all()  # identical answers, which nobody was asked about


def test_an_option_turns_off_what_a_file_turns_on(judge, serve):
    server = serve()
    settings = 'batch = true\npairs = "adaptive"'
    status, said = judge(server, "--dry-run", config=settings)
    assert status == 2
    assert "--batch" in said
    assert judge(server, "--no-batch", "--dry-run", config=settings)[0] == 0


def test_a_dry_run_leaves_everything_as_it_is(judge, serve, folder):
    server = serve()
    before = {path.name for path in folder.iterdir()}
    status, printed = judge(server, "--pairs", 2, "--dry-run")
    assert status == 0
    assert "Dry run: nothing was asked" in printed
    assert not server.asked
    assert {path.name for path in folder.iterdir()} == before | {"config.toml"}
    status, printed = judge(server, "--pairs", 2, "--dry-run", "--json", "--panel", "other")
    content = json.loads(printed)
    assert [row["judge"] for row in content["judges"]] == ["local", "other"]
    assert content["judges"][0]["calls"] == 6 - content["identical_answers"]


@pytest.mark.slow
def test_a_budget_spans_the_panel(judge, serve):
    server = serve()
    options = ["--pairs", 4, "--panel", "second", "--json"]
    _, printed = judge(server, *options, config="max_calls = 18")
    content = json.loads(printed)
    assert sum(server.asked.values()) == 18
    first, second = content["judges"]
    assert first["failures"] == {}
    assert first["sent"] + second["sent"] == 18
    assert second["failures"] == {"over_budget": first["sent"] - second["sent"]}


def test_a_boards_surrogate_is_the_prior(
    judge, serve, folder, six_systems, build_quickly, tmp_path
):
    systems = six_systems.info.systems
    known = six_systems.answers["system"].isin(systems[:-1])
    judged = six_systems.judgments
    judged = judged[judged["system_a"].ne(systems[-1]) & judged["system_b"].ne(systems[-1])]
    info = six_systems.info.model_copy(update={"systems": systems[:-1]})
    answers = six_systems.answers[known]
    board = tmp_path / "board"
    build_quickly(replace(six_systems, info=info, answers=answers, judgments=judged)).save(
        board, folder
    )
    ratings = []
    for name, prior in (("first-board", []), ("surrogate", ["--prior", board])):
        options = ["--budget", 2, "--json", *prior]
        status, printed = judge(serve(), *options, config=f'name = "{name}"')
        assert status == 0
        content = json.loads(printed, parse_constant=pytest.fail)
        table = pd.DataFrame(content["ratings"]).set_index(["language", "system"])
        ratings.append(table["rating"])
    # Nearly all systems are not judged yet: what is expected of them is the prior's.
    first_board, by_surrogate = ratings
    assert not (first_board == 0).any()
    assert not (by_surrogate == 0).any()
    assert (first_board - by_surrogate[first_board.index]).abs().max() > 0.1


@pytest.mark.slow
def test_by_default_pairs_are_asked_once_and_some_audited(run, serve, tiny_arena, tmp_path, capsys):
    server, folder = serve(), tmp_path
    write_arena(tiny_arena, folder)
    options = ["--model", "local", "--base-url", server.url]
    assert run("judge", folder, *options, "--dry-run", "--json") == 0
    likely = json.loads(capsys.readouterr().out)["forecast"]
    assert 0 < likely["low"] <= likely["verdicts"] <= likely["high"]
    assert 0 < likely["tau"] < 1
    assert not server.asked
    assert run("judge", folder, *options, "--json") == 0
    printed = capsys.readouterr()
    assert f"{likely['verdicts']:,} verdicts" in printed.err
    content = json.loads(printed.out)
    assert content["judges"][0]["calls"] <= 50 * len(read_arena(folder).info.systems)
    assert "judged in both orders" in json.dumps(content["judges"][0]["check"])
    assert (read_arena(folder).judged_by("local").judgments["chosen"] == "adaptive").all()
    calls = sum(server.asked.values())
    assert run("judge", folder, *options) == 0
    capsys.readouterr()
    assert sum(server.asked.values()) == calls


def test_a_key_that_the_server_repeats_is_in_no_file_and_no_output(
    judge, serve, folder, monkeypatch, run, capsys
):
    key = "planted-Zq8vKx31-key"
    monkeypatch.setenv("MY_API_KEY", key)

    def behave(prompt, earlier):
        reply = longer(prompt, earlier)
        reply.payload["choices"][0]["message"]["content"] += f" as {key} says"
        return reply

    server = serve(behave)
    status, printed = judge(server, "--pairs", 4, "--json", config='api_key_env = "MY_API_KEY"')
    assert (status, server.headers[0]["authorization"]) == (0, f"Bearer {key}")
    with open_store(folder / "judging.sqlite") as store:
        assert all("[key] says" in row["text"] for row in kept(store))
    assert key not in printed + str(capsys.readouterr())
    for path in folder.rglob("*"):
        assert not path.is_file() or key.encode() not in path.read_bytes()


def test_a_strong_judge_follows_a_cheap_one(judge, serve, folder):
    options = ["--pairs", "all", "--escalate", "strong", "--budget", 30]
    server = serve()
    status, printed = judge(server, *options, "--dry-run", "--json")
    planned = json.loads(printed)
    assert [row["judge"] for row in planned["judges"]] == ["local", "strong"]
    assert planned["forecast"]["by_judge"]["local"] == 15
    assert not server.asked
    status, printed = judge(server, *options)
    assert status == 0
    assert "--judge strong,local --out" in printed
    models = [body["model"] for body in server.bodies]
    assert 0 < models.count("local") <= 15
    assert 0 < models.count("strong") <= 15
    assert {"local", "strong"} <= set(read_arena(folder).judgments["judge"])


def test_verdicts_stay_where_the_strong_judge_fails(judge, serve, folder):
    def cheap_alone(prompt, earlier):
        is_cheap = server.bodies[-1]["model"] == "local"
        return longer(prompt, earlier) if is_cheap else completion("No idea.")

    server = serve(cheap_alone)
    status, said = judge(server, "--pairs", 4, "--escalate", "strong", "--budget", 40)
    assert status != 0
    assert "no pair that was asked got a verdict" in said
    assert "--judge local" in said
    judgments = read_arena(folder).judgments
    assert (judgments["judge"] == "local").sum() == 12
    failed = (folder / "failed_judgments.jsonl").read_text(encoding="utf-8")
    assert '"judge":"strong"' in failed.replace(" ", "")


@pytest.mark.slow
def test_a_panel_gives_one_verdict(judge, serve, folder):
    options = ["--pairs", 4, "--panel", "second, third"]
    status, printed = judge(serve(), *options)
    assert (status, "panel: 12 verdicts" in printed) == (0, True)
    table = read_arena(folder).judgments
    assert (table["judge"] == "panel(majority)").sum() == 12
    assert len(table[table["judge"].isin(["local", "second", "third"])]) == 3 * 12
    status, printed = judge(serve(), *options, "--json")
    assert json.loads(printed)["panel"]["verdicts"] == 12
    assert len(read_arena(folder).judgments) == len(table)


@pytest.mark.parametrize(
    ("options", "config", "named"),
    [
        (["--pairs", "some"], "", "--pairs"),
        ([], 'verdict = "stars"', "verdict"),
        (["--template", "absent.jinja"], "", "absent.jinja"),
        ([], 'store = "redis://x"', "store"),
        ([], 'languages = "xx"', "xx"),
        (["--panel", "local"], "", "local"),
        (["--pairs", "all"], "until = 0.1", "until"),
        (["--max-cost", 5], "", "--prices"),
        (["--prior", "."], "", "holds no board"),
        (["--pairs", "adaptive"], "until = 2", "until"),
        (["--pairs", "adaptive", "--batch"], "", "--batch"),
        (["--pairs", "adaptive", "--budget", 5], 'form = "pointwise"', "--config form"),
    ],
)
def test_what_cannot_be_met_is_said_before_anything_is_asked(judge, serve, options, config, named):
    server = serve()
    status, printed = judge(server, *options, config=config)
    assert status == 2
    assert named in printed
    assert not server.asked


@pytest.fixture
def interrupts():
    """Take interrupts, which a shell's background processes ignore."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_keeps_replies_and_the_same_command_goes_on(judge, serve, folder):
    server = serve()

    def interrupting(prompt, earlier):
        # At one call alone: a second interrupt drops the calls under way.
        if len(server.asked) == 4:
            signal.raise_signal(signal.SIGINT)
        return longer(prompt, earlier)

    server.behave = interrupting
    before = read_arena(folder).judgments
    status, printed = judge(server, "--pairs", 5, config="concurrency = 1")
    assert status == 130
    assert f"kept in {folder / 'judging.sqlite'}" in printed
    assert len(read_arena(folder).judgments) == len(before)
    server.behave = longer
    status, _ = judge(server, "--pairs", 5)
    assert status == 0
    assert set(server.asked.values()) == {1}


def test_without_a_key_no_store_is_made(run, folder, capsys, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert run("judge", folder, "--model", "gpt-x", "--pairs", 3) == 2
    assert "OPENAI_API_KEY" in capsys.readouterr().err
    assert not (folder / "judging.sqlite").exists()


def test_replies_that_other_machines_paid_for_are_added_as_the_guide_says(
    run, serve, bilingual_arena, tmp_path, monkeypatch, capsys
):
    server = serve()

    def judge(folder, *settings):
        asked = ("--model", "local", "--base-url", server.url, "--questions", 2, "--pairs", 4)
        return run("judge", folder, *asked, *settings)

    for language in ("en", "sw"):
        write_arena(bilingual_arena, tmp_path / language)
        settings = tmp_path / f"{language}.toml"
        settings.write_text(f'languages = ["{language}"]')
        assert judge(tmp_path / language, "--config", settings) == 0, capsys.readouterr().err
    calls = sum(server.asked.values())
    write_arena(bilingual_arena, tmp_path / "my-arena")
    shutil.copy(tmp_path / "en" / "judging.sqlite", tmp_path / "my-arena")
    shutil.copy(tmp_path / "sw" / "judging.sqlite", tmp_path / "hi.sqlite")
    guide = (ROOT / "docs" / "guides" / "scale.md").read_text(encoding="utf-8")
    [lines] = re.findall(r"```python\n(import sqlite3.*?)```", guide, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(lines, {})
    assert judge(tmp_path / "my-arena") == 0, capsys.readouterr().err
    assert sum(server.asked.values()) == calls > 0
    counts = []
    for folder in ("en", "sw", "my-arena"):
        judgments = read_arena(tmp_path / folder).judgments
        counts.append(int((judgments["judge"] == "local").sum()))
    assert counts[2] == counts[0] + counts[1] >= calls
