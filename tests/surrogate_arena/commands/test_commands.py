"""The command line as a user runs it."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from arena import read_arena, write_arena
from arena.data.tables import write_rows
from arena.sample import sample_arena
from surrogate import Board
from surrogate.board.rating_rows import BEYOND
from surrogate.board.remarks import conclusion
from surrogate.board.tables import BOARD_FILES
from surrogate_arena.commands.hidden_verdicts import hide_verdicts


@pytest.fixture(scope="module")
def board_folder(small_board, arena_folder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("board") / "board"
    small_board.save(folder, arena_folder)
    return folder


def newcomer(arena_folder, path, name="newcomer"):
    arena = read_arena(arena_folder)
    rows = arena.answers[arena.answers["system"] == arena.info.systems[0]]
    write_rows(rows.assign(system=name), path)
    return path


def contents_of(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.usefixtures("with_pages")
def test_board_writes_its_files(run, tiny_folder, quick_options, tmp_path):
    assert run("board", tiny_folder, "--out", tmp_path, *quick_options) == 0
    written = {path.name for path in tmp_path.iterdir()}
    assert written == {*BOARD_FILES, "manifest.json", "site", ".feature-cache"}


@pytest.mark.usefixtures("with_pages")
@pytest.mark.parametrize("winner", ["as judged", "as people judged", "a", None])
def test_board_ends_in_a_screen_whose_last_line_runs_as_it_stands(
    run, bilingual_arena, quick_options, tmp_path, capsys, monkeypatch, winner
):
    """Of a good judge, people, a judge that says the same to everything, and none."""
    monkeypatch.chdir(tmp_path)
    judgments = bilingual_arena.judgments if winner else bilingual_arena.judgments.iloc[:0]
    if winner == "a":
        judgments = judgments.assign(winner="a")
    if winner == "as people judged":
        judgments = judgments.assign(judge="human")
    write_arena(replace(bilingual_arena, judgments=judgments), "arena")
    assert run("board", "arena", "--out", "out", *quick_options) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 80
    said, board = " ".join(lines), Board.load("out")
    assert conclusion(board) in said
    assert f"Open {Path('out/site/index.html')}" in lines
    assert board.systems[0] in lines[2]
    assert "unreliable" in said or winner != "a"
    next_, *words = shlex.split(lines[-1])
    assert next_ == "Next:"
    assert run(*words[1:]) == 0


def test_rank_and_check_end_in_what_to_type_next(run, arena_folder, small_board, tmp_path, capsys):
    # The last command adds systems to the arena.
    arena = shutil.copytree(arena_folder, tmp_path / "arena")
    small_board.save(tmp_path / "board", arena)
    answers = newcomer(arena, tmp_path / "answers.jsonl")
    board = ["--board", tmp_path / "board"]
    assert run("gate", "--candidate", answers, *board) in {0, 3, 4}
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80
    for words in (("rank", answers, *board), ("check", arena)):
        assert run(*words) == 0
        *lines, last = capsys.readouterr().out.splitlines()
        assert len(lines) <= 30
        assert max(map(len, lines)) <= 80
        assert last.startswith("Next: surrogate-arena ")
    original = read_arena(arena).info.systems[0]
    rows = pd.read_json(answers, lines=True, dtype={"query_id": str})
    backwards = rows.assign(answer=rows["answer"].str[::-1], system="backwards")
    write_rows(pd.concat([rows, backwards, backwards.assign(system="another")]), answers)
    assert run("rank", answers, *board) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    said = " ".join(lines)
    assert re.findall(r"^about \d+–\d+  ", "\n".join(lines), re.MULTILINE)
    for lowest, highest in re.findall(r"^(\d+)–(\d+)  ", "\n".join(lines), re.MULTILINE):
        assert int(lowest) < int(highest)
    assert f"nearly those of {original}, so it gets that rating" in said
    assert "rated lower because it " in said
    assert "1 more; --json has all" in said
    assert "not among each other" in said
    assert run(*shlex.split(last)[2:]) == 0


@pytest.mark.slow
def test_json_of_board_begins_with_the_conclusion(
    run, tiny_folder, quick_options, tmp_path, capsys
):
    options = [*quick_options, "--json"]
    assert run("board", tiny_folder, "--out", tmp_path, *options) == 0
    printed = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert list(printed) == ["conclusion", "overall", "board", "summary"]
    assert printed["summary"] == json.loads((tmp_path / "summary.json").read_text()) | {
        "arena_folder": None
    }


def test_rank_places_new_systems_and_leaves_the_board_alone(
    run, arena_folder, board_folder, tmp_path, capsys
):
    before = contents_of(board_folder)
    answers = newcomer(arena_folder, tmp_path / "answers.jsonl")
    assert run("rank", answers, "--board", board_folder, "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert {row["system"] for row in printed["new"]} == {"newcomer"}
    for row in printed["new"]:
        assert row["rank"] is None
        assert row["place_low"] <= row["place"] <= row["place_high"]
        assert row["low"] < row["rating"]
        assert row["high"] is None if BEYOND in row["note"] else row["rating"] < row["high"]
        assert row["moved_by"]
    assert all("are wide" in remark["sentence"] for remark in printed["remarks"])
    assert "newcomer" in {row["system"] for row in printed["board"]}
    assert contents_of(board_folder) == before


def test_bad_data_name_file_line_field_value_and_hint(run, arena_folder, tmp_path, capsys):
    shutil.copytree(arena_folder, tmp_path / "arena")
    (tmp_path / "arena/judgments.jsonl.gz").unlink()
    row = {"query_id": "q", "language": "en", "system_a": "x", "system_b": "y", "judge": "j"}
    lines = [json.dumps(row | {"winner": winner}) for winner in ("A", "b")]
    (tmp_path / "arena/judgments.jsonl").write_text("\n".join(lines))
    assert run("board", tmp_path / "arena", "--out", tmp_path / "out") == 2
    assert "judgments.jsonl:1: winner = 'A': is not a winner; write" in capsys.readouterr().err


SURROUNDINGS = (
    {"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C", "OMP_NUM_THREADS": "1"},
    {"PYTHONHASHSEED": "7", "TZ": "Asia/Kolkata", "LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "2"},
)
PROGRAM = """
import sys

