"""A server with the published batch interface: files, batches, states, errors, results.

https://platform.openai.com/docs/api-reference/batch and .../files
"""

import email
import email.policy
import json
import random
import threading
from collections import Counter
from urllib.parse import parse_qs, urlsplit

from chat_server import ChatServer, Reply, error

CREATED_AT = 1_700_000_000


class BatchServer(ChatServer):
    """Keeps batches until ``work`` answers them; ``behave`` replies to each line, as to calls.

    ``asked`` counts what the model answered, and what is paid for. ``stall`` and ``lose`` name
    requests, such as ``POST /v1/batches``, that are carried out, and whose reply never comes, or
    whose connection is dropped; ``refuse`` gives replies in their place.
    """

    def __init__(self, behave=None, most_lines=50_000):
        super().__init__(behave)
        self.most_lines = most_lines
        self.files = {}
        self.batches = {}
        self.stall = set()
        self.lose = set()
        self.refuse = {}
        self.carried_out = []
        self._lock = threading.Lock()

    def reply_elsewhere(self, method_and_path, headers, content):
        method, target = method_and_path
        address = urlsplit(target)
        parts = address.path.removeprefix("/v1/").split("/")
        if parts[0] not in {"files", "batches"}:
            return None
        name = f"{method} {address.path}"
        if name in self.refuse:
            return self.refuse[name]
        with self._lock:
            reply = self._routed(method, parts, parse_qs(address.query), headers, content)
            self.carried_out.append(name)
        reply.drop = name in self.lose
        if name in self.stall:
            reply.delay_s = 60.0
        return reply

    def _routed(self, method, parts, query, headers, content):
        match method, *parts:
            case "POST", "files":
                return self._upload(headers, content)
            case "GET", "files", file_id:
                return (
                    Reply(self._shown_file(file_id)) if file_id in self.files else missing("File")
                )
            case "GET", "files", file_id, "content":
                if file_id not in self.files:
                    return missing("File")
                octets = {"content-type": "application/octet-stream"}
                return Reply(raw=self.files[file_id]["content"], headers=octets)
            case "POST", "batches":
                body = json.loads(content)
                if body["completion_window"] != "24h":
                    return error(400, "completion_window must be 24h")
                return self.create(body["input_file_id"], body["endpoint"])
            case "GET", "batches":
                return self._list(query)
            case "GET", "batches", batch_id:
                batch = self.batches.get(batch_id)
                return missing("Batch") if batch is None else Reply(dict(batch))
        return error(405, "no such request")

    def _upload(self, headers, content):
        head = f"content-type: {headers['content-type']}\r\n\r\n".encode()
        message = email.message_from_bytes(head + content, policy=email.policy.HTTP)
        fields = {
            part.get_param("name", header="content-disposition"): part
            for part in message.iter_parts()
        }
        assert fields["purpose"].get_content().strip() == "batch"
        uploaded = fields["file"]
        return Reply(
            self._shown_file(self._keep(uploaded.get_payload(decode=True), uploaded.get_filename()))
        )

    def _keep(self, content, name):
        file_id = f"file-{len(self.files) + 1}"
        self.files[file_id] = {"content": content, "name": name}
        return file_id

    def _shown_file(self, file_id):
        file = self.files[file_id]
        return {
            "id": file_id,
            "object": "file",
            "bytes": len(file["content"]),
            "created_at": CREATED_AT,
            "filename": file["name"],
            "purpose": "batch",
            "status": "processed",
        }

    def create(self, file_id, endpoint="/v1/chat/completions"):
        """Create a batch, as any client may."""
        if file_id not in self.files:
            return error(400, f"Invalid file id {file_id}", param="input_file_id")
        batch_id = f"batch_{len(self.batches) + 1}"
        self.batches[batch_id] = {
            "id": batch_id,
            "object": "batch",
            "endpoint": endpoint,
            "errors": None,
            "input_file_id": file_id,
            "completion_window": "24h",
            "status": "validating",
            "output_file_id": None,
            "error_file_id": None,
            "created_at": CREATED_AT + len(self.batches),
            "request_counts": {"total": 0, "completed": 0, "failed": 0},
            "metadata": None,
        }
        return Reply(dict(self.batches[batch_id]))

    def _list(self, query):
        """List batches, the newest first, two a page at most."""
        names = list(reversed(self.batches))
        start = names.index(query["after"][0]) + 1 if "after" in query else 0
        page = [dict(self.batches[name]) for name in names[start : start + 2]]
        ids = [batch["id"] for batch in page]
        listed = {"object": "list", "data": page, "has_more": start + 2 < len(names)}
        return Reply(
            listed | {"first_id": ids[0] if ids else None, "last_id": ids[-1] if ids else None}
        )

    def lines_of(self, batch_id):
        """Return the requests of a batch."""
        content = self.files[self.batches[batch_id]["input_file_id"]]["content"]
        return [json.loads(line) for line in content.decode().split("\n") if line]

    def validate(self):
        """Validate the batches that wait for it."""
        for batch_id, batch in self.batches.items():
            if batch["status"] != "validating":
                continue
            errors = list(self._errors(batch, self.lines_of(batch_id)))
            if errors:
                batch |= {"status": "failed", "errors": {"object": "list", "data": errors}}
            else:
                batch["status"] = "in_progress"
                batch["request_counts"]["total"] = len(self.lines_of(batch_id))

    def _errors(self, batch, lines):
        if len(lines) > self.most_lines:
            yield {
                "code": "too_many_tasks",
                "message": f"The batch has more than {self.most_lines} lines.",
            }
        repeated = [
            key for key, count in Counter(line["custom_id"] for line in lines).items() if count > 1
        ]
        for key in repeated:
            yield {"code": "duplicate_custom_id", "message": f"The custom_id '{key}' was repeated."}
        for number, line in enumerate(lines, 1):
            if line["url"] != batch["endpoint"]:
                message = "The URL provided for this request does not match the batch endpoint."
                yield {"code": "mismatched_url", "message": message, "line": number, "param": "url"}

    def work(self, status="completed", answered=None):
        """Answer lines of all batches, the first ones of each at most, in any order; end them."""
        self.validate()
        for batch_id, batch in self.batches.items():
            if batch["status"] != "in_progress":
                continue
            lines = self.lines_of(batch_id)
            n_answered = len(lines) if answered is None else answered
            outputs = [self._result(line) for line in lines[:n_answered]]
            unanswered = [self._unanswered(line, status) for line in lines[n_answered:]]
            good = [result for result in outputs if result["response"]["status_code"] == 200]
            bad = [result for result in outputs if result["response"]["status_code"] != 200]
            bad += [result for result in unanswered if result is not None]
            batch["status"] = status
            batch["output_file_id"] = self._results(good)
            batch["error_file_id"] = self._results(bad)
            batch["request_counts"] |= {"completed": len(good), "failed": len(bad)}

    def _result(self, line):
        body = line["body"]
        prompt = body["messages"][-1]["content"] if "messages" in body else body["input"]
        reply = self.behave(prompt, self.asked[prompt])
        self.asked[prompt] += 1
        payload = reply.payload
        if isinstance(payload, dict) and payload.get("model", "") is None:
            payload = payload | {"model": f"{body['model']}-001"}
        response = {"status_code": reply.status, "request_id": "r", "body": payload}
        return {
            "id": "batch_req_1",
            "custom_id": line["custom_id"],
            "response": response,
            "error": None,
        }

    def _unanswered(self, line, status):
        if status != "expired":
            return None  # of a cancelled batch nothing is listed
        message = "This request could not be executed before the completion window expired."
        fault = {"code": "batch_expired", "message": message}
        return {
            "id": "batch_req_1",
            "custom_id": line["custom_id"],
            "response": None,
            "error": fault,
        }

    def _results(self, results):
        if not results:
            return None
        random.Random(0).shuffle(results)
        content = "".join(f"{json.dumps(result, ensure_ascii=False)}\n" for result in results)
        return self._keep(content.encode(), "results.jsonl")


def missing(noun):
    return error(404, f"No such {noun} object")
