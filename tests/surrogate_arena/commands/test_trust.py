"""What is given to commands may be anything: devices, links, encodings, names, sizes, templates."""

import io
import json
import os
import shutil
import sys
import threading
from dataclasses import replace

import pandas as pd
import pytest

from arena import Arena, DataError, UsageError, read_arena, write_arena
from arena.data import files
from arena.data.names import alike, name_problems
from arena.data.writing import atomic_path
from arena.judging.pairwise import REPLY_FORMS
from surrogate import Board
from surrogate_arena.commands.boards import publish_board


def test_what_is_no_regular_file_is_written_into_and_stays(board_of, run, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    assert run("publish", board_of, "--as", "csv", "--out", pipe) == 0
    reader.join(timeout=60)
    assert got[0].startswith("system,")
    assert pipe.is_fifo()
    with atomic_path(files.Path(os.devnull)) as temporary:
        temporary.write_text("gone")
    assert not files.Path(os.devnull).is_file()


@pytest.mark.parametrize("command", [("board", "--no-site"), ("features",), ("vote",)])
def test_a_link_to_itself_is_said(command, arena_folder, run, tmp_path, capsys):
    (tmp_path / "x").symlink_to(tmp_path / "x")
    assert run(*command, arena_folder, "--out", tmp_path / "x") == 2
    assert "x cannot be followed" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
@pytest.mark.parametrize("table", ["judgments", "answers"])
def test_what_is_no_file_in_the_place_of_a_table_is_not_taken_for_absent(
    kind, table, tiny_arena, tmp_path
):
    write_arena(tiny_arena, tmp_path)
    place = tmp_path / f"{table}.jsonl.gz"
    place.unlink()
    make = {"link": lambda: place.symlink_to("absent"), "folder": place.mkdir}
    make.get(kind, lambda: os.mkfifo(place))()
    with pytest.raises(UsageError) as caught:
        read_arena(tmp_path)
    assert place.name in str(caught.value)


def test_judgments_of_answers_that_are_not_there_are_counted(small_arena, run, tmp_path, capsys):
    gone = small_arena.answers["system"] == small_arena.judgments["system_a"].iloc[0]
    write_arena(replace(small_arena, answers=small_arena.answers[~gone]), tmp_path)
    assert run("check", tmp_path) == 0
    assert "of answers that are not in the arena" in capsys.readouterr().out


def test_a_rank_command_that_ranks_nobody_says_so_by_its_status(
    board_of, small_arena, arena_folder, run, tmp_path, capsys
):
    answers = small_arena.answers
    own = answers[answers["system"] == answers["system"].iloc[0]].assign(system="new", answer="")
    own.to_json(tmp_path / "new.jsonl", orient="records", lines=True)
    words = ("rank", tmp_path / "new.jsonl", "--board", board_of, "--arena", arena_folder)
    assert run(*words, "--json") == 1
    assert [row["rank"] for row in json.loads(capsys.readouterr().out)["new"]] == [None, None]


def test_no_encoding_of_the_terminal_is_a_traceback(run, monkeypatch):
    terminal = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", terminal)
    assert run("prompts") == 0
    terminal.flush()
    assert terminal.buffer.getvalue()


LARGE = "sim-atlas-large"


@pytest.mark.parametrize(
    "name",
    [
        "sim-аtlas-large",
        "sim-atlas‑large",
        "sim-atlas-larɡe",
        "ｓim-atlas-large",
        "sim-atIas-large",
        "sim-at1as-large",
        "SIM-Atlas-Large",
        "sim-atlas-large ",
    ],
)
def test_names_that_look_alike_are_said(name):
    assert alike([LARGE, name, "other"]) == [tuple(sorted((LARGE, name)))]
    assert alike([name], [LARGE]) == [tuple(sorted((LARGE, name)))]


@pytest.mark.parametrize(
    "names", [("model-大", "model-小"), ("gpt-4", "gpt-大"), ("a", "b"), ("model-1", "model-2")]
)
def test_other_names_do_not_look_alike(names):
    assert alike(names) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "mark", ["\u200b", "\u2800", "\ufffc", "\u202e", "\x1b[31m", "\n", "\ufe0f", "\u00ad"]
)
def test_names_with_characters_that_cannot_be_seen_are_refused(mark):
    questions = pd.DataFrame({"query_id": ["1"], "query": "Why?"})
    answers = questions.assign(answer="So.", query=None).drop(columns="query")
    answers = pd.concat([answers.assign(system=name) for name in (f"sys{mark}tem", "other")])
    judgments = questions[["query_id"]].assign(system_a=f"sys{mark}tem", system_b="other")
    judgments = judgments.assign(winner="a", judge=f"jud{mark}ge")
    with pytest.raises(DataError) as caught:
        Arena.from_frames(questions, answers, judgments, language="en")
    said = [str(problem) for problem in caught.value.problems if "cannot be seen" in str(problem)]
    assert {"judge = " in text for text in said} == {True, False}
    assert mark == "\n" or mark not in str(caught.value)