from arena.computing import workers
from surrogate.board import language_study
from surrogate_arena.cli.app import main

language_study.SPLITS = 2  # as other tests do
workers.WORTH_PROCESSES = 0.0  # small boards start them, too
for surrogate in ("default", "random-forest"):
    words = ["board", "arena", "--out", surrogate, "--surrogate", surrogate, "--tournaments", "2"]
    try:
        main([*words, "--jobs", sys.argv[1]])
    except SystemExit as stop:
        assert not stop.code
"""


@pytest.mark.slow
def test_the_same_command_gives_the_same_bytes_whatever_surrounds_it(bilingual_arena, tmp_path):
    """Hash seed, time zone, locale, threads, jobs, the order of rows: in every file of a board."""
    boards = []
    for place, around in enumerate(SURROUNDINGS):
        folder = tmp_path / str(place)
        tables = ("queries", "answers", "judgments")
        shuffled = {
            name: getattr(bilingual_arena, name).sample(frac=1, random_state=place)
            for name in tables
        }
        write_arena(replace(bilingual_arena, **shuffled), folder / "arena")
        subprocess.run(
            [sys.executable, "-c", PROGRAM, str(place + 1)],
            env={**os.environ, **around},
            cwd=folder,
            check=True,
            capture_output=True,
        )
        boards.append([contents_of(folder / name) for name in ("default", "random-forest")])
    assert boards[0] == boards[1]
    for files in boards[0]:
        assert {"surrogate.zip", "manifest.json", "site/index.html"} <= set(files)


@pytest.mark.slow
def test_demo_compares_a_board_from_few_verdicts_with_the_others(run, tmp_path, capsys):
    assert run("demo", "--out", tmp_path) == 0
    printed = " ".join(capsys.readouterr().out.split())
    sample = sample_arena().select(judges=["gpt-4o"])
    hidden = hide_verdicts(sample, 4)
    assert f"{hidden.unjudged}, which nobody judged: about place" in printed
    shown, kept = len(hidden.shown.judgments), len(hidden.hidden)
    assert re.search(
        rf"With {shown} verdicts the ratings have a Kendall tau of \d\.\d\d with the {kept} ",
        printed,
    )
    assert set(Board.load(tmp_path).systems) == set(sample.info.systems)
    assert read_arena(tmp_path / "arena").info == sample_arena().info
    assert (tmp_path / "arena" / "ATTRIBUTION.md").is_file()
