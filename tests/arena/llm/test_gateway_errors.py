"""Errors of gateways and accounts: whether to wait, to go on, or to stop, and what is said."""

import json
import time
from datetime import UTC, datetime, timedelta

import chat_server as say
import pytest
from llm_requests import at, prompts

from arena.data.errors import UsageError
from arena.llm import Llm, LlmSettings, ask_table, read_text
from arena.llm.batch_lines import read_result_line
from arena.llm.error_reports import MOST_READ, reported
from arena.llm.faults import fault_of
from arena.llm.requests import request_for

FIELDS = ("temperature", "max_tokens", "logprobs", "reasoning_effort", "seed")


def fault(status, said, headers=None):
    text = said if isinstance(said, str) else json.dumps(said)
    return fault_of(reported(status, text), headers or {}, "", FIELDS)


def page(title, words):
    style = "<style>body {font-size: 9px; content: 'request size exceeds limit'}</style>"
    return f"<!DOCTYPE html><html><head><title>{title}</title>{style}</head><p>{words}</p></html>"


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (500, {"error": {"message": 'Post "http://x/v1": context deadline exceeded'}}),
        (504, {"error": {"message": "the request exceeded the time limit of its context"}}),
        (503, {"error": {"message": "the request timed out: its context size exceeded a budget"}}),
        (504, page("504 Gateway Time-out", "The request took longer than 100 seconds.")),
        (502, page("502", "The size of the request exceeds what the upstream&nbsp;sent.")),
        (503, page("Busy", "Content is blocked by our safety policy.")),
    ],
)
def test_time_limits_and_pages_of_gateways_are_no_long_or_filtered_prompts(status, said):
    found = fault(status, said)
    assert (found.again, found.advice) == (True, None)
    assert found.reason in {"server_error", "timeout"}


def test_the_words_of_a_page_are_shown_without_its_marks():
    found = fault(502, page("502 Bad Gateway", "No answer &amp; no luck."))
    assert found.detail == "status 502: 502 Bad Gateway No answer & no luck."
    assert fault(413, page("413", "Too large")).reason == "context_length"


def test_endless_pages_take_no_long_time():
    started = time.process_time()
    for part in ("<style", "<!--", "<", "<p>", "&amp"):
        fault(500, "<html>" + part * MOST_READ)
    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (429, {"code": "exhausted", "error": "Your team has used all available credits or reached "
               "its monthly spending limit."}),
        (403, {"code": "no permission", "error": "Your team doesn't have any credits yet."}),
        (403, {"error": {"message": "The free quota has been exhausted. Please pay.",
                         "code": "AllocationQuota.FreeTierOnly"}}),
        (403, {"detail": "Account 'x': Cloud credits expired"}),
        (429, {"error": {"message": "You have run out of credits"}}),
        (429, {"error": {"message": "Account balance is negative; add funds"}}),
        (429, {"error": {"message": "Quota exceeded for free_tier_requests, limit: 0, model: m. "
                         "Please retry in 56s.", "status": "RESOURCE_EXHAUSTED"}}),
    ],
)  # fmt: skip
def test_an_account_without_credit_is_told_from_a_rate_limit(status, said):
    assert "credit" in fault(status, said).advice


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("ThrottlingException: Too many tokens, please wait", "rate_limited"),
        ("Too many concurrent requests for this model", "rate_limited"),
        ("The model is overloaded", "server_error"),
        ("The provider has high demand; try again", "server_error"),
    ],
)
@pytest.mark.parametrize("status", [400, 422])
def test_a_busy_server_is_asked_again_whatever_its_status(message, reason, status):
    found = fault(status, {"error": message})
    assert (found.reason, found.again) == (reason, True)


def test_a_limit_of_characters_that_a_validation_states_is_a_long_prompt():
    place = ["body", "messages", 0, "content"]
    said = {"detail": [{"loc": place, "msg": "String should have at most 100000 characters"}]}
    assert fault(422, said).reason == "context_length"


def test_a_daily_limit_is_no_lack_of_credit():
    said = "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock more, limit: 0.5"
    found = fault(429, {"error": {"message": said}})
    assert (found.reason, found.advice) == ("rate_limited", None)


@pytest.mark.parametrize(
    "message",
    [
        "Country, region, or territory not supported",
        "Key limit exceeded (total limit)",
        "This model needs your consent to its terms",
    ],
)
def test_a_refused_permission_is_explained_in_the_words_of_the_server(message):
    found = fault(403, {"error": {"message": message}})
    assert message in found.detail
    assert found.advice


def test_parts_of_keys_are_not_shown():
    for key in ("gsk_ab****9876wxyz", "sk-ab***yz", "AIzaSyMadeUp-123", "hf_abcdefgh1234"):
        assert key not in fault(403, {"error": {"message": f"the key {key} may not"}}).detail


@pytest.mark.parametrize(
    ("message", "names"),
    [
        ("Argument not supported on this model: reasoningEffort", ["reasoning_effort"]),
        ("Logprobs is not supported for this model.", ["logprobs", 'verdict = "text"']),
        ("Thinking models do not allow changing temperature", ["temperature"]),
        ("Requested maxTokens 1024 is larger than the limit of 512", ["max_tokens"]),
        ("参数有误，temperature 非法", ["temperature"]),
    ],
)
def test_a_refused_field_is_known_however_its_name_is_written(message, names):
    setting = fault(400, {"error": {"message": message}}).setting
    assert all(name in setting for name in names)


