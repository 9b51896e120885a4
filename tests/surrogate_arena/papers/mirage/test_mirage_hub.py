"""MIRAGE-Bench's data sets from a hub: a server on this machine that speaks its protocol."""

import hashlib
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from test_mirage import JUDGMENTS, OUTPUTS, PROMPTS

from arena import read_arena

pytest.importorskip("huggingface_hub", reason="needs the extra hub")
COMMIT = "0" * 40
ROWS = {
    "mirage-bench": PROMPTS,
    "mirage-bench-output": OUTPUTS,
    "mirage-bench-pairwise-judgments": JUDGMENTS[:4],
}


def content(name):
    return "".join(json.dumps(row) + "\n" for row in ROWS[name]).encode()


class Hub(BaseHTTPRequestHandler):
    def do_GET(self):
        parts = self.path.partition("?")[0].strip("/").split("/")
        if parts[:2] == ["api", "datasets"]:
            name = parts[3]
            files = [f"{language}/dev.jsonl" for language in ("en", "ar")]
            if "tree" in parts:
                size = len(content(name))
                listed = [
                    {"type": "file", "path": file, "size": size, "oid": "a"} for file in files
                ]
                return self.reply(json.dumps(listed).encode())
            known = {"id": f"nthakur/{name}", "sha": COMMIT}
            known["siblings"] = [{"rfilename": file} for file in files]
            return self.reply(json.dumps(known).encode())
        self.server.read.append("/".join(parts[-2:]))
        return self.reply(content(parts[2]))

    do_HEAD = do_GET  # noqa: N815

    def reply(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("ETag", hashlib.sha256(body).hexdigest())
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def hub():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    server.read = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def imported(tmp_path, url, *options):
    """Import in a process of its own: the package reads its variables once."""
    command = [
        sys.executable,
        "-m",
        "surrogate_arena",
        "import",
        "mirage",
        "--out",
        tmp_path / "mirage",
    ]
    known = {"HF_ENDPOINT": url, "HF_HOME": str(tmp_path / "cache"), "HF_HUB_OFFLINE": "0"}
    return subprocess.run(
        [*command, *options],
        env={**os.environ, **known},
        capture_output=True,
        text=True,
        check=False,
    )


def test_languages_are_read_from_the_hub_when_asked_to(hub, run, tmp_path, monkeypatch):
    url = f"http://127.0.0.1:{hub.server_port}"
    monkeypatch.setenv("HF_ENDPOINT", url)
    assert run("import", "mirage", "--out", tmp_path / "mirage", "--languages", "en") == 2
    assert not hub.read
    done = imported(tmp_path, url, "--languages", "en", "--config", "download=true")
    assert done.returncode == 0, done.stderr
    assert set(hub.read) == {"en/dev.jsonl"}
    arena = read_arena(tmp_path / "mirage")
    assert arena.info.languages == ("en",)
    assert (len(arena.queries), len(arena.judgments)) == (2, 4)


def test_a_hub_that_is_not_there_is_said(tmp_path):
    done = imported(
        tmp_path, "http://127.0.0.1:9", "--languages", "en", "--config", "download=true"
    )
    assert done.returncode == 2
    assert "MIRAGE-Bench cannot be downloaded" in done.stderr
    assert "Traceback" not in done.stderr
