"""What is asked, what comes back, and what is asked again."""

import json
import math
from dataclasses import replace

import pytest
from chat_server import broken, completion
from llm_requests import SETTINGS, kept, prompts

from arena.llm import (
    LlmSettings,
    Message,
    Price,
    Prompt,
    TokenLogprobs,
    UnparsableError,
    ask_table,
    dry_run,
    read_text,
)
from arena.llm.replies import candidate_masses


def number_in(completion):
    word = completion.text.split()[-1]
    if not word.isdecimal():
        raise UnparsableError("no number")
    return int(word)


def test_each_row_gets_what_its_prompt_brought(serve, llm_at):
    server = serve(lambda prompt, _: broken() if "2" in prompt else completion(prompt))
    llm = llm_at(server, retries=0)
    asked = ask_table([1, 2, 3, "x"], lambda row: Prompt.of(f"say {row}"), number_in, llm)
    assert asked.values == [1, None, 3, None]
    assert [reply.reason for reply in asked.replies] == [None, "server_error", None, "unparsable"]
    assert [reply.was_asked for reply in asked.replies] == [True, False, True, True]
    assert [row for row, _ in asked] == [1, 2, 3, "x"]
    assert asked.usage.failures == {"server_error": 1, "unparsable": 1}
    table = asked.table()
    assert list(table["value"]) == asked.values
    assert table["key"].str.len().eq(64).all()
    nothing = ask_table([], lambda row: Prompt.of(row), read_text, llm)
    assert (nothing.values, nothing.usage.prompts) == ([], 0)


def test_stages_share_a_budget_and_note_their_usage(serve, llm_at):
    server = serve()
    llm = llm_at(server, max_calls=5)
    first = ask_table(range(3), lambda row: Prompt.of(f"first {row}"), read_text, llm)
    other = replace(llm, settings=llm.settings.model_copy(update={"model": "n"}))
    second = ask_table(range(4), lambda row: Prompt.of(f"second {row}"), read_text, other)
    assert [reply.reason for reply in first.replies] == [None] * 3
    assert [reply.reason for reply in second.replies] == [None, None, "over_budget", "over_budget"]
    assert not second.replies[-1].was_asked
    assert [usage.sent for usage in llm.budget.usages] == [3, 2]
    assert llm.budget.calls_left == 0
    assert sum(server.asked.values()) == 5
    again = ask_table(range(3), lambda row: Prompt.of(f"first {row}"), read_text, llm)
    assert again.usage.from_store == 3


def test_replies_come_in_the_order_of_prompts(ask):
    delays = {"question 0": 0.2, "question 3": 0.1}

    def behave(prompt, _):
        reply = completion(prompt.upper())
        reply.delay_s = delays.get(prompt, 0)
        return reply

    replies, usage, server = ask(prompts(20), behave)
    assert [each.value for each in replies] == [f"QUESTION {n}" for n in range(20)]
    assert not any(each.from_store for each in replies)
    assert (usage.prompts, usage.calls, usage.retries) == (20, 20, 0)
    assert (usage.tokens_in, usage.tokens_out) == (200, 60)
    assert usage.failures == {}
    assert 1 < server.most_at_once <= 8


def test_nothing_is_asked_twice(ask, store):
    first, _, _ = ask(prompts(10))
    again, usage, server = ask(prompts(12))
    assert sum(server.asked.values()) == 2
    assert [each.value for each in again[:10]] == [each.value for each in first]
    assert [each.key for each in again[:10]] == [each.key for each in first]
    assert (usage.from_store, usage.calls) == (10, 2)


def test_purpose_tells_equal_prompts_apart(ask):
    asked = [Prompt((Message("user", "q"),), purpose=f"repetition {n}") for n in range(3)]
    _, _, server = ask(asked)
    assert server.asked == {"q": 3}


@pytest.mark.parametrize(
    "change",
    [
        {"model": "n"},
        {"temperature": 1.0},
        {"temperature": None},
        {"max_tokens": 7},
        {"body": {"seed": 1}},
        {"body": {"response_format": {"type": "json_object"}}},
        {"body": {"top_p": 0.5}},
    ],
)
def test_semantic_settings_are_part_of_the_key(ask, change):
    ask(prompts(1))
    changed = LlmSettings(**({"model": "m"} | change))
    _, usage, server = ask(prompts(1), settings=changed)
    assert usage.calls == 1
    sent = server.bodies[0]
    (field, value), *_ = change.get("body", change).items()
    assert sent.get(field) == value


def test_results_hold_everything(ask, store):
    asked = [Prompt.of("q", system="be brief", version="v7")]
    ask(asked, lambda *_: completion("4\0", usage=(7, 2)))
    (row,) = kept(store)
    assert row["text"] == "4\ufffd"
    assert (row["tokens_in"], row["tokens_out"], row["tries"]) == (7, 2, 1)
    assert (row["model"], row["served_model"], row["prompt_version"]) == ("m", "m-001", "v7")
    assert json.loads(row["request"])["body"]["messages"][0] == {
        "role": "system",
        "content": "be brief",
    }
    assert len(kept(store)) == 1


