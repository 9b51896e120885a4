"""Files of figures."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ET

import matplotlib as mpl
import pytest
from altered_boards import about
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg

from arena.data.errors import MissingDependencyError
from surrogate_arena.pages.figures.board_figures import board_drawings, draw_ratings, rank_heat_map
from surrogate_arena.pages.figures.figure import (
    LONGEST_NAME,
    drawable,
    save,
    shown_names,
    write_drawings,
)


@pytest.mark.slow
def test_bytes_do_not_depend_on_process_and_settings_of_the_user(board, board_folder, tmp_path):
    code = (
        "import sys, matplotlib as mpl;"
        "mpl.rcParams['font.size'] = 20; mpl.rcParams['savefig.dpi'] = 40;"
        "from surrogate_arena.pages.figures.board_figures import draw_ratings;"
        "from surrogate_arena.pages.figures.figure import save;"
        "from surrogate.board.board import Board;"
        "save(draw_ratings(Board.load(sys.argv[1]), 'en'), sys.argv[2])"
    )
    elsewhere, here = tmp_path / "elsewhere.svg", tmp_path / "here.svg"
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    subprocess.run(
        [sys.executable, "-c", code, str(board_folder), str(elsewhere)], env=environment, check=True
    )
    save(draw_ratings(board, "en"), here)
    assert elsewhere.read_bytes() == here.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("draw", [rank_heat_map, lambda t: draw_ratings(t, "en")])
def test_svg_with_hostile_names_is_well_formed(drawn_hostile, tmp_path, draw):
    path = tmp_path / "a.svg"
    save(draw(drawn_hostile), path)
    root = ET.parse(path).getroot()
    assert root.tag.endswith("svg")
    titles = [part.text for part in root.iter("{http://purl.org/dc/elements/1.1/}title")]
    assert any("$arena_1$ <script>" in title for title in titles)
    (told,) = root.iter("{http://purl.org/dc/elements/1.1/}description")
    assert told.text == drawable(drawn_hostile.summary.signature)
    assert not list(root.iter("{http://purl.org/dc/elements/1.1/}date"))
    assert not list(root.iter("{http://www.w3.org/2000/svg}script"))


@pytest.mark.slow
def test_nothing_is_drawn_over_the_caption_or_outside_the_figure(drawn_hostile):
    for drawing in board_drawings(drawn_hostile):
        figure = drawing.draw()
        renderer = FigureCanvasAgg(figure).get_renderer()
        figure.draw(renderer)
        whole = figure.bbox
        title, caption = (text.get_window_extent(renderer) for text in figure.texts)
        for axes in figure.findobj(lambda part: hasattr(part, "get_xticks")):
            assert axes.has_data(), drawing.name
            box = axes.get_tightbbox(renderer)
            assert box.y1 <= title.y0
            assert box.y0 >= caption.y1
            assert box.x0 >= whole.x0
            assert box.x1 <= whole.x1
        for text in figure.texts:
            extent = text.get_window_extent(renderer)
            assert extent.x1 <= whole.x1
            assert extent.y1 <= whole.y1


def test_characters_without_a_font_are_boxes_with_a_warning(board, tmp_path):
    board = about(board, judge="judge \ue000")  # private use: in no family of the list
    with pytest.warns(UserWarning, match="Glyph 57344"):
        save(rank_heat_map(board), tmp_path / "a.png")


def test_without_matplotlib_the_extra_is_named(board, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.style", None)
    monkeypatch.setattr(mpl, "style", None, raising=False)
    with pytest.raises(MissingDependencyError, match=r"\[plots\]"):
        rank_heat_map(board)


@given(st.lists(st.text(), unique=True))
def test_names_stay_apart_and_short(names):
    shown = shown_names(names)
    assert list(shown) == names
    assert len(set(shown.values())) == len(names)
    assert all(len(name) <= LONGEST_NAME + len(f" ({len(names)})") for name in shown.values())


def test_controls_and_marks_of_direction_are_replaced():
    assert drawable("a\nb\x00c\u202ed\ud800e") == "a�b�c�d�e"
    assert drawable("می\u200cخواهم نموذج 日本 ~$_<") == "می\u200cخواهم نموذج 日本 ~$_<"


@pytest.mark.slow
def test_pdf_is_a_figure_with_its_signature_and_the_same_bytes_again(board, tmp_path):
    for name in ("one.pdf", "two.pdf"):
        save(draw_ratings(board, "en"), tmp_path / name)
    content = (tmp_path / "one.pdf").read_bytes()
    assert content == (tmp_path / "two.pdf").read_bytes()
    assert content.startswith(b"%PDF-")
    assert b"/CreationDate" not in content
    assert b"/Type3" not in content  # refused by journals
    title = f"Ratings with intervals: {board.summary.arena}, en"
    assert title.encode() in content.replace(b"\\", b"")


@pytest.mark.slow
def test_figures_are_drawn_as_pdf_and_nothing_is_said_of_fonts(drawn_hostile, tmp_path, caplog):
    drawings = board_drawings(drawn_hostile)
    paths, _ = write_drawings(drawings, tmp_path, "pdf")
    assert {path.suffix for path in paths} == {".pdf"}
    assert len(paths) == 3
    assert not [record for record in caplog.records if "font weight" in record.getMessage()]
