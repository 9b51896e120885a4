"""Sentences on pages: true of boards by a one-sided judge, of published ratings, of no verdict."""

import re
from dataclasses import replace

import pandas as pd
import pytest

from surrogate import build_board
from surrogate_arena.pages.site import write_site


def texts(board, arena, folder):
    """Return the pages of a site without their scripts and tags, by name."""
    site = write_site(board, folder / "site", arena).parent
    system = sorted((site / "systems").iterdir())[0]
    paths = {"system": system}
    for name in ("index", "judge", "method"):
        paths[name] = site / f"{name}.html"
    return {name: text_of(path.read_text("utf-8")) for name, path in paths.items()}


def text_of(page):
    visible = re.sub(r"<(style|script)[^>]*>.*?</\1>", " ", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", visible))


@pytest.mark.slow
def test_pages_of_a_one_sided_judge_claim_nothing_of_systems(tiny_arena, tmp_path):
    says_a = replace(tiny_arena, judgments=tiny_arena.judgments.assign(winner="a"))
    board = build_board(says_a, surrogate="linear", tournaments=2)
    shown = texts(board, says_a, tmp_path)
    assert board.judge_report.first_places == ()
    assert "hold up first place" not in shown["judge"]
    assert "Kendall" not in shown["judge"] + shown["index"]
    assert "Agreement on systems it was trained on" not in shown["method"]
    assert "until it is judged" not in "".join(shown.values())
    # The first page says why, not only that the judge is unreliable.
    assert "verdicts are side A" in shown["index"]


@pytest.mark.slow
@pytest.mark.parametrize("judge", ["published", "chat-arena"])
def test_published_ratings_are_named_once(tiny_arena, tmp_path, judge):
    ratings = pd.DataFrame(
        {
            "judge": judge,
            "language": "en",
            "system": list(tiny_arena.info.systems),
            "rating": range(len(tiny_arena.info.systems)),
            "standard_error": 0.2,
        }
    )
    none = tiny_arena.judgments.iloc[:0]
    arena = replace(tiny_arena, judgments=none, published_ratings=ratings)
    board = build_board(arena, surrogate="linear", tournaments=2, judge=judge)
    shown = texts(board, arena, tmp_path)
    for text in shown.values():
        assert "by published" not in text
        assert "published published" not in text
        assert ("atings rest on published ones" in text) == (judge == "published")
        assert ("that chat-arena published" in text) == (judge == "chat-arena")
    assert "\N{EN DASH} with verdicts" not in shown["index"]
    assert "Order and failures" not in shown["judge"]


@pytest.mark.slow
def test_a_first_board_explains_no_number_that_it_lacks(tiny_arena, tmp_path):
    unjudged = replace(tiny_arena, judgments=tiny_arena.judgments.iloc[:0])
    shown = texts(build_board(unjudged), unjudged, tmp_path)
    assert "surrogate's decisions" not in shown["system"]
    assert "Surrogate trained on it" not in shown["system"]
    for term in ("Own verdicts", "Verdicts alone", "Tau between halves"):
        assert term not in shown["method"]
