"""What the tests of the client ask, and where."""

from arena.llm import LlmSettings, Prompt

SETTINGS = LlmSettings(model="m")


def at(server, settings=SETTINGS, **fields):
    """Return settings that ask a server of the tests, which is quick to give up."""
    quick = {"backoff_s": 0.01, "timeout_s": 5.0, "longest_wait_s": 2.0, "api_key_env": None}
    return settings.model_copy(update={"base_url": server.url} | quick | fields)


def prompts(count):
    return [Prompt.of(f"question {number}") for number in range(count)]
