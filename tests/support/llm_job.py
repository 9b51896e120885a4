"""What the tests' own processes do: ask, and tell how it went."""

from dataclasses import asdict

from llm_requests import prompts

from arena.llm import (
    Llm,
    LlmSettings,
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
