"""Batches: sent, left, collected; what expires, fails, or is refused."""

import json
import sqlite3
from contextlib import closing

import batch_server
import chat_server as say
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from llm_requests import at, kept, prompts

from arena.data.errors import UsageError
from arena.llm import (
    Budget,
    Llm,
    LlmSettings,
    Price,
    RepliesAwaitedError,
    ask_table,
    dry_run,
    open_store,
    read_text,
)
from arena.llm.batches import sender as sending
from arena.llm.batches.awaiting import AwaitedReplies
from arena.llm.llm_settings import EmbeddingSettings
from arena.llm.replies import read_vector


@pytest.fixture
def server():
    with batch_server.BatchServer() as server:
        yield server


@pytest.fixture
def ask(server, store):
    """Ask the server by batches; returns what the run brought."""

    def ask(rows, parse=read_text, max_calls=None, **fields):
        quick = {"retries": 1, "batch": True} | fields
        llm = Llm(at(server, LlmSettings(model="m"), **quick), store, Budget(max_calls))
        return ask_table(rows, lambda prompt: prompt, parse, llm)

    return ask


def awaited(ask, *args, **fields):
    """Ask, and return the error that replies are awaited."""
    with pytest.raises(RepliesAwaitedError) as caught:
        ask(*args, **fields)
    return caught.value


def ledger(store):
    with closing(sqlite3.connect(store.path)) as connection:
        return connection.execute("SELECT * FROM batch_requests").fetchall()


def test_the_same_call_sends_and_collects(ask, server, store):
    rows = prompts(5) + prompts(2)
    error = awaited(ask, rows)
    assert (error.n_replies, error.exit_status) == (7, 75)
    assert "batch_1" in str(error)
    assert "7 replies are awaited" in str(error)
    assert not kept(store)
    server.validate()
    assert "in_progress, 0 of 5 done" in str(awaited(ask, rows))
    assert len(server.batches) == 1
    server.work()
    asked = ask(rows)
    assert asked.values == [f"echo question {n}" for n in (0, 1, 2, 3, 4, 0, 1)]
    usage = asked.usage
    assert (usage.calls, usage.collected, usage.from_store) == (0, 5, 0)
    assert (usage.tokens_in, usage.tokens_out) == (50, 15)
    assert set(server.asked.values()) == {1}
    assert not ledger(store)
    again = ask(rows)
    assert again.usage.from_store == 5
    assert again.values == asked.values
    assert len(server.batches) == 1


def test_replies_are_those_of_single_calls(ask, serve, server, store, tmp_path):
    def behave(prompt, _):
        number = int(prompt.split()[-1])
        kinds = [say.completion("\u2028 line\u2028"), say.filtered(), say.refused()]
        kinds += [say.error(400, "too long", code="context_length_exceeded")]
        kinds += [say.error(400, "no such thing"), say.completion("[[B]]", finish_reason="length")]
        return kinds[number % len(kinds)]

    server.behave = behave
    awaited(ask, prompts(12))
    server.work()
    brought = ask(prompts(12))
    with open_store(tmp_path / "single.sqlite") as other:
        llm = Llm(at(serve(behave), retries=0), other)
        single = ask_table(prompts(12), lambda prompt: prompt, read_text, llm)
        assert [(reply.value, reply.reason, reply.key) for reply in brought.replies] == [
            (reply.value, reply.reason, reply.key) for reply in single.replies
        ]
        assert brought.usage.failures == single.usage.failures
        assert kept(store) == kept(other)


def test_a_batch_that_expires_keeps_its_answers_and_asks_for_the_rest(ask, server, store):
    awaited(ask, prompts(6))
    server.work("expired", answered=4)
    error = awaited(ask, prompts(6))
    assert error.n_replies == 2
    assert "4 replies collected" in str(error)
    assert len(kept(store)) == 4
    assert len(server.lines_of("batch_2")) == 2
    server.work()
    assert None not in ask(prompts(6)).values
    assert set(server.asked.values()) == {1}
    assert sorted(row["tries"] for row in kept(store)) == [1, 1, 1, 1, 2, 2]


