import pytest

pytest.importorskip("openai", reason="needs the extra llm: pip install 'surrogate-arena[llm]'")

from llm_requests import SETTINGS, at

from arena.llm import Budget, Llm, ask_table, read_text


@pytest.fixture
def llm_at(store):
    """Return the model of the tests at a server."""

    def llm_at(server, settings=SETTINGS, max_calls=None, **fields):
        return Llm(at(server, settings, **fields), store, Budget(max_calls))

    return llm_at


@pytest.fixture
def ask(serve, llm_at):
    """Ask a fresh server that behaves so; returns the replies, what was used, and the server."""

    def ask(asked, behave=None, parse=read_text, settings=SETTINGS, max_calls=None, **fields):
        server = serve(behave)
        llm = llm_at(server, settings, max_calls, **fields)
        brought = ask_table(asked, lambda prompt: prompt, parse, llm)
        return brought.replies, brought.usage, server

    return ask
