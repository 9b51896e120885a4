"""A board and its folder: what is saved is what is loaded, whole or not at all."""

import json
import shutil
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from arena import DataError, UsageError, rate
from arena.data.files import file_digest
from surrogate import Board
from surrogate.board.tables import (
    BOARD_FILES,
    FEATURES_FILE,
    MANIFEST_FILE,
    SUMMARY_FILE,
    TABLES,
    VERDICT_RATINGS,
    read_board_table,
    table_file,
)


@pytest.mark.slow
def test_ratings_by_verdicts_alone_are_a_posterior_unless_tournaments_are_asked_for(
    tiny_arena, build_quickly
):
    """Guides once called these intervals those of a bootstrap."""
    default = build_quickly(tiny_arena).verdict_ratings.set_index("system")
    own = rate(tiny_arena.judgments).table.set_index("system").loc[default.index]
    for column in ("rating", "low", "high"):
        assert default[column].to_numpy(float) == pytest.approx(
            own[column].to_numpy(float), abs=1e-5
        )
    middle = (default["low"] + default["high"]) / 2
    assert middle.to_numpy(float) == pytest.approx(default["rating"].to_numpy(float), abs=1e-5)
    likelihood = rate(tiny_arena.judgments, ridge=0, rounds=20).table.set_index("system")
    spread = likelihood["rating"].loc[default.index].std()
    assert default["rating"].std() < spread  # drawn to their mean
    options = {"arena_ratings": "tournaments", "tournaments": 30}
    drawn = build_quickly(tiny_arena, **options).verdict_ratings.set_index("system")
    middle = (drawn["low"] + drawn["high"]) / 2
    assert (middle - drawn["rating"]).abs().max() > 1e-3


def test_a_board_loads_as_it_was_saved(small_board, board_folder):
    loaded = Board.load(board_folder)
    for name in (*TABLES, "features"):
        pd.testing.assert_frame_equal(getattr(loaded, name), getattr(small_board, name))
    assert loaded.summary == small_board.summary
    assert loaded.judge_report == small_board.judge_report
    predicted = loaded.surrogate.predict(small_board.features)["rating"]
    expected = small_board.surrogate.predict(small_board.features)["rating"]
    np.testing.assert_allclose(predicted, expected, atol=1e-6)


def test_a_loaded_board_saves_to_the_same_bytes(board_folder, tmp_path):
    Board.load(board_folder).save(tmp_path / "again")
    for name in BOARD_FILES:
        if not name.startswith(("judge.", "surrogate.")):
            assert (tmp_path / "again" / name).read_bytes() == (board_folder / name).read_bytes()


@pytest.mark.slow
def test_a_board_knows_the_arena_it_was_built_from(small_board, arena_folder, tmp_path):
    small_board.save(tmp_path / "board", arena_folder)
    loaded = Board.load(tmp_path / "board")
    assert loaded.arena_folder().resolve() == arena_folder.resolve()
    loaded.save(tmp_path / "deep" / "er" / "board")
    moved = Board.load(tmp_path / "deep" / "er" / "board")
    assert moved.arena_folder().resolve() == arena_folder.resolve()
    with pytest.raises(UsageError, match="does not say where arena"):
        small_board.arena_folder()


def test_files_of_two_boards_are_not_taken_for_one(board_folder, tmp_path):
    mixed = tmp_path / "mixed"
    shutil.copytree(board_folder, mixed)
    table = pd.read_csv(mixed / "verdict_ratings.csv")
    table.assign(tier=1).to_csv(mixed / "verdict_ratings.csv", index=False)
    with pytest.raises(DataError, match=r"ratings\.csv"):
        Board.load(mixed)
    (mixed / "verdict_ratings.csv").unlink()
    with pytest.raises(UsageError, match=r"ratings\.csv"):
        Board.load(mixed)


