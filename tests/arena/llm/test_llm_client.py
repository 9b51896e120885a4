"""What is asked, what comes back, and what is asked again."""

import asyncio
import itertools
import json
import subprocess
import sys

import pytest
from chat_server import completion
from llm_requests import SETTINGS, endpoint, prompts

from arena.data.errors import UsageError
from arena.llm import (
    Message,
    ModelSettings,
    Price,
    Prompt,
    UnparsableError,
    complete,
    dry_run,
)


def test_outcomes_come_in_the_order_of_prompts(ask, store):
    delays = {"question 0": 0.2, "question 3": 0.1}

    def behave(prompt, _):
        reply = completion(prompt.upper())
        reply.delay_s = delays.get(prompt, 0)
        return reply

    outcomes, usage, server = ask(prompts(20), store, behave)
    assert [each.value for each in outcomes] == [f"QUESTION {n}" for n in range(20)]
    assert not any(each.from_store for each in outcomes)
    assert (usage.prompts, usage.calls, usage.retries) == (20, 20, 0)
    assert (usage.tokens_in, usage.tokens_out) == (200, 60)
    assert usage.failures == {}
    assert 1 < server.most_at_once <= 8


def test_nothing_is_asked_twice(ask, store):
    first, _, _ = ask(prompts(10), store)
    again, usage, server = ask(prompts(12), store)
    assert sum(server.asked.values()) == 2
    assert [each.value for each in again[:10]] == [each.value for each in first]
    assert [each.completion for each in again[:10]] == [each.completion for each in first]
    assert (usage.from_store, usage.calls) == (10, 2)


def test_equal_prompts_share_one_call(ask, store):
    outcomes, usage, server = ask(prompts(3) * 5, store)
    assert len(outcomes) == 15
    assert set(server.asked.values()) == {1}
    assert (usage.calls, usage.repeated) == (3, 12)


def test_purpose_tells_equal_prompts_apart(ask, store):
    asked = [Prompt((Message("user", "q"),), purpose=f"repetition {n}") for n in range(3)]
    _, _, server = ask(asked, store)
    assert server.asked == {"q": 3}


@pytest.mark.parametrize(
    "change",
    [
        {"model": "n"},
        {"temperature": 1.0},
        {"temperature": None},
        {"max_tokens": 7},
        {"seed": 1},
        {"logprobs": 0},
        {"response_format": {"type": "json_object"}},
        {"stop": ("\n",)},
        {"extra_body": {"top_p": 0.5}},
    ],
)
def test_semantic_settings_are_part_of_the_key(ask, sqlite_store, change):
    ask(prompts(1), sqlite_store)
    changed = ModelSettings(**({"model": "m"} | change))
    _, usage, server = ask(prompts(1), sqlite_store, settings=changed)
    assert usage.calls == 1
    sent = server.bodies[0]
    if "extra_body" in change:
        assert sent["top_p"] == 0.5
    elif "logprobs" in change:
        assert (sent["logprobs"], sent["top_logprobs"]) == (True, 0)
    else:
        (field, value), *_ = change.items()
        assert sent.get(field) == (list(value) if isinstance(value, tuple) else value)


def test_where_and_how_fast_is_no_part_of_the_key(ask, sqlite_store):
    ask(prompts(3), sqlite_store, concurrency=1, timeout_s=9.0, retries=1)
    _, usage, _ = ask(prompts(3), sqlite_store)  # a server at another port
    assert usage.calls == 0


def test_results_hold_everything(ask, store):
    asked = [Prompt.of("q", system="be brief", version="v7")]
    ask(asked, store, lambda *_: completion("4\0", usage=(7, 2)), parse=lambda c: {"n": c.text[0]})
    (row,) = store.export().to_dict(orient="records")
    assert row["text"] == "4\ufffd"
    assert row["parsed"] == {"n": "4"}
    assert (row["tokens_in"], row["tokens_out"], row["tries"]) == (7, 2, 1)
    assert row["latency_s"] > 0
    assert (row["model"], row["served_model"], row["prompt_version"]) == ("m", "m-0", "v7")
    assert row["request"]["body"]["messages"][0] == {"role": "system", "content": "be brief"}
    assert store.verify() == 1


def test_a_mended_parser_reads_stored_answers_anew(ask, store):
    def strict(_):
        raise UnparsableError("no verdict")

    outcomes, usage, _ = ask(prompts(2), store, parse=strict)
    assert {each.failure for each in outcomes} == {"unparsable"}
    assert outcomes[0].detail == "no verdict"
    assert outcomes[0].completion.text == "echo question 0"
    assert usage.failures == {"unparsable": 2}
    outcomes, usage, _ = ask(prompts(2), store, parse=lambda c: len(c.text))
    assert [each.value for each in outcomes] == [15, 15]
    assert (usage.calls, usage.failures) == (0, {})
    assert list(store.export()["parsed"]) == [15, 15]
    assert store.export()["failure"].isna().all()


