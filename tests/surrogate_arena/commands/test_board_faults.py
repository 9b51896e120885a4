"""Boards and ranked systems say which answers are broken, and check them once."""

import pytest
from faulty_versions import broken, good, other, support_arena

from arena import write_arena
from surrogate import build_board, rank_systems
from surrogate.checks import faults
from surrogate_arena.commands.boards import publish_board
from surrogate_arena.commands.ranking import place_sentences


@pytest.mark.usefixtures("with_pages")
def test_a_board_and_its_pages_check_answers_once(tmp_path, monkeypatch, capsys):
    arena = support_arena({"v4": good, "v5": broken, "v6": other})
    board = build_board(arena, features="answer_length")
    checked = []
    find_faults = faults.find_faults

    def counted(*args):
        checked.append(args)
        return find_faults(*args)

    monkeypatch.setattr("surrogate.checks.faults.find_faults", counted)
    write_arena(arena, tmp_path / "arena")
    publish_board(board, tmp_path / "board", tmp_path / "arena", arena, site=True)
    assert len(checked) == 1
    sentence = (
        "9 of 180 answers have a certain fault: 2 cite a passage that was not given; 7 are in "
        "another language; v5 alone has 9."
    )
    assert sentence in " ".join(capsys.readouterr().out.split())
    index = tmp_path / "board" / "site" / "index.html"
    assert "9 of 180 answers have a certain fault" in index.read_text(encoding="utf-8")


def test_the_surrogate_gives_no_reasons_for_a_place_that_there_is_not(small_arena, quick_board):
    answers = small_arena.answers
    new = answers[answers["system"] == small_arena.info.systems[0]].assign(system="new").head(2)
    placed = rank_systems(quick_board, new, small_arena)
    assert placed.new[["rank", "place"]].isna().all(axis=None)
    assert list(place_sentences(placed)) == []


def test_a_ranked_system_says_which_of_its_answers_are_broken(small_arena, quick_board):
    answers = small_arena.answers
    new = answers[answers["system"] == small_arena.info.systems[0]].assign(system="new", answer="")
    placed = rank_systems(quick_board, new, small_arena)
    (sentence,) = place_sentences(placed)
    clause = f"{len(new)} of {len(new)} answers have a certain fault: {len(new)} are empty"
    assert clause in sentence