def test_what_expires_at_every_try_is_a_counted_failure_for_a_later_run(ask, server):
    awaited(ask, prompts(2))
    server.work("expired", answered=0)
    awaited(ask, prompts(2))
    server.work("expired", answered=0)
    asked = ask(prompts(2))
    assert asked.usage.failures == {"timeout": 2}
    assert not any(reply.was_asked for reply in asked.replies)
    awaited(ask, prompts(2))


def test_a_cancelled_batch_keeps_its_answers_and_sends_no_other(ask, server, store):
    awaited(ask, prompts(4))
    server.work("cancelled", answered=1)
    asked = ask(prompts(4))
    assert asked.usage.failures == {"cancelled": 3}
    assert len(server.batches) == 1
    # The batch is given up, so single calls may ask for the rest.
    assert None not in ask(prompts(4), batch=False).values
    assert set(server.asked.values()) == {1}


def test_passing_errors_of_lines_are_sent_again(ask, server):
    server.behave = lambda prompt, earlier: say.broken() if earlier == 0 else say.completion("ok")
    awaited(ask, prompts(3))
    server.work()
    awaited(ask, prompts(3))
    server.work()
    assert ask(prompts(3)).values == ["ok"] * 3


def test_a_batch_that_fails_validation_gives_the_servers_message(ask, server, store, monkeypatch):
    server.most_lines = 2
    awaited(ask, prompts(3))
    server.validate()
    with pytest.raises(UsageError, match=r"batch_1: The batch has more than 2 lines"):
        ask(prompts(3))
    assert not ledger(store)
    monkeypatch.setattr(sending, "MOST_LINES", 2)
    awaited(ask, prompts(3))
    server.work()
    assert ask(prompts(3)).usage.collected == 3


@pytest.mark.parametrize("limit", [{"MOST_LINES": 20}, {"MOST_BYTES": 2000}])
def test_batches_are_split_at_the_limits(ask, server, monkeypatch, limit):
    for name, value in limit.items():
        monkeypatch.setattr(sending, name, value)
    awaited(ask, prompts(70))
    files = [file["content"] for file in server.files.values()]
    lines = [content.splitlines() for content in files]
    assert sum(map(len, lines)) == 70
    if "MOST_LINES" in limit:
        assert [len(part) for part in lines] == [20] * 3 + [10]
    else:
        assert max(map(len, files)) <= 2000
        assert all(
            len(content) + len(part[0]) > 2000
            for content, part in zip(files[:-1], lines[1:], strict=True)
        )
    server.work()
    assert ask(prompts(70)).values == [f"echo question {n}" for n in range(70)]


def test_a_batch_over_the_limit_of_tokens_is_refused_in_the_servers_words(ask, server):
    awaited(ask, prompts(4))
    message = "Enqueued token limit reached for m. Please try again once some batches completed."
    errors = [{"code": "token_limit_exceeded", "message": message, "line": None, "param": None}]
    server.batches["batch_1"] |= {"status": "failed", "errors": {"data": errors}}
    with pytest.raises(UsageError, match=r"Enqueued token limit.*`max_calls`"):
        ask(prompts(4))
    assert awaited(ask, prompts(4), max_calls=2).n_replies == 2
    assert len(server.lines_of("batch_2")) == 2


def test_most_calls_counts_what_is_under_way(ask, server):
    for _ in range(3):
        assert awaited(ask, prompts(4), max_calls=3).n_replies == 3
    assert len(server.batches) == 1
    server.work()
    assert awaited(ask, prompts(4), max_calls=3).n_replies == 1
    server.work()
    assert ask(prompts(4), max_calls=3).usage.failures == {}


def test_what_is_awaited_is_not_asked_one_by_one(ask, server):
    awaited(ask, prompts(2))
    with pytest.raises(UsageError, match=r"awaited in batches at .*`batch`"):
        ask(prompts(3), batch=False)
    assert not server.asked
    assert None not in ask(prompts(4)[2:], batch=False).values


