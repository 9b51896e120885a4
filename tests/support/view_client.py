"""A server of ``view`` in a thread, and a client that sends what a page of it would."""

import contextlib
import http.client
import json
import threading
from pathlib import Path


class Client:
    """Sends requests as a page of the server does, unless headers say otherwise."""

    def __init__(self, server):
        self.server = server
        self.port = server._access.port
        self.origin = f"http://127.0.0.1:{self.port}"

    def ask(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        sent = {"Origin": self.origin, "Content-Type": "application/json"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        content = body if body is None or isinstance(body, bytes) else json.dumps(body)
        headers = {name: value for name, value in sent.items() if value is not None}
        with contextlib.closing(connection):
            connection.request(method, path, content, headers)
            reply = connection.getresponse()
            return reply.status, reply.headers, reply.read().decode()

    def json(self, method, path, body=None, **headers):
        status, _, text = self.ask(method, path, body, **headers)
        assert status == 200, text
        return json.loads(text)


@contextlib.contextmanager
def served(app, host="127.0.0.1", port=0):
    from surrogate_arena.voting.server import Server

    server = Server(app, host, port)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield Client(server)
    finally:
        server.stop()
        thread.join()


@contextlib.contextmanager
def running(folders, host="127.0.0.1", port=0):
    from surrogate_arena.voting.commands import _service

    board, _ = folders
    with served(_service(Path(board), None).app(), host, port) as client:
        yield client
