"""What servers send as an answer: in parts, cut, filtered, broken off, empty, as a stream."""

import time

import chat_server as say
import pytest
from hypothesis import given
from hypothesis import strategies as st
from llm_requests import SETTINGS, kept, prompts

from arena.data.errors import UsageError
from arena.llm import LlmSettings
from arena.llm.completions import read_completion
from arena.llm.names import names_deployments


def answer(content="A.", finish="stop", usage=None, choice=None, **message):
    first = {"message": {"content": content} | message, "finish_reason": finish} | (choice or {})
    return {"choices": [first], "usage": usage or {}}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("A.", "A."),
        ([{"type": "text", "text": "A."}], "A."),
        ([{"type": "thinking", "thinking": [{"type": "text", "text": "B?"}]},
          {"type": "text", "text": "A."}], "A."),
        ([{"type": "reasoning", "text": "B?"}, {"type": "output_text", "text": "A."}], "A."),
        ([{"type": "text", "text": "A"}, {"type": "text", "text": " is better."}], "A is better."),
        (["A", "."], "A."),
        ([{"type": "tool_use", "input": {"text": "B"}}, {"type": "text", "text": "A."}], "A."),
        ([{"reasoning": "B?"}, {"type": "text", "text": "A."}], "A."),
        ([{"type": "redacted_thinking", "data": "x"}, {"type": "text", "text": "A."}], "A."),
    ],
)  # fmt: skip
def test_the_text_parts_are_the_answer_and_thoughts_are_none(content, text):
    completion = read_completion(answer(content))
    assert (completion.text, completion.failure) == (text, None)


@given(
    st.lists(
        st.tuples(st.sampled_from(["text", "thinking", "reasoning", "output_text"]), st.text())
    )
)
def test_parts_of_any_number_are_joined_in_order(parts):
    content = [{"type": kind, "text": text} for kind, text in parts]
    expected = "".join(text for kind, text in parts if kind in {"text", "output_text"})
    completion = read_completion(answer(content))
    assert (completion.text or "") == expected.replace("\0", "\ufffd")
    assert completion.failure == (None if expected.strip() else "empty")


@pytest.mark.parametrize(
    ("stated", "finish", "failure"),
    [
        (None, None, None),
        ("", None, None),
        ("stop", "stop", None),
        ("STOP", "stop", None),
        ("end_turn", "stop", None),
        ("eos_token", "stop", None),
        ("tool_calls", "stop", None),
        ("MAX_TOKENS", "length", None),
        ("model_length", "length", None),
        ("SAFETY", "SAFETY", "content_filter"),
        ("content_filter: RECITATION", "content_filter: RECITATION", "content_filter"),
        ("other", "other", "broken_off"),
        ("insufficient_system_resource", "insufficient_system_resource", "broken_off"),
    ],
)
def test_what_ended_an_answer(stated, finish, failure):
    completion = read_completion(answer(choice={"finish_reason": stated}))
    assert (completion.finish_reason, completion.failure) == (finish, failure)


