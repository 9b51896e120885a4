"""Servers that lie, overload, repeat keys and answer as somebody else: what they say is counted."""

import gzip
import json
import tracemalloc

import chat_server as say
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llm_requests import SETTINGS, at, kept, prompts
from pydantic import ValidationError

from arena.data.errors import UsageError
from arena.llm import Llm, LlmSettings, Prompt, ask_table, open_store, read_text
from arena.llm.completions import MalformedAnswerError, read_completion, read_embedding
from arena.llm.names import is_same_model

KEY = "planted-Zq8vKx31-key"


ABSURD_WAITS = [
    *("Mon, 01 Jan 0001 00:00:00 +2359", "Fri, 31 Dec 9999 23:59:59 -2359", "1e308", "inf"),
    *("99999999999999999999999", "Mon, 99 Foo 99999 99:99:99 GMT", "0000", "\t", "nan", "-5"),
]


def test_absurd_waits_do_not_end_a_run(ask):
    def behave(prompt, earlier):
        place, is_paid = divmod(int(prompt.split()[-1]), 2)
        return say.completion("paid") if is_paid else say.rate_limited(ABSURD_WAITS[place])

    replies, usage, _ = ask(prompts(2 * len(ABSURD_WAITS)), behave, retries=0, concurrency=1)
    assert usage.failures == {"rate_limited": len(ABSURD_WAITS)}
    assert replies[-1].value == "paid"


ABSURD_USAGE = [2**63, 10**40, -1, 1.5, True, "10", None, [], {"a": 1}, 2**53 + 1]


BROKEN_LOGPROBS = [
    *[{"content": [{"token": "A", "logprob": chance}]} for chance in (10**400, "x", 710.0)],
    *[{"content": content} for content in ([{"token": None}], ["A"], 7)],
    [],
]


@pytest.mark.parametrize("field", ["usage", "logprobs"])
def test_absurd_counts_and_logprobs_leave_the_answer(ask, store, field):
    absurd = [(count, count) for count in ABSURD_USAGE] if field == "usage" else BROKEN_LOGPROBS

    def behave(prompt, earlier):
        return say.completion("paid", **{field: absurd[int(prompt.split()[-1])]})

    replies, usage, _ = ask(prompts(len(absurd)), behave)
    assert {each.value for each in replies} == {"paid"}
    assert usage.calls == len(absurd) == len(kept(store))
    assert usage.without_tokens == (len(absurd) if field == "usage" else 0)


@pytest.mark.parametrize(
    ("body", "encoding", "words"),
    [
        (b"x" * (33 * 2**20), "identity", "longer than 33554432 bytes"),
        (gzip.compress(b"x" * (80 * 2**20)), "gzip", "compressed as gzip"),
        (b"?", "br", "compressed as br"),
    ],
    ids=["long", "packed", "unknown"],
)
def test_answers_without_bound_are_counted_failures(ask, body, encoding, words):
    bomb = say.Reply(raw=body, headers={"content-encoding": encoding})

    def behave(prompt, earlier):
        return bomb if prompt.endswith("1") else say.completion("good")

    tracemalloc.start()
    replies, _, server = ask(prompts(2), behave, retries=0)
    assert tracemalloc.get_traced_memory()[1] < 150 * 2**20
    tracemalloc.stop()
    assert [each.reason for each in replies] == [None, "malformed"]
    assert words in replies[1].detail
    assert server.headers[0]["accept-encoding"] == "identity"


def test_an_answer_in_drops_ends_at_the_time_limit(ask):
    slow = say.completion("x" * 2000)
    slow.drip_s = 0.05  # a byte each: the answer would be whole after 100 seconds, without a pause
    replies, _, _ = ask(prompts(1), lambda *_: slow, retries=0, timeout_s=0.5)
    assert replies[0].reason == "timeout"


def _requests(count):
    from arena.llm.requests import request_for

    return [request_for(prompt, SETTINGS) for prompt in prompts(count)]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
