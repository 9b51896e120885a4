"""Where a board is to go is tested before the work, and sizes have bounds."""

import os

import pytest

from surrogate.board import board as board_module


@pytest.mark.parametrize("where", ["file/x", "file", "full", os.fsdecode(b"x\xff/board")])
def test_where_a_board_cannot_be_written_is_said_before_the_work(
    run, tiny_arena, tmp_path, capsys, monkeypatch, where
):
    from arena import write_arena

    write_arena(tiny_arena, tmp_path / "arena")
    (tmp_path / "file").write_text("x")
    (tmp_path / "full").mkdir()
    (tmp_path / "full/other").write_text("x")
    monkeypatch.setattr("surrogate.board.build.build_board", None)  # no work is to begin
    assert run("board", tmp_path / "arena", "--out", tmp_path / where) == 2
    said = capsys.readouterr().err
    assert any(words in said for words in ("is a file", "holds no board", "is not UTF-8"))


def test_a_folder_that_is_new_or_holds_a_board_can_be_written(tmp_path):
    board_module.check_board_target(tmp_path / "new" / "board")


def test_absurd_numbers_of_tournaments_are_refused(run, tmp_path, capsys):
    assert run("board", tmp_path, "--out", tmp_path / "b", "--tournaments", 10**12) == 2
    assert "--tournaments is 1000000000000: input should be less" in capsys.readouterr().err