@pytest.mark.parametrize("name", ["arena.json", "leaderboards.toml", "prompt.jinja"])
def test_a_huge_file_is_not_read_whole(name, run, tiny_arena, tmp_path, capsys):
    write_arena(tiny_arena, tmp_path / "arena")
    path = tmp_path / "arena" / name
    with path.open("wb") as stream:
        stream.truncate(6 * 2**30)  # a sparse file
    words = {
        "arena.json": ("check", path.parent),
        "leaderboards.toml": ("run", path),
        "prompt.jinja": ("judge", path.parent, "--model", "m", "--dry-run", "--template", path),
    }[name]
    assert run(*words) in (1, 2)
    said = capsys.readouterr()
    assert "more than" in said.out + said.err


@pytest.mark.parametrize("file", ["summary.json", "manifest.json", "judge_report.json"])
def test_a_huge_file_of_a_board_is_not_read_whole(file, board_of, run, tmp_path, capsys):
    folder = tmp_path / "board"
    shutil.copytree(board_of, folder)
    with (folder / file).open("r+b") as stream:
        stream.truncate(6 * 2**30)
    assert run("publish", folder, "--out", tmp_path / "site") == 2
    message = capsys.readouterr().err
    assert file in message
    assert "more than" in message


@pytest.mark.parametrize(
    "text",
    [
        "{{ 'x' * 10 ** 12 }}",
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{{ {1: 2}|xmlattr }}",
        "{{ question.nothing.there }}",
        "{{ 1 / 0 }}",
        "{% if %}",
        "{{ range(10 ** 9)|list }}",
    ],
)
def test_whatever_a_template_does_is_said_with_its_name(text, tmp_path):
    path = tmp_path / "mine.jinja"
    path.write_text(f"\n{text}\n{{{{ question }}}}{{{{ answer_a }}}}{{{{ answer_b }}}}")
    with pytest.raises(UsageError) as caught:
        REPLY_FORMS["text"].prompt.read(path)
    assert "mine" in str(caught.value)


def test_a_board_says_which_names_look_alike(
    quick_board, small_arena, arena_folder, tmp_path, capsys
):
    first, second, *_ = quick_board.systems
    named = {"system": {second: first.replace("a", "\u0430").replace("-", "\u2011")}}
    ratings, overall = quick_board.ratings.replace(named), quick_board.overall.replace(named)
    built = replace(quick_board, ratings=ratings, overall=overall)
    publish_board(built, tmp_path / "board", arena_folder, small_arena, site=False)
    assert "look alike" in capsys.readouterr().out


def test_no_csv_of_a_board_holds_a_formula_and_names_read_back(board_of, tmp_path):
    board = Board.load(board_of)
    old = board.systems[0]
    named = {"system": {old: "=1+1|cmd"}}
    ratings, overall = board.ratings.replace(named), board.overall.replace(named)
    replace(board, ratings=ratings, overall=overall).save(tmp_path / "board")
    for name in ("board.csv", "overall.csv"):
        text = (tmp_path / "board" / name).read_text("utf-8")
        assert "'=1+1|cmd" in text
        assert not any(line.startswith("=") or ",=" in line for line in text.splitlines())
    loaded = Board.load(tmp_path / "board")
    pd.testing.assert_frame_equal(loaded.ratings, ratings)
    assert "=1+1|cmd" in loaded.systems


@pytest.fixture(scope="module")
def board_of(quick_board, arena_folder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("trust") / "board"
    quick_board.save(folder, arena_folder)
    return folder


@pytest.mark.parametrize("name", ["مدل\u200cها 🤖\ufe0f", "मॉडल", "模型 1", "e\u0301x", "Ⅳ"])
def test_names_in_any_script_are_names(name):
    assert name_problems([name], "answers", "system") == []


def test_one_name_written_in_two_ways_is_refused():
    (problem,) = name_problems(["caf\u00e9", "cafe\u0301"], "answers", "system")
    assert "written differently" in str(problem)
