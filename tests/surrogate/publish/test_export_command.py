"""``surrogate-arena export`` as a user runs it."""

import json

import pandas as pd
import pytest


def test_tables_go_to_standard_output(board, board_folder, run, capsys):
    assert run("export", board_folder, "--format", "json", "--language", "en") == 0
    content = json.loads(capsys.readouterr().out)
    assert content["language"] == "en"
    assert len(content["rows"]) == len(board.ratings) / 2


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("csv", "system,rank,"),
        ("markdown", "**Leaderboard of"),
        ("latex", "% Needs"),
        ("json", "{\n"),
    ],
)
def test_every_format_writes_the_overall_board_by_default(board_folder, run, capsys, name, start):
    assert run("export", board_folder, "--format", name) == 0
    assert capsys.readouterr().out.startswith(start)


def test_files_hold_what_would_be_printed(board_folder, run, capsys, tmp_path):
    assert run("export", board_folder, "--format", "csv", "--language", "all") == 0
    printed = capsys.readouterr().out
    path = tmp_path / "board.csv"
    assert run("export", board_folder, "--format", "csv", "--language", "all", "--out", path) == 0
    assert path.read_bytes().decode() == printed


def test_parquet_needs_a_file(board_folder, run, capsys, tmp_path):
    assert run("export", board_folder, "--format", "parquet") == 2
    assert "name a file with --out" in capsys.readouterr().err
    path = tmp_path / "board.parquet"
    assert run("export", board_folder, "--format", "parquet", "--out", path) == 0
    assert list(pd.read_parquet(path))[:2] == ["system", "rank"]


@pytest.mark.parametrize("card", ["dataset-card", "model-card"])
def test_cards_need_a_license(board_folder, run, capsys, card):
    assert run("export", board_folder, "--format", card) == 2
    assert "--license" in capsys.readouterr().err
    assert run("export", board_folder, "--format", card, "--license", "mit") == 0
    assert '\nlicense: "mit"\n' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--format", "xlsx"], "--format is 'xlsx'; use one of csv, json"),
        (["--format", "csv", "--language", "xx"], "no language 'xx'; use one of overall, all, en"),
        (["--format", "csv", "--license", "mit"], "--license is for cards"),
        (["--format", "model-card", "--language", "en"], "a card is of the whole board"),
        (["--format", "csv", "--out", "absent/board.csv"], "there is no folder "),
    ],
)
def test_wrong_requests_say_what_can_be_asked(board_folder, run, capsys, options, message):
    assert run("export", board_folder, *options) == 2
    assert message in capsys.readouterr().err


def test_answers_are_exported_for_other_tools(run, arena_folder, small_arena, tmp_path, capsys):
    out = tmp_path / "records.jsonl"
    assert run("export", arena_folder, "--format", "ragas", "--language", "sw", "--out", out) == 0
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    others = [
        name for name in small_arena.info.systems if name != small_arena.info.reference_system
    ]
    assert len(lines) == 10 * len(others)
    assert {"user_input", "response", "retrieved_contexts"} <= set(lines[0])
    assert {line["language"] for line in lines} == {"sw"}
    capsys.readouterr()
    one = others[0]
    assert run("export", arena_folder, "--format", "deepeval", "--systems", one) == 0
    assert {row["system"] for row in json.loads(capsys.readouterr().out)} == {one}
    assert run("export", arena_folder, "--format", "csv", "--systems", one) == 2
    assert "--systems is for the answers of an arena" in capsys.readouterr().err
    assert run("export", arena_folder, "--format", "ragas", "--license", "mit") == 2
    assert run("export", arena_folder, "--format", "ragas", "--language", "de") == 2