def test_a_parser_that_breaks_stops_the_run_and_loses_nothing(ask, store):
    with pytest.raises(ZeroDivisionError):
        ask(prompts(50), store, parse=lambda c: 1 / 0)
    assert (store.stats()["rows"] * (store.stats()["state"] == "done")).sum() >= 1
    with pytest.raises(UsageError, match="what JSON cannot hold"):
        ask(prompts(50), store, parse=lambda c: c)


def test_prompts_are_taken_as_needed(serve, sqlite_store):
    taken = itertools.count()
    endless = (Prompt.of(f"q{next(taken)}") for _ in itertools.count())
    server = serve()
    with complete(endless, SETTINGS, endpoint=endpoint(server), store=sqlite_store) as run:
        for outcome in itertools.islice(run, 100):
            assert outcome.failure is None
    assert next(taken) <= 800
    assert not sqlite_store.stats()["state"].eq("claimed").any()


def test_leaving_early_keeps_what_was_asked(serve, store):
    server = serve(latency_s=0.05)
    run = complete(prompts(200), SETTINGS, endpoint=endpoint(server), store=store)
    next(run)
    run.close()
    done = store.stats().query("state == 'done'")["rows"].sum()
    assert done == sum(server.asked.values()) < 100
    assert set(store.stats()["state"]) == {"done", "open"}


def test_max_calls_leaves_the_rest_for_later(ask, store):
    outcomes, usage, _ = ask(prompts(10), store, max_calls=4)
    assert [each.failure for each in outcomes] == [None] * 4 + ["over_budget"] * 6
    assert (usage.calls, usage.failures) == (4, {"over_budget": 6})
    outcomes, usage, _ = ask(prompts(10), store, max_calls=4)
    assert [each.failure for each in outcomes] == [None] * 8 + ["over_budget"] * 2
    with pytest.raises(UsageError, match="max_calls is -1"):
        ask(prompts(1), store, max_calls=-1)


def test_inside_a_running_event_loop(ask, sqlite_store):
    async def cell():
        return ask(prompts(3), sqlite_store)[0]

    assert len(asyncio.run(cell())) == 3


def test_progress_and_cost(serve, sqlite_store):
    seen = []
    run = complete(
        prompts(4),
        SETTINGS,
        endpoint=endpoint(serve()),
        store=sqlite_store,
        progress=lambda usage: seen.append(usage.prompts),
    )
    list(run)
    assert seen == [1, 2, 3, 4]
    assert run.usage.cost({"m": Price(1e6, 2e6)}) == 4 * (10 + 2 * 3)
    assert run.usage.cost({"other": Price(1, 1)}) is None
    assert "4 calls to m (0 retries)" in str(run.usage)


def test_uncounted_tokens_leave_the_cost_open(ask, sqlite_store):
    _, usage, _ = ask(prompts(2), sqlite_store, lambda *_: completion(usage=None))
    assert usage.without_tokens == 2
    assert usage.cost({"m": Price(1, 1)}) is None


def test_dry_run_counts_and_asks_nothing(ask, store):
    ask(prompts(3), store)
    asked = [*prompts(5), Prompt.of("日本語の質問"), *prompts(1)]
    plan = dry_run(asked, SETTINGS, store, {"m": Price(1e6, 1e6)})
    assert (plan.prompts, plan.distinct, plan.in_store, plan.calls) == (7, 6, 3, 3)
    assert plan.tokens_in == 2 * (3 + 4) + (5 + 4)
    assert plan.tokens_out_at_most == 3 * 1024
    assert plan.cost_at_most == plan.tokens_in + plan.tokens_out_at_most
    unlimited = dry_run(asked, ModelSettings("m", max_tokens=None), count_tokens=len)
    assert (unlimited.calls, unlimited.tokens_out_at_most, unlimited.cost_at_most) == (
        6,
        None,
        None,
    )


def test_half_surrogates_are_told():
    with pytest.raises(UsageError, match="half a surrogate pair"):
        dry_run([Prompt.of("a\ud800")], SETTINGS)
    with pytest.raises(UsageError, match="no messages"):
        dry_run([Prompt(())], SETTINGS)
    with pytest.raises(UsageError, match="no JSON"):
        dry_run(prompts(1), ModelSettings("m", extra_body={"x": object()}))


def test_importing_loads_no_client():
    code = "import arena.llm, sys, json; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"openai", "aiohttp", "sqlalchemy", "jinja2", "httpx"} & set(json.loads(done.stdout))
