"""``surrogate-arena import`` as a user runs it."""

import json
from pathlib import Path

import pandas as pd
import pytest

from arena import read_arena
from arena.adapters.imports import APART_FILE, FEATURES_FILE

TABLE = "question,model,answer,score\nWhere?,m1,Paris,2\nWhere?,m2,Oslo,1\nWhere?,m3,Rome,1\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def test_an_arena_is_written_and_counted(run, table, tmp_path, capsys):
    out = tmp_path / "arena"
    options = ["--language", "en", "--apart", "m3", "--judge", "me", "--json"]
    assert run("import", "csv", table, "--out", out, *options) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["counts"] == {
        "languages": 1,
        "systems": 2,
        "questions": 1,
        "answers": 2,
        "judgments": 1,
        "published_ratings": 0,
        "apart": 1,
    }
    assert printed["features"] is None
    arena = read_arena(out)
    assert arena.info.systems == ("m1", "m2")
    apart = pd.read_json(out / APART_FILE, lines=True)
    assert apart[["system", "answer"]].values.tolist() == [["m3", "Rome"]]
    assert run("fit", out, "--json") == 0


def test_systems_are_kept_apart_by_repeating_the_option_too(run, table, tmp_path):
    out = tmp_path / "arena"
    options = ["--language", "en", "--judge", "me", "--apart", "m3", "--apart", "m2"]
    assert run("import", "csv", table, "--out", out, *options) == 0
    assert set(pd.read_json(out / APART_FILE, lines=True)["system"]) == {"m2", "m3"}


def test_what_was_read_and_left_out_is_printed(run, table, tmp_path, capsys):
    table.write_text(TABLE + "Why?,m1,So,\n")
    assert run("import", "csv", table, "--out", tmp_path / "arena") == 0
    printed = capsys.readouterr().out
    assert "1 languages, 3 systems, 2 questions, 4 answers, 3 judgments" in printed
    assert "question from 'question', system from 'model'" in printed
    assert "it is missing" in printed


def test_records_of_a_tool_are_an_arena_to_build_on(run, tmp_path, capsys):
    files = Path(__file__).parents[2] / "arena/adapters/files/inspect"
    out = tmp_path / "arena"
    options = ["--language", "en", "--scores", "f1", "--column", "question=input"]
    assert run("import", "inspect", files, "--out", out, *options) == 0
    printed = capsys.readouterr().out
    assert "Fields: question from 'input', system from 'eval.model'" in printed
    assert "it ended in an error" in printed
    assert read_arena(out).judges == ("f1",)
    assert run("import", "inspect", files, "--out", out, "--replace", "--scores", "f2") == 2
    assert "unknown score 'f2'; use one of f1, model_graded_fact" in capsys.readouterr().err


def test_the_target_is_checked_before_anything_is_read(run, table, tmp_path, capsys):
    out, damaged = tmp_path / "arena", tmp_path / "damaged.csv"
    damaged.write_text('"')
    for there, message in (("notes.txt", "holds something that is no arena"), (None, "is a file")):
        if there is not None:
            out.mkdir()
            (out / there).write_text("mine")
        target = out if there is not None else table
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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--column", "question"], "--column is 'question'; write FIELD=NAME"),
        (["--column", "question=title"], "no column 'title'"),
        (["--apart", "m9"], "unknown system to keep apart 'm9'; use one of m1, m2, m3"),
        (["--language", "English"], "'English' is not a language code"),
    ],
)
def test_unusable_options_are_told(run, table, tmp_path, capsys, options, message):
    assert run("import", "csv", table, "--out", tmp_path / "arena", *options) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "arena").exists()


def test_the_features_of_mirage_lie_beside_the_arena(run, tmp_path, capsys):
    folder = tmp_path / "published" / "en"
    folder.mkdir(parents=True)
    prompt = "Question: Where?\n\nContexts:\n[1#0] Oslo.\n[1#1] Rome.\n\nInstruction: Answer."
    prompts = {"query_id": "q", "prompt": prompt, "positive_ids": ["1#0"], "negative_ids": ["1#1"]}
    outputs = {"query_id": "q", "outputs": [{"model": "m1", "output": "Oslo [1#0]"}]}
    more = {"query_id": "q", "outputs": [{"model": "m2", "output": "Rome"}]}
    for name, record in {
        "prompts-dev": prompts,
        "outputs-dev": outputs | {"fluency_score": {"m1": 4}},
        "further-dev": more | {"fluency_score": {"m2": 3}},
        "prompts-train": prompts,
        "notes": {"text": "no table"},
    }.items():
        (folder / f"{name}.jsonl").write_text(json.dumps(record) + "\n")
    out = tmp_path / "arena"
    asked = ["import", "mirage", folder.parent, "--out", out, "--reference-system", "m1", "--json"]
    assert run(*asked) == 0
    printed = json.loads(capsys.readouterr().out)
    features = pd.read_parquet(out / FEATURES_FILE).set_index("system")
    assert features["llm_fluency"].to_dict() == {"m1": 4.0, "m2": 3.0}
    assert read_arena(out).info.reference_system == "m1"
    assert [row["reason"] for row in printed["skipped"]][:2] == [
        "it is no table of MIRAGE-Bench",
        "it is of the split train",
    ]
    (folder / "outputs-dev.jsonl").unlink()
    (folder / "further-dev.jsonl").unlink()
    assert run(*asked, "--replace") == 2
    assert "there is no file of outputs in en; give its clone, too" in capsys.readouterr().err
