"""The action runs as on a runner; the hook for pre-commit and the recipe for pytest work."""

import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest
import yaml

from arena import Arena, write_arena
from arena.data.tables import write_rows
from surrogate import build_board

ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
EXPRESSION = re.compile(r"\$\{\{ ([\w.-]+) \}\}")
PROGRAM = f'#!/bin/sh\nexec {sys.executable} -m surrogate_arena "$@"\n'
PYTHON = """#!/usr/bin/env bash
test "$1 $2" = "-m venv"
mkdir -p "$3/bin"
printf '#!/bin/sh\\nprintf "%%s\\\\n" "$@" > "$RUNNER_TEMP/installed"\\n' > "$3/bin/pip"
cp program "$3/bin/surrogate-arena"
chmod +x "$3/bin/pip" "$3/bin/surrogate-arena"
"""
GH = """#!/usr/bin/env bash
test -z "$NO_RIGHT" || exit 1
case "$*" in
    *--jq*) cat comments 2> /dev/null || true ;;
    *) printf '%s\\n' "$@" > asked; last="${@: -1}"; cp "${last#body=@}" posted.md ;;
esac
"""
VERSIONS = ("v1", "v2", "v3")


def arena_of_versions():
    """Versions of a system, the last of which is empty; the first two were judged."""
    ids = [f"q{number}" for number in range(12)]
    questions = pd.DataFrame({"query_id": ids, "query": ids, "language": "en"})
    answers, judgments = [], []
    for number, query_id in enumerate(ids):
        keys = {"query_id": query_id, "language": "en"}
        judgments.append(
            {**keys, "system_a": "v1", "system_b": "v2", "winner": "ab"[number % 2], "judge": "j"}
        )
        for version in VERSIONS:
            text = f"In {version} the tower number {number} was built by people of the town."
            text = "" if version == "v3" else text
            answers.append({**keys, "system": version, "answer": text})
    frames = map(pd.DataFrame, (questions, answers, judgments))
    return Arena.from_frames(*frames, name="versions")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("versions")
    arena = arena_of_versions()
    write_arena(arena, root / "arena")
    build_board(arena, tournaments=2).save(root / "board", root / "arena")
    new = arena.answers[arena.answers["system"] == "v3"].assign(system="v4")
    write_rows(new, root / "new.jsonl")
    return root


def filled(text, values):
    """Put values in the place of expressions; an unknown one is an error."""
    return EXPRESSION.sub(lambda match: values[match[1]], text)


def run_action(folder, number="", no_right="", **inputs):
    """Run the steps of the action in a folder, as a runner does; returns status, outputs, log."""
    temp = folder / "temp"
    (folder / "bin").mkdir(parents=True)
    temp.mkdir()
    for name, text in {"bin/python3": PYTHON, "bin/gh": GH, "program": PROGRAM}.items():
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755)
    names = {name: value["default"] for name, value in ACTION["inputs"].items()}
    assert inputs.keys() <= names.keys()
    values = {f"inputs.{name}": str(value) for name, value in {**names, **inputs}.items()}
    values |= {"github.event.pull_request.number": number, "github.token": "token"}
    environment = {
        **os.environ,
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "RUNNER_TEMP": str(temp),
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_REPOSITORY": "some/where",
        "GITHUB_STEP_SUMMARY": str(temp / "summary.md"),
        "NO_RIGHT": no_right,
    }
    outputs, log, status = {}, "", 0
    for step in ACTION["runs"]["steps"]:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"]
        own = {name: filled(text, values) for name, text in step["env"].items()}
        written = temp / "output"
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=folder,
            env={**environment, "GITHUB_OUTPUT": str(written), **own},
            capture_output=True,
            text=True,
            check=False,
        )
        log += done.stdout + done.stderr
        if written.exists():
            outputs |= dict(line.split("=", 1) for line in written.read_text().splitlines())
            values |= {f"steps.{step.get('id')}.outputs.{key}": outputs[key] for key in outputs}
            written.unlink()
        status = done.returncode
        if status:
            break
    return status, outputs, log


