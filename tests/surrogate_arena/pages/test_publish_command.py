"""``surrogate-arena publish`` as a user runs it."""

import csv
import html
import io
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

FIGURES = ("--as", "figures")


@pytest.mark.slow
def test_draws_all_that_the_board_has_data_for_and_lists_the_rest(board, tmp_path, run, capsys):
    unranked = board.ratings.assign(rank=None, arena_rank=None)
    replace(board, ratings=unranked).save(tmp_path / "few")
    out = tmp_path / "new" / "plots"
    options = [*FIGURES, "--out", out]
    assert run("publish", tmp_path / "few", *options) == 0
    names = {"ratings-en", "ratings-sw"}
    assert {path.name for path in out.iterdir()} == {f"{name}.png" for name in names}
    printed = capsys.readouterr()
    assert sorted(printed.out.splitlines()) == sorted(str(path) for path in out.iterdir())
    assert "heatmap left out: " in printed.err


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--as", "pie"], "'pie'"),
        ([*FIGURES, "--format", "gif"], "'gif'"),
        ([*FIGURES, "--language", "xx"], "'xx'"),
        (["--as", "csv", "--language", "xx"], "'xx'"),
        (["--as", "csv", "--columns", "rank,mean_rnk"], "did you mean 'mean_rank'?"),
        (["--as", "csv", "--out", "absent/board.csv"], "absent"),
    ],
)
def test_wrong_requests_name_what_is_wrong(board_folder, run, capsys, options, named, tmp_path):
    out = [] if "--out" in options else ["--out", tmp_path / "out"]
    assert run("publish", board_folder, *options, *out) == 2
    assert named in capsys.readouterr().err


def test_tables_go_to_standard_output_or_a_file(board_folder, run, capsys, tmp_path):
    assert run("publish", board_folder, "--as", "csv", "--language", "all") == 0
    printed = capsys.readouterr().out
    path = tmp_path / "board.csv"
    assert run("publish", board_folder, "--as", "csv", "--language", "all", "--out", path) == 0
    assert path.read_bytes().decode() == printed
    assert run("publish", board_folder, "--as", "csv", "--columns", "system,rank") == 0
    assert "\nsystem,rank" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("is_piped", [True, False])
def test_a_table_goes_to_the_standard_output_that_is_named(board_folder, tmp_path, is_piped):
    target, link = tmp_path / "out.csv", Path("/dev/stdout").readlink()
    words = ["publish", str(board_folder), "--as", "csv", "--out", "/dev/stdout"]
    command = [sys.executable, "-m", "surrogate_arena", *words]
    with target.open("wb") as file:
        done = subprocess.run(command, stdout=subprocess.PIPE if is_piped else file, check=True)
    written = done.stdout if is_piped else target.read_bytes()
    rows = list(csv.reader(io.StringIO(written.decode())))
    assert rows[0][:2] == ["system", "rank"]
    assert len(rows) > 5
    assert {len(row) for row in rows} == {len(rows[0])}
    assert Path("/dev/stdout").readlink() == link


@pytest.mark.parametrize("option", ["--signature", "--no-signature"])
def test_a_figure_for_a_paper_has_no_signature(board, board_folder, run, tmp_path, option):
    options = [*FIGURES, "--format", "svg", "--out", tmp_path, option]
    assert run("publish", board_folder, *options) == 0
    drawn = (tmp_path / "heatmap.svg").read_text()
    assert (board.summary.signature in html.unescape(drawn)) == (option == "--signature")
