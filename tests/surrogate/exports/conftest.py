"""A board with names that try to break out of every format."""

from dataclasses import replace

import pytest

from surrogate import write_board
from surrogate.board.tables import read_board_tables

HOSTILE = (
    *("=cmd|' /C calc'!A1", "+1+1", "-2+3", "@SUM(A1)", "'quoted'", 'a "b", c'),
    *("a|b`c`", "<script>alert(1)</script>", "\\frac{1}{2} $x_1^2$ 100% #1 ~&", "モデル-大"),
    *("[link](http://x.y) www.z.de", "line\r\nbreak --- 1. **bold**"),
)


@pytest.fixture(scope="session")
def board_folder(small_board, tmp_path_factory):
    folder = tmp_path_factory.mktemp("board")
    write_board(small_board, folder)
    return folder


@pytest.fixture(scope="session")
def tables(board_folder):
    return read_board_tables(board_folder)


@pytest.fixture(scope="session")
def hostile(tables):
    names = dict(zip(tables.systems, HOSTILE, strict=True))
    board = tables.board.assign(system=tables.board["system"].map(names))
    board.loc[board.index[0], ["rank", "rating", "note"]] = [None, None, "=note, 'why'"]
    summary = tables.summary.model_copy(
        update={
            "arena": 'my "arena"\n---\n# <b>: $x_1$',
            "judge": "judge|`x`: {a: [b]}",
            "signature": "judge:judge|`x`|features:a_b,c%|seed:0",
        }
    )
    overall = tables.overall.assign(system=tables.overall["system"].map(names))
    return replace(tables, board=board, overall=overall, summary=summary)
