"""Code and commands that documents show work, and print what is shown."""

import re
import shlex
import shutil
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from documents import ROOT, blocks
from simulations import small_simulation
from typer.testing import CliRunner

from arena.sample import sample_arena
from features import Question, Sample
from features.declare.sample import EMPTY_ANSWER, NO_REFERENCE_SYSTEM
from surrogate_arena.cli.app import app
from surrogate_arena.gating.gate_result import GateVerdict

README = ROOT / "README.md"


@pytest.mark.parametrize(
    ("guide", "needed"),
    [
        ("ratings.md", "AdaptivePairing"),
        ("../reference/judge_tests.md", "Grouse"),
        ("first_board.md", "pd.DataFrame"),
        ("validation.md", "compare"),
    ],
)
def test_python_of_the_guides_runs(guide, needed, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = [
        block for block in blocks(ROOT / "docs" / "guides" / guide, "python") if needed in block
    ]
    exec(code, {})


@pytest.mark.slow
def test_the_demo_prints_what_the_readme_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["demo", "--out", "out/demo"])
    assert result.exit_code == 0
    printed = [line.rstrip() for line in result.output.splitlines()]
    (shown,) = blocks(README, "text")
    for line in shown.splitlines():
        assert line in printed or line.strip() == "…"
    (code,) = blocks(README, "python")
    exec(code, {})
    names = [line.split()[1] for line in capsys.readouterr().out.splitlines()[1:]]
    assert names == [line.split()[2] for line in shown.splitlines()[3:6]]


@pytest.mark.slow
def test_a_gate_of_five_versions_prints_what_the_readme_shows(tmp_path, monkeypatch, capsys):
    versions = [
        "Orca-2-7b",
        "Orca-2-13b",
        "gpt-3.5-turbo-azure",
        "Mixtral-8x7B-Instruct-v0.1",
        "Mistral-7B-Instruct-v0.2",
    ]
    part = sample_arena().select(["en"])
    questions = part.queries[["query_id", "query"]].rename(columns={"query": "question"})
    answers = part.answers[["query_id", "system", "answer"]].merge(questions, on="query_id")
    tables = [
        answers[answers["system"] == name].assign(system=f"v{number}")
        for number, name in enumerate(versions, 1)
    ]
    latest = tables[-1].assign(system="v6").reset_index(drop=True)
    latest.loc[[3, 17], "answer"] = "Error: upstream request timed out (504)"
    latest.loc[30, "answer"] = ""
    tables.append(latest)
    pd.concat(tables).to_csv(tmp_path / "answers.csv", index=False)
    monkeypatch.chdir(tmp_path)
    (console,) = blocks(README, "console")
    shown = console.splitlines()
    for line in shown:
        if line.startswith("$ "):
            _, _, *words = shlex.split(line, comments=True)
            result = CliRunner().invoke(app, words)
    printed = [line for line in shown if not line.startswith("$ ")]
    assert result.output.splitlines()[: len(printed)] == printed
    assert result.exit_code == 3


@pytest.mark.slow
def test_own_systems_go_from_tables_to_a_gate(tmp_path, monkeypatch, capsys):
    pytest.importorskip("openai", reason="needs the extra llm")
    from chat_server import ChatServer, completion

    path = ROOT / "docs" / "guides" / "first_board.md"
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


@pytest.mark.slow
def test_the_walks_run(tmp_path, monkeypatch, capsys):
    pytest.importorskip("openai", reason="needs the extra llm")
    from chat_server import ChatServer, completion

    def longer_words(prompt, _):
        """Prefer longer words: a judge of long answers is unreliable, and fails the checks."""
        answers = re.findall(
            r"\[The Start of [^\n]*'s Answer [^\n]*\]\n(.*?)\n\[The End", prompt, flags=re.DOTALL
        )
        first, second = (len(answer) / max(1, len(answer.split())) for answer in answers)
        if first == second:
            return completion("[[C]]")
        return completion("[[A]]" if first > second else "[[B]]")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "anything")
    text = (ROOT / "docs" / "guides" / "tutorials.md").read_text(encoding="utf-8")
    statuses = {}
    with ChatServer(longer_words) as server:
        text = text.replace("http://localhost:8000/v1", server.url)
        for language, code in re.findall(r"```(python|sh|toml)\n(.*?)```", text, flags=re.DOTALL):
            if language == "python":
                exec(code, {})
            elif language == "toml":
                (tmp_path / code.split()[1]).write_text(code, encoding="utf-8")
            for line in code.splitlines() if language == "sh" else ():
                program, *words = shlex.split(line, comments=True)
                if program == "cp":
                    shutil.copytree(*words[1:])
                else:
                    statuses[line] = CliRunner().invoke(app, words).exit_code
    stated = {line: line.partition("status ")[2] or "0" for line in statuses}
    gates = {line: status for line, status in statuses.items() if " gate " in line}
    assert set(gates.values()) <= {0, 3, 4}
    others = {line: str(status) for line, status in statuses.items() if line not in gates}
    assert others == {line: stated[line] for line in others}
    assert {path.suffix for path in (tmp_path / "figures").iterdir()} == {".svg"}
    assert (tmp_path / "public" / "_site" / "index.html").is_file()


def test_the_feature_of_the_guide_is_measured(capsys):
    guide = ROOT / "docs" / "guides" / "features.md"
    (code,) = [block for block in blocks(guide, "python") if "DIGIT_SHARE" in block]
    assert len([line for line in code.splitlines() if line.strip()]) <= 22
    exec(code, {})
    assert "digit_share" in capsys.readouterr().out


def test_the_feature_of_the_guide_reads_a_model():
    held = {}
    recipes = blocks(ROOT / "CONTRIBUTING.md", "python")
    (code,) = [block for block in recipes if "ANSWER_RELEVANCE" in block]
    exec(code, held)
    feature = held["ANSWER_RELEVANCE"]
    question = Question("en", "1", "Where?", (), NO_REFERENCE_SYSTEM)
    assert feature.items(Sample(question, "There.")) == (("Where?", "There."),)
    assert feature.items(Sample(question, "")) == EMPTY_ANSWER
    assert feature.measure(Sample(question, "There."), np.array([[0.5]])) == 0.5
