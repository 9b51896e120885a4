"""A board of an arena that an LLM judges first."""

import shutil

import pytest

pytest.importorskip("openai", reason="needs the extra llm")

from chat_server import ChatServer, completion

from arena.data.tables import read_rows
from surrogate.runs.run import bring_up_to_date
from surrogate.runs.steps import read_manifest


@pytest.fixture
def server():
    with ChatServer(lambda prompt, _: completion("[[A]]" if len(prompt) % 3 else "[[B]]")) as one:
        yield one


def judging(server, further=""):
    return f"""
        [boards.a]
        arena = "arena"
        [boards.a.judging]
        model = "local"
        base_url = "{server.url}"
        questions = 3
        pairs = 12
        both_orders = false
        {further}
        """


def test_verdicts_are_paid_for_once_and_the_arena_stays_as_it_is(
    configure, make, states, place, server
):
    arena = {path.name: path.read_bytes() for path in (place / "arena").iterdir()}
    boards = configure(judging(server, "max_calls = 20"))
    steps = make(boards)
    assert states(steps) == {"a/judging": "made", "a/features": "made", "a/board": "made"}
    assert sum(server.asked.values()) == 20
    (reason,) = bring_up_to_date(boards, boards.out, check=True).steps[0].reasons
    assert reason == "pairs without a verdict: 13 over_budget"
    boards = configure(judging(server))
    assert states(make(boards))["a/board"] == "made"
    assert set(server.asked.values()) == {1}
    calls = len(server.asked)
    assert calls > 20
    assert len(read_rows(boards.out / "a" / "judging" / "judgments.parquet").table) == 36
    assert bring_up_to_date(boards, boards.out, check=True).is_current
    assert {path.name: path.read_bytes() for path in (place / "arena").iterdir()} == arena
    text = (boards.out / "manifest.json").read_text()
    assert str(server.port) not in text
    record = read_manifest(boards.out).steps["a/judging"]
    assert record.options["model"] == "local"
    shutil.rmtree(boards.out / "a" / "judging")
    make(boards)
    assert sum(server.asked.values()) == calls


def test_where_nobody_answers_the_board_fails_and_is_tried_again(configure, make, server):
    boards = configure(judging(server))
    server.behave = lambda *_: completion("I do not know.")
    steps = make(boards)
    assert "35 unparsable" in steps["a/judging"].error
    assert steps["a/board"].state == "skipped"


def test_pairs_are_judged_to_a_budget_beside_the_arena(configure, make, states, place, server):
    arena = {path.name: path.read_bytes() for path in (place / "arena").iterdir()}
    text = judging(server).replace("pairs = 12", 'pairs = "adaptive"\n        budget = 20')
    boards = configure(text)
    steps = make(boards)
    assert states(steps) == {"a/judging": "made", "a/features": "made", "a/board": "made"}
    calls = len(server.bodies)
    assert 10 < calls <= 20  # but for identical answers, which are ties
    rows = read_rows(boards.out / "a" / "judging" / "judgments.parquet").table
    assert len(rows) == 20
    assert (rows["chosen"] == "adaptive").all()
    assert {path.name: path.read_bytes() for path in (place / "arena").iterdir()} == arena
