"""People and machines judge one arena: one board, the judges side by side."""

import pandas as pd

from arena import write_arena
from surrogate.board.board import Board
from surrogate_arena.pages.site import write_site

COLUMNS = ["rating_by:people", "rating_by:coin", "rating_by:gpt <4>"]


def test_people_are_rated_for_and_machines_stand_beside_them(
    board_of_many, judged_by_many, tmp_path
):
    settings = board_of_many.summary.settings
    assert (settings.judge, settings.other_judges) == ("people", ("coin", "gpt <4>"))
    assert "judge:people|other_judges:coin,gpt <4>|" in board_of_many.summary.signature
    assert 'judge = "people,coin,gpt <4>"' in settings.toml()
    said = [remark.sentence for remark in board_of_many.summary.macro.remarks]
    assert said[0].startswith("Tau with people: coin ")
    assert any(text.startswith("coin: ") and "adds nothing" in text for text in said)
    assert not any(text.startswith("gpt") and "adds nothing" in text for text in said)
    assert said[-1] == "lone is left out: 1 verdict on 2 systems of 3 needed."
    saved = board_of_many.save(tmp_path / "board")
    loaded = Board.load(tmp_path / "board")
    assert [name for name in loaded.ratings if name.startswith("rating_by:")] == COLUMNS
    pd.testing.assert_frame_equal(loaded.ratings, saved.ratings)
    page = write_site(board_of_many, tmp_path / "site", judged_by_many).read_text(encoding="utf-8")
    assert "<bdi>gpt &lt;4&gt;</bdi>" in page
    assert "gpt <4>" not in page


def test_agreement_says_how_judges_rank_and_whom_they_favor(run, judged_by_many, tmp_path, capsys):
    write_arena(judged_by_many, tmp_path / "arena")
    assert run("agreement", tmp_path / "arena") == 0
    said = capsys.readouterr().out
    assert "Kendall's tau of rankings" in said
    assert "lone has no ranking: it shares fewer than three systems" in said
    people = ["--judge", "person:Ada,person:Bo", "--language", "en"]
    assert run("fit", tmp_path / "arena", *people) == 0
    assert run("board", tmp_path / "arena", "--judge", "gtp <4>", "--out", tmp_path / "x") == 2
    assert "did you mean 'gpt <4>'?" in capsys.readouterr().err
