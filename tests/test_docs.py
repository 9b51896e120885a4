"""The documentation builds, names every command, and shows commands and code that work."""

import importlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
import pytest
import yaml
from simulations import small_simulation
from typer.main import get_command
from typer.testing import CliRunner

from arena import Arena
from arena.sample import sample_arena
from features import Question, Sample, parse_features
from features.declare.sample import EMPTY_ANSWER, NO_REFERENCE_SYSTEM
from surrogate.learning.surrogate import Surrogate
from surrogate_arena.cli.app import app
from surrogate_arena.gating.gate_result import GateVerdict

ROOT = Path(__file__).parents[1]
GUIDES = sorted((ROOT / "docs").rglob("*.md"))
WORKFLOWS = [*ROOT.glob("examples/*.yml"), *ROOT.glob(".github/workflows/*.yml")]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *GUIDES]
REPRODUCING = ROOT / "docs" / "reference" / "reproducing.md"
COMMAND_LINE = get_command(app)


def blocks(path, language):
    text = path.read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def steps(workflow):
    jobs = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"].values()
    return [step["run"] for job in jobs for step in job["steps"] if "run" in step]


def shown_commands():
    for path in [*DOCUMENTS, *WORKFLOWS]:
        for block in blocks(path, "sh") if path in DOCUMENTS else steps(path):
            for line in block.replace("\\\n", " ").splitlines():
                words = shlex.split(line, comments=True)
                if words[:1] == ["surrogate-arena"]:
                    yield pytest.param(words[1:], id=f"{path.name}: {' '.join(words[1:4])}")
    for line in re.findall(r"`surrogate-arena ([^`]+)`", REPRODUCING.read_text(encoding="utf-8")):
        yield pytest.param(shlex.split(line), id=f"{REPRODUCING.name}: {line[:60]}")


def subcommands(command):
    if not hasattr(command, "list_commands"):
        return {}
    return {name: command.get_command(None, name) for name in command.list_commands(None)}


def found(words):
    """Follow the words of a command to where it is; returns it and the words left."""
    command = COMMAND_LINE
    while words and words[0] in subcommands(command):
        command, words = subcommands(command)[words[0]], words[1:]
    return command, words


@pytest.mark.parametrize("words", list(shown_commands()))
def test_commands_and_options_shown_exist(words):
    command, left = found(words)
    assert command is not COMMAND_LINE
    known = {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
    for group in subcommands(command).values():
        known |= {option for parameter in group.params for option in parameter.opts}
    assert {word for word in left if word.startswith("--")} <= known


def test_commands_of_the_readme_exist():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text.split("## Commands")[1].split("## What goes in")[0]
    shown = {row.split()[0] for row in re.findall(r"^\| `([^`]+)`", table, re.MULTILINE)}
    assert shown <= set(subcommands(COMMAND_LINE))
    every = re.findall(r"`(\w+)", table)
    assert set(subcommands(COMMAND_LINE)) - {"demo"} <= set(every)


OTHER_PROGRAMS = {
    "--build-arg",
    "dask",
    "docker",
    "git",
    "inspect",
    "llama-server",
    "pip",
    "python",
    "transformers",
    "vllm",
}
LEFT_OF_OPTIONS = re.compile(r"(?<![\w-])--[a-z][\w-]*")
FILE_SUFFIXES = {
    "csv",
    "gz",
    "html",
    "json",
    "jsonl",
    "md",
    "parquet",
    "py",
    "sqlite",
    "zip",
    "toml",
}
DOTTED = re.compile(
    r"(?<![\w./\"'-])((?:arena|features|surrogate|surrogate_arena)(?:\.\w+)+)(?![\w/-])"
)
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def texts_of(path):
    """The text of a document, and of a notebook its cells."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return text
    cells = json.loads(text)["cells"]
    sources = ["".join(cell["source"]) for cell in cells]
    return "\n\n".join(
        f"```python\n{source}\n```" if cell["cell_type"] == "code" else source
        for cell, source in zip(cells, sources, strict=True)
    )


def inline_code(path):
    """What stands between backticks outside of blocks."""
    outside = re.sub(r"```.*?```", "", texts_of(path), flags=re.DOTALL)
    return [" ".join(code.split()) for code in re.findall(r"`([^`]+)`", outside)]


def options_of(command):
    return {option for each in command.params for option in (*each.opts, *each.secondary_opts)}


def every_option():
    return {option for words in all_commands() for option in options_of(found(list(words))[0])}


@pytest.mark.parametrize("path", [*DOCUMENTS, *NOTEBOOKS], ids=lambda path: path.name)
def test_options_named_in_texts_exist(path):
    """A guide once said ``add --dry-run``, which ``add`` does not have."""
    wrong, known = [], every_option()
    for code in inline_code(path):
        words = code.removeprefix("surrogate-arena ").split()
        named = LEFT_OF_OPTIONS.findall(code)
        if not named or words[0] in OTHER_PROGRAMS or words[0].endswith(".py"):
            continue
        command, _ = found(words)
        allowed = known if command is COMMAND_LINE else {*options_of(command), "--help"}
        wrong += [f"{code}: {option}" for option in named if option not in allowed]
    assert wrong == []


def resolved(name):
    """Tell whether a dotted name is a module of ours, or something in one or in an ``Arena``."""
    first, *rest = name.split(".")
    kind = {"arena": Arena, "surrogate": Surrogate}.get(first)  # of variables of such a name
    if kind is not None and (hasattr(kind, rest[0]) or rest[0] in kind.__annotations__):
        return True
    for split in range(len(rest), -1, -1):
        try:
            value = importlib.import_module(".".join([first, *rest[:split]]))
        except ImportError:
            continue
        for part in rest[split:]:
            if not hasattr(value, part):
                return False
            value = getattr(value, part)
        return True
    return False


@pytest.mark.parametrize("path", [*DOCUMENTS, *NOTEBOOKS], ids=lambda path: path.name)
def test_python_names_in_texts_exist(path):
    """A notebook once named ``surrogate.report``, which was gone."""
    wrong = []
    for code in [*inline_code(path), *re.findall(r"```py\w*\n(.*?)```", texts_of(path), re.DOTALL)]:
        for name in DOTTED.findall(code):
            if not FILE_SUFFIXES & set(name.split(".")) and not resolved(name):
                wrong.append(name)
        for module, names in re.findall(
            r"^\s*from ((?:arena|features|surrogate)[\w.]*) import (\([^)]*\)|[^\n]*)",
            code,
            re.MULTILINE,
        ):
            listed = re.findall(r"(\w+)(?: as \w+)?", names.partition("#")[0])
            wrong += [f"{module}.{each}" for each in listed if not resolved(f"{module}.{each}")]
    assert wrong == []


def test_the_extra_for_notebooks_holds_what_runs_them():
    """It once had a kernel and no command that executes a notebook."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    packages = {
        re.split(r"[<>=\[]", item)[0] for item in project["optional-dependencies"]["notebooks"]
    }
    assert {"ipykernel", "nbclient"} <= packages
    assert "jupyter execute" in (ROOT / "README.md").read_text(encoding="utf-8")


