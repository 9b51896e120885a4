"""A chat completions server for tests: says what it is told to, and remembers what it was asked."""

import asyncio
import json
import threading
from collections import Counter
from dataclasses import dataclass, field, replace


@dataclass
class Reply:
    """One answer of the server, or the lack of one."""

    payload: object = None
    status: int = 200
    headers: dict = field(default_factory=dict)
    delay_s: float = 0.0
    drop: bool = False
    cut: int | None = None  # bytes of the body that are sent before the connection is dropped
    raw: bytes | None = None
    drip_s: float = 0.0  # wait before each byte of the body

    def body(self) -> bytes:
        return self.raw if self.raw is not None else json.dumps(self.payload).encode()


def completion(text="[[A]]", *, finish_reason="stop", usage=(10, 3), logprobs=None, **message):
    choice = {"index": 0, "finish_reason": finish_reason, "logprobs": logprobs}
    choice["message"] = {"role": "assistant", "content": text} | message
    payload = {"id": "c", "object": "chat.completion", "model": None, "choices": [choice]}
    if usage:
        payload["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
    return Reply(payload)


def embedding(vector, usage=(4, 0)):
    payload = {"object": "list", "model": None, "data": [{"index": 0, "embedding": vector}]}
    if usage:
        payload["usage"] = {"prompt_tokens": usage[0], "total_tokens": usage[0]}
    return Reply(payload)


def error(status, message="no", headers=None, **fields):
    return Reply({"error": {"message": message} | fields}, status, headers or {})


def rate_limited(after=None):
    return error(429, "slow down", {} if after is None else {"retry-after": str(after)})


def broken():
    return error(500, "oops")


def dropped():
    return Reply(drop=True)


def cut_body():
    return Reply(completion().payload, cut=20)


def truncated_json():
    return Reply(raw=completion().body()[:-20])


def empty_choices():
    return Reply({"choices": []})


def hanging(seconds=30.0):
    reply = completion()
    reply.delay_s = seconds
    return reply


def filtered():
    return completion(None, finish_reason="content_filter")


def refused():
    return completion(None, refusal="I cannot judge this.")


class ChatServer:
    """Runs in a thread; ``behave(prompt, earlier)`` chooses the reply to the nth same prompt."""

    def __init__(self, behave=None, latency_s=0.0):
        self.behave = behave or (lambda prompt, earlier: completion(f"echo {prompt}"))
        self.latency_s = latency_s
        self.asked = Counter()
        self.bodies = []
        self.headers = []
        self.lines = []
        self.most_at_once = 0
        self._now = 0
        self._ready = threading.Event()

    def __enter__(self):
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()))
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._done.set)
        self._thread.join()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/v1"

    async def _main(self):
        self._loop, self._done = asyncio.get_running_loop(), asyncio.Event()
        self._tasks = set()
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._done.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader, writer):
        task = asyncio.current_task()
        self._tasks.add(task)
        try:
            while await self._serve_one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _serve_one(self, reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.lines.append(head.partition("\r\n")[0])
        headers = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if line)
        headers = {name.lower(): value for name, value in headers.items()}
        content = await reader.readexactly(int(headers.get("content-length", 0)))
        reply = self.reply_elsewhere(head.split(" ", 2)[:2], headers, content)
        if reply is not None:
            self.headers.append(headers)
            await asyncio.sleep(reply.delay_s)
            return await self._send(writer, reply)
        body = json.loads(content)
        prompt = body["messages"][-1]["content"] if "messages" in body else body["input"]
        self.bodies.append(body)
        reply = self.behave(prompt, self.asked[prompt])
        self.asked[prompt] += 1
        if isinstance(reply.payload, dict) and reply.payload.get("model", "") is None:
            reply = replace(reply, payload=reply.payload | {"model": f"{body['model']}-001"})
        self.headers.append(headers)
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        try:
            await asyncio.sleep(self.latency_s + reply.delay_s)
        finally:
            self._now -= 1
        return await self._send(writer, reply)

    def reply_elsewhere(self, method_and_path, headers, content):
        """Reply to requests at other paths than those of single calls, in servers that have any."""

    async def _send(self, writer, reply):
        if reply.drop:
            return False
        body = reply.body()
        fields = {"content-type": "application/json", "content-length": len(body)} | reply.headers
        lines = [f"HTTP/1.1 {reply.status} Status"]
        lines += [f"{name}: {value}" for name, value in fields.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode())
        if reply.drip_s:
            for byte in body:
                await asyncio.sleep(reply.drip_s)
                writer.write(bytes([byte]))
        else:
            writer.write(body[: reply.cut])
        await writer.drain()
        return reply.cut is None