@pytest.mark.slow
def test_a_broken_version_fails_with_a_report_and_a_comment(folders, tmp_path):
    status, outputs, log = run_action(tmp_path / "run", "7", arena=folders / "arena")
    assert (status, outputs["status"]) == (3, "3"), log
    assert outputs.keys() == ACTION["outputs"].keys()
    for name, output in ACTION["outputs"].items():
        assert output["value"] == f"${{{{ steps.gate.outputs.{name} }}}}"
    report = Path(outputs["markdown"]).read_text(encoding="utf-8")
    assert report.startswith("### Gate: broken\n\n- v3 against v2: broken.")
    assert (tmp_path / "run" / "temp" / "summary.md").read_text(encoding="utf-8") == report
    posted = (tmp_path / "run" / "posted.md").read_text(encoding="utf-8")
    assert posted == f"<!-- surrogate-arena gate -->\n{report}"
    assert "repos/some/where/issues/7/comments" in (tmp_path / "run" / "asked").read_text()
    (suite,) = ElementTree.parse(outputs["junit"]).iter("testsuite")
    assert int(suite.get("failures")) == 13
    installed = (tmp_path / "run" / "temp" / "installed").read_text().splitlines()
    assert installed[-1] == str(ROOT)
    assert Path(installed[installed.index("-c") + 1]).is_file()


@pytest.mark.slow
def test_a_new_version_gets_its_place_and_the_comment_is_brought_up_to_date(folders, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "comments").write_text("123\n456\n")
    status, outputs, log = run_action(
        folder,
        "7",
        board=folders / "board",
        candidate=folders / "new.jsonl",
        baseline="v1",
        allow="empty=all",
    )
    assert (status, outputs["status"]) == (0, "4"), log
    posted = (folder / "posted.md").read_text(encoding="utf-8")
    gate, place = posted.split("### Place on the board\n\n")
    assert "### Gate: cannot say" in gate
    assert "v4" in place
    assert all(line.startswith("    ") for line in place.splitlines() if line)
    asked = (folder / "asked").read_text().splitlines()
    assert {"PATCH", "repos/some/where/issues/comments/123"} <= set(asked)


@pytest.mark.slow
def test_names_from_outside_are_no_commands_to_the_runner(folders, tmp_path):
    new = arena_of_versions().answers.query("system == 'v2'").assign(system="::error::x")
    write_rows(new, tmp_path / "new.jsonl")
    inputs = {"arena": folders / "arena", "candidate": tmp_path / "new.jsonl", "baseline": "v1"}
    status, _, log = run_action(tmp_path / "run", **inputs, **{"cannot-say": "fail"})
    assert status == 4
    stopped, _, rest = log.partition("::stop-commands::")
    token, _, rest = rest.partition("\n")
    shown, _, after = rest.partition(f"::{token}::")
    assert len(token) == 32
    assert "::error::x against v1: cannot say" in shown
    assert "::error::" not in stopped + after


@pytest.mark.slow
def test_a_comment_is_no_longer_than_the_server_takes(folders, tmp_path):
    new = arena_of_versions().answers.query("system == 'v2'").assign(system="x" * 70_000)
    write_rows(new, tmp_path / "new.jsonl")
    inputs = {"arena": folders / "arena", "candidate": tmp_path / "new.jsonl", "baseline": "v1"}
    _, outputs, log = run_action(tmp_path / "run", "7", **inputs)
    assert Path(outputs["markdown"]).stat().st_size > 65_536, log[-500:]
    assert 50_000 < (tmp_path / "run" / "posted.md").stat().st_size < 65_536


@pytest.mark.slow
@pytest.mark.parametrize("number", ["", "7"])
def test_without_a_pull_request_or_the_right_to_comment_the_verdict_counts(
    folders, tmp_path, number
):
    folder = tmp_path / "run"
    inputs = {"arena": folders / "arena", "candidate": "v2", "baseline": "v1"}
    status, outputs, log = run_action(folder, number, "no", **inputs)
    assert (status, outputs["status"]) == (0, "4")
    assert ("::warning::" in log) == bool(number)
    assert not (folder / "posted.md").exists()


