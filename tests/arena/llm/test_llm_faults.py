"""Servers that limit, break, hang, drop, filter and refuse."""

import random
import time

import chat_server as say
import pytest
from llm_requests import SETTINGS, endpoint, prompts

from arena.data.errors import UsageError
from arena.llm import Endpoint, ModelSettings, complete

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
        *PASSING.values(),
        say.cut_body,
        say.empty_choices,
        lambda: say.rate_limited(0.05),
        lambda: say.Reply(raw=b"[" * 100_000),
    ],
)
def test_what_passes_is_tried_again(ask, sqlite_store, fault):
    outcomes, usage, server = ask(prompts(6), sqlite_store, first_bad(fault))
    assert [each.value for each in outcomes] == ["good"] * 6
    assert (usage.calls, usage.retries, usage.failures) == (12, 6, {})
    assert set(server.asked.values()) == {2}


@pytest.mark.parametrize("reason", PASSING)
def test_what_does_not_pass_is_a_counted_failure_for_a_later_run(ask, store, reason):
    def behave(prompt, _):
        return PASSING[reason]() if prompt == "question 1" else say.completion()

    outcomes, usage, server = ask(prompts(3) * 2, store, behave, retries=2)
    assert [each.failure for each in outcomes] == [None, reason, None] * 2
    assert outcomes[1].completion is None
    assert outcomes[1].detail
    assert usage.failures == {reason: 2}
    assert server.asked["question 1"] == 3
    outcomes, usage, server = ask(prompts(3), store)
    assert [each.failure for each in outcomes] == [None] * 3
    assert usage.calls == 1
    assert list(store.export().sort_values("tries")["tries"]) == [1, 1, 4]


@pytest.mark.parametrize(
    ("raw", "detail"),
    [
        (b"", "status 500"),
        (b'{"error": null}', 'status 500: {"error": null}'),
        (b'{"error": {"message": "no memory"}}', "status 500: no memory"),
        (b"[" * 100_000, "status 500: [["),
    ],
    ids=["empty", "null", "message", "deep"],
)
def test_what_a_server_says_of_its_error_is_kept(ask, sqlite_store, raw, detail):
    broken = say.Reply(raw=raw, status=500)
    outcomes, _, _ = ask(prompts(1), sqlite_store, lambda *_: broken, retries=0)
    assert outcomes[0].failure == "server_error"
    assert outcomes[0].detail.startswith(detail)
    assert outcomes[0].detail == detail or len(raw) > 1000


def test_hanging_servers_time_out(ask, sqlite_store):
    outcomes, usage, _ = ask(
        prompts(2), sqlite_store, lambda *_: say.hanging(), timeout_s=0.2, retries=1
    )
    assert [each.failure for each in outcomes] == ["timeout"] * 2
    assert usage.calls == 4


FINAL = {
    "content_filter": say.filtered,
    "refusal": say.refused,
    "empty": lambda: say.completion(None),
    "context_length": lambda: say.error(400, "too long", code="context_length_exceeded"),
}


@pytest.mark.parametrize("reason", FINAL)
def test_what_the_model_will_not_answer_is_final(ask, store, reason):
    first, usage, _ = ask(prompts(4), store, lambda *_: FINAL[reason]())
    assert [each.failure for each in first] == [reason] * 4
    assert usage.failures == {reason: 4}
    again, usage, _ = ask(prompts(4), store)
    assert [(each.failure, each.completion) for each in again] == [
        (each.failure, each.completion) for each in first
    ]
    assert usage.calls == 0
    assert store.verify() == 4


def test_a_filtered_prompt_told_by_status_is_final(ask, sqlite_store):
    reply = say.error(400, "The response was filtered", code="content_filter")
    outcomes, _, _ = ask(prompts(5), sqlite_store, lambda *_: reply)
    assert [each.failure for each in outcomes] == ["content_filter"] * 5


def test_retry_after_is_waited_for(ask, sqlite_store):
    started = time.monotonic()
    ask(prompts(1), sqlite_store, first_bad(lambda: say.rate_limited(0.6)))
    assert time.monotonic() - started >= 0.6


def test_retry_after_holds_back_all_workers(ask, sqlite_store):
    times = []

    def behave(prompt, earlier):
        times.append(time.monotonic())
        return say.rate_limited(0.5) if len(times) == 1 else say.completion()

    ask(prompts(3), sqlite_store, behave, concurrency=1)
    assert times[1] - times[0] >= 0.5


