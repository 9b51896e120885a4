"""The house: one of each name, folders by stage, words of the field."""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from arena.data.schema import QUESTION_KEY

ROOT = Path(__file__).parents[1]
PACKAGES = ("arena", "features", "surrogate", "surrogate_arena")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
TEXTS = sorted(
    path
    for pattern in ("docs/**/*.md", "notebooks/*.ipynb", "benchmarks/*", "examples/*", "*.md")
    for path in ROOT.glob(pattern)
    if path.suffix in {".md", ".ipynb", ".py"}
)
TEMPLATES = sorted((ROOT / "surrogate_arena/pages/templates").iterdir())

MOST_MODULES = 123
"""Of ours, that building a board, saving, opening and ranking may load."""

OLD_WORDS = {
    r"mend(?:s|ed|ing)?": "hint, or fix",
    r"foret[eo]ll?[ds]?": "predicted, or imputed",
    r"crew": "worker pool",
    r"duels?|rivals?": "opponents",
    r"fences?": "delimiters",
    r"drivers": "attributions",
    r"learners?": "surrogate",
    r"(?<!logits \()(?<!logit \| )log-odds": "logits",
    r"chances": "p-values, or probabilities",
    r"hold_tournaments|hold_panel|hold_session": "bootstrap, aggregate or evaluate",
    r"own_tests": "builtin_tests",
    r"told apart": "distinguishable",
    r"anew": "again",
    r"(?:normali|standardi|summari|factori|randomi|recogni)s(?:e|ed|es|ing|ation)": "-ize",
    r"colours?": "color",
    r"centre[sd]?|centring": "center",
    r"behaviours?|artefacts?|favour(?:s|ed|ing)?|learnt|labelled": "American spelling",
}


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def shown(path):
    return path.relative_to(ROOT).as_posix()


def test_a_public_name_is_defined_once():
    homes = defaultdict(set)
    for path in MODULES:
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name[0] != "_":
                homes[node.name].add(shown(path))
    commands = {name for name, paths in homes.items() if any(map(_is_of_commands, paths))}
    twice = {
        name: sorted(paths)
        for name, paths in homes.items()
        if len({path for path in paths if name not in commands or not _is_of_commands(path)}) > 1
    }
    assert not twice


def _is_of_commands(path):
    return path.startswith("surrogate_arena/commands/") or path.endswith("/commands.py")


@pytest.mark.parametrize("package", PACKAGES)
def test_nothing_loose_stands_beside_the_stages(package):
    loose = {path.name for path in (ROOT / package).glob("*.py")}
    assert loose <= {"__init__.py", "__main__.py"}


def test_no_benchmark_has_the_name_of_a_package():
    """Beside it the others would import it in the package's place, and mypy could not tell them."""
    assert not {path.stem for path in ROOT.glob("benchmarks/*.py")} & set(PACKAGES)


RING = ("arena/llm", "arena/judging", "features/models")
CORE = (
    *(f"arena/{name}" for name in ("data", "computing", "text", "statistics", "rating", "quality")),
    *("arena/sample", "arena/simulation"),
    *(f"features/{name}" for name in ("declare", "text", "measures", "engine")),
    *(f"surrogate/{name}" for name in ("learning", "checks", "board", "ranking")),
)
MAIN_JOB = """
import sys
from arena import sample_arena
from surrogate import Board, build_board, rank_systems

arena = sample_arena("nomiracl")
arena = arena.select(["en"], systems=[*arena.info.systems[-4:], arena.info.reference_system])
board = build_board(arena, tournaments=2).save(sys.argv[1])
first = arena.info.systems[0]
answers = arena.answers[arena.answers["system"] == first].assign(system="new")
rank_systems(Board.load(sys.argv[1]), answers, arena)
print(*sorted(sys.modules))
"""


