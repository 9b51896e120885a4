"""What the tests' own processes do: ask, and tell how it went."""

from dataclasses import asdict

from arena.llm import Endpoint, ModelSettings, Prompt, complete, open_store


def ask_all(store_url, url, count, concurrency, pipe):
    endpoint = Endpoint(url, api_key_env=None, concurrency=concurrency)
    asked = (Prompt.of(f"question {number}") for number in range(count))
    with open_store(store_url) as store:
        run = complete(asked, ModelSettings("m"), endpoint=endpoint, store=store)
        values = [outcome.value for outcome in run]
    pipe.send({"usage": asdict(run.usage), "values": values})
