"""Errors of gateways and accounts: whether to wait, to go on, or to stop, and what is said."""

import json

import chat_server as say
import pytest
from llm_requests import at, prompts

from arena.data.errors import UsageError
from arena.llm import Llm, LlmSettings, ask_table, read_text
from arena.llm.server_errors import fault_of, reported, reported_error

FIELDS = ("temperature", "max_tokens", "logprobs", "reasoning_effort", "seed")


def fault(status, said, headers=None):
    text = said if isinstance(said, str) else json.dumps(said)
    return fault_of(reported(status, text), headers or {}, "", FIELDS)


@pytest.mark.parametrize(
    ("status", "said", "reason"),
    [
        (400, {"error": {"message": "prompt is too long: 210345 tokens > 200000 maximum"}},
         "context_length"),
        (400, [{"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "The input token "
                "count (1215321) exceeds the maximum number of tokens allowed (1048575)."}}],
         "context_length"),
        (400, {"error": {"code": 400, "type": "exceed_context_size_error", "message": "the request "
               "exceeds the available context size, try increasing it"}}, "context_length"),
        (500, {"error": {"message": "no", "code": "context_length_exceeded"}}, "context_length"),
        (413, "<html>Too large</html>", "context_length"),
        (400, {"error": {"message": "Output data may contain inappropriate content.",
                         "code": "data_inspection_failed"}}, "content_filter"),
        (403, {"error": {"message": "no", "code": "content_policy_violation"}}, "content_filter"),
        (429, {"error": {"message": "The context length is fine; slow down"}}, "rate_limited"),
        (400, {"error": {"message": "ThrottlingException: please wait"}}, "rate_limited"),
        (400, {"error": {"message": "rate-limited", "code": 429}}, "rate_limited"),
        (400, {"error": {"message": "The model is overloaded"}}, "server_error"),
        (500, {"error": {"message": "context deadline exceeded"}}, "server_error"),
        (503, "<html>Content is blocked by our safety policy: too long</html>", "server_error"),
        (504, "<html>Gateway Time-out</html>", "timeout"),
        (400, {"error": {"message": "`stop_sequences` is not allowed"}}, "rejected"),
    ],
)  # fmt: skip
def test_status_code_and_plain_phrases_decide(status, said, reason):
    found = fault(status, said)
    is_passing = reason in {"rate_limited", "server_error", "timeout"}
    assert (found.reason, found.again, found.advice) == (reason, is_passing, None)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (402, {"error": {"message": "no"}}),
        (429, {"error": {"message": "no", "code": "insufficient_quota"}}),
        (429, {"error": {"message": "You have run out of credits"}}),
    ],
)
def test_an_account_without_credit_is_told_from_a_rate_limit(status, said):
    assert "credit" in fault(status, said).advice


def test_an_error_with_status_200_counts_by_its_code():
    spent = reported_error({"error": {"message": "Add more to continue.", "code": 402}})
    assert "credit" in fault_of(spent, {}, "").advice
    limited = reported_error({"error": {"message": "free-models-per-min", "code": 429}})
    assert fault_of(limited, {}, "").reason == "rate_limited"
    assert reported_error({"choices": [{"message": {"content": "a"}}], "error": None}) is None


@pytest.mark.parametrize(
    ("headers", "said", "seconds"),
    [
        ({"retry-after": "7"}, {}, 7),
        ({"retry-after-ms": "1500", "retry-after": "7"}, {}, 1.5),
        ({}, [{"error": {"details": [{"retryDelay": "20s"}]}}], 20),
        ({}, {"error": {"metadata": {"retry_after": 3.5}}}, 3.5),
        ({}, {"error": {"message": "Please retry in 20.1s."}}, 0),
    ],
)
def test_waits_are_read_from_headers_and_fields(headers, said, seconds):
    assert fault(429, said, headers).asked_wait_s == seconds


def test_ten_equal_failures_in_a_row_end_a_run_in_the_words_of_the_server(ask):
    said = say.error(400, "the moon is in the wrong house")
    with pytest.raises(UsageError, match="10 prompts in a row failed so") as caught:
        ask(prompts(40), lambda *_: said, concurrency=1)
    assert "the moon is in the wrong house" in str(caught.value)

    def mostly(prompt, earlier):
        return say.completion() if prompt.endswith("5") else said

    _, usage, _ = ask(prompts(40), mostly, concurrency=1)
    assert usage.failures == {"rejected": 36}


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
    ("name", "message", "words"),
    [
        ("logprobs", "no", ['omit = ["logprobs"]', 'verdict = "text"']),
        ("max_tokens", "Use 'max_completion_tokens' instead.", ["max_completion_tokens = N"]),
        ("reasoning_effort", "no", ['omit = ["reasoning_effort"]']),
    ],
)
def test_a_refused_field_that_an_error_names_is_a_setting_to_change(name, message, words):
    setting = fault(400, {"error": {"message": message, "param": name}}).setting
    assert all(word in setting for word in words)
    place = {"detail": [{"loc": ["body", name], "msg": "Extra inputs are not permitted"}]}
    assert name in fault(422, place).setting


def test_a_wrong_address_stops_a_run_at_once(ask):
    said = say.Reply({"detail": "Method Not Allowed"}, 405)
    with pytest.raises(UsageError, match="base_url"):
        ask(prompts(20), lambda *_: said, concurrency=1)


def test_what_a_server_cannot_do_is_not_tried_again(ask):
    _, usage, _ = ask(prompts(2), lambda *_: say.error(501, "embeddings are turned off"))
    assert (usage.calls, usage.failures) == (2, {"rejected": 2})


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
    ],
)
def test_a_host_named_behind_a_model_is_no_part_of_its_name(ask, asked, served, is_accepted):
    reply = say.completion("good")
    reply.payload["model"] = served
    replies, _, _ = ask(prompts(1), lambda *_: reply, settings=LlmSettings(model=asked))
    assert (replies[0].value == "good") == is_accepted


@pytest.mark.parametrize(
    ("body", "text"),
    [(b'"gr\xf6\xdfer"', "gr\ufffd\ufffder"), (b'"Better.\n\n[[A]]"', "Better.\n\n[[A]]")],
)
def test_answers_in_other_encodings_and_with_bare_line_breaks_are_read(ask, body, text):
    raw = b'\n\n{"choices": [{"message": {"content": ' + body + b'}, "finish_reason": "stop"}]}'
    replies, _, _ = ask(prompts(1), lambda *_: say.Reply(raw=raw), retries=0)
    assert replies[0].value == text


def test_an_answer_of_another_interface_is_named_and_paid_for_a_few_times_only(ask, store):
    message = {"content": [{"type": "text", "text": "A"}], "usage": {"input_tokens": 9}}
    replies, usage, _ = ask(prompts(1), lambda *_: say.Reply(message))
    assert (replies[0].reason, usage.calls) == ("malformed", 3)
    assert "base_url leads" in replies[0].detail
