"""How pages, figures and exports mark a board without any verdict."""

from arena.data.systems import LISTED
from surrogate.board.conclusions import UNJUDGED_BY_CONSENSUS
from surrogate_arena.pages.exports import export_text
from surrogate_arena.pages.figures.board_figures import draw_ratings
from surrogate_arena.pages.site import write_site
from surrogate_arena.pages.submit_page import JUDGED, submit_page


def test_pages_show_the_answers_that_nobody_has_judged(first_board, unjudged, tmp_path):
    folder = write_site(first_board, tmp_path / "site", unjudged).parent
    page = (folder / "pairs/en.html").read_text()
    texts = unjudged.queries.loc[unjudged.queries["language"] == "en", "query"]
    assert sum(text in page for text in texts) > 0


def test_pages_figures_and_exports_are_marked(first_board, tmp_path):
    index = write_site(first_board, tmp_path / "site").read_text()
    assert UNJUDGED_BY_CONSENSUS.sentence.split(".")[0] in index
    assert "in logits" not in index
    system = next((tmp_path / "site" / "systems").iterdir()).read_text()
    assert not any(name in system for name in ("Own verdicts", "Surrogate alone", "Verdicts alone"))
    assert "The answers of" in system
    assert "of its comparisons" not in system
    pair = (tmp_path / "site" / "pairs" / "en.html").read_text()
    assert UNJUDGED_BY_CONSENSUS.sentence.split(".")[0] in pair
    assert "the verdicts between them" not in pair
    assert "Nobody has judged these answers" in (tmp_path / "site" / "judge.html").read_text()
    assert "Fay-Herriot" not in (tmp_path / "site" / "method.html").read_text()
    assert "Judge: nobody" in export_text(first_board, "latex")
    figure = draw_ratings(first_board, "en")
    said = [text.get_text() for text in figure.findobj() if hasattr(text, "get_text")]
    assert any("Ratings without verdicts" in text for text in said)


def test_nobody_has_judged_the_systems_of_a_first_board(first_board):
    states = submit_page(first_board, first_board.languages, "")["states"]
    assert (states[JUDGED], states[LISTED]) == (0, len(first_board.systems))