def test_batches_of_another_server_are_collected_there(ask, server):
    awaited(ask, prompts(2))
    with batch_server.BatchServer() as other:
        with pytest.raises(UsageError, match=server.url):
            ask(prompts(2), base_url=other.url)
        assert not other.batches


def test_batches_are_collected_whatever_is_asked(ask, server):
    awaited(ask, prompts(3))
    server.work()
    awaited(ask, [*prompts(4)[3:]])
    assert ask(prompts(3)).usage.from_store == 3
    assert len(server.batches) == 2


@pytest.mark.parametrize("name", ["POST /v1/files", "POST /v1/batches"])
@pytest.mark.parametrize("is_carried_out", [True, False])
def test_an_answer_that_is_lost_repeats_nothing(ask, server, name, is_carried_out):
    if is_carried_out:
        server.lose = {name}
    else:
        server.refuse = {name: say.dropped()}
    with pytest.raises(UsageError, match="run the same command again"):
        ask(prompts(3), retries=0)
    server.lose, server.refuse = set(), {}
    # Later batches of the account, on several pages of the list.
    for number in range(5):
        server.files[f"other-{number}"] = {"content": b"", "name": "other"}
        server.create(f"other-{number}")
    awaited(ask, prompts(3))
    server.work()
    assert None not in ask(prompts(3)).values
    assert set(server.asked.values()) == {1}


@pytest.mark.parametrize(
    ("status", "words"),
    [(401, "the key is not accepted"), (404, "batch interface"), (400, "not that"), (302, "302")],
)
@pytest.mark.parametrize("name", ["POST /v1/files", "POST /v1/batches"])
def test_a_refusal_is_told(ask, server, store, monkeypatch, status, words, name):
    monkeypatch.setenv("SOME_KEY", "sk-secret-key")
    server.refuse = {name: say.error(status, "not that, sk-secret-key")}
    with pytest.raises(UsageError, match=words) as caught:
        ask(prompts(3), retries=0, api_key_env="SOME_KEY")
    assert server.url in str(caught.value)
    assert "secret" not in str(caught.value)
    server.refuse = {}
    awaited(ask, prompts(3))
    server.work()
    assert ask(prompts(3)).usage.collected == 3
    assert set(server.asked.values()) == {1}


def test_a_batch_that_the_server_lost_is_not_sent_again(ask, server, store):
    awaited(ask, prompts(3))
    lost = dict(server.batches)
    server.batches.clear()
    with pytest.raises(UsageError, match=r"batch_1.*No such Batch.*key"):
        ask(prompts(3))
    assert len(ledger(store)) == 3
    server.batches.update(lost)
    server.work()
    assert ask(prompts(3)).usage.collected == 3


def test_what_no_call_can_change_stops_the_run(ask, server):
    server.behave = lambda *_: say.error(400, "temperature is not supported", param="temperature")
    awaited(ask, prompts(3))
    server.work()
    with pytest.raises(UsageError, match=r"temperature is not supported.*omit"):
        ask(prompts(3))
    server.behave = lambda *_: say.completion("ok")
    awaited(ask, prompts(3), omit=("temperature",))
    server.work()
    assert ask(prompts(3), omit=("temperature",)).values == ["ok"] * 3


def test_results_hold_no_key(ask, server, store, monkeypatch):
    monkeypatch.setenv("SOME_KEY", "sk-secret-key")
    server.behave = lambda *_: say.completion("the key is sk-secret-key")
    awaited(ask, prompts(1), api_key_env="SOME_KEY")
    server.work()
    asked = ask(prompts(1), api_key_env="SOME_KEY")
    assert asked.values == ["the key is [key]"]
    assert "secret" not in str(kept(store))