NO_TEXT = {
    "no message": {
        "choices": [{"finish_reason": "length"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 0, "total_tokens": 1124},
    },
    "cut with thoughts": answer(None, "length", reasoning_content="Let me compare"),
    "text in reasoning": answer(None, "stop", reasoning="A is better. [[A]]"),
    "thoughts alone": answer([{"type": "thinking", "thinking": "B?"}]),
    "null message": {"choices": [{"message": None, "finish_reason": "stop"}]},
    "white space": answer(" \n"),
    "no width": answer("\u200b"),
    "an end alone": answer("<|im_end|>"),
    "thoughts in the text": answer("<think>B?</think>\n"),
    "cut thoughts in the text": answer("<think>B?", "length"),
    "a tool's call": answer(
        None,
        "tool_calls",
        tool_calls=[{"function": {"name": "verdict", "arguments": '{"winner": "A"}'}}],
    ),
}
CURES = {
    "no message": "max_tokens",
    "cut with thoughts": "max_tokens",
    "text in reasoning": "reasoning.*body",
    "thoughts alone": "max_tokens",
    "thoughts in the text": "thoughts.*max_tokens",
    "cut thoughts in the text": "thoughts.*max_tokens",
    "a tool's call": "the model called a tool",
}


@pytest.mark.parametrize("kind", NO_TEXT)
def test_an_answer_without_a_text_is_asked_once_and_says_why(ask, store, kind):
    replies, usage, _server = ask(prompts(3), lambda *_: say.Reply(NO_TEXT[kind]))
    assert usage.failures == {"empty": 3}
    assert usage.calls == 3
    assert len(kept(store)) == 3
    assert all(each.detail for each in replies)
    if kind in CURES:
        import re

        assert re.search(CURES[kind], replies[0].detail)
    more = LlmSettings(model="m", max_tokens=4096)
    _, usage, _ = ask(prompts(3), settings=more)
    assert usage.calls == 3  # another limit asks again


def test_tokens_that_no_server_stated_are_not_zero(ask):
    unstated = say.completion("A.", usage=None)
    _, usage, _ = ask(prompts(2), lambda *_: unstated)
    assert "tokens not stated" in str(usage)
    assert "0 tokens" not in str(usage)
    assert usage.as_json()["tokens_in"] is None
    _, usage, _ = ask(
        prompts(4)[2:], lambda prompt, _: unstated if "3" in prompt else say.completion()
    )
    assert "10 tokens in, 3 out (not stated of 1 answer)" in str(usage)


BROKEN = [
    say.Reply(answer("[[B]] would be right if", "error")),
    say.Reply(answer("[[B]] would be right if", "abort")),
    say.Reply(answer("B", "error", choice={"error": {"code": 502, "message": "upstream"}})),
    say.Reply(answer("B", choice={"error": {"message": "gone"}})),
]


@pytest.mark.parametrize("reply", BROKEN)
def test_an_answer_that_was_broken_off_is_none_and_asked_again_a_few_times(ask, store, reply):
    def behave(prompt, earlier):
        return say.completion("good") if prompt.endswith("0") and earlier else reply

    replies, _usage, server = ask(prompts(2), behave)
    assert replies[0].value == "good"
    assert replies[1].value is None
    assert replies[1].reason in {"broken_off", "server_error"}
    assert server.asked == {"question 0": 2, "question 1": 3}
    assert not replies[1].was_asked
    assert len(kept(store)) == 1


def test_a_few_rejected_prompts_do_not_end_a_run(ask):
    def behave(prompt, _):
        return say.completion("good") if prompt.endswith("5") else say.error(400, "odd prompt")

    replies, usage, _ = ask(prompts(6), behave, concurrency=1)
    assert replies[5].value == "good"
    assert usage.failures == {"rejected": 5}
    assert "odd prompt" in str(usage)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("prompt is too long: 210345 tokens > 200000 maximum", "context_length"),
        ("Output data may contain inappropriate content.", "content_filter"),
    ],
)
def test_prompts_that_are_refused_one_by_one_never_end_a_run(ask, store, error, reason):
    _replies, usage, _ = ask(prompts(30), lambda *_: say.error(400, error))
    assert usage.failures == {reason: 30}
    assert usage.calls == 30
    assert len(kept(store)) == 30


def test_a_field_that_is_refused_ends_the_run_at_once_and_names_the_setting(ask):
    said = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens'."
    with pytest.raises(UsageError, match=r"max_completion_tokens = N.*temperature"):
        ask(prompts(100), lambda *_: say.error(400, said, param="max_tokens"), concurrency=2)


@pytest.mark.parametrize(
    ("settings", "sent"),
    [
        ({}, {"temperature": 0.0, "max_tokens": 1024}),
        ({"omit": ("temperature",)}, {"max_tokens": 1024}),
        ({"temperature": None, "max_tokens": None}, {}),
        ({"omit": ("temperature", "max_tokens")}, {}),
        ({"body": {"max_completion_tokens": 9}, "omit": ("temperature",)},
         {"max_completion_tokens": 9}),
        ({"body": {"top_p": 0.1}, "omit": ("top_p",)}, {"temperature": 0.0, "max_tokens": 1024}),
        ({"body": {"top_p": None}}, {"temperature": 0.0, "max_tokens": 1024}),
        ({"body": {"reasoning_effort": "none"}, "omit": "temperature,max_tokens"},
         {"reasoning_effort": "none"}),
    ],
)  # fmt: skip
def test_any_field_can_be_left_out(settings, sent):
    assert LlmSettings(model="m", **settings).fields() == {"model": "m"} | sent


def test_what_is_asked_cannot_be_left_out():
    with pytest.raises(ValueError, match="messages"):
        LlmSettings(model="m", omit=("messages",))


def test_errors_inside_an_answer_count_as_what_they_say(ask):
    no_credit = say.Reply({"error": {"message": "Insufficient credits.", "code": 402}})
    with pytest.raises(UsageError, match="no credit left"):
        ask(prompts(50), lambda *_: no_credit, concurrency=2)
    waits = say.Reply(
        {"error": {"code": 429, "message": "slow", "details": [{"retryDelay": "0.5s"}]}}
    )
    times = []

    def behave(prompt, earlier):
        times.append(time.monotonic())
        return waits if len(times) == 1 else say.completion("good")

    replies, _, _ = ask(prompts(2), behave, concurrency=1)
    assert [each.value for each in replies] == ["good", "good"]
    assert times[1] - times[0] >= 0.5


def test_deployments_of_azure_have_names_of_their_own():
    assert names_deployments("https://r.openai.azure.com/openai/v1")
    assert not names_deployments("https://openai.azure.com.example.org/v1")
    assert not names_deployments(SETTINGS.base_url)
