"""What the tests of the client ask, and where."""

from arena.llm import Endpoint, ModelSettings, Prompt

SETTINGS = ModelSettings("m")


def endpoint(server, **fields):
    quick = {"backoff_s": 0.01, "timeout_s": 5.0, "longest_wait_s": 2.0, "api_key_env": None}
    return Endpoint(server.url, **(quick | fields))


def prompts(count):
    return [Prompt.of(f"question {number}") for number in range(count)]
