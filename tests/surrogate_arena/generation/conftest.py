"""A RAG system at a server of the tests' own."""

import pytest

pytest.importorskip("openai", reason="needs the extra llm")

from surrogate_arena.generation import GenerationSettings, LlmSystem


@pytest.fixture
def system_at():
    """Return a system that a server answers for."""

    def system_at(server, prompt="mirage", model="m", name="", **fields):
        quick = {"timeout_s": 5.0} | fields
        asked = {"model": model, "base_url": server.url, "api_key_env": None, **quick}
        return LlmSystem.of(GenerationSettings(prompt=prompt, name=name, **asked))

    return system_at
