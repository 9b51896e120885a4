"""Pages list the broken answers: how many on the first page, each on its system's page."""

import json

import pytest
from faulty_versions import broken, good, other, support_arena

from surrogate import build_board
from surrogate.checks import faults
from surrogate_arena.pages import write_site


@pytest.fixture(scope="module")
def arena():
    return support_arena({"v4": good, "v5": broken, "v6": other})


@pytest.fixture(scope="module")
def board(arena):
    return build_board(arena, features="answer_length")


def test_every_fault_is_on_the_page_of_its_system(arena, board, tmp_path):
    index = write_site(board, tmp_path / "site", arena).read_text(encoding="utf-8")
    assert "9 of 180 answers have a certain fault" in index
    page = (tmp_path / "site" / "systems" / "v5.html").read_text(encoding="utf-8")
    for query_id in ("de-00", "de-06", "en-10", "en-11", "en-00", "en-03"):
        assert f"{query_id}</bdi>" in page
    assert "settings [9]" in page
    remarks = json.loads((tmp_path / "site" / "board.json").read_text("utf-8"))["remarks"]
    [counted] = [one for one in remarks if (one["name"], one["systems"]) == ("faults", ["v5"])]
    assert counted["statistic"] == page.count('<td class="one">certain</td>')
    assert counted["sentence"] in page
    sound = (tmp_path / "site" / "systems" / "v4.html").read_text(encoding="utf-8")
    assert "No fault in 60 answers." in sound


def test_answers_that_are_not_published_are_not_shown(arena, board, tmp_path):
    write_site(board, tmp_path / "site", arena, questions=0)
    page = (tmp_path / "site" / "systems" / "v5.html").read_text(encoding="utf-8")
    assert "<bdi>en</bdi>" in page
    assert "en-10" not in page
    assert "settings [9]" not in page


def test_arenas_with_too_many_answers_are_not_checked(arena, monkeypatch):
    monkeypatch.setattr("surrogate.checks.faults.MOST_CHECKED", 100)
    assert faults.arena_faults(arena) is None
