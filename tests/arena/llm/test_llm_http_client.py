"""The client below the SDK does what the SDK's own does, on the same wire."""

import asyncio
import gzip
import json

import chat_server as say
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st
from llm_requests import SETTINGS, endpoint, prompts

from arena.llm import Endpoint, ModelSettings, Prompt, complete
from arena.llm.settings import request_for
from arena.llm.transport import DirectClient, open_caller, open_http_client

PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
BODY = b'{"model":"m","messages":[{"role":"user","content":"\xc3\xa9"}]}'


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch):
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def posted(http_client, base_url, **options):
    async def post():
        async with openai.AsyncOpenAI(
            api_key="sk-some-key", base_url=base_url, http_client=http_client, max_retries=0
        ) as client:
            return await client.with_options(**options).post(
                "/chat/completions", cast_to=object, content=BODY
            )

    return asyncio.run(post())


def called(endpoint, times):
    async def call():
        async with open_caller(endpoint, "sk-some-key") as caller:
            return [await caller.call(BODY) for _ in range(times)]

    return asyncio.run(call())


@pytest.mark.parametrize("ending", ["", "/", "/deployments/d"])
def test_the_same_is_sent_as_by_the_client_of_the_sdk(serve, ending):
    server = serve()
    answers = called(Endpoint(server.url + ending, timeout_s=7), times=2)
    answer = posted(openai.DefaultAioHttpClient(), server.url + ending, timeout=7)
    assert {each.text for each in answers} == {answer["choices"][0]["message"]["content"]}
    ours, again, theirs = server.headers
    assert ours == again == theirs
    assert len(set(server.lines)) == 1
    assert server.bodies == [json.loads(BODY)] * 3


def test_a_rehearsal_sends_nothing(serve):
    server = serve()
    assert called(Endpoint(server.url), times=0) == []
    assert server.lines == []


@pytest.mark.parametrize("status", [307, 308])
def test_redirects_are_followed_without_the_key_for_another_host(
    serve, sqlite_store, monkeypatch, status
):
    monkeypatch.setenv("SOME_KEY", "sk-secret-key")
    target = serve()
    moved = say.Reply({}, status, {"location": f"{target.url}/chat/completions"})
    server = serve(lambda *_: moved)
    where = endpoint(server, api_key_env="SOME_KEY", concurrency=1)
    run = complete(prompts(3), SETTINGS, endpoint=where, store=sqlite_store)
    assert [each.value for each in run] == [f"echo question {number}" for number in range(3)]
    assert run.usage.calls == 3
    assert set(target.asked.values()) == {1}
    assert list(server.asked.values()) == [2, 1, 1]
    assert server.headers[0]["authorization"] == "Bearer sk-secret-key"
    assert all("authorization" not in headers for headers in target.headers)


def test_endless_redirects_are_a_counted_failure(ask, sqlite_store):
    moved = say.Reply({}, 307, {"location": "/v1/chat/completions"})
    outcomes, usage, _ = ask(prompts(1), sqlite_store, lambda *_: moved, retries=0)
    assert [each.failure for each in outcomes] == ["connection"]
    assert usage.calls == 1


def test_compressed_answers_are_read(ask, sqlite_store):
    reply = say.completion("good")
    squeezed = say.Reply(raw=gzip.compress(reply.body()), headers={"content-encoding": "gzip"})
    outcomes, _, server = ask(prompts(2), sqlite_store, lambda *_: squeezed)
    assert [each.value for each in outcomes] == ["good"] * 2
    assert "gzip" in server.headers[0]["accept-encoding"]


def test_badly_compressed_answers_are_counted_failures(ask, sqlite_store):
    torn = say.Reply(raw=b"no gzip", headers={"content-encoding": "gzip"})
    outcomes, usage, _ = ask(prompts(2), sqlite_store, lambda *_: torn, retries=1)
    assert [each.failure for each in outcomes] == ["connection"] * 2
    assert usage.calls == 4


def test_proxies_of_the_environment_are_used(serve, sqlite_store, monkeypatch):
    proxy = serve()
    monkeypatch.setenv("HTTP_PROXY", proxy.url.removesuffix("/v1"))
    where = Endpoint("http://models.invalid/v1", api_key_env=None)
    run = complete(prompts(2), SETTINGS, endpoint=where, store=sqlite_store)
    assert [each.value for each in run] == ["echo question 0", "echo question 1"]
    assert proxy.lines[0] == "POST http://models.invalid/v1/chat/completions HTTP/1.1"


@pytest.mark.parametrize("name", PROXIES[:3])
def test_with_a_proxy_the_client_is_that_of_the_sdk(monkeypatch, name):
    assert isinstance(open_http_client(1), DirectClient)
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert isinstance(open_http_client(1), openai.DefaultAioHttpClient)


def test_time_limits_hold_and_errors_are_those_of_the_sdk(serve):
    server = serve(lambda *_: say.hanging())
    with pytest.raises(openai.APITimeoutError):
        posted(DirectClient(1), server.url, timeout=0.1)
    with pytest.raises(openai.APIConnectionError):
        posted(DirectClient(1), "http://127.0.0.1:9/v1")
    with pytest.raises(openai.RateLimitError) as caught:
        posted(DirectClient(1), serve(lambda *_: say.rate_limited(7)).url)
    assert caught.value.response.headers["retry-after"] == "7"


@given(st.text(st.characters(exclude_categories=["Cs"])), st.sampled_from(["", ',"purpose":"']))
def test_what_is_sent_is_the_body_in_the_content(text, purpose):
    prompt = Prompt(Prompt.of(text + purpose, system=purpose).messages, purpose=purpose + text)
    request = request_for(prompt, ModelSettings("m", extra_body={"purpose": purpose, "z": text}))
    assert json.loads(request.body()) == json.loads(request.content)["body"]