@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    junk=st.lists(
        st.one_of(
            st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")),
            st.recursive(
                st.none() | st.integers() | st.text(max_size=5),
                lambda inner: st.dictionaries(
                    st.sampled_from(["custom_id", "response", "error", "status_code", "body"]),
                    inner,
                ),
            ).map(lambda line: json.dumps(line).encode()),
        ),
        max_size=8,
    )
)
def test_lines_that_are_none_answer_nothing(server, junk, tmp_path_factory):
    path = tmp_path_factory.mktemp("junk") / "store.sqlite"
    with open_store(path) as store:
        llm = Llm(at(server, LlmSettings(model="m"), batch=True), store)
        rows = prompts(2)
        with pytest.raises(RepliesAwaitedError):
            ask_table(rows, lambda prompt: prompt, read_text, llm)
        server.work()
        output = server.files[list(server.batches.values())[-1]["output_file_id"]]
        output["content"] = b"\n".join([*junk, output["content"]])
        asked = ask_table(rows, lambda prompt: prompt, read_text, llm)
    assert asked.values == ["echo question 0", "echo question 1"]


@pytest.mark.parametrize(
    "change",
    [
        {"status": None},
        {"status": 7, "request_counts": "many"},
        {"status": "completed", "output_file_id": 5, "error_file_id": ["x"]},
        {"status": "failed", "errors": "many"},
        {"status": "failed", "errors": {"data": [{"code": {}, "message": 5, "line": []}, 7]}},
        {"status": "in_progress", "request_counts": {"total": "all", "completed": None}},
    ],
)
def test_odd_states_end_in_a_sentence(ask, server, change):
    awaited(ask, prompts(2))
    server.batches["batch_1"] |= change
    with pytest.raises((UsageError, RepliesAwaitedError)):
        ask(prompts(2))


def test_embeddings_go_in_batches_too(ask, server, store):
    server.behave = lambda *_: say.embedding([1.0, 2.0])
    asked_of = at(server, EmbeddingSettings(model="m"), batch=True)
    llm = Llm(asked_of, store)
    with pytest.raises(RepliesAwaitedError):
        ask_table(prompts(2), lambda prompt: prompt, read_vector, llm)
    assert {line["url"] for line in server.lines_of("batch_1")} == {"/v1/embeddings"}
    server.work()
    asked = ask_table(prompts(2), lambda prompt: prompt, read_vector, llm)
    assert asked.values == [(1.0, 2.0)] * 2


def test_several_steps_send_before_the_first_one_waits(ask, server):
    gathered = AwaitedReplies()
    for model in ("m", "n"):
        with gathered.gathered():
            ask(prompts(2), model=model)
    with pytest.raises(RepliesAwaitedError) as caught:
        gathered.require_none()
    assert caught.value.n_replies == 4
    assert len(caught.value.batches) == len(server.batches) == 2


def test_a_dry_run_counts_what_is_awaited_and_costs_are_of_what_was_collected(ask, server, store):
    asked_of = LlmSettings(model="m", batch=True)
    awaited(ask, prompts(3))
    planned = dry_run(prompts(4), at(server, asked_of), store)
    assert (planned.awaited, planned.in_store, planned.calls) == (3, 0, 1)
    server.work()
    usage = ask(prompts(3)).usage
    assert usage.cost({"m": Price(1.0, 5.0)}) == pytest.approx((30 * 1.0 + 9 * 5.0) / 1e6)


def test_batches_have_a_cost_and_no_limit_of_it(ask, server, store):
    prices = {"m": Price(1e6, 1e6)}
    awaited(ask, prompts(3))
    server.work()
    settings = at(server, LlmSettings(model="m"), batch=True)
    n_requests = len(server.carried_out)
    limited = Llm(settings, store, Budget(max_cost=100.0, prices=prices))
    with pytest.raises(UsageError, match="not known before"):
        ask_table(prompts(3), lambda prompt: prompt, read_text, limited)
    assert len(server.carried_out) == n_requests
    budget = Budget(prices=prices)
    ask_table(prompts(3), lambda prompt: prompt, read_text, Llm(settings, store, budget))
    assert budget.cost == pytest.approx(3 * (10 + 3))
