"""A board as everything that publishes reads it, and some with names that try to break out."""

import threading
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from altered_boards import about, of_arena, renamed, renamed_arena
from hostile_pages import HOSTILE, IN_PAGES, watched

from arena.quality.judge_report import MetaEvaluation
from surrogate import Board, build_board
from surrogate_arena.pages.site import write_site

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
def board(board_folder):
    return Board.load(board_folder)


@pytest.fixture(scope="session")
def tiny_board(tiny_arena, shared):
    """A board whose site takes a third of the time."""
    quick = {"surrogate": "linear", "tournaments": 2}
    features = "answer_length,citations"
    return shared("tiny_board", lambda: build_board(tiny_arena, features=features, **quick))


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
def site(board, small_arena, tmp_path_factory):
    out = tmp_path_factory.mktemp("site") / "site"
    return write_site(board, out, small_arena).parent


@pytest.fixture(scope="session")
def hostile_arena(board, small_arena):
    """An arena whose names and texts try to run; one system has passages of its own."""
    arena = renamed_arena(board, small_arena, IN_PAGES)
    own = [
        {"passage_id": "javascript:alert(6)", "text": HOSTILE, "title": HOSTILE, "relevance": 0},
        {"passage_id": '"><b id=x>', "text": "own", "title": None, "relevance": None},
    ]
    first = arena.answers["system"] == IN_PAGES[0]
    texts = "[1] " + HOSTILE + " [javascript:alert(6)] " + arena.answers["answer"]
    passages = [
        [item | {"text": HOSTILE + item["text"]} for item in given]
        for given in arena.queries["passages"]
    ]
    return replace(
        arena,
        queries=arena.queries.assign(query=HOSTILE + arena.queries["query"], passages=passages),
        answers=arena.answers.assign(
            answer=texts, passages=[own if is_first else None for is_first in first]
        ),
        judgments=arena.judgments.assign(
            reason=f"because {HOSTILE}", api_key="sk-secret-of-the-judge"
        ),
    )


@pytest.fixture(scope="session")
def hostile_board(board, hostile_arena):
    compared = MetaEvaluation(
        judge=HOSTILE,
        dataset=HOSTILE,
        metric="balanced_accuracy",
        value=0.81,
        standard_error=0.02,
        n=240,
        languages=["en"],
    )
    report = board.judge_report.model_copy(update={"metaevaluations": (compared,)})
    named = replace(renamed(board, IN_PAGES), judge_report=report)
    return of_arena(named, hostile_arena)


@pytest.fixture(scope="session")
def hostile_site(hostile_board, hostile_arena, tmp_path_factory):
    out = tmp_path_factory.mktemp("hostile") / "site"
    return write_site(hostile_board, out, hostile_arena).parent


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def served(hostile_site):
    """The hostile site on the loopback interface."""
    handler = partial(QuietHandler, directory=str(hostile_site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture
def page(browser, served):
    with watched(browser, served) as opened:
        yield opened
