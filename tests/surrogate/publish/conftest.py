"""A board as everything that publishes reads it, and some with names that try to break out."""

from dataclasses import replace

import pytest
from altered_boards import about, renamed

from surrogate import Board
from surrogate.publish.site.site import write_site

IN_PAGES = (
    "<script>alert(1)</script>",
    "../x",
    "CON",
    "con",
    "GPT",
    "gpt",
    "שלום \u202eעולם",
    '" onmouseover="alert(1)',
    "]]></script><img src=x onerror=alert(1)>",
    "n" * 300,
    "{{ 7 * 7 }}",
    "nul\x00byte",
)
IN_FIGURES = (
    *("$x_1^2$ & <b>bold</b>", "\\frac{1}{2}", "_under", "a" * 90 + "-v1", "a" * 90 + "-v2"),
    *("line\nbreak", "null\x00 \x1b[31m", "\u202etxt.exe", "=cmd()|'x'!A1", "]]> -- <!--", "100%"),
    "نموذج",
)
IN_TABLES = (
    *("=cmd|' /C calc'!A1", "+1+1", "-2+3", "@SUM(A1)", "'quoted'", 'a "b", c'),
    *("a|b`c`", "<script>alert(1)</script>", "\\frac{1}{2} $x_1^2$ 100% #1 ~&", "モデル-大"),
    *("[link](http://x.y) www.z.de", "line\r\nbreak --- 1. **bold**"),
)


@pytest.fixture(scope="session")
def board_folder(small_board, tmp_path_factory):
    folder = tmp_path_factory.mktemp("board")
    small_board.save(folder)
    return folder


@pytest.fixture(scope="session")
def board(board_folder):
    return Board.load(board_folder)


@pytest.fixture(scope="session")
def drawn_hostile(board):
    named = renamed(board, IN_FIGURES)
    return about(named, "$arena_1$ <script>", judge="\\judge_ $a_b$|")


@pytest.fixture(scope="session")
def tabled_hostile(board):
    named = renamed(board, IN_TABLES)
    ratings = named.ratings.copy()
    ratings.loc[0, ["rank", "rating", "note"]] = [None, None, "=note, 'why'"]
    named = replace(named, ratings=ratings)
    return about(named, 'my "arena"\n---\n# <b>: $x_1$', judge="judge|`x`: {a: [b]}")


@pytest.fixture(scope="session")
def site(board, tmp_path_factory):
    return write_site(board, tmp_path_factory.mktemp("site") / "site").parent


@pytest.fixture(scope="session")
def hostile_site(board, tmp_path_factory):
    named = renamed(board, IN_PAGES)
    answers = named.examples.assign(answer="<img src=x onerror=alert(2)> & </script>")
    hostile = replace(named, examples=answers)
    return write_site(hostile, tmp_path_factory.mktemp("hostile") / "site").parent
