"""A server of batches for tests: keeps files, and ends a batch when it is told to."""

import json
import threading
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def answered(key, text="[[A]]"):
    choice = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": text},
    }
    body = {"choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}
    return {"custom_id": key, "response": {"status_code": 200, "body": body}, "error": None}


def refused_line(key, message="too long"):
    body = {"error": {"message": message}}
    return {"custom_id": key, "response": {"status_code": 400, "body": body}, "error": None}


class BatchServer:
    """Keeps files and batches; ``end(line of ...)`` ends all batches with lines of a function."""

    def __init__(self):
        self.files, self.batches, self.requests = {}, {}, []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                server.requests.append(("POST", self.path))
                if self.path == "/v1/files":
                    head = b"content-type: " + self.headers["content-type"].encode() + b"\r\n\r\n"
                    parts = BytesParser(policy=HTTP).parsebytes(head + body).iter_parts()
                    (sent,) = [part for part in parts if part.get_filename()]
                    name = f"file-{len(server.files)}"
                    server.files[name] = sent.get_payload(decode=True).decode()
                    self.reply({"id": name, "object": "file"})
                elif self.path == "/v1/batches":
                    asked = json.loads(body)
                    name = f"batch-{len(server.batches)}"
                    made = {"id": name, "object": "batch", "status": "in_progress", **asked}
                    server.batches[name] = made
                    self.reply(made)
                else:
                    self.reply({"error": {"message": "no such thing"}}, 404)

            def do_GET(self):
                server.requests.append(("GET", self.path))
                parts = self.path.split("/")
                if parts[2] == "batches" and parts[3] in server.batches:
                    self.reply(server.batches[parts[3]])
                elif parts[2] == "files" and parts[3] in server.files:
                    self.reply(server.files[parts[3]])
                else:
                    self.reply({"error": {"message": "no such thing"}}, 404)

            def reply(self, content, status=200):
                body = content if isinstance(content, str) else json.dumps(content)
                self.send_response(status)
                self.send_header("content-length", str(len(body.encode())))
                self.end_headers()
                self.wfile.write(body.encode())

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def sent(self, batch):
        text = self.files[self.batches[batch]["input_file_id"]]
        return [json.loads(line) for line in text.splitlines()]

    def end(self, batch, line=answered, errors=None, status="completed"):
        keys = [row["custom_id"] for row in self.sent(batch)]
        for name, of in (("output_file_id", line), ("error_file_id", errors)):
            rows = [found for key in keys if of and (found := of(key)) is not None]
            if rows:
                self.files[f"{batch}-{name}"] = "".join(
                    json.dumps(row, ensure_ascii=False) + "\n" for row in rows
                )
                self.batches[batch][name] = f"{batch}-{name}"
        self.batches[batch]["status"] = status
