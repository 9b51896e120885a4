"""What servers say in place of an answer, in the words of many, and what it means here."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.llm import replies
from arena.llm.error_reports import reported, reported_error
from arena.llm.faults import fault_of, is_too_long

FIELDS = (
    *("temperature", "max_tokens", "top_p", "logprobs", "top_logprobs", "seed", "user"),
    "response_format",
)


def fault(status, said, headers=None):
    text = said if isinstance(said, str) else json.dumps(said)
    return fault_of(reported(status, text), headers or {}, "", FIELDS)


TOO_LONG = [
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 "
    "tokens. Please reduce the length of the messages.",
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (7976 "
    "in the messages, 1024 in the completion). Please reduce the length of the messages.",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "Invalid 'messages[0].content': string too long. Expected a string with maximum length 1048576,"
    " but got a string with length 1200000 instead.",
    "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000.",
    "prompt is too long: 210345 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input "
    "length or `max_tokens` and try again",
    "The input token count (1215321) exceeds the maximum number of tokens allowed (1048575).",
    "Unable to submit request because the input token count is 40000 but model only supports up to "
    "32768. Reduce the input token count and try again.",
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 "
    "`inputs` tokens and 1024 `max_new_tokens`",
    "Input validation error: `inputs` must have less than 1024 tokens. Given: 2000",
    "Input is too long for requested model.",
    "Too many input tokens. Max input tokens: 8192, request input token count: 9234",
    "Malformed input request: expected maxLength: 50000, actual: 60000, please reformat your input",
    "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
    "the request exceeds the available context size, try increasing it",
    "request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it",
    "input is too large to process. increase the physical batch size",
    "Requested tokens (9000) exceed context window of 4096",
    "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000. Try "
    "using a shorter prompt",
    "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]",
    "Please reduce the length of the messages or completion. Current length is 9000 while limit is "
    "8192",
    "Requested input length 9000 exceeds maximum input length 8191",
    "The decoder prompt (length 9000) is longer than the maximum model length of 8192. Make sure "
    "that `max_model_len` is no smaller than the number of text tokens.",
    "The prompt (total length 5000) is too long to fit into the model (context length 4096)",
    "'max_tokens' or 'max_completion_tokens' is too large: 1024. This model's maximum context "
    "length is 8192 tokens and your request has 7900 input tokens (1024 > 8192 - 7900).",
    "Input length (5000 tokens) exceeds the model's maximum context length (4096 tokens)",
    "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
    "Requested token count exceeds the model's maximum context length of 8192 tokens. You requested"
    " a total of 9000 tokens: 8000 tokens from the input messages and 1000 for the completion.",
    "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum "
    "context length",
    "The prompt is too long: 9000, model maximum context length: 8191",
    "the input length exceeds the context length",
    "prompt too long; exceeded max context length by 12 tokens",
    "prompt token count (9000) cannot exceed 4096. Please reduce the length of your prompt.",
    "prompt token count of 70000 exceeds the limit of 64000",
    "Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)",
    "the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model",
    "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded "
    "with context length of only 4096 tokens",
    "Prompt length 5000 is greater than max_seq_len 4096",
    "This endpoint's maximum context length is 8192 tokens. However, you requested about 9000 "
    "tokens (8500 of text input, 500 in the output). Please reduce the length of either one.",
    "Input text exceeds maximum length of 8192 tokens",
    "the max input characters is 20000",
    "Prompt exceeds max length",
    "Request too large for model `m` in organization `org_x` on tokens per minute (TPM): Limit "
    "6000, Requested 7000, please reduce your message size and try again.",
    "Request body too large for gpt-4o model. Max size: 8000 tokens.",
    "模型输入长度超过限制",
    "Requested token count 210000 is over the model's maximum of 200000",
    "The total number of tokens in your messages (9000) is above the allowed limit (8192)",
    "Message too long",
    "Token limit exceeded: 9000 > 8192",
    "This model only supports up to 4096 input tokens; your request contained 5000",
    "Prompt has 5000 tokens but the limit is 4096",
    "Number of tokens in the prompt (5,000) exceeds the context window of 4,096 tokens",
    "number of input tokens (9,001) has exceeded max_prompt_tokens (8,192) limit",
    "The message you submitted was too long, please submit something shorter.",
    "max_tokens (1024) + prompt tokens (8000) exceeds context 8192",
    "litellm.ContextWindowExceededError: BadRequestError",
    "Sequence length 9000 > 8192",
    "max_prompt_tokens exceeded",
    "exceeded max context: 9000",
    "Your input is larger than the model can handle",
    "Value at 'body' failed to satisfy constraint: Member must have length less than or equal to "
    "25000000",
]


@pytest.mark.parametrize("message", TOO_LONG)
@pytest.mark.parametrize("status", [400, 413, 422, 500])
def test_a_prompt_that_is_too_long_is_so_in_any_words(message, status):
    for said in (
        {"error": {"message": message}},
        {"error": message},
        {"message": message},
        {"detail": message},
        {"object": "error", "message": message, "type": "BadRequestError", "code": 400},
        message,
    ):
        found = fault(status, said)
        assert (found.reason, found.again, found.advice) == ("context_length", False, None)
    inside = reported_error({"error": {"message": message, "code": status}})
    assert fault_of(inside, {}, "").reason == "context_length"


@pytest.mark.parametrize(
    "code",
    [
        *["context_length_exceeded", "exceed_context_size_error", "string_above_max_length"],
        *["tokens_limit_reached", "request_too_large", "context_window_exceeded"],
    ],
)
def test_codes_of_long_prompts_need_no_words(code):
    assert fault(400, {"error": {"message": "no", "code": code}}).reason == "context_length"
    assert fault(400, {"error": {"message": "no", "type": code}}).reason == "context_length"


NOT_TOO_LONG = [
    (400, "max_tokens is too large: 32000. This model supports at most 16384 completion tokens, "
     "whereas you provided 32000."),
    (400, "max_tokens: 10000 > 8192, which is the maximum allowed number of output tokens"),
    (400, "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is"
     " less than the `context_window` for this model"),
    (400, "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens "
     "(100 in the messages, 4900 in the completion)."),
    (400, "<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 2000]"),
    (429, "Rate limit reached for m in org on tokens per min (TPM): Limit 10000, Used 9000, "
     "Requested 2000. Please try again in 6s."),
    (429, "You exceeded your current quota, please check your plan and billing details."),
    (429, "Too many requests"),
    (429, "Your request exceeded the daily token limit"),
    (400, "Value at 'user' failed: Member must have length less than or equal to 256"),
    (400, "temperature 20 > 2"),
    (400, "temperature must be less than or equal to 2"),
    (400, "Invalid 'user': string too long. Expected a string with maximum length 64."),
    (400, "top_logprobs must be at most 20"),
    (500, "The server had an error while processing your request. Sorry about that!"),
    (503, "The engine is currently overloaded, please try again later"),
    (408, "The request exceeded the time limit"),
    (400, "stop sequences must not be empty"),
    (400, "messages must not be empty; expected length >= 1"),
    (400, "json schema is too large"),
    (400, "Too many images in request"),
    (400, "The parameter messages should be a list"),
    (400, "prompt contains invalid characters"),
    (400, "messages: roles must alternate between user and assistant"),
    (400, "Invalid value for 'content': expected a string, got null."),
    (404, "The model `m` does not exist or you do not have access to it."),
    (402, "This request requires more credits, or fewer max_tokens. You requested up to 1024 tokens"
     ", but can only afford 500."),
]  # fmt: skip


@pytest.mark.parametrize(("status", "message"), NOT_TOO_LONG)
def test_limits_of_other_things_are_no_long_prompts(status, message):
    assert not is_too_long(reported(status, json.dumps({"error": {"message": message}})))
    assert fault(status, {"error": {"message": message}}).reason != "context_length"


FILTERED = [
    {"message": "Output data may contain inappropriate content.", "code": "data_inspection_failed"},
    {"message": "系统检测到输入或生成内容可能包含不安全或敏感内容", "code": "1301"},
    {"message": "The response was filtered due to the prompt triggering Azure OpenAI's content "
     "management policy.", "code": "content_filter"},
    {"message": "x", "code": "x", "innererror": {"code": "ResponsibleAIPolicyViolation"}},
    {"message": "Your prompt was flagged as potentially violating our usage policy."},
    {"message": "Your request was rejected as a result of our safety system.", "code": None},
    {"message": "Content Exists Risk", "type": "invalid_request_error"},
    {"message": "The prompt was blocked", "status": "PROHIBITED_CONTENT"},
    {"message": "blocked by SAFETY reasons"},
    {"message": "input new_sensitive", "code": 400},
    {"message": "Blocked by moderation"},
    {"message": "Request blocked by Gemini safety settings"},
    {"message": "Violated guardrail policy"},
    {"message": "the content of the prompt is illegal", "code": 336003},
    {"message": "安全审核未通过"},
    {"message": "litellm.ContentPolicyViolationError: BadRequestError"},
    {"message": "Output blocked by content filtering policy"},
    {"message": "m requires moderation. Your input was flagged for \"violence\".", "code": 403},
]  # fmt: skip


@pytest.mark.parametrize("error", FILTERED)
def test_a_filtered_prompt_is_so_in_any_words(error):
    assert fault(451, {"error": {"message": "no"}}).reason == "content_filter"
    for status in (400, 403, 422):
        found = fault(status, {"error": error})
        assert (found.reason, found.again, found.advice) == ("content_filter", False, None)
    assert fault_of(reported_error({"error": error}), {}, "").reason == "content_filter"


@pytest.mark.parametrize(
    "message",
    [
        "Parameter names are case-sensitive",
        "safety_settings is not supported",
        "insensitive",
        "Blocked by a firewall",
    ],
)
def test_other_errors_are_no_filters(message):
    assert fault(400, {"error": {"message": message}}).reason == "rejected"


ALL_FAIL = {
    401: [
        {"message": "API key not valid. Please pass a valid API key.", "status": "INVALID_ARGUMENT",
         "code": 400, "details": [{"reason": "API_KEY_INVALID"}]},
        {"message": "Incorrect API key provided: sk-abc", "code": "invalid_api_key"},
        {"message": "No auth credentials found", "code": 401},
        {"message": "invalid x-api-key", "type": "authentication_error"},
        {"message": "Authentication error", "code": 10000},
        {"message": "Invalid token"},
    ],
    402: [
        {"message": "Insufficient credits. Add more to continue.", "code": 402},
        {"message": "Insufficient Balance", "type": "unknown_error"},
        {"message": "Your credit balance is too low to access the API", "type": "invalid_request"},
        {"message": "You exceeded your current quota", "code": "insufficient_quota"},
        {"message": "Access denied, your account is overdue", "code": "Arrearage"},
        {"message": "no", "type": "exceeded_current_quota_error"},
        {"message": "Your account org-x is suspended, please check your plan and billing details"},
        {"message": "Budget has been exceeded! Current cost: 9", "type": "budget_exceeded"},
        {"message": "You have reached your specified API usage limits."},
    ],
    403: [
        {"message": "no", "status": "PERMISSION_DENIED"},
        {"message": "no", "code": "403"},
    ],
    404: [
        {"message": "no", "code": "model_not_found"},
        {"message": "m is not a valid model ID", "code": 400},
        {"message": "No endpoints found for m.", "code": 404},
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("status", "error"), [(status, error) for status in ALL_FAIL for error in ALL_FAIL[status]]
)
def test_what_no_call_can_change_has_advice_also_inside_an_answer(status, error):
    for found in (
        fault_of(reported_error({"error": error}), {}, ""),
        fault_of(reported_error({"choices": [{"error": error}]}), {}, ""),
        fault(400, {"error": error}),
    ):
        assert (found.reason, found.again) == ("rejected", False)
        expected = {401: "key is not", 402: "credit", 403: "may not use", 404: "model's name"}
        assert expected[status] in found.advice


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ({"message": "slow", "code": 429}, "rate_limited"),
        ({"message": "slow", "code": "429"}, "rate_limited"),
        ({"message": "slow", "code": "rate_limit_exceeded"}, "rate_limited"),
        ({"message": "slow", "status": "RESOURCE_EXHAUSTED"}, "rate_limited"),
        ({"message": "slow", "code": "Throttling.RateQuota"}, "rate_limited"),
        ({"message": "Rate limit exceeded"}, "rate_limited"),
        ({"message": "Overloaded", "type": "overloaded_error"}, "server_error"),
        ({"message": "no", "code": 502}, "server_error"),
        (
            {"message": "You exceeded your current quota", "status": "RESOURCE_EXHAUSTED"},
            "rate_limited",
        ),
        (
            {"message": "Too many tokens, please wait", "__type": "ThrottlingException"},
            "rate_limited",
        ),
        ({"message": "no", "status": "UNAVAILABLE"}, "server_error"),
        ({"message": "no", "status": "DEADLINE_EXCEEDED"}, "timeout"),
        ({"message": "Provider returned error"}, "server_error"),
        ("Something went wrong", "server_error"),
    ],
)
def test_what_may_pass_is_tried_again_also_inside_an_answer(error, reason):
    for payload in ({"error": error}, {"choices": [{"error": error}]}, [{"error": error}]):
        found = fault_of(reported_error(payload), {}, "")
        assert (found.reason, found.again, found.advice) == (reason, True, None)


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        ({"detail": "Rate limit exceeded"}, "rate_limited"),
        ({"detail": [{"loc": ["body", "top_p"], "msg": "extra fields not permitted"}]}, "rejected"),
        ({"message": "slow down", "code": "rate_limit_exceeded"}, "rate_limited"),
        ({"code": 429, "msg": "slow down", "data": None, "success": False}, "rate_limited"),
        ({"object": "list", "data": [{"embedding": [1.0]}], "message": "ok", "code": 1}, None),
        ({"success": False, "errors": [{"code": 429, "message": "slow"}]}, "rate_limited"),
        ({"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}, "rejected"),
        ({"detail": "Invalid token"}, "rejected"),
        (
            {"success": False, "errors": [{"code": 10000, "message": "Authentication error"}]},
            "rejected",
        ),
        ({"message": "Unauthorized"}, "rejected"),
        ({"message": "slow down"}, "rate_limited"),
        ({"choices": [{"message": {"content": "", "error": {"code": 429}}}]}, "rate_limited"),
        ({"choices": [], "error": None}, None),
        ({"choices": [{"message": {"content": "x"}}], "error": {}}, None),
        ({"choices": [{"message": {"content": "x"}}], "error": {"code": 0}}, None),
        ({"choices": [{"message": {"content": "x"}}], "base_resp": {"status_code": 0}}, None),
        ([], None),
        ("error", None),
    ],
)
def test_errors_in_place_of_an_answer(payload, reason):
    report = reported_error(payload)
    assert (None if report is None else fault_of(report, {}, "").reason) == reason


@pytest.mark.parametrize(
    ("said", "settings"),
    [
        ({"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with this "
          "model. Use 'max_completion_tokens' instead.", "param": "max_tokens"}},
         ["max_completion_tokens = N", '"temperature"']),
        ({"error": {"message": "Unsupported value: 'temperature' does not support 0.0 with this "
          "model. Only the default (1) value is supported.", "param": "temperature"}},
         ['omit = ["temperature"]']),
        ({"error": {"message": "`temperature` and `top_p` cannot both be specified for this model. "
          "Please use only one."}}, ['omit = ["temperature", "top_p"]']),
        ({"detail": [{"loc": ["body", "top_logprobs"], "msg": "Extra inputs are not permitted"}]},
         ['omit = ["top_logprobs"]']),
        ({"detail": [{"loc": ["body", "max_tokens"], "msg": "Extra inputs are not permitted"}]},
         ['omit = ["max_tokens"]']),
        ({"error": {"message": "temperature: `temperature` is deprecated for this model."}},
         ['omit = ["temperature"]']),
        ({"error": {"message": "Validation failed", "errors": [
            {"path": "temperature", "message": "must be > 0"}]}}, ['omit = ["temperature"]']),
        ({"error": {"message": "no", "errors": [{"field": "top_p", "message": "no"}]}},
         ['omit = ["top_p"]']),
        ({"error": {"message": "no", "errors": [{"path": ["body", "top_p"], "message": "no"}]}},
         ['omit = ["top_p"]']),
        ({"error": {"message": "body.temperature: Number must be greater than 0"}},
         ['omit = ["temperature"]']),
        ({"error": {"message": "Structured outputs are not supported by this model"}},
         ['omit = ["response_format"]', "replies` text"]),
        ({"error": {"message": "json_schema is not supported"}},
         ['omit = ["response_format"]']),
        ({"error": {"message": "Unrecognized request argument supplied: seed"}},
         ['omit = ["seed"]']),
        ({"error": {"message": "max_tokens is too large: 32000. This model supports at most 16384 "
          "completion tokens, whereas you provided 32000."}}, ["max_tokens"]),
        ({"message": "[{'type': 'extra_forbidden', 'loc': ('body', 'top_p'), 'msg': 'Extra inputs "
          "are not permitted'}]"}, ['omit = ["top_p"]']),
    ],
)  # fmt: skip
def test_an_error_that_names_a_field_says_which_settings_to_change(said, settings):
    for status in (400, 422):
        found = fault(status, said)
        assert found.reason == "rejected"
        assert all(each in found.setting for each in settings)


@pytest.mark.parametrize(
    ("status", "error", "reason"),
    [
        (400, {"message": "Too many tokens, wait", "__type": "ThrottlingException"},
         "rate_limited"),
        (400, {"message": "x", "__type": "com.amazon.coral#ThrottlingException"}, "rate_limited"),
        (400, {"message": "busy", "type": "engine_overloaded_error"}, "server_error"),
        (400, {"message": "Too many tokens", "__type": "ValidationException"}, "context_length"),
    ],
)  # fmt: skip
def test_a_code_counts_more_than_status_400(status, error, reason):
    for said in (error, {"error": error}):
        assert fault(status, said).reason == reason


def test_a_gateway_that_finds_no_server_for_all_fields_says_which_settings_to_change():
    said = {"message": "No endpoints found that can handle the requested parameters.", "code": 404}
    found = fault(404, {"error": said})
    assert (found.reason, found.advice) == ("rejected", None)
    assert '"response_format"' in found.setting


def test_errors_that_name_no_sent_field_say_nothing_of_settings():
    for message in ("the user asked for a seed", "stop is not supported", "no"):
        assert fault(400, {"error": {"message": message}}).setting is None


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"retry-after": "20"}, {}, 20),
        ({"retry-after-ms": "1500", "retry-after": "2"}, {}, 1.5),
        ({}, {"error": {"details": [{"@type": "RetryInfo", "retryDelay": "20s"}]}}, 20),
        ({}, {"error": {"details": [{"retryDelay": {"seconds": 7, "nanos": 500000000}}]}}, 7.5),
        ({}, {"error": {"message": "Please try again in 20s."}}, 20),
        ({}, {"error": {"message": "Please try again in 1m30s."}}, 90),
        ({}, {"error": {"message": "Please try again in 1m2.5s. Visit x"}}, 62.5),
        ({}, {"error": {"message": "Please try again in 500ms."}}, 0.5),
        ({}, {"error": {"message": "Please retry after 20 seconds."}}, 20),
        ({}, {"error": {"message": "Rate limited, retry in 2 minutes"}}, 120),
        ({}, {"message": "wait 3 seconds before the next request", "retry_after": 3}, 3),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6s",
          "x-ratelimit-remaining-requests": "9", "x-ratelimit-reset-requests": "6h"}, {}, 6),
        ({}, {"error": "Model m is currently loading", "estimated_time": 18.0}, 18),
        ({}, {"error": {"message": "slow", "retryAfterSeconds": 9}}, 9),
        ({}, {"error": {"message": "Slow down. Retry-After: 9"}}, 9),
        ({"ratelimit": "limit=10, remaining=0, reset=9"}, {}, 9),
        ({"ratelimit": "limit=10, remaining=3, reset=9"}, {}, 0),
        ({"ratelimit": '"day";r=0;t=9'}, {}, 9),
        ({"ratelimit": '"min";r=3;t=60,"day";r=0;t=9'}, {}, 9),
        ({"x-ratelimit-reset-after": "9"}, {}, 9),
        ({"x-ratelimit-reset-after": "9", "x-ratelimit-remaining": "2"}, {}, 0),
        ({}, {"error": {"message": "no"}}, 0),
        ({"retry-after": "nan"}, {"error": {"message": "in 20 s it said"}}, 0),
        ({}, {"error": {"message": "3 of 5 seconds used; try again"}}, 0),
    ],
)  # fmt: skip
def test_waits_are_read_wherever_they_stand(headers, body, seconds):
    assert fault(429, body, headers).asked_wait_s == pytest.approx(seconds)
    assert fault(503, body, headers).asked_wait_s == pytest.approx(seconds)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "message", "code", "detail", "loc", "choices", "retryDelay"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON, st.sampled_from([400, 403, 404, 413, 418, 422, 429, 500, 503]))
def test_whatever_a_server_says_is_a_fault(said, status):
    found = fault(status, json.dumps(said))
    assert found.reason in replies.PASSING | replies.FINAL
    report = reported_error(said)
    assert report is None or fault_of(report, {}, "").reason in replies.PASSING | replies.FINAL


@pytest.mark.slow
def test_endless_messages_take_no_long_time():
    for part in ("prompt ", "input too ", "try again in 1", "model ", "violat ", "a" * 10, "1" * 9):
        fault(400, {"error": {"message": part * 100_000}})