def test_the_main_job_loads_the_core_alone(tmp_path):
    """A board of an arena in memory is built, saved, opened, and a new system ranked on it."""
    done = subprocess.run(
        [sys.executable, "-c", MAIN_JOB, str(tmp_path / "board")],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    loaded = set(done.stdout.split())
    outside = ("surrogate_arena", *(folder.replace("/", ".") for folder in RING))
    assert sorted(name for name in loaded if name.startswith(outside)) == []
    ours = [name for name in loaded if name.split(".")[0] in PACKAGES]
    assert len(ours) <= MOST_MODULES


@pytest.mark.slow
def test_the_core_passes_its_tests_without_ring_and_application(tmp_path):
    unwanted = shutil.ignore_patterns(*(Path(folder).name for folder in RING))
    for package in ("arena", "features", "surrogate"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=unwanted)
    for folder in CORE:
        if (ROOT / "tests" / folder).is_dir():
            shutil.copytree(ROOT / "tests" / folder, tmp_path / "tests" / folder)
    shutil.copytree(ROOT / "tests" / "support", tmp_path / "tests" / "support")
    for path in (
        "conftest.py",
        "arena/conftest.py",
        "features/conftest.py",
        "features/sentences.py",
    ):
        shutil.copy(ROOT / "tests" / path, tmp_path / "tests" / path)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    # Tests that learn and rank build boards as those of boards do, which take half of the time.
    folders = (
        "tests/arena",
        "tests/features",
        "tests/surrogate/learning",
        "tests/surrogate/ranking",
    )
    words = ("-m", "pytest", "-m", "not slow", "-p", "no:cacheprovider", *folders)
    # A run of its own: as a worker of this one, it would read what other runs have left.
    env = {name: value for name, value in os.environ.items() if "XDIST" not in name}
    done = subprocess.run(
        [sys.executable, *words],
        cwd=tmp_path,
        env=env | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]


def test_the_guide_leads_through_the_core_in_half_an_hour():
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = guide.partition("## The core in half an hour")[2].partition("| to change |")[0]
    paths = re.findall(r"^\| `(\S+\.py)` \|", section, re.MULTILINE)
    assert all(path.startswith(CORE) for path in paths)
    texts = [(ROOT / path).read_text(encoding="utf-8") for path in paths]
    assert 10 <= len(paths) <= 14
    assert sum(text.count("\n") for text in texts) <= 4000


def test_tests_of_the_core_use_the_core_alone():
    outside = ("surrogate_arena", *(folder.replace("/", ".") for folder in RING))
    imported = [
        f"{shown(path)}: {name}"
        for folder in CORE
        for path in sorted((ROOT / "tests" / folder).rglob("*.py"))
        for name in _imported_by(path)
        if name.startswith(outside)
    ]
    assert imported == []


def _imported_by(path):
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_the_keys_of_questions_and_answers_are_spelled_out_once():
    """Where the schema is; elsewhere ``QUESTION_KEY`` and ``ANSWER_KEY`` stand."""
    schema = ROOT / "arena" / "data" / "schema.py"
    spelled = [
        str(path.relative_to(ROOT))
        for path in MODULES
        for node in ast.walk(tree_of(path))
        if path != schema and isinstance(node, ast.List) and _texts_of(node)[:2] == QUESTION_KEY
    ]
    assert not spelled


def _texts_of(node):
    return [getattr(item, "value", None) for item in node.elts]


def test_every_module_says_what_it_holds():
    assert [shown(p) for p in MODULES if not ast.get_docstring(tree_of(p))] == []


@pytest.mark.parametrize("word", OLD_WORDS)
def test_words_are_those_of_the_field(word):
    pattern = re.compile(rf"(?<![A-Za-z])(?:{word})(?![a-z])", re.IGNORECASE)
    found = [
        f"{shown(path)}:{number}: {line.strip()[:80]}"
        for path in [*MODULES, *TEXTS, *TEMPLATES]
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if pattern.search(line)
    ]
    assert found == [], f"say {OLD_WORDS[word]}"


def test_no_name_of_a_package_is_also_one_of_its_modules():
    """Once it is imported, the module takes the place of a function that loads on first use."""
    clashes = []
    for stub in sorted(ROOT.glob("*/**/__init__.pyi")):
        text = stub.read_text(encoding="utf-8")
        names = set(re.findall(r"^from \.\w.* as (\w+)$", text, re.MULTILINE))
        modules = {path.stem for path in stub.parent.glob("*.py")}
        modules |= {path.parent.name for path in stub.parent.glob("*/__init__.py")}
        clashes += [f"{shown(stub)}: {name}" for name in sorted(names & modules)]
    assert clashes == []
