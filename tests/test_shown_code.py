"""Code and commands that documents show work, and print what is shown."""

import doctest
import os
import subprocess
import sys
from importlib import import_module
from typing import get_args

import pytest
from documents import ROOT, blocks
from public_names import public_names
from simulations import small_simulation
from typer.testing import CliRunner

from surrogate_arena.cli.app import app
from surrogate_arena.gating.gate_result import GateVerdict

README = ROOT / "README.md"


@pytest.mark.parametrize(
    ("guide", "needed"),
    [
        ("../reference/ratings.md", "AdaptivePairing"),
        ("validation.md", "compare("),
    ],
)
def test_python_of_the_guides_runs(guide, needed, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = [
        block for block in blocks(ROOT / "docs" / "guides" / guide, "python") if needed in block
    ]
    exec(code, {})


def _public_examples():
    """Yield the examples in docstrings of public names; those that learn are slow."""
    finder = doctest.DocTestFinder()
    for package, name, value in public_names():
        home = vars(import_module(value.__module__))
        for test in finder.find(value, f"{package}.{name}", module=False, globs=home):
            if test.examples:
                learns = "build_board" in test.docstring or ".fit(" in test.docstring
                marks = [pytest.mark.slow] if learns else []
                yield pytest.param(test, id=test.name, marks=marks)


@pytest.mark.parametrize("example", list(_public_examples()))
def test_examples_of_public_names_print_what_they_show(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = []
    doctest.DocTestRunner().run(example, out=printed.append)
    assert not printed, "".join(printed)


@pytest.mark.slow
def test_sessions_print_what_the_guides_show():
    done = subprocess.run(
        [sys.executable, ROOT / "docs" / "sessions.py"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr[-2000:]


@pytest.mark.slow
def test_the_python_of_the_readme_runs_on_the_board_of_the_demo(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(app, ["demo", "--out", "out/demo"]).exit_code == 0
    (code,) = blocks(README, "python")
    exec(code, {})
    assert "llm-essay" in capsys.readouterr().out


@pytest.mark.slow
def test_own_systems_go_from_tables_to_a_gate(tmp_path, monkeypatch, capsys):
    pytest.importorskip("openai", reason="needs the extra llm")
    from chat_server import ChatServer, completion

    path = ROOT / "docs" / "guides" / "quickstart.md"
    (code,) = [
        block for block in blocks(path, "python") if "from_frames" in block and "gate(" in block
    ]
    assert len([line for line in code.splitlines() if line.strip()]) < 30
    arena = small_simulation(range(5), ["en"], questions=8).arena
    *judged, new = arena.info.systems
    answers = arena.answers[["query_id", "system", "answer"]]
    arena.queries[["query_id", "query"]].to_csv(tmp_path / "questions.csv", index=False)
    answers[answers["system"].isin(judged)].to_csv(tmp_path / "answers.csv", index=False)
    answers[answers["system"] == new].to_csv(tmp_path / "new.csv", index=False)
    monkeypatch.chdir(tmp_path)
    held = {}
    with ChatServer(
        lambda prompt, _: completion("[[A]]" if len(prompt) % 3 else "[[B]]")
    ) as server:
        code = code.replace("http://localhost:8000/v1", server.url).replace(
            "n_jobs=2", "tournaments=2"
        )
        exec(code, held)
        assert server.asked
    assert list(held["board"].systems) == list(held["board"].overall["system"])
    assert set(held["board"].systems) == set(judged)
    assert (tmp_path / "board" / "site" / "index.html").is_file()
    printed = capsys.readouterr().out
    assert new in printed
    assert printed.splitlines()[-1] in get_args(GateVerdict)


def test_the_feature_of_the_guide_is_measured(capsys):
    guide = ROOT / "docs" / "guides" / "extending.md"
    (code,) = [block for block in blocks(guide, "python") if "DIGIT_SHARE" in block]
    assert len([line for line in code.splitlines() if line.strip()]) <= 22
    exec(code, {})
    assert "digit_share" in capsys.readouterr().out
