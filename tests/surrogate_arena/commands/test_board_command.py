"""The command ``board``: what is measured is kept, and its help names every group of features."""

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace

import pandas as pd
from judged_systems import build_arena

from arena import write_arena
from features import GROUPS
from features.engine.cache import CACHE_FILE
from surrogate import Board
from surrogate.board.settings import BoardSettings
from surrogate.board.tables import (
    FEATURE_CACHE,
    MANIFEST_FILE,
)


def test_a_board_built_again_measures_only_new_answers(run, tiny_arena, quick_options, tmp_path):
    folder, out, fresh = tmp_path / "arena", tmp_path / "board", tmp_path / "fresh"
    quick = [*quick_options, "--no-site"]
    newest = sorted(tiny_arena.info.systems)[-1]
    is_new = tiny_arena.answers["system"] == newest
    less = replace(tiny_arena, answers=tiny_arena.answers[~is_new])
    kept, counts = out / FEATURE_CACHE / CACHE_FILE, []
    for arena in (less, tiny_arena):
        shutil.rmtree(folder, ignore_errors=True)
        write_arena(arena, folder)
        assert run("board", folder, "--out", out, *quick) == 0
        with closing(sqlite3.connect(kept)) as file:
            counts.append(file.execute("SELECT count(*) FROM kept").fetchone()[0])
    assert counts[0] < counts[1] <= counts[0] + is_new.sum()
    assert run("board", folder, "--out", fresh, *quick) == 0
    assert (out / MANIFEST_FILE).read_bytes() == (fresh / MANIFEST_FILE).read_bytes()
    assert (out / FEATURE_CACHE / ".gitignore").read_text() == "*\n"
    assert list(Board.load(out).ratings["system"]) == list(Board.load(fresh).ratings["system"])
    assert run("board", folder, "--out", out, "--surrogate", "nothing", "--jobs", 1) != 0


def test_features_name_every_group_there_is():
    description = BoardSettings.model_fields["features"].description
    _, _, named = description.partition("Groups of them: ")
    assert {name.strip(" .") for name in named.split(",")} == set(GROUPS)


def test_a_board_names_the_voter_who_decides_who_is_first(run, tmp_path, capsys):
    arena = build_arena(questions=30)
    rows = []
    for number in range(30):
        for winner, voter in (("good", f"voter-{number % 9}"), ("poor", "troll")):
            a, b = ("good", "poor") if number % 2 else ("poor", "good")
            verdict = "a" if a == winner else "b"
            rows.append((f"q{number}", "en", a, b, verdict, "people", voter))
            rows.append((f"q{number}", "en", "fair", winner, "b", "people", voter))
        rows.append((f"q{number}", "en", "poor", "good", "a", "people", "troll"))
    columns = ["query_id", "language", "system_a", "system_b", "winner", "judge", "voter"]
    judgments = pd.DataFrame(rows, columns=columns)
    write_arena(replace(arena, judgments=judgments), tmp_path / "arena")
    options = ["--features", "answer_length", "--tournaments", 2, "--no-site"]
    assert run("board", tmp_path / "arena", "--out", tmp_path / "board", *options) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert ". 1 of 10 voters, troll, cast 90 of 150 votes: without that voter good is" in printed
