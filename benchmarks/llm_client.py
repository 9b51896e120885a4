"""Times the LLM client against a local server of 50 ms latency.

    python benchmarks/llm_client.py [--calls 5000] [--concurrency 64] [--latency 0.05] [--repeats 3]

Lines: how long the calls take, against calls × latency / concurrency (the ideal), with bare aiohttp
and the SDK alone in turn with it for comparison, as the median of the repeats (lowest to highest);
what the store costs a result; and peak memory after 1,000 and after 20,000 calls. Each measurement
has a process of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any

WORDS = "Which of the two answers is better supported by its passages? " * 20
REPLY = {
    "id": "c",
    "object": "chat.completion",
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Answer A cites more. [[A]]"},
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 300, "completion_tokens": 9},
}


class _Answering(asyncio.Protocol):
    """Answers every request alike, after the latency."""

    latency_s = 0.05
    reply = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport
        self._received = b""

    def data_received(self, data: bytes) -> None:
        self._received += data
        end = self._received.find(b"\r\n\r\n") + 4
        if end < 4:
            return
        head = self._received[:end].lower()
        length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
        if len(self._received) >= end + length:
            self._received = self._received[end + length :]
            loop = asyncio.get_running_loop()
            loop.call_later(self.latency_s, self._transport.write, self.reply)


def _serve(latency_s: float, port: Connection) -> None:
    body = json.dumps(REPLY).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
    _Answering.reply = f"{head}\r\n\r\n".encode() + body
    _Answering.latency_s = latency_s

    async def run() -> None:
        server = await asyncio.get_running_loop().create_server(_Answering, "127.0.0.1", 0)
        port.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


def _bodies(count: int) -> Iterator[dict[str, Any]]:
    for number in range(count):
        yield {"model": "m", "messages": [{"role": "user", "content": f"{number} {WORDS}"}]}


async def _on_workers(
    ask: Callable[[dict[str, Any]], Awaitable[object]], count: int, concurrency: int
) -> None:
    bodies = _bodies(count)

    async def work() -> None:
        for body in bodies:
            await ask(body)

    await asyncio.gather(*(work() for _ in range(concurrency)))


def bare_aiohttp(url: str, count: int, concurrency: int) -> None:
    import aiohttp

    async def run() -> None:
        async with aiohttp.ClientSession() as session:

            async def ask(body: dict[str, Any]) -> None:
                async with session.post(f"{url}/chat/completions", json=body) as response:
                    await response.json()

            await _on_workers(ask, count, concurrency)

    asyncio.run(run())


def bare_sdk(url: str, count: int, concurrency: int) -> None:
    import openai

    async def run() -> None:
        async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:

            async def ask(body: dict[str, Any]) -> object:
                return await client.chat.completions.create(**body)

            await _on_workers(ask, count, concurrency)

    asyncio.run(run())


def sdk_untyped(url: str, count: int, concurrency: int) -> None:
    """Call by the SDK over aiohttp, without its typed models."""
    import openai

    async def run() -> None:
        async with openai.AsyncOpenAI(
            base_url=url, api_key="none", max_retries=0, http_client=openai.DefaultAioHttpClient()
        ) as client:

            async def ask(body: dict[str, Any]) -> object:
                sent = json.dumps(body).encode()
                return await client.post("/chat/completions", cast_to=object, content=sent)

            await _on_workers(ask, count, concurrency)

    asyncio.run(run())


def transport_alone(url: str, count: int, concurrency: int) -> None:
    """Call as the client does, without retries, store and hand-over."""
    from arena.llm import LlmSettings
    from arena.llm.settings import Request
    from arena.llm.transport import open_server

    async def run() -> None:
        settings = LlmSettings(base_url=url, api_key_env=None, concurrency=concurrency)
        async with open_server(settings, "none") as transport:

            async def ask(body: dict[str, Any]) -> object:
                return await transport.call(Request("", json.dumps(body), "", ""))

            await _on_workers(ask, count, concurrency)

    asyncio.run(run())


def client(url: str, count: int, concurrency: int) -> None:
    from arena.llm import Llm, LlmSettings, Prompt, ask_table, open_store, read_text

    settings = LlmSettings(model="m", base_url=url, api_key_env=None, concurrency=concurrency)
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "store.db") as store:
        llm = Llm(settings, store)
        asked = ask_table(range(count), lambda row: Prompt.of(f"{row} {WORDS}"), read_text, llm)
        if asked.usage.failures:
            raise SystemExit(f"calls failed: {asked.usage}")


def store_alone(url: str, count: int, concurrency: int) -> None:
    """Claim and save as a run does, without asking anybody."""
    del url, concurrency
    from arena.llm import Completion, LlmSettings, Prompt, open_store
    from arena.llm.settings import request_for
    from arena.llm.store import Result

    completion = Completion("Answer A cites more. [[A]]", "stop", tokens_in=300, tokens_out=9)
    settings, claimed = LlmSettings(model="m"), 64
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "store.db") as store:
        run_id = store.start_run()
        for start in range(0, count, claimed):
            numbers = range(start, min(start + claimed, count))
            requests = [request_for(Prompt.of(f"{each} {WORDS}"), settings) for each in numbers]
            store.claim(run_id, requests, "m")
            for request in requests:
                store.save(run_id, [Result(request.key, completion, tries=1)])


Job = Callable[[str, int, int], None]


def _measure(job: Job, url: str, count: int, concurrency: int, figures: Connection) -> None:
    job(url, min(count, 2 * concurrency), concurrency)  # imports and caches
    wall, busy = time.perf_counter(), time.process_time()
    job(url, count, concurrency)
    wall, busy = time.perf_counter() - wall, time.process_time() - busy
    figures.send((wall, busy, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def measured(job: Job, url: str, count: int, concurrency: int) -> tuple[float, float, float]:
    """Run a job in a process of its own; returns wall and CPU seconds and peak memory in MiB."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_measure, args=(job, url, count, concurrency, sender))
    process.start()
    sender.close()
    figures: tuple[float, float, float] = receiver.recv()
    process.join()
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=5000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--latency", type=float, default=0.05, help="seconds")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--memory", default="1000,20000", help="calls; '' leaves it out")
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    server = context.Process(target=_serve, args=(options.latency, sender), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{receiver.recv()}/v1"
    calls, concurrency = options.calls, options.concurrency
    ideal = calls * options.latency / concurrency
    print(f"{calls} calls, {concurrency} at a time, {options.latency * 1000:.0f} ms each")
    print(f"{'':14} {'× ideal':>21} {'CPU ms a call':>14}")
    jobs = {
        "bare aiohttp": bare_aiohttp,
        "SDK, typed": bare_sdk,
        "SDK, untyped": sdk_untyped,
        "transport": transport_alone,
        "client": client,
    }
    figures: dict[str, list[tuple[float, float]]] = {name: [] for name in jobs}
    for _ in range(options.repeats):
        for name, job in jobs.items():
            wall, busy, _ = measured(job, url, calls, concurrency)
            figures[name].append((wall / ideal, busy / calls * 1000))
    for name, measurements in figures.items():
        ratios, busy_ms = zip(*measurements, strict=True)
        spread = f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        print(f"{name:14} {spread:>21} {median(busy_ms):14.2f}")
    wall, busy, _ = measured(store_alone, url, calls, concurrency)
    print(f"store alone: {wall / calls * 1000:.2f} ms a result ({busy / calls * 1000:.2f} ms CPU)")
    for count in filter(None, options.memory.split(",")):
        _, _, peak = measured(client, url, int(count), concurrency)
        print(f"peak memory after {int(count):,} calls: {peak:.0f} MiB")
    server.terminate()
    server.join()


if __name__ == "__main__":
    main()
