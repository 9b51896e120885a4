"""Pages and the terminal say no sentence on a board that has no record in its remarks.csv."""

import json
import re

import pandas as pd
import pytest
from lxml import html

from arena.data.wording import Remark
from surrogate import Board
from surrogate.board.remarks import in_its_language
from surrogate_arena.commands.boards import print_board
from surrogate_arena.pages.site import write_site

pytestmark = pytest.mark.slow


@pytest.fixture
def sentences(real_board_folder):
    """All sentences of a board's records, each also with its language, the longest first."""
    table = pd.read_csv(real_board_folder / "remarks.csv", keep_default_na=False)
    texts = set()
    for row in table.to_dict("records"):
        names = tuple(json.loads(row["systems"]))
        remark = Remark(row["name"], "info", row["sentence"], row["subject"], systems=names)
        texts |= {remark.sentence, in_its_language(remark)}
    return sorted(texts, key=len, reverse=True)


def without_records(text, sentences):
    """Return what is left of a text without the sentences of records."""
    left = " ".join(text.split())
    for sentence in sentences:
        left = left.replace(" ".join(sentence.split()), "")
    return " ".join(left.split())


def test_the_terminal_says_nothing_else(real_board_folder, sentences, capsys):
    print_board(Board.load(real_board_folder), "Next: nothing")
    lines = capsys.readouterr().out.splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith("─")) + 1
    # A row of the table has columns; notes of rows are those of board.csv.
    below = [line for line in lines[start:] if not re.search(r"\S  +\S", line)]
    text = without_records(" ".join(below), sentences)
    text = re.sub(r"… and [\d,]+ more( systems?|; --json has all)", "", text)
    notes = pd.read_csv(real_board_folder / "board.csv", keep_default_na=False)["note"]
    for note in {*notes.str.split("; ").explode(), "did not answer every question"}:
        text = re.sub(rf"([a-c]|All|\+): {re.escape(note)}", "", text) if note else text
    assert re.fullmatch(r" *Board written to \S+ Next: nothing", text), text


def test_the_first_page_says_nothing_else(real_board_folder, sentences, tmp_path):
    index = write_site(Board.load(real_board_folder), tmp_path / "site")
    page = html.fromstring(index.read_bytes())
    shown = [
        *page.xpath("//*[@id='sentence']"),
        *page.xpath("//*[@class='chips']/li"),
        *page.xpath("//*[@id='caution' and not(@hidden)]/span"),
    ]
    assert shown
    for element in shown:
        assert without_records(element.text_content(), sentences) == ""
    views = json.loads(page.xpath("//script[@id='data']")[0].text)["views"]
    for view in views.values():
        for parts in [*view["sentences"], [view["caution"]]]:
            assert without_records("".join(parts), sentences) == ""


def test_pages_of_systems_say_nothing_else(real_board_folder, sentences, tmp_path):
    index = write_site(Board.load(real_board_folder), tmp_path / "site")
    for path in (index.parent / "systems").iterdir():
        [element] = html.fromstring(path.read_bytes()).xpath("//p[@class='sentence']")
        left = without_records(element.text_content(), sentences)
        assert left in ("", "It has no place over all languages.")
