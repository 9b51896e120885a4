"""What the tests' own processes do: ask, and tell how it went."""

from dataclasses import asdict

from llm_requests import prompts

from arena.llm import (
    Llm,
    LlmSettings,
    RepliesAwaitedError,
    ask_table,
    open_store,
    read_text,
)


def ask_all(store_path, url, count, concurrency, pipe):
    server = {"base_url": url, "api_key_env": None, "concurrency": concurrency}
    with open_store(store_path) as store:
        llm = Llm(LlmSettings(model="m", **server), store)
        table = ask_table(prompts(count), lambda prompt: prompt, read_text, llm)
    pipe.send({"usage": asdict(table.usage), "values": table.values})


def ask_by_batches(store_path, url, count, pipe):
    """Send batches, or collect them; tell how many replies are awaited, or what they are."""
    settings = LlmSettings(
        model="m", base_url=url, api_key_env=None, batch=True, retries=1, timeout_s=300.0
    )
    report = {}
    with open_store(store_path) as store:
        try:
            table = ask_table(
                prompts(count), lambda prompt: prompt, read_text, Llm(settings, store)
            )
            report = {"values": table.values, "awaited": 0}
        except RepliesAwaitedError as error:
            report = {"awaited": error.n_replies}
    pipe.send(report)