@pytest.mark.parametrize(
    ("status", "said", "words"),
    [
        (405, {"detail": "Method Not Allowed"}, "base_url"),
        (400, {"error": {"message": "This is not a chat model."}}, "model's name"),
        (400, {"error": {"message": "The model `m` has been decommissioned."}}, "model's name"),
    ],
)
def test_a_wrong_address_or_model_stops_a_run_at_once(ask, status, said, words):
    with pytest.raises(UsageError, match=words):
        ask(prompts(20), lambda *_: say.Reply(said, status), concurrency=1)


def test_what_a_server_cannot_do_is_not_tried_again(ask):
    _, usage, _ = ask(prompts(2), lambda *_: say.error(501, "embeddings are turned off"))
    assert (usage.calls, usage.failures) == (2, {"rejected": 2})


def test_errors_with_names_in_capitals_count_as_what_they_say():
    assert fault(400, {"Code": "Throttling", "Message": "slow"}).reason == "rate_limited"
    assert fault(500, {"Message": "oops"}).detail == "status 500: oops"


def test_the_error_beside_a_response_without_a_body_is_the_one_of_a_batch_line():
    (prompt,) = prompts(1)
    request = request_for(prompt, LlmSettings(model="m"))
    line = {
        "response": {"status_code": 400, "body": None},
        "error": {"message": "prompt is too long: 210 tokens > 200 maximum"},
    }
    assert read_result_line(request, line, "").reason == "context_length"


def test_a_jailbreak_that_is_found_in_a_prompt_is_of_this_prompt():
    said = {"error": {"message": "Prompt injection found", "code": "jailbreak_detected"}}
    assert fault(403, said).reason == "content_filter"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"x-ratelimit-remaining-tokens-minute": "0", "x-ratelimit-reset-tokens-minute": "19.5",
          "x-ratelimit-remaining-requests-day": "8", "x-ratelimit-reset-requests-day": "33011"},
         19.5),
        ({"anthropic-ratelimit-tokens-remaining": "0", "anthropic-ratelimit-tokens-reset": "SOON",
          "anthropic-ratelimit-requests-remaining": "7"}, 20),
        ({"x-ratelimit-reset": "SOON"}, 20),
        ({"anthropic-ratelimit-tokens-remaining": "5", "anthropic-ratelimit-tokens-reset": "SOON"},
         0),
        ({"x-ratelimit-reset-tokens": "2026-99-99T00:00:00Z"}, 0),
    ],
)  # fmt: skip
def test_limits_are_waited_for_under_any_name_and_as_a_date(headers, seconds):
    soon = (datetime.now(UTC) + timedelta(seconds=20)).isoformat()
    stated = {name: soon if value == "SOON" else value for name, value in headers.items()}
    assert fault(429, {"message": "slow"}, stated).asked_wait_s == pytest.approx(seconds, abs=2)


@pytest.mark.parametrize("key", ["planted-abc…xyz", "planted-abc\nplanted-xyz"])
def test_a_key_that_no_header_can_hold_is_refused_before_any_call(serve, store, monkeypatch, key):
    monkeypatch.setenv("SOME_KEY", key)
    server = serve()
    llm = Llm(at(server, api_key_env="SOME_KEY"), store)
    with pytest.raises(UsageError, match="SOME_KEY has a character") as caught:
        ask_table(prompts(1), lambda row: row, read_text, llm)
    assert "planted" not in str(caught.value)
    assert not server.asked


def test_a_model_without_a_name_in_its_reply_is_the_one_asked(ask):
    reply = say.completion("good")
    reply.payload["model"] = ""
    replies, usage, _ = ask(prompts(3), lambda *_: reply)
    assert [each.value for each in replies] == ["good"] * 3
    assert usage.other_models == {}


@pytest.mark.parametrize(
    ("asked", "served", "is_accepted"),
    [
        ("Qwen/Qwen3-8B:together", "Qwen/Qwen3-8B", True),
        ("Qwen/Qwen3-8B:fireworks-ai", "qwen3-8b", True),
        ("Qwen/Qwen3-8B:together", "Qwen/Qwen3-32B", False),
        ("llama3:instruct", "llama3", False),
    ],
)
def test_a_host_named_behind_a_model_is_no_part_of_its_name(ask, asked, served, is_accepted):
    reply = say.completion("good")
    reply.payload["model"] = served
    replies, _, _ = ask(prompts(1), lambda *_: reply, settings=LlmSettings(model=asked))
    assert (replies[0].value == "good") == is_accepted


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        (b'"gr\xf6\xdfer"', "application/json; charset=iso-8859-1", "größer"),
        (b'"gr\xf6\xdfer"', "application/json", "gr\ufffd\ufffder"),
        (b'"A is better.\n\n[[A]]"', "application/json", "A is better.\n\n[[A]]"),
        (b'"[[A]]"', "application/json; charset=no-such", None),
    ],
)  # fmt: skip
def test_answers_in_other_encodings_and_with_bare_line_breaks_are_read(
    ask, body, content_type, text
):
    raw = b'\n\n{"choices": [{"message": {"content": ' + body + b'}, "finish_reason": "stop"}]}'
    reply = say.Reply(raw=raw, headers={"content-type": content_type})
    replies, _, _ = ask(prompts(1), lambda *_: reply, retries=0)
    assert replies[0].value == text


def test_an_answer_of_another_interface_is_named_and_paid_for_a_few_times_only(ask, store):
    message = {"content": [{"type": "text", "text": "A"}], "usage": {"input_tokens": 9}}
    replies, usage, _ = ask(prompts(1), lambda *_: say.Reply(message))
    assert (replies[0].reason, usage.calls) == ("malformed", 3)
    assert "another interface" in replies[0].detail
