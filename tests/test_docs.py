"""The documentation builds, names every command, and names nothing that is not there."""

import importlib
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib

import pytest
import yaml
from documents import ROOT, blocks
from public_names import public_names
from typer.main import get_command
from typer.testing import CliRunner

from arena import Arena
from features import parse_features
from surrogate.learning.surrogate import Surrogate
from surrogate_arena.cli.app import COMMANDS, app
from surrogate_arena.commands.prompts import all_prompts
from surrogate_arena.importers.contract import field_names
from surrogate_arena.measuring.descriptions import describe_features

GUIDES = sorted((ROOT / "docs").rglob("*.md"))
WORKFLOWS = [*ROOT.glob("examples/*.yml"), *ROOT.glob(".github/workflows/*.yml")]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *GUIDES]
BENCHMARKS = ROOT / "benchmarks" / "README.md"
REPRODUCING = sorted((ROOT / "docs" / "reference").glob("reproducing*.md"))
COMMAND_LINE = get_command(app)


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
    for path in REPRODUCING:
        for line in re.findall(r"`surrogate-arena ([^`]+)`", path.read_text(encoding="utf-8")):
            yield pytest.param(shlex.split(line), id=f"{path.name}: {line[:60]}")


def examples_of_help():
    for name, entry in COMMANDS.items():
        yield pytest.param(shlex.split(entry.example), id=f"example of {name}")


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


@pytest.mark.parametrize("words", [*shown_commands(), *examples_of_help()])
def test_commands_and_options_shown_exist(words):
    command, left = found(words)
    assert command is not COMMAND_LINE
    known = {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
    for group in subcommands(command).values():
        known |= {option for parameter in group.params for option in parameter.opts}
    assert {word for word in left if word.startswith("--")} <= known


def test_the_list_of_commands_is_complete():
    table = (ROOT / "docs" / "guides" / "commands.md").read_text(encoding="utf-8")
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
    printed = " ".join(shown.output.split())
    assert not words or f"Example: surrogate-arena {COMMANDS[words[0]].example}" in printed
    command, _ = found(list(words))
    assert command.help
    options = [each for each in command.params if each.param_type_name == "option"]
    assert all(each.help for each in options if "--help" not in each.opts)


def plain_text(page):
    return re.sub(r"<[^>]+>", "", page)


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
    prompts_page = (tmp_path / "docs" / "reference" / "prompts.html").read_text(encoding="utf-8")
    for sent_prompts in all_prompts().values():
        assert all(f"<code>{prompt.name}</code>" in prompts_page for prompt in sent_prompts)
    formats_page = (tmp_path / "docs" / "reference" / "formats.html").read_text(encoding="utf-8")
    assert all(f"{field} = " in plain_text(formats_page) for field in field_names("battles"))
    features_page = (tmp_path / "docs" / "reference" / "features.html").read_text(encoding="utf-8")
    assert all(f"<code>{name}</code>" in features_page for name in describe_features()["feature"])
    reference = (tmp_path / "docs" / "api" / "surrogate.html").read_text(encoding="utf-8")
    assert "build_board" in reference
    for page in (tmp_path / "docs").rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="https?://', text), page


def test_every_public_name_stands_on_a_page_of_the_reference():
    listed = {
        (module, name)
        for path in (ROOT / "docs" / "api").glob("*.md")
        for module, names in re.findall(
            r"^::: (\S+)\n +options: {members: \[(.+)\]}$", path.read_text(), re.MULTILINE
        )
        for name in names.split(", ")
    }
    for module, name in listed:
        assert hasattr(importlib.import_module(module), name), (module, name)
    assert [key for *key, _ in public_names() if tuple(key) not in listed] == []


def test_links_between_documents_lead_somewhere():
    for path in DOCUMENTS:
        for target in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
            if "://" in target or (path.parent.name == "docs" and target == "commands.md"):
                continue
            assert (path.parent / target).exists(), f"{path.name}: {target}"


@pytest.mark.parametrize("path", [*DOCUMENTS, BENCHMARKS], ids=lambda path: path.name)
def test_files_named_in_texts_exist(path):
    """A table once named a benchmark that was gone."""
    text = path.read_text(encoding="utf-8")
    named = re.findall(r"`((?:arena|benchmarks|examples|features|surrogate\w*)/[\w/.]+)`", text)
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_benchmarks_are_listed():
    named = re.findall(r"`(\w+\.py)`", BENCHMARKS.read_text(encoding="utf-8"))
    assert {path.name for path in BENCHMARKS.parent.glob("*.py")} == set(named)


def test_features_shown_exist():
    text = (ROOT / "docs" / "reference" / "features.md").read_text(encoding="utf-8")
    assert parse_features("citation_recall@5,bleu,target_language(identifier=langid)")
    for row in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE):
        for name in re.findall(r"`([^`]+)`", row):
            assert parse_features(name), name


def test_the_reference_says_of_every_prompt_what_differs_from_the_paper():
    listed = {each.packaged_name for known in all_prompts().values() for each in known}
    text = (ROOT / "docs" / "reference" / "prompts.md").read_text(encoding="utf-8")
    differing = text.split("## What differs")[1]
    rows = re.findall(r"^\| (`.*?) \|", differing, re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`([^`]+)`", row)} == listed
