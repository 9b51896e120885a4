"""Workflows: the steps run, what strangers send stays data, and only what publishes may publish."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt
from simulations import small_simulation

from arena import write_arena

ROOT = Path(__file__).parents[1]
GH = """#!/usr/bin/env bash
case "$1 $2" in
    "run download") cp -R made place ;;
    "pr view") test "$3" = 7 && echo abc ;;
    "pr comment") test "$3" = 7 && cp "$5" posted.md ;;
esac
"""
HOSTILE = "fine\n```\n# big\r# small\n\n<img src=x> @everyone [here](https://example.org)\n" * 9000


def jobs(name):
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))["jobs"]


def run_steps(job, folder, programs, **environment):
    """Run the steps of a job that are commands, with programs of ours; returns the last status."""
    (folder / "bin").mkdir(exist_ok=True)
    for name, text in programs.items():
        (folder / "bin" / name).write_text(text, encoding="utf-8")
        (folder / "bin" / name).chmod(0o755)
    path = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    for step in (step["run"] for step in job["steps"] if "run" in step):
        command = ["bash", "-e", "-o", "pipefail", "-c", step]
        done = subprocess.run(command, cwd=folder, env=os.environ | path | environment, check=False)
        if done.returncode:
            return done.returncode
    return 0


@pytest.mark.slow
@pytest.mark.parametrize("is_broken", [False, True])
def test_a_pull_request_gets_its_place_and_its_pages(tmp_path, is_broken):
    arena = small_simulation(range(4), ["en"], questions=6).arena
    write_arena(arena, tmp_path / "my-arena")
    new = arena.answers[arena.answers["system"] == arena.info.systems[0]].assign(system="mine")
    (tmp_path / "sent").mkdir()
    rows = new.assign(query_id="none") if is_broken else new
    rows.to_csv(tmp_path / "sent" / "answers.csv", index=False)
    programs = {
        "pip": "#!/bin/sh\n",
        "surrogate-arena": f'#!/bin/sh\nexec {sys.executable} -m surrogate_arena "$@"\n',
    }
    status = run_steps(jobs("examples/place.yml")["place"], tmp_path, programs, NUMBER="7")
    said = (tmp_path / "place" / "place.txt").read_text(encoding="utf-8")
    assert (tmp_path / "place" / "number").read_text() == "7\n"
    assert status == 2 * is_broken
    assert ("answers.csv:2: " in said, "mine: answers to 6 of 6" in said) == (
        is_broken,
        not is_broken,
    )
    assert (tmp_path / "with-new" / "site" / "index.html").is_file() != is_broken


@pytest.mark.parametrize(
    ("number", "commit", "is_link"),
    [("7", "abc", False), ("8", "abc", False), ("7", "old", False), ("7", "abc", True)],
)
def test_a_comment_is_a_block_of_code_under_the_pull_request_that_was_run(
    tmp_path, number, commit, is_link
):
    made = tmp_path / "made"
    made.mkdir()
    (made / "number").write_text(f"{number}\n", encoding="utf-8")
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    (made / "place.txt").write_text(HOSTILE, encoding="utf-8", newline="")
    if is_link:
        (made / "place.txt").unlink()
        (made / "place.txt").symlink_to(tmp_path / "secret")
    job = jobs("examples/place_comment.yml")["comment"]
    status = run_steps(job, tmp_path, {"gh": GH}, RUN="1", RUN_URL="https://a.b/1", COMMIT=commit)
    if (number, commit, is_link) != ("7", "abc", False):
        assert status
        assert not (tmp_path / "posted.md").exists()
        return
    text = (tmp_path / "posted.md").read_bytes().decode()
    kinds = [token.type for token in MarkdownIt().parse(text)]
    assert kinds == ["paragraph_open", "inline", "paragraph_close", "code_block"]
    assert len(text) < 65_536
    assert "# big# small" in text


def test_what_publishes_or_comments_runs_no_code_of_the_project_or_the_pull_request():
    place = yaml.safe_load((ROOT / "examples" / "place.yml").read_text(encoding="utf-8"))
    assert place["permissions"] == {"contents": "read"}
    assert "secrets" not in str(place)
    comment = jobs("examples/place_comment.yml")["comment"]
    assert comment["permissions"] == {"actions": "read", "pull-requests": "write"}
    assert all("uses" not in step for step in comment["steps"])
    release = jobs(".github/workflows/release.yml")
    for job in release.values():
        if set(job["permissions"].values()) != {"read"}:
            assert not any("checkout" in step.get("uses", "run: checkout") for step in job["steps"])
    assert set(release["publish"]["needs"]) == {"test", "build", "docs"}
