"""A board of an arena that an LLM judges first."""

import shutil

import pytest

pytest.importorskip("openai", reason="needs the extra llm")

from batch_server import BatchServer
from chat_server import ChatServer, completion

from arena.data.tables import read_rows
from surrogate_arena.runs.records import RunRecords
from surrogate_arena.runs.run import bring_up_to_date


def by_length(prompt, _):
    return completion("[[A]]" if len(prompt) % 3 else "[[B]]")


@pytest.fixture
def server(monkeypatch):
    with ChatServer(by_length) as one:
        monkeypatch.setenv("OPENAI_BASE_URL", one.url)
        yield one


def judging(server, further=""):
    return f"""
        [boards.a]
        arena = "arena"
        [boards.a.judging]
        model = "local"
        base_url = "{server.url}"
        questions = 3
        pairs = 6
        audit = 0.0
        {further}
        """


def test_verdicts_are_paid_for_once_and_the_arena_stays_as_it_is(
    configure, make, states, place, server
):
    arena = {path.name: path.read_bytes() for path in (place / "arena").iterdir()}
    boards = configure(judging(server, "max_calls = 10"))
    outcomes = make(boards)
    assert states(outcomes) == {"a": "made"}
    assert sum(server.asked.values()) == 10
    (reason,) = bring_up_to_date(boards, boards.out, check=True).boards[0].reasons
    verdicts = read_rows(boards.out / "a" / "judging" / "judgments.parquet").table
    assert reason == f"pairs without a verdict: {18 - len(verdicts)} over_budget"
    boards = configure(judging(server))
    assert states(make(boards)) == {"a": "made"}
    assert set(server.asked.values()) == {1}
    calls = len(server.asked)
    assert calls > 10
    assert len(read_rows(boards.out / "a" / "judging" / "judgments.parquet").table) == 18
    assert bring_up_to_date(boards, boards.out, check=True).is_current
    assert {path.name: path.read_bytes() for path in (place / "arena").iterdir()} == arena
    text = (boards.out / "manifest.json").read_text()
    assert f":{server.port}" not in text  # digests may hold its digits
    assert RunRecords.read(boards.out).boards["a"].ingredients["judge model"] == "local"
    shutil.rmtree(boards.out / "a")
    make(boards)
    assert sum(server.asked.values()) == calls


def test_where_nobody_answers_the_board_fails_and_is_tried_again(configure, make, server):
    boards = configure(judging(server))
    server.behave = lambda *_: completion("I do not know.")
    outcomes = make(boards)
    assert "unparsable" in outcomes["a"].error


@pytest.mark.slow
def test_pairs_are_judged_to_a_budget_beside_the_arena(configure, make, states, place, server):
    arena = {path.name: path.read_bytes() for path in (place / "arena").iterdir()}
    text = judging(server).replace("pairs = 6", "budget = 12")
    boards = configure(text)
    outcomes = make(boards)
    assert states(outcomes) == {"a": "made"}
    rows = read_rows(boards.out / "a" / "judging" / "judgments.parquet").table
    n_identical = (rows["flags"] == "identical").sum()
    assert len(rows) - n_identical == 12
    assert 6 < len(server.bodies) <= 12  # pairs of the same two texts share a call
    assert (rows["chosen"] == "adaptive").all()
    assert {path.name: path.read_bytes() for path in (place / "arena").iterdir()} == arena


def test_a_batch_that_is_awaited_is_no_failure_and_the_next_run_collects_it(
    configure, make, states, place, run
):
    with BatchServer(by_length) as server:
        text = judging(server, "batch = true")
        boards = configure(text, [server.url])
        outcomes = make(boards)
        assert states(outcomes) == {"a": "awaited"}
        assert "batch" in str(outcomes["a"])
        assert run("run", place / "boards.toml", "--base-url", server.url) == 75
        server.work()
        outcomes = make(boards)
        assert states(outcomes) == {"a": "made"}
        assert set(server.asked.values()) == {1}
