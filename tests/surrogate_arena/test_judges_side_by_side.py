"""People and machines judge one arena: one board, the judges side by side."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from simulations import small_simulation

from arena import write_arena
from surrogate.board.board import Board
from surrogate.board.build import build_board
from surrogate_arena.cli.app import main
from surrogate_arena.pages.site import write_site

COLUMNS = ["rating_by:people", "rating_by:coin", "rating_by:gpt <4>"]


@pytest.fixture(scope="module")
def judged_by_many():
    """Two people on few questions, a machine that says the same on all, a coin, and one verdict."""
    arena = small_simulation(range(6), ["en"], questions=24).arena
    own = arena.judgments.reset_index(drop=True)
    few = own["query_id"].isin(sorted(own["query_id"].unique())[:6])
    people = own[few].assign(judge=np.where(np.arange(few.sum()) % 2, "person:Ada", "person:Bo"))
    coin = np.random.default_rng(0).choice(["a", "b"], len(own))
    tables = [people, own.assign(judge="gpt <4>"), own.assign(judge="coin", winner=coin)]
    tables += [own.iloc[:1].assign(judge="lone")]
    return replace(arena, judgments=pd.concat(tables, ignore_index=True))


@pytest.fixture(scope="module")
def board(judged_by_many):
    return build_board(judged_by_many, features="answer_length,citations", tournaments=20)


def test_people_are_rated_for_and_machines_stand_beside_them(board, judged_by_many, tmp_path):
    settings = board.summary.settings
    assert (settings.judge, settings.other_judges) == ("people", ("coin", "gpt <4>"))
    assert "judge:people|other_judges:coin,gpt <4>|" in board.summary.signature
    assert 'judge = "people,coin,gpt <4>"' in settings.toml()
    said = [remark.sentence for remark in board.summary.macro.remarks]
    assert said[0].startswith("Tau with people: coin ")
    assert any(text.startswith("coin: ") and "adds nothing" in text for text in said)
    assert not any(text.startswith("gpt") and "adds nothing" in text for text in said)
    assert said[-1] == "lone is left out: 1 verdict on 2 systems of 3 needed."
    saved = board.save(tmp_path / "board")
    loaded = Board.load(tmp_path / "board")
    assert [name for name in loaded.ratings if name.startswith("rating_by:")] == COLUMNS
    pd.testing.assert_frame_equal(loaded.ratings, saved.ratings)
    page = write_site(board, tmp_path / "site", judged_by_many).read_text(encoding="utf-8")
    assert "<bdi>gpt &lt;4&gt;</bdi>" in page
    assert "gpt <4>" not in page


def test_agreement_says_how_judges_rank_and_whom_they_favor(judged_by_many, tmp_path, capsys):
    write_arena(judged_by_many, tmp_path / "arena")
    main_of(["agreement", str(tmp_path / "arena")])
    said = capsys.readouterr().out
    assert "Kendall's tau of rankings" in said
    assert "lone has no ranking: it shares fewer than three systems" in said
    main_of(["fit", str(tmp_path / "arena"), "--judge", "person:Ada,person:Bo", "--language", "en"])
    with pytest.raises(SystemExit):
        main_of(["board", str(tmp_path / "arena"), "--judge", "gtp <4>", "--out", "x"])
    assert "did you mean 'gpt <4>'?" in capsys.readouterr().err


def main_of(arguments):
    try:
        main(arguments)
    except SystemExit as end:
        if end.code:
            raise
