"""A board as figures read it, and one with names that try to break out of them."""

from dataclasses import replace

import pytest

from surrogate import write_board
from surrogate.board.tables import read_board_tables

HOSTILE = (
    *("$x_1^2$ & <b>bold</b>", "\\frac{1}{2}", "_under", "a" * 90 + "-v1", "a" * 90 + "-v2"),
    *("line\nbreak", "null\x00 \x1b[31m", "\u202etxt.exe", "=cmd()|'x'!A1", "]]> -- <!--", "100%"),
    "نموذج",
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

    def renamed(table):
        if table is None:
            return None
        columns = [name for name in ("system", "opponent") if name in table]
        return table.assign(**{name: table[name].map(names) for name in columns})

    return replace(
        tables,
        board=renamed(tables.board),
        overall=renamed(tables.overall),
        tiers=renamed(tables.tiers),
        win_matrix=renamed(tables.win_matrix),
        features=renamed(tables.features),
        summary=tables.summary.model_copy(
            update={"arena": "$arena_1$ <script>", "judge": "\\judge_", "signature": "judge:$a_b$|"}
        ),
    )