@pytest.mark.slow
def test_a_version_that_is_meant_to_be_cheaper_and_is_not_fails(folders, tmp_path):
    arena = tmp_path / "arena"
    shutil.copytree(folders / "arena", arena)
    (arena / "systems.csv").write_text("system,cost,currency\nv1,2,USD\nv2,3,USD\n")
    inputs = {"arena": arena, "candidate": "v2", "baseline": "v1", "cheaper": "true"}
    status, outputs, log = run_action(tmp_path / "run", **inputs)
    assert (status, outputs["status"]) == (3, "3")
    assert "v2 against v1: not cheaper." in log


@pytest.mark.slow
def test_inputs_are_data_and_an_error_is_reported(folders, tmp_path):
    folder = tmp_path / "run"
    hostile = "v1 $(touch owned); `touch owned` \"'\n### @all"
    status, outputs, _ = run_action(folder, arena=folders / "arena", candidate=hostile)
    assert (status, outputs["status"]) == (2, "2")
    assert not (folder / "owned").exists()
    report = Path(outputs["markdown"]).read_text(encoding="utf-8")
    first, *others = report.splitlines()
    assert first == "### Gate: error"
    assert "unknown file or system of the arena" in report
    assert all(line.startswith("    ") for line in others if line)


@pytest.mark.slow
def test_a_judge_is_asked_with_the_extra_that_asks_it(tmp_path):
    run_action(tmp_path / "run", model="gpt-4o", arena=tmp_path)
    installed = (tmp_path / "run" / "temp" / "installed").read_text().splitlines()
    assert installed[-1] == f"{ROOT}[llm]"


def test_the_example_gives_the_action_inputs_that_it_has():
    workflow = yaml.safe_load((ROOT / "examples" / "gate.yml").read_text(encoding="utf-8"))
    (step,) = [step for step in workflow["jobs"]["gate"]["steps"] if "with" in step][-1:]
    assert step["uses"].endswith("/surrogate-arena@v1")
    assert step["with"].keys() <= ACTION["inputs"].keys()
    assert workflow["permissions"]["pull-requests"] == "write"


@pytest.mark.slow
def test_the_hook_passes_a_sound_arena_and_stops_a_faulty_one(folders, tmp_path):
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert hook["id"] in (ROOT / "docs" / "guides" / "gating.md").read_text(encoding="utf-8")
    program, *words = shlex.split(hook["entry"])
    assert program == "surrogate-arena"
    for name in ("arena.json", "queries.jsonl.gz", "answers/part-1.parquet", "judgments.csv"):
        assert re.search(hook["files"], f"my-arena/{name}")
    faulty = tmp_path / "arena"
    faulty.mkdir()
    for file in (folders / "arena").iterdir():
        (faulty / file.name).write_bytes(file.read_bytes())
    (faulty / "answers.jsonl").write_text('{"query_id": "q0"}\n', encoding="utf-8")
    for arena, is_sound in ((folders / "arena", True), (faulty, False)):
        command = [sys.executable, "-m", "surrogate_arena", *words, str(arena)]
        done = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=False)
        assert (done.returncode == 0) == is_sound


@pytest.mark.slow
def test_the_recipe_for_pytest_fails_for_a_broken_version_and_says_why(tmp_path, monkeypatch):
    guide = (ROOT / "docs" / "guides" / "gating.md").read_text(encoding="utf-8")
    (recipe,) = re.findall(r"```python\n(from [^`]*\ndef test_[^`]*)```", guide)
    assert len([line for line in recipe.splitlines() if line]) <= 5
    (tmp_path / "test_version.py").write_text(recipe, encoding="utf-8")
    defined = runpy.run_path(tmp_path / "test_version.py")
    (recommended,) = [value for name, value in defined.items() if name.startswith("test_")]
    arena = arena_of_versions()
    monkeypatch.chdir(tmp_path)
    write_arena(arena, Path("my-arena"))
    with pytest.raises(AssertionError, match="12 are empty"):
        recommended()
    answers = arena.answers[arena.answers["system"] != "v3"]
    sound = Arena.from_frames(arena.queries, answers, name="versions")
    write_arena(sound, Path("my-arena"))
    recommended()
