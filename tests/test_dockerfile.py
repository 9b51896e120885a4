"""The image: what it copies is there, it is not run as root, the demo runs without a network."""

import shutil
import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LINES = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
IMAGE = "surrogate-arena-test"


def instructions(name):
    return [line.split(maxsplit=1)[1] for line in LINES if line.startswith(f"{name} ")]


def without_docker():
    """Say why no image can be built here, or nothing."""
    docker = shutil.which("docker")
    if docker is None:
        return "there is no docker"
    asked = subprocess.run([docker, "info"], capture_output=True, text=True, check=False)
    return None if asked.returncode == 0 else "docker's daemon does not answer"


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


@pytest.mark.slow
def test_the_image_is_built_and_runs():
    reason = without_docker()
    if reason:
        pytest.skip(f"{reason}; the image is built where it does")
    subprocess.run(["docker", "build", "-t", IMAGE, str(ROOT)], check=True)
    command = ["docker", "run", "--rm", "--network", "none"]
    asked = [*command, "--entrypoint", "id", IMAGE, "-u"]
    user = subprocess.run(asked, capture_output=True, text=True, check=True)
    assert user.stdout.strip() == "1000"
    done = subprocess.run([*command, IMAGE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "/tmp/demo/site/index.html" in done.stdout