def all_commands(command=COMMAND_LINE, above=()):
    yield above
    for name, below in subcommands(command).items():
        yield from all_commands(below, (*above, name))


@pytest.mark.parametrize("words", list(all_commands()), ids=" ".join)
def test_every_command_explains_itself(words):
    shown = CliRunner().invoke(app, [*words, "--help"])
    assert shown.exit_code == 0
    command, _ = found(list(words))
    assert command.help
    options = [each for each in command.params if each.param_type_name == "option"]
    assert all(each.help for each in options if "--help" not in each.opts)


@pytest.mark.slow
def test_the_documentation_builds(tmp_path):
    pytest.importorskip("mkdocs", reason="needs the extra docs")
    pytest.importorskip("mkdocstrings", reason="needs the extra docs")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "docs")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    page = (tmp_path / "docs" / "commands.html").read_text(encoding="utf-8")
    for words in all_commands():
        assert f">{' '.join(['surrogate-arena', *words])}<" in page
    reference = (tmp_path / "docs" / "api" / "surrogate.html").read_text(encoding="utf-8")
    assert "build_board" in reference
    for page in (tmp_path / "docs").rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="https?://', text), page


@pytest.mark.parametrize(
    ("guide", "needed"),
    [
        ("ratings.md", "AdaptivePairing"),
        ("../reference/judge_tests.md", "Grouse"),
        ("first_board.md", "from_frames"),
    ],
)
def test_python_of_the_guides_runs(guide, needed, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = [
        block for block in blocks(ROOT / "docs" / "guides" / guide, "python") if needed in block
    ]
    exec(code, {})


def test_links_between_documents_lead_somewhere():
    for path in DOCUMENTS:
        for target in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
            if "://" in target or (path.parent.name == "docs" and target == "commands.md"):
                continue
            assert (path.parent / target).exists(), f"{path.name}: {target}"
        for name in re.findall(r"`((?:arena|features|surrogate)/[\w/]+\.py)`", path.read_text()):
            assert (ROOT / name).is_file(), name


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_python_quickstart_runs(tmp_path, monkeypatch, capsys, whole):
    monkeypatch.chdir(tmp_path)
    if not whole:
        small = small_simulation(range(5), ["en"], questions=4).arena
        monkeypatch.setattr("surrogate_arena.sample_arena", lambda: small)
    quickstart = blocks(ROOT / "README.md", "python")[0]
    assert len([line for line in quickstart.splitlines() if line.strip()]) <= 5
    names = {}
    exec(quickstart if whole else quickstart.replace("n_jobs=2", "tournaments=2"), names)
    printed = capsys.readouterr().out
    if whole:
        assert printed == blocks(ROOT / "README.md", "text")[0]
    assert printed.splitlines()[1].split()[1] == names["board"].overall["system"].iloc[0]


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
    (console,) = blocks(ROOT / "README.md", "console")
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

    (code,) = [block for block in blocks(ROOT / "README.md", "python") if "from_frames" in block]
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


def test_features_shown_exist():
    text = (ROOT / "docs" / "reference" / "features.md").read_text(encoding="utf-8")
    assert parse_features("citation_recall@5,bleu,target_language(identifier=langid)")
    for row in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE):
        for name in re.findall(r"`([^`]+)`", row):
            assert parse_features(name), name


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