def test_absent_files_are_counted_in_the_message(small_board, tmp_path):
    small_board.save(tmp_path / "board")
    first = "verdict_ratings.csv"
    for names, verb in (([first], "is"), ([first, "win_matrix.csv"], "are")):
        for name in names:
            (tmp_path / "board" / name).unlink(missing_ok=True)
        with pytest.raises(UsageError, match=rf"{', '.join(names)} {verb} missing"):
            Board.load(tmp_path / "board")


def test_other_files_of_a_folder_stay_and_other_folders_are_refused(small_board, tmp_path):
    folder = tmp_path / "board"
    small_board.save(folder)
    (folder / "README.md").write_text("mine")
    (folder / "site").mkdir()
    (folder / "site" / "index.html").write_text("page")
    small_board.save(folder)
    assert (folder / "README.md").read_text() == "mine"
    assert (folder / "site" / "index.html").read_text() == "page"
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("mine")
    with pytest.raises(UsageError, match="holds no board"):
        small_board.save(tmp_path / "thesis")
    with pytest.raises(UsageError, match="is a file"):
        small_board.save(folder / "README.md")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["board", "thesis"]


def test_a_failure_leaves_the_board_that_was_there(small_board, tmp_path, monkeypatch):
    folder = tmp_path / "board"
    small_board.save(folder)
    before = (folder / "manifest.json").read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("surrogate.board.board.write_record", fail)
    with pytest.raises(OSError, match="disk full"):
        replace(small_board, overall=small_board.overall.iloc[:2]).save(folder)
    assert (folder / "manifest.json").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["board"]
    Board.load(folder)


def test_a_damaged_table_is_named(tmp_path):
    header = "language,system,rank,rank_low,rank_high,tier,rating,low,high,note\n"
    ranks = ("first", "1.5", "9" * 20)
    rows = [f"{header}en,a,{rank},1,2,1,0,0,0,\n" for rank in ranks]
    for text in (*rows, f"{header}en,a,1,1,2,1,x,0,0,\n", "language,system\nen,a\n", ""):
        (tmp_path / table_file(VERDICT_RATINGS)).write_text(text)
        with pytest.raises(DataError, match=r"ratings\.csv: cannot be read .*build the board"):
            read_board_table(VERDICT_RATINGS, tmp_path)


@pytest.mark.parametrize("file", [table_file(schema) for schema in TABLES.values()])
def test_a_table_with_a_row_twice_is_damaged_though_it_is_signed(file, board_folder, tmp_path):
    """Readers take rows to be unique; a doubled one once ended in a traceback of pandas."""
    folder = shutil.copytree(board_folder, tmp_path / "twice")
    path = folder / file
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([*lines, lines[-1]]) + "\n", encoding="utf-8")
    manifest = json.loads((folder / MANIFEST_FILE).read_text(encoding="utf-8"))
    manifest["files"][file] = file_digest(path)
    manifest["sizes"][file] = path.stat().st_size
    (folder / MANIFEST_FILE).write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(DataError, match=file):
        Board.load(folder)


@pytest.mark.parametrize("name", [SUMMARY_FILE, table_file(VERDICT_RATINGS), FEATURES_FILE])
def test_a_file_of_gigabytes_is_refused_at_once(name, board_folder, tmp_path):
    """Its bytes were once digested before anybody asked how many they are."""
    folder = shutil.copytree(board_folder, tmp_path / "huge")
    with (folder / name).open("r+b") as file:
        file.truncate(6 * 2**30)
    started = time.process_time()
    with pytest.raises((UsageError, DataError), match=name):
        Board.load(folder)
    assert time.process_time() - started < 1


def test_a_board_gives_its_tables_and_shows_itself(small_board):
    assert small_board.table() is small_board.overall
    assert set(small_board.table("sw")["language"]) == {"sw"}
    with pytest.raises(UsageError, match="no language 'e'; did you mean 'en'"):
        small_board.table("e")
    named = small_board.overall.assign(system="<b>")
    english = replace(
        small_board, ratings=small_board.ratings[small_board.ratings["language"] == "en"]
    )
    assert english.table()["rating"].notna().any()  # of one language there is nothing to average
    html = replace(small_board, overall=named)._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<b>&lt;" not in html
    assert small_board.summary.arena in html
