"""A small Hugging Face hub: the endpoints that uploads and snapshots of repositories need."""

import base64
import contextlib
import hashlib
import json
import re
import threading
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import yaml

TOKEN = "hf_" + "a1B2" * 8
REPOSITORY = r"(?P<kind>datasets|spaces)/(?P<name>[^/]+/[^/]+)"
COMMIT = re.compile(rf"/api/{REPOSITORY}/commit/main")
PREUPLOAD = re.compile(rf"/api/{REPOSITORY}/preupload/main")
TREE = re.compile(rf"/api/{REPOSITORY}/tree/[^/?]+")
INFO = re.compile(rf"/api/{REPOSITORY}(/revision/[^/?]+)?")
BATCH = re.compile(r"/(datasets|spaces)/[^/]+/[^/]+\.git/info/lfs/objects/batch")
LARGE = (".gz", ".zip", ".parquet")
"""How names of files end that go to the storage."""
RESOLVE = re.compile(r"/(?P<kind>datasets|spaces)/(?P<name>[^/]+/[^/]+)/resolve/[^/]+/(?P<file>.+)")


class Hub:
    """Repositories by kind and name, and what was asked.

    Attributes:
        files: Content by the name of the file, by repository.
        storage: Content of large files by digest, before a commit names them.
        created: Requests to make repositories.
        seen_tokens: What requests had as their authorization.
        refusal: Status that every commit is refused with, if any.
    """

    def __init__(self):
        self.files = {}
        self.storage = {}
        self.created = []
        self.commits = []
        self.seen_tokens = defaultdict(set)
        self.refusal = None
        self.url = ""

    def revision(self, repository):
        content = json.dumps(
            sorted(
                (name, hashlib.sha1(data).hexdigest())
                for name, data in self.files[repository].items()
            )
        )
        return hashlib.sha1(content.encode()).hexdigest()


class Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def reply(self, content, status=200, headers=()):
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def body(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            data = b""
            while size := int(self.rfile.readline(), 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return data
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def matched(self, pattern):
        match = pattern.fullmatch(self.path.partition("?")[0])
        return match and (match, (match["kind"], match["name"]))

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        self.hub.seen_tokens[self.command].add(self.headers.get("Authorization"))
        if matched := self.matched(RESOLVE):
            match, repository = matched
            data = self.hub.files[repository].get(match["file"])
            if data is None:
                return self.reply(
                    {"error": "Entry not found"}, 404, [("X-Error-Code", "EntryNotFound")]
                )
            return self.reply(
                data,
                headers=[
                    ("ETag", f'"{hashlib.sha1(data).hexdigest()}"'),
                    ("X-Repo-Commit", self.hub.revision(repository)),
                ],
            )
        matched = self.matched(TREE) or self.matched(INFO)
        if not matched or matched[1] not in self.hub.files:
            return self.reply(
                {"error": "Repository not found"}, 404, [("X-Error-Code", "RepoNotFound")]
            )
        match, repository = matched
        files = self.hub.files[repository]
        if match.re is TREE:
            return self.reply(
                [
                    {
                        "type": "file",
                        "path": name,
                        "size": len(data),
                        "oid": hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest(),
                    }
                    for name, data in files.items()
                ]
            )
        card = files.get("README.md", b"---\n{}\n---").decode().split("---")[1]
        metadata = yaml.safe_load(card)
        return self.reply(
            {
                "id": match["name"],
                "sha": self.hub.revision(repository),
                "tags": metadata.get("tags", []),
                "cardData": metadata,
                "siblings": [{"rfilename": name} for name in files],
            }
        )

    def do_POST(self):
        self.hub.seen_tokens["POST"].add(self.headers.get("Authorization"))
        body = self.body()
        if self.path == "/api/validate-yaml":
            return self.reply({"errors": [], "warnings": []})
        if self.path == "/api/repos/create":
            requested = json.loads(body)
            self.hub.created.append(requested)
            name = f"{requested['organization']}/{requested['name']}"
            self.hub.files[f"{requested['type']}s", name] = {}
            return self.reply({"url": f"{self.hub.url}/{requested['type']}s/{name}"})
        if matched := self.matched(PREUPLOAD):
            files = json.loads(body)["files"]
            return self.reply(
                {
                    "files": [
                        {
                            "path": file["path"],
                            "uploadMode": "lfs" if file["path"].endswith(LARGE) else "regular",
                            "shouldIgnore": False,
                        }
                        for file in files
                    ]
                }
            )
        if BATCH.fullmatch(self.path):
            objects = [
                {
                    **requested,
                    "actions": {"upload": {"href": f"{self.hub.url}/storage/{requested['oid']}"}},
                }
                for requested in json.loads(body)["objects"]
            ]
            return self.reply({"transfer": "basic", "objects": objects})
        if matched := self.matched(COMMIT):
            if self.hub.refusal is not None:
                return self.reply(
                    {"error": f"no, {self.headers['Authorization']}"}, self.hub.refusal
                )
            return self.commit(matched[1], [json.loads(line) for line in body.splitlines()])
        return self.reply({"error": f"no such endpoint {self.path}"}, 404)

    def do_PUT(self):
        self.hub.seen_tokens["PUT"].add(self.headers.get("Authorization"))
        data = self.body()
        assert self.path == f"/storage/{hashlib.sha256(data).hexdigest()}"
        self.hub.storage[self.path.rpartition("/")[2]] = data
        self.reply({})

    def commit(self, repository, lines):
        files = self.hub.files[repository]
        for line in lines:
            value = line["value"]
            if line["key"] == "header":
                self.hub.commits.append((*repository, value["summary"]))
            elif line["key"] == "file":
                assert value["encoding"] == "base64"
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                files[value["path"]] = self.hub.storage[value["oid"]]
            elif line["key"] == "deletedFile":
                del files[value["path"]]
            else:
                raise AssertionError(line["key"])
        sha = self.hub.revision(repository)
        self.reply(
            {
                "success": True,
                "commitOid": sha,
                "commitUrl": f"{self.hub.url}/{'/'.join(repository)}/commit/{sha}",
            }
        )


@contextlib.contextmanager
def running_hub():
    """Yield a hub that listens on this machine."""
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("HubHandler", (Handler,), {"hub": hub}))
    hub.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
