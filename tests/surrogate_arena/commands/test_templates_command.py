"""Templates of one's own from the command line: a board rated by them asks for them again."""

import contextlib
import json

import pytest

pytest.importorskip("openai", reason="needs the extra llm")

from chat_server import ChatServer, completion

from arena import write_arena


@pytest.fixture
def server(monkeypatch, tmp_path):
    """Rates outputs by their length."""
    with contextlib.ExitStack() as stack:
        opened = stack.enter_context(
            ChatServer(lambda prompt, _: completion(f"##Rating: {1 + len(prompt) % 5}"))
        )
        monkeypatch.setenv("OPENAI_BASE_URL", opened.url)
        monkeypatch.setenv("SURROGATE_ARENA_STORE", str(tmp_path / "store.sqlite"))
        yield opened


@pytest.fixture
def templates(tmp_path):
    paths = {}
    for name in ("mine", "other"):
        paths[name] = tmp_path / f"{name}.jinja"
        paths[name].write_text(f"{name}: {{{{ Summary }}}}", encoding="utf-8")
    return paths


@pytest.fixture
def folder(tiny_arena, tmp_path):
    path = tmp_path / "arena"
    write_arena(tiny_arena, path)
    return path


def test_a_board_names_its_templates_and_ranks_by_no_other(
    run, server, folder, templates, tmp_path, tiny_arena, capsys
):
    out = tmp_path / "board"
    quick = ["--surrogate", "linear", "--tournaments", 2, "--jobs", 1]
    chosen = ["--features", "answer_length,llm_fluency", "--no-site"]
    mine = ["--template", f"fluency={templates['mine']}"]
    assert run("board", folder, "--out", out, *chosen, *quick, *mine) == 0
    signature = json.loads((out / "summary.json").read_text())["signature"]
    assert "llm_fluency(template=fluency@" in signature
    assert all(prompt.startswith("mine: ") for prompt in server.asked)
    answers = tiny_arena.answers.query("system == 'ref' or system == system")
    new = tmp_path / "new.jsonl"
    one = answers[answers["system"] == answers["system"].iloc[0]].assign(system="new")
    one[["query_id", "language", "system", "answer"]].to_json(new, orient="records", lines=True)
    capsys.readouterr()
    ranked = ["rank", new, "--board", out, "--arena", folder]
    assert run(*ranked) == 2
    assert "give that file by --template fluency=FILE" in capsys.readouterr().err
    assert run(*ranked, "--template", f"fluency={templates['other']}") == 2
    assert "and the one given has" in capsys.readouterr().err
    assert run(*ranked, *mine) == 0


def test_a_folder_of_templates_serves_every_command(run, server, folder, tmp_path):
    """What none of the features reads is for other commands; a file that is named must be read."""
    papers = tmp_path / "papers"
    papers.mkdir()
    for name, text in (("fluency", "mine: {{ Summary }}"), ("question", "{{ answer }}")):
        (papers / f"{name}.jinja").write_text(text, encoding="utf-8")
    asked = ["features", folder, "--features", "llm_fluency", "--out", tmp_path / "f.parquet"]
    assert run(*asked, "--template", f"question={papers / 'question.jinja'}") == 2
    wrong = ["--protocol", "mirage"]
    assert run("validate", folder, "--features", "llm_fluency", *wrong) == 2
    assert not server.asked  # what cannot be done is said before anyone is paid
    assert run(*asked, "--template", papers) == 0
    assert all(prompt.startswith("mine: ") for prompt in server.asked)
