"""The image: what it copies is there, it is not run as root, the demo runs without a network."""

from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[1]
LINES = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()


def instructions(name):
    return [line.split(maxsplit=1)[1] for line in LINES if line.startswith(f"{name} ")]


def test_what_is_copied_is_there_and_not_ignored():
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert ignored[0] == "*"
    kept = {line[1:] for line in ignored if line.startswith("!")}
    copied = {name for line in instructions("COPY") for name in line.split()[:-1]}
    assert copied == kept
    assert all((ROOT / name).exists() for name in copied)


def test_it_runs_the_demo_and_not_as_root():
    assert instructions("USER") == ["arena"]
    assert instructions("ENTRYPOINT") == ['["surrogate-arena"]']
    assert instructions("CMD") == ['["demo", "--out", "/tmp/demo"]']
    assert not any(fnmatch(line, "*latest*") for line in instructions("FROM"))