MESSAGES = st.fixed_dictionaries({}, optional={"content": JSON, "refusal": JSON})
CHOICES = st.fixed_dictionaries(
    {"message": JSON | MESSAGES},
    optional={"finish_reason": JSON, "logprobs": JSON | st.fixed_dictionaries({"content": JSON})},
)
PAYLOADS = JSON | st.fixed_dictionaries(
    {"choices": JSON | st.lists(CHOICES, min_size=1, max_size=2)},
    optional={"model": JSON, "usage": JSON, "error": JSON},
)


@pytest.mark.slow
@settings(max_examples=300)
@given(PAYLOADS, st.sampled_from([read_completion, read_embedding]))
def test_whatever_json_comes_is_an_answer_or_malformed(payload, read):
    try:
        completion = read(payload)
    except MalformedAnswerError:
        return
    with open_store(":memory:") as store:
        (request,) = _requests(1)
        store.save(request, completion)
        kept = {request.key: completion} if completion.is_final else {}
        assert store.look_up([request.key]) == kept


def test_a_store_that_cannot_be_written_is_said(ask, store, monkeypatch):
    store._connection.execute("PRAGMA max_page_count = 14")  # as if the disk were full
    with pytest.raises(UsageError, match=r"store\.db"):
        ask(prompts(200), lambda *_: say.completion("x" * 3000))
    store._connection.execute("PRAGMA max_page_count = 100000")
    assert len(kept(store)) > 0


@pytest.mark.parametrize(
    ("asked", "served"),
    [
        *[("gpt-4o", "gpt-4o"), ("gpt-4o", "gpt-4o-2024-08-06"), ("gpt-4", "gpt-4-0613")],
        *[("openai/gpt-4o", "gpt-4o"), ("gpt-4o", "openai/gpt-4o-2024-08-06"), ("M", "m")],
        *[("llama3", "llama3:latest"), ("mistral-large-latest", "mistral-large-2411")],
        *[("qwen/x:free", "qwen/x"), ("gemini-1.5-pro", "gemini-1.5-pro-002")],
        *[("tiny", "/models/tiny.gguf"), ("tiny.gguf", "C:\\models\\tiny.gguf")],
        *[("gpt-4o:online", "openai/gpt-4o-2024-08-06"), ("openai/gpt-4o:nitro", "gpt-4o")],
        ("accounts/fireworks/models/llama-v3p1-8b-instruct", "llama-v3p1-8b-instruct"),
        *[
            ("models/gemini-2.0-flash", "gemini-2.0-flash-001"),
            ("Qwen/Qwen3-8B:x", "Qwen/Qwen3-8B"),
        ],
        ("gemini-2.5-flash", "gemini-2.5-flash-preview-05-20"),
        ("gemini-2.5-pro-exp", "gemini-2.5-pro-exp-03-25"),
        ("llama-3-8b-instruct", "Llama-3-8B-Instruct-Q4_K_M.gguf"),
        *[("llama3.1", "llama3.1:8b"), ("Llama3.1", "llama3.1:8b-instruct-q4_K_M")],
    ],
)
def test_names_that_mean_the_model_asked(asked, served):
    assert is_same_model(asked, served)


@pytest.mark.parametrize(
    ("asked", "served"),
    [
        *[("gpt-4o", "gpt-4o-mini"), ("gpt-4o", "gpt-4o-mini-2024-07-18"), ("gpt-4", "gpt-4.1")],
        *[("claude-sonnet-4-0", "claude-sonnet-4-5-20250929"), ("gpt-5", "gpt-5.1-2025-11-13")],
        *[("gpt-35-turbo", "gpt-35-turbo-16k"), ("llama3:8b", "llama3:70b"), ("o1", "o1-mini")],
        *[("claude-3-sonnet", "claude-3-5-sonnet-20240620"), ("gpt-4", "gpt-4-turbo")],
        *[("claude-opus-4", "claude-opus-4-1"), ("llama-3-8b", "llama-3-8b-instruct")],
        *[("gpt-oss:20b", "gpt-oss-120b"), ("m-Q4_K_M", "m-Q8_0")],
        *[("gemini-2.5-flash", "gemini-2.5-flash-lite-preview-06-17"), ("m-Q4_K_M", "m")],
        *[("gpt-4o-2024-08-06", "gpt-4o-2024-11-20"), ("gpt-4o-2024-08-06", "gpt-4o"), ("a", "")],
    ],
)
def test_names_that_mean_another_model(asked, served):
    assert not is_same_model(asked, served)