def test_a_server_that_asks_for_too_long_is_left_alone(ask, sqlite_store):
    outcomes, usage, _ = ask(prompts(1), sqlite_store, lambda *_: say.rate_limited(3600))
    assert (outcomes[0].failure, usage.calls) == ("rate_limited", 1)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (say.error(401, "Incorrect API key provided: sk-secret-key"), "the key is not accepted"),
        (say.error(403, "no"), "may not use this model"),
        (say.error(404, "The model `m` does not exist"), "`m` does not exist.*model's name"),
        (say.error(429, "no", code="insufficient_quota"), "no credit left"),
        (say.error(400, "logprobs is not supported"), "logprobs is not supported.*settings"),
        (say.Reply(raw=b"<html>", headers={"content-type": "text/html"}), "base_url leads"),
    ],
)
def test_what_no_call_can_change_stops_the_run(serve, store, monkeypatch, reply, words):
    monkeypatch.setenv("SOME_KEY", "sk-secret-key")
    server = serve(lambda *_: reply)
    where = endpoint(server, api_key_env="SOME_KEY", concurrency=4, retries=1)
    run = complete(prompts(500), SETTINGS, endpoint=where, store=store)
    with pytest.raises(UsageError, match=words) as caught:
        list(run)
    assert server.url in str(caught.value)
    assert "secret" not in f"{caught.value!r} {caught.value.__cause__} {where!r} {run!r}"
    assert sum(server.asked.values()) <= 12
    assert server.headers[0]["authorization"] == "Bearer sk-secret-key"
    assert "secret" not in store.export().to_json()
    assert not store.stats()["state"].eq("claimed").any()


def test_no_server_stops_the_run(serve, sqlite_store):
    with pytest.raises(UsageError, match=r"127\.0\.0\.1:9/v1 .*nothing answers there"):
        list(
            complete(
                prompts(50),
                SETTINGS,
                endpoint=Endpoint("http://127.0.0.1:9/v1"),
                store=sqlite_store,
            )
        )


def test_single_rejected_prompts_do_not_stop_a_run(ask, sqlite_store):
    def behave(prompt, _):
        return say.error(400, "odd") if prompt.endswith("9") else say.completion()

    _, usage, _ = ask(prompts(100), sqlite_store, behave, concurrency=1)
    assert usage.failures == {"rejected": 10}
    _, usage, _ = ask(prompts(100), sqlite_store, behave)
    assert (usage.calls, usage.failures) == (10, {"rejected": 10})


def test_no_key_is_told_before_any_call(sqlite_store, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    run = complete(prompts(1), SETTINGS, endpoint=Endpoint(), store=sqlite_store)
    with pytest.raises(UsageError, match=r"no key for https://api\.openai\.com.*OPENAI_API_KEY"):
        next(run)


def test_settings_that_cannot_work_are_told():
    for url in ("localhost:8000", "ftp://x", "http://", "https://user:pass@host/v1"):
        with pytest.raises(UsageError, match="base_url") as caught:
            Endpoint(url)
        assert "pass" not in str(caught.value)
    with pytest.raises(UsageError, match="concurrency is 0"):
        Endpoint(concurrency=0)
    with pytest.raises(UsageError, match="timeout_s must be above 0"):
        Endpoint(timeout_s=0)
    with pytest.raises(UsageError, match="model is empty"):
        ModelSettings("")
    with pytest.raises(UsageError, match="extra_body holds seed"):
        ModelSettings("m", extra_body={"seed": 1})
    with pytest.raises(UsageError, match="extra_body holds n;"):
        ModelSettings("m", extra_body={"n": 2})


def test_thousands_of_calls_with_random_faults(ask, sqlite_store):
    count, rng = 5000, random.Random(7)
    faults = [
        say.rate_limited,
        lambda: say.Reply({}, 429, {"retry-after-ms": "5"}),
        say.broken,
        say.dropped,
        say.cut_body,
        say.truncated_json,
        say.empty_choices,
        lambda: say.hanging(2.0),
        say.filtered,
        say.refused,
        lambda: say.completion(None),
        lambda: say.completion(usage=None),
    ]
    replies = []

    def behave(prompt, earlier):
        bad = rng.random() < 0.2
        reply = rng.choice(faults)() if bad else say.completion(prompt)
        replies.append(reply)
        return reply

    outcomes, usage, server = ask(
        prompts(count), sqlite_store, behave, concurrency=64, retries=1, timeout_s=1.0
    )
    assert [each.prompt for each in outcomes] == prompts(count)
    for each in outcomes:
        assert (each.value is None) == (each.failure is not None)
    assert len(server.asked) == count
    assert sum(server.asked.values()) == usage.calls == count + usage.retries
    assert max(server.asked.values()) == 2
    assert sum(usage.failures.values()) == sum(each.failure is not None for each in outcomes)
    assert {"refusal", "content_filter", "empty", "malformed", "connection"} <= set(usage.failures)
    rows = sqlite_store.export()
    assert len(rows) == count
    assert rows["tries"].sum() == usage.calls
    assert sqlite_store.verify() == count
    left = sum(each.completion is None for each in outcomes)
    again, usage, _ = ask(prompts(count), sqlite_store)
    assert usage.calls == left > 0
    assert sum(each.completion is not None for each in again) == count