def test_a_corrected_parser_reads_stored_answers_again(ask, store):
    def strict(_):
        raise UnparsableError("no verdict")

    replies, usage, _ = ask(prompts(2), parse=strict)
    assert {each.reason for each in replies} == {"unparsable"}
    assert replies[0].detail.startswith("no verdict")
    assert sorted(row["text"] for row in kept(store)) == ["echo question 0", "echo question 1"]
    assert usage.failures == {"unparsable": 2}
    replies, usage, _ = ask(prompts(2), parse=lambda c: len(c.text))
    assert [each.value for each in replies] == [15, 15]
    assert (usage.calls, usage.failures) == (0, {})


def test_progress_and_cost(serve, llm_at):
    seen = []
    asked = ask_table(
        range(4),
        lambda row: Prompt.of(str(row)),
        read_text,
        llm_at(serve()),
        stage="rating",
        progress=lambda *shown: seen.append(shown),
    )
    assert seen == [("rating", done, 4) for done in (1, 2, 3, 4)]
    assert asked.usage.cost({"m": Price(1e6, 2e6)}) == 4 * (10 + 2 * 3)
    assert asked.usage.cost({"other": Price(1, 1)}) is None
    assert "4 calls to m (0 retries)" in str(asked.usage)


def test_dry_run_counts_and_asks_nothing(ask, store):
    ask(prompts(3))
    asked = [*prompts(5), Prompt.of("日本語の質問"), *prompts(1)]
    plan = dry_run(asked, SETTINGS, store, {"m": Price(1e6, 1e6)})
    assert (plan.prompts, plan.distinct, plan.in_store, plan.calls) == (7, 6, 3, 3)
    assert plan.tokens_in == 2 * (3 + 4) + (5 + 4)
    assert plan.tokens_out_at_most == 3 * 1024
    assert plan.cost_at_most == plan.tokens_in + plan.tokens_out_at_most
    unlimited = dry_run(asked, LlmSettings(model="m", max_tokens=None))
    assert unlimited.calls == 6
    assert unlimited.tokens_out_at_most is unlimited.cost_at_most is None


def test_prompts_are_made_as_they_are_sent(serve, llm_at):
    made = []

    def prompt(row):
        made.append(row)
        if row == 700:
            raise ZeroDivisionError
        return Prompt.of(f"q{row}")

    server = serve()
    with pytest.raises(ZeroDivisionError):
        ask_table(range(100_000), prompt, read_text, llm_at(server))
    assert made == list(range(701))
    assert 100 < sum(server.asked.values()) <= 700


def test_what_stops_a_run_keeps_the_calls_under_way(serve, llm_at, store):
    def stop(_, done, __):
        if done == 10:
            raise KeyboardInterrupt

    server = serve(latency_s=0.05)
    with pytest.raises(KeyboardInterrupt):
        ask_table(prompts(100), lambda row: row, read_text, llm_at(server), progress=stop)
    assert len(kept(store)) == sum(server.asked.values()) < 100


DIGITS = set("12345")


def tokens(*places):
    logs = [{name: math.log(chance) for name, chance in place.items()} for place in places]
    return tuple(
        TokenLogprobs(next(iter(place)), next(iter(place.values())), tuple(place.items()))
        for place in logs
    )


def test_spellings_of_a_candidate_add_up():
    (token,) = tokens({" 4": 0.3, "４": 0.3, "1": 0.2})
    assert candidate_masses(token, {"4"}) == pytest.approx({"4": 0.6})


def test_the_chosen_token_counts_though_not_listed():
    token = TokenLogprobs("5", math.log(0.1), (("a", math.log(0.9)),))
    assert candidate_masses(token, DIGITS) == pytest.approx({"5": 0.1})


def test_log_probabilities_travel_through_the_store(ask):
    top = [{"token": "4", "logprob": math.log(0.75)}, {"token": "2", "logprob": -math.inf}]
    content = [{"token": "4", "logprob": math.log(0.75), "top_logprobs": top}]
    settings = LlmSettings(model="m", body={"logprobs": True, "top_logprobs": 5})

    def behave(*_):
        return completion("4", logprobs={"content": content})

    def parse(said):
        return candidate_masses(said.logprobs[0], DIGITS), said.logprobs[0].alternatives[1]

    for calls in (2, 0):
        replies, usage, _ = ask(prompts(2), behave, parse, settings)
        assert [each.value for each in replies] == [({"2": 0.0, "4": 0.75}, ("2", -9999.0))] * 2
        assert usage.calls == calls