def answering_as(name, *, where=lambda prompt: True):
    def behave(prompt, earlier):
        reply = say.completion("said")
        if where(prompt):
            reply.payload["model"] = name
        return reply

    return behave


def test_another_model_is_refused_with_what_it_said_kept(ask, serve, store, llm_at):
    with pytest.raises(UsageError, match=r"cheap-1b.*any_model"):
        ask(prompts(50), answering_as("cheap-1b"), concurrency=2)
    assert {row["served_model"] for row in kept(store)} == {"cheap-1b"}
    paid = len(kept(store))
    assert paid >= 3
    server = serve(answering_as("cheap-1b"))
    asked = ask_table(prompts(50), lambda row: row, read_text, llm_at(server, any_model=True))
    assert asked.values == ["said"] * 50
    assert asked.usage.calls == 50 - paid
    assert asked.usage.other_models == {"cheap-1b": 50}


@pytest.mark.parametrize("body", [
    {"api_key": "x"}, {"extra": {"Authorization": "y"}}, {"headers": {"x-api-key": "z"}},
    {"user": "Bearer abcdefghij"}, {"user": ["sk-proj-0123456789abcdef"]}, {"access_token": "q"},
])  # fmt: skip
def test_what_looks_like_a_key_is_no_setting(body):
    with pytest.raises(ValidationError, match="looks like a key"):
        LlmSettings(model="m", body=body)


def test_the_key_itself_is_neither_sent_nor_kept(serve, store, store_path, monkeypatch):
    monkeypatch.setenv("SOME_KEY", KEY)
    server = serve()
    for asked in (prompts(1), [Prompt.of(f"my key is {KEY}")]):
        body = {"user": KEY} if asked == prompts(1) else {}
        llm = Llm(at(server, api_key_env="SOME_KEY", body=body), store)
        with pytest.raises(UsageError, match="holds the key of SOME_KEY") as caught:
            ask_table(asked, lambda row: row, read_text, llm)
        assert KEY not in str(caught.value)
    assert not server.asked
    assert not kept(store)


def echoing(prompt, earlier):
    """Repeat the key in every place where a server can."""
    kinds = {
        "0": say.completion(f"[[A]] {KEY}", usage=(KEY, 1)),
        "1": say.completion(None, refusal=f"no, {KEY}"),
        "2": say.error(400, f"bad key {KEY}", headers={"x-key": KEY}),
        "3": say.error(500, KEY),
        "4": say.Reply(raw=f"{KEY} is no JSON".encode()),
        "5": say.Reply({"choices": [], "error": KEY}),
        "6": say.completion("a", logprobs={"content": [_token(KEY[:5]), _token(KEY[5:])]}),
        "7": say.rate_limited(KEY),
        "8": say.Reply(raw=json.dumps(say.completion(KEY).payload | {"model": "m"}).replace(
            "planted", "\\u0070lanted").encode()),
        "9": say.completion("a", finish_reason=KEY),
    }  # fmt: skip
    return kinds.get(prompt.split()[-1], say.completion("fine"))


def _token(text):
    return {"token": text, "logprob": -0.1, "top_logprobs": []}


def test_a_key_that_a_server_repeats_is_nowhere(
    serve, store, store_path, monkeypatch, tmp_path, capfd
):
    monkeypatch.setenv("SOME_KEY", KEY)
    server = serve(echoing)
    settings = at(server, api_key_env="SOME_KEY", retries=1, concurrency=1)
    asked = ask_table(list(reversed(prompts(11))), lambda row: row, read_text, Llm(settings, store))
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert asked.replies[-1].value == "[[A]] [key]"
    assert asked.replies[2].value == "[key]"
    said = repr(asked) + asked.table().to_json() + str(asked.usage) + str(capfd.readouterr())
    assert KEY not in said
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    for path in files:
        assert KEY.encode() not in path.read_bytes()
