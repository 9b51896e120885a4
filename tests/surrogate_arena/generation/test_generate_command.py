"""``surrogate-arena generate`` against a server of the tests' own."""

import json

import pytest

pytest.importorskip("openai", reason="needs the extra llm")

from chat_server import ChatServer, completion

from arena import read_arena, write_arena
from arena.data.folder import read_own_answers


def behave(prompt, earlier):
    if "<label>" in prompt:
        question = prompt.partition("Question: ")[2].partition("\n")[0]
        return completion(f"<label>{'yes' if 'in ' in question else 'no'}</label>")
    return completion("##Reason: so [1] ##Answer: This.")


@pytest.fixture
def folder(small_arena, tmp_path):
    write_arena(small_arena, tmp_path / "arena", ".jsonl")
    return tmp_path / "arena"


@pytest.fixture
def generate(run, folder):
    """Run the command with these options on the folder; returns its status and the server."""

    def generate(*options, behave=behave, config=""):
        file = folder.parent / "generation.toml"
        file.write_text(f"timeout_s = 5.0\n{config}", encoding="utf-8")
        with ChatServer(behave) as server:
            at = ["--model", "m", "--base-url", server.url, "--config", file]
            return run("generate", folder, *at, *options), server

    return generate


def test_answers_go_to_a_file(generate, folder, tmp_path, capsys):
    out = tmp_path / "mine.jsonl"
    status, server = generate("--out", out, "--questions", "3", "--name", "mine")
    assert status == 0
    answers = read_own_answers(out, read_arena(folder).queries)
    assert len(answers) == len(server.bodies) == 6
    assert set(answers["system"]) == {"mine"}
    assert server.bodies[0]["temperature"] == 0.1
    assert server.bodies[0]["max_tokens"] == 2048
    printed = capsys.readouterr().out
    assert "Answered: 6" in printed
    assert str(out) in printed
    assert (folder / "generation.sqlite").is_file()


def test_answers_go_to_the_arena(generate, folder, capsys):
    status, _ = generate("--append", "--config", "languages=sw", "--prompt", "memerag")
    assert status == 0
    read = read_arena(folder)
    assert "m" in read.info.systems
    assert (read.answers["system"] == "m").sum() == 10
    options = ["--append", "--config", "languages=sw", "--prompt", "memerag"]
    status, server = generate(*options, config='filter_model = "m"')
    assert (status, len(server.bodies)) == (0, 0)
    assert "Already answered: 10" in capsys.readouterr().out


@pytest.mark.slow
def test_time_dependent_questions_are_skipped_and_listed(generate, tmp_path, capsys):
    options = ["--out", tmp_path / "a.jsonl"]
    status, server = generate(*options, "--json", config='filter_model = "f"')
    printed = json.loads(capsys.readouterr().out)
    assert status == 0
    assert printed["time_dependent"] == len(printed["skipped"]) > 0
    assert printed["answered"] + printed["time_dependent"] == 20
    asked = [(body["model"], body["temperature"]) for body in server.bodies]
    assert asked.count(("f", 0.0)) == 20
    listed = (tmp_path / "skipped_questions.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(listed) == printed["time_dependent"]
    generate(*options, config='filter_model = "f"')
    assert f"Time dependent: {len(listed)}" in capsys.readouterr().out


def test_questions_left_without_an_answer_are_the_status(generate, tmp_path, capsys):
    def sometimes(prompt, earlier):
        return completion("") if len(prompt) % 2 else behave(prompt, earlier)

    status, _ = generate("--out", tmp_path / "a.jsonl", "--json", behave=sometimes)
    printed = json.loads(capsys.readouterr().out)
    assert status == 1
    assert printed["answered"] + printed["failures"]["empty"] == 20
    assert printed["added"] == printed["answered"] > 0


def test_a_dry_run_asks_and_writes_nothing(generate, folder, capsys):
    before = sorted(folder.iterdir())
    status, server = generate("--dry-run", "--json", config='filter_model = "m"')
    printed = json.loads(capsys.readouterr().out)
    assert (status, server.bodies, sorted(folder.iterdir())) == (0, [], before)
    assert printed["questions"] == 20
    assert [row["calls"] for row in printed["runs"]] == [20, 20]
    generate("--dry-run")
    assert "nothing was asked" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ([], "say where the answers go"),
        (["--append", "--out", "a.jsonl"], "--out FILE or --append, not both"),
        (["--out", "a.txt"], "unknown format"),
        (["--append", "--prompt", "no.jinja"], "there is no prompt 'no.jinja'"),
        (["--append", "--config", "languages=xx"], "'xx'"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_asked(generate, capsys, options, complaint):
    status, server = generate(*options)
    assert (status, server.bodies) == (2, [])
    assert complaint in capsys.readouterr().err
