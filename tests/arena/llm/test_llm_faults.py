"""Servers that limit, break, hang, drop, filter and refuse."""

import time

import chat_server as say
import pytest
from llm_requests import at, kept, prompts
from pydantic import ValidationError

from arena.data.errors import UsageError
from arena.llm import Llm, LlmSettings, ask_table, read_text

PASSING = {
    "rate_limited": say.rate_limited,
    "server_error": say.broken,
    "connection": say.dropped,
    "malformed": say.truncated_json,
}


def first_bad(fault):
    return lambda prompt, earlier: fault() if earlier == 0 else say.completion("good")


@pytest.mark.parametrize(
    "fault",
    [
        say.broken,
        say.cut_body,
        say.empty_choices,
        lambda: say.rate_limited(0.05),
        lambda: say.Reply(raw=b"[" * 100_000),
    ],
)
def test_what_passes_is_tried_again(ask, fault):
    replies, usage, server = ask(prompts(6), first_bad(fault))
    assert [each.value for each in replies] == ["good"] * 6
    assert (usage.calls, usage.retries, usage.failures) == (12, 6, {})
    assert set(server.asked.values()) == {2}


@pytest.mark.parametrize("reason", PASSING)
def test_what_does_not_pass_is_a_counted_failure_for_a_later_run(ask, store, reason):
    def behave(prompt, _):
        return PASSING[reason]() if prompt == "question 1" else say.completion()

    replies, usage, server = ask(prompts(3) * 2, behave, retries=2)
    assert [each.reason for each in replies] == [None, reason, None] * 2
    assert not replies[1].was_asked
    assert replies[1].detail
    assert usage.failures == {reason: 2}
    assert server.asked["question 1"] == 3
    replies, usage, server = ask(prompts(3))
    assert [each.reason for each in replies] == [None] * 3
    assert usage.calls == 1
    assert [row["tries"] for row in kept(store)] == [1, 1, 1]


def test_hanging_servers_time_out(ask):
    replies, usage, _ = ask(prompts(2), lambda *_: say.hanging(), timeout_s=0.2, retries=1)
    assert [each.reason for each in replies] == ["timeout"] * 2
    assert usage.calls == 4


FINAL = {
    "content_filter": say.filtered,
    "refusal": say.refused,
    "empty": lambda: say.completion(None),
    "context_length": lambda: say.error(400, "too long", code="context_length_exceeded"),
}


@pytest.mark.parametrize("reason", FINAL)
def test_what_the_model_will_not_answer_is_final(ask, store, reason):
    first, usage, _ = ask(prompts(4), lambda *_: FINAL[reason]())
    assert [each.reason for each in first] == [reason] * 4
    assert usage.failures == {reason: 4}
    again, usage, _ = ask(prompts(4))
    assert [(each.reason, each.was_asked) for each in again] == [
        (each.reason, each.was_asked) for each in first
    ]
    assert usage.calls == 0
    assert len(kept(store)) == 4


def test_retry_after_holds_back_all_workers(ask):
    times = []

    def behave(prompt, earlier):
        times.append(time.monotonic())
        return say.rate_limited(0.5) if len(times) == 1 else say.completion()

    ask(prompts(3), behave, concurrency=1)
    assert times[1] - times[0] >= 0.5


def test_a_server_that_asks_for_too_long_is_left_alone(ask):
    replies, usage, _ = ask(prompts(1), lambda *_: say.rate_limited(3600))
    assert (replies[0].reason, usage.calls) == ("rate_limited", 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (say.error(401, "Incorrect API key provided: sk-secret-key"), "the key is not accepted"),
        (say.error(403, "no"), "may not use this model"),
        (say.error(404, "The model `m` does not exist"), "`m` does not exist.*model's name"),
        (say.error(429, "no", code="insufficient_quota"), "no credit left"),
        (say.error(400, "not supported", param="max_tokens"), "not supported.*max_tokens"),
        # A page may pass: ten prompts in a row, each asked again, stop the run.
        (say.Reply(raw=b"<html>", headers={"content-type": "text/html"}), "base_url leads"),
    ],
)
def test_what_no_call_can_change_stops_the_run(serve, store, monkeypatch, reply, words):
    monkeypatch.setenv("SOME_KEY", "sk-secret-key")
    server = serve(lambda *_: reply)
    llm = Llm(at(server, api_key_env="SOME_KEY", concurrency=4, retries=1), store)
    with pytest.raises(UsageError, match=words) as caught:
        ask_table(prompts(500), lambda row: row, read_text, llm)
    assert server.url in str(caught.value)
    assert "secret" not in f"{caught.value!r} {caught.value.__cause__} {llm!r}"
    assert sum(server.asked.values()) <= 24
    assert server.headers[0]["authorization"] == "Bearer sk-secret-key"
    assert "secret" not in str(kept(store))


def test_no_server_stops_the_run(store):
    llm = Llm(LlmSettings(model="m", base_url="http://127.0.0.1:9/v1"), store)
    with pytest.raises(UsageError, match=r"127\.0\.0\.1:9/v1 .*nothing answers there"):
        ask_table(prompts(50), lambda row: row, read_text, llm)


@pytest.mark.parametrize(
    "field",
    [
        *(
            {"base_url": url}
            for url in ("localhost:8000", "ftp://x", "http://", "https://a:b@c/v1")
        ),
        *({"concurrency": 0}, {"timeout_s": 0.0}, {"max_tokens": 0}, {"api_key_env": "sk-secret"}),
        *({"body": {"model": "m"}}, {"body": {"n": 2}}, {"store": "http://a:b@c"}, {"stream": 1}),
    ],
)
def test_settings_that_cannot_work_are_told(field):
    (name,) = field
    with pytest.raises(ValidationError, match=name):
        LlmSettings(model="m", **field)
