"""A board by a column of the questions, and commands that place new systems on it."""

import json
from dataclasses import replace

import pytest
from shared_data import shared_path

from arena import read_arena, write_arena
from surrogate.board.board import Board


@pytest.mark.usefixtures("with_pages")
def test_new_systems_find_their_place_on_a_board_by_category(run, tmp_path, capsys):
    arena = read_arena(shared_path("data/arenas/mt-bench-ko-en"))
    kept = arena.queries["category"].isin(["writing", "math"])
    asked = arena.queries[kept & arena.queries["query_id"].str.endswith(("1", "2", "3", "4"))]
    systems, judge = arena.info.systems[:4], "gpt-4o-mini"
    tables = {
        name: getattr(arena, name).merge(asked[["language", "query_id"]])
        for name in ("answers", "judgments")
    }
    cut = replace(arena, queries=asked, **tables).select(systems=systems, judges=[judge])
    write_arena(cut, tmp_path / "arena")
    folder, answers = str(tmp_path / "board"), str(tmp_path / "new.jsonl")
    options = ["--by", "category", "--features", "answer_length", "--tournaments", 2]
    assert run("board", str(tmp_path / "arena"), *options, "--out", folder) == 0
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) <= 20
    assert max(map(len, printed)) <= 80 + len(str(tmp_path))
    assert printed[0].split("  ")[:1] == ["place"]
    board = Board.load(folder)
    assert board.languages == ["math", "writing"]
    assert set(board.features["query_id"].str[:3]) == {"en:", "ko:"}
    page = (tmp_path / "board/site/index.html").read_text()
    assert "of 2 categories" in page
    new = arena.answers.merge(asked[["language", "query_id"]])
    new[new["system"] == arena.info.systems[-1]].to_json(answers, orient="records", lines=True)
    run("rank", answers, "--board", folder, "--json")
    placed = json.loads(capsys.readouterr().out)["new"]
    assert [row["language"] for row in placed] == ["math", "writing"]
    assert all(row["surrogate_rating"] is not None for row in placed)
    assert run("gate", "--board", folder, "--candidate", answers, "--json") == 4
    assert json.loads(capsys.readouterr().out)["verdict"] == "cannot say"  # four systems are few
