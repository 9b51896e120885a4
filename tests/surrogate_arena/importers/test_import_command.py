"""``surrogate-arena import`` as a user runs it."""

import json
import shlex
import subprocess

import pandas as pd
import pytest

from arena import read_arena
from surrogate_arena.cli import app
from surrogate_arena.cli.replaced_arenas import APART_FILE

TABLE = "question,model,answer,score\nWhere?,m1,Paris,2\nWhere?,m2,Oslo,1\nWhere?,m3,Rome,1\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


@pytest.mark.slow
def test_an_arena_is_written_and_counted(run, table, tmp_path, capsys):
    out = tmp_path / "arena"
    assert run("import", "csv", table, "--out", tmp_path / "no language", "--judge", "me") == 0
    printed = capsys.readouterr().out
    assert "Counts: 1 language, 3 systems, 1 question, 3 answers" in printed
    options = ["--language", "en", "--apart", "m3", "--judge", "me", "--json"]
    assert run("import", "csv", table, "--out", out, *options) == 0
    printed = json.loads(capsys.readouterr().out)
    counts = {"languages": 1, "systems": 2, "questions": 1, "answers": 2, "judgments": 1}
    assert printed["counts"] == counts | {"published_ratings": 0, "apart": 1}
    assert printed["features"] is None
    arena = read_arena(out)
    assert arena.info.systems == ("m1", "m2")
    apart = pd.read_json(out / APART_FILE, lines=True)
    assert apart[["system", "answer"]].values.tolist() == [["m3", "Rome"]]
    assert run("fit", out, "--json") == 0


def test_an_arena_of_a_users_battles_is_named_for_its_folder(run, tmp_path):
    path = tmp_path / "battles.csv"
    columns = "question,model_a,answer_a,model_b,answer_b,winner"
    path.write_text(f"{columns}\nq1,x,Paris,y,Oslo,a\n", encoding="utf-8")
    assert run("import", "lmarena", path, "--out", tmp_path / "support") == 0
    assert read_arena(tmp_path / "support").info.name == "support"


def test_systems_of_a_file_each_keep_the_order_of_the_files(run, tmp_path):
    for name in ("old", "new"):
        table = pd.DataFrame({"question": ["Where?"], "answer": [f"In the {name} town."]})
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    files = (tmp_path / "old.csv", tmp_path / "new.csv")
    assert run("import", "csv", *files, "--out", tmp_path / "arena") == 0
    assert read_arena(tmp_path / "arena").info.systems == ("old", "new")


def test_scores_may_be_named_one_by_one(run, tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("question,model,answer,style,wit\nq,x,Yes.,1,2\nq,y,No.,2,1\n", "utf-8")
    out = tmp_path / "arena"
    options = ["--scores", "style", "--scores", "wit", "--language", "en"]
    assert run("import", "csv", path, "--out", out, *options) == 0
    assert read_arena(out).judgments["judge"].tolist() == ["style", "wit"]


def test_the_target_is_checked_before_anything_is_read(run, table, tmp_path, capsys):
    out, damaged = tmp_path / "arena", tmp_path / "damaged.csv"
    damaged.write_text('"')
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    for target, message in ((out, "holds something that is not an arena"), (table, "is a file")):
        assert run("import", "csv", damaged, "--out", target) == 2
        assert message in capsys.readouterr().err
    assert (out / "notes.txt").read_text() == "mine"


def test_an_arena_is_replaced_only_when_asked(run, table, tmp_path, capsys):
    out = tmp_path / "arena"
    assert run("import", "csv", table, "--out", out) == 0
    assert run("import", "csv", table, "--out", out) == 2
    assert "name another folder, or add --replace" in capsys.readouterr().err
    before = sorted(path.name for path in out.iterdir())
    bad = tmp_path / "bad.csv"
    bad.write_text(TABLE + "Where?,m1,Again,1\n")
    assert run("import", "csv", bad, "--out", out, "--replace") == 2
    assert sorted(path.name for path in out.iterdir()) == before
    assert run("import", "csv", table, "--out", out, "--replace", "--apart", "m1") == 0
    assert read_arena(out).info.systems == ("m2", "m3")


def test_an_arena_with_work_in_it_is_not_replaced(run, tmp_path, capsys):
    out, table = tmp_path / "arena", tmp_path / "answers.csv"
    table.write_text("question,model,answer\nWhere?,m1,Paris\nWhere?,m2,Oslo\n")
    command = ["import", "csv", table, "--out", out]
    assert run(*command) == 0
    assert run(*command, "--replace") == 0
    for name in ("judging.sqlite", "votes.jsonl"):
        (out / name).write_bytes(b"paid")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    capsys.readouterr()
    for further in ([], ["--replace"]):
        assert run(*command, *further) == 2
        refusal = capsys.readouterr().err
        assert "judging.sqlite, votes.jsonl, which would be lost" in refusal
        assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    moved = refusal.partition("keep this one: ")[2].strip()
    subprocess.run(shlex.split(moved), check=True)
    assert run(*command) == 0
    kept = tmp_path / "arena.before"
    assert {path.name: path.read_bytes() for path in kept.iterdir()} == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--column", "question"], "--column is 'question'; write FIELD=NAME"),
        (["--column", "question=title"], "no column 'title'"),
        (["--apart", "m9"], "unknown system to keep apart 'm9'; use one of m1, m2, m3"),
        (["--language", "jp"], "'jp' is not a language code; did you mean 'ja'"),
    ],
)
def test_unusable_options_are_told(run, table, tmp_path, capsys, options, message):
    assert run("import", "csv", table, "--out", tmp_path / "arena", *options) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "arena").exists()


@pytest.mark.parametrize(
    ("option", "named"),
    [
        (["csv", "--no-sides"], "csv takes --no-sides only"),
        (["lmarena", "--repeats", "first"], "does not take --repeats; it takes --column, --values"),
    ],
)
def test_a_refused_option_is_named_as_it_was_typed(
    run, tmp_path, capsys, monkeypatch, option, named
):
    # Commands of other tests were loaded in this process.
    flags = {"--column", "--values", "--no-sides", "--repeats", "--config"}
    monkeypatch.setattr(app, "LOADED_FLAGS", flags)
    path = tmp_path / "answers.csv"
    path.write_text("question,system,answer\nWho?,x,Goethe wrote it.\n")
    kind, *typed = option
    assert run("import", kind, path, *typed, "--out", tmp_path / "arena") == 2
    assert named in capsys.readouterr().err
