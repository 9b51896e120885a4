"""What goes over the wire: redirects, compression, proxies, time limits."""

import chat_server as say
import pytest
from llm_requests import at, prompts

from arena.data.errors import UsageError
from arena.llm import Llm, ask_table, read_text

PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch):
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.parametrize("ending", ["", "/", "/deployments/d"])
def test_calls_go_to_the_chat_completions_of_the_address(serve, store, ending):
    server = serve()
    llm = Llm(at(server, base_url=server.url + ending), store)
    asked = ask_table(prompts(2), lambda row: row, read_text, llm)
    assert asked.values == ["echo question 0", "echo question 1"]
    assert set(server.lines) == {f"POST /v1{ending.rstrip('/')}/chat/completions HTTP/1.1"}
    assert server.headers[0]["content-type"] == "application/json"


@pytest.mark.parametrize("status", [307, 308])
def test_redirects_are_refused_and_named(serve, store, monkeypatch, status):
    monkeypatch.setenv("SOME_KEY", "sk-secret-key")
    target = serve()
    moved = say.Reply({}, status, {"location": f"{target.url}/chat/completions?key=planted"})
    server = serve(lambda *_: moved)
    settings = at(server, api_key_env="SOME_KEY", concurrency=1)
    with pytest.raises(UsageError, match=target.url) as caught:
        ask_table(prompts(3), lambda row: row, read_text, Llm(settings, store))
    assert "planted" not in str(caught.value)
    assert server.headers[0]["authorization"] == "Bearer sk-secret-key"
    assert not target.asked


def test_proxies_of_the_environment_are_used(serve, store, monkeypatch):
    proxy = serve()
    monkeypatch.setenv("HTTP_PROXY", proxy.url.removesuffix("/v1"))
    llm = Llm(at(proxy, base_url="http://models.invalid/v1"), store)
    asked = ask_table(prompts(2), lambda row: row, read_text, llm)
    assert asked.values == ["echo question 0", "echo question 1"]
    assert proxy.lines[0] == "POST http://models.invalid/v1/chat/completions HTTP/1.1"
