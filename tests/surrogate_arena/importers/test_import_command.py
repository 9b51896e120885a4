"""``surrogate-arena import`` as a user runs it."""

import json
from pathlib import Path

import pandas as pd
import pytest

from arena import read_arena
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
    assert "name another folder, or say --replace" in capsys.readouterr().err
    before = sorted(path.name for path in out.iterdir())
    bad = tmp_path / "bad.csv"
    bad.write_text(TABLE + "Where?,m1,Again,1\n")
    assert run("import", "csv", bad, "--out", out, "--replace") == 2
    assert sorted(path.name for path in out.iterdir()) == before
    assert run("import", "csv", table, "--out", out, "--replace", "--apart", "m1") == 0
    assert read_arena(out).info.systems == ("m2", "m3")


def test_a_replaced_arena_with_work_in_it_is_kept(run, tmp_path, capsys):
    out, table = tmp_path / "arena", tmp_path / "answers.csv"
    table.write_text("question,model,answer\nWhere?,m1,Paris\nWhere?,m2,Oslo\n")
    command = ["import", "csv", table, "--out", out]
    assert run(*command) == 0
    assert run(*command, "--replace") == 0
    assert not list(tmp_path.glob("*.replaced*"))  # the same import would make it again
    arena = read_arena(out)
    language, query, system = arena.answers[["language", "query_id", "system"]].iloc[0]
    vote = {"judge": "person:Ada", "language": language, "query_id": query, "winner": "a"}
    votes = pytest.importorskip("surrogate_arena.voting.vote_file")
    votes.append_vote(out, vote | {"system_a": system, "system_b": arena.info.systems[-1]})
    (out / "judging.sqlite").write_bytes(b"paid")
    capsys.readouterr()
    assert run(*command) == 2
    refusal = capsys.readouterr().err
    assert "1 judgment, judging.sqlite" in refusal
    assert f"{out}.replaced" in refusal
    files = {path.name: path.read_bytes() for path in out.iterdir()}
    assert run(*command, "--replace") == 0
    first = tmp_path / "arena.replaced"
    printed = " ".join(capsys.readouterr().out.split())
    assert f"The folder before, with 1 judgment, judging.sqlite, is kept in {first}" in printed
    assert {path.name: path.read_bytes() for path in first.iterdir()} == files
    assert not (out / "judging.sqlite").exists()
    # A damaged file is work, too, and no earlier folder is overwritten.
    (out / "votes.jsonl").write_text("{\n")
    assert run(*command, "--replace") == 0
    second = tmp_path / "arena.replaced-2"
    assert (second / "votes.jsonl").read_text() == "{\n"
    assert {path.name: path.read_bytes() for path in first.iterdir()} == files


def test_an_arena_stays_where_it_is_when_it_cannot_be_replaced(run, table, tmp_path, monkeypatch):
    out = tmp_path / "arena"
    assert run("import", "csv", table, "--out", out) == 0
    (out / "judging.sqlite").write_bytes(b"paid")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    rename = Path.rename

    def fail(path, target):
        if Path(target) == out and "replaced" not in path.name:
            raise OSError("no space")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fail)
    assert run("import", "csv", table, "--out", out, "--replace") != 0
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert [path.name for path in tmp_path.iterdir() if "replaced" in path.name] == []


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
