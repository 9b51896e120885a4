"""Importing the packages, and asking for help, loads nothing heavy."""

import importlib
import json
import re
import rlcompleter
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    *("torch", "transformers", "openai", "datasets", "xgboost", "matplotlib", "plotly"),
    *("aiohttp", "jinja2", "playwright", "onnxruntime", "distributed", "dask", "ray"),
    *("sentence_transformers", "tokenizers", "peft", "accelerate", "trl"),
}
OF_FEATURES = {"langid", "py3langid", "sacrebleu", "sentencex", "pythainlp", "pycrfsuite"}
# One process runs these in this order; each is told with what else it must not load.
OF_TABLES = {"pandas", "pyarrow", "sklearn", "scipy"}
FINDINGS = {
    "help('--help') or help('board', '--help') or help('judge', '-h')": OF_TABLES,
    "refused('board', 'nowhere', '--out', 'out')": OF_TABLES,
    "refused('rank', 'nowhere.jsonl', '--board', 'nowhere')": OF_TABLES,
    "refused('judge', 'nowhere', '--model', 'any')": OF_TABLES,
    "refused('validate', 'nowhere')": OF_TABLES,
    "refused('diagnose', 'nowhere.jsonl')": OF_TABLES,
    "refused('publish', 'nowhere')": OF_TABLES,
    "refused('diff', 'nowhere', 'elsewhere')": OF_TABLES,
    "refused('run', 'nowhere.toml')": OF_TABLES,
    "refused('trainset', 'mirage', 'nowhere', '--teacher', 'any', '--out', 'rows')": OF_TABLES,
    "import arena.llm": {"httpx2"},
    "import features": OF_FEATURES,
    "import surrogate.board.build, surrogate.ranking.rank": {"sklearn", "scipy.optimize"},
    "help('--help')": {"sklearn"},
    "help('generate', '--help')": {"sklearn", "bm25s"},
    "import surrogate_arena.papers.memerag.benchmark": {"sklearn"},
    "import surrogate_arena.papers.wikieval.benchmark": {"sklearn"},
    "import surrogate_arena.papers.grouse.benchmark": {"sklearn"},
    "import surrogate_arena.papers.pairs.benchmark": {"sklearn"},
    "help('metaeval', '--help')": {"sklearn"},
    "help('trainset', 'grouse', '--help')": {"sklearn", "surrogate_arena.papers.chats"},
    "import surrogate_arena.papers.finetune": set(),
    "import arena.judging": set(),
    "help('judge', '--help')": set(),
    "import arena, features, surrogate": set(),
    "import surrogate_arena; dir(surrogate_arena)": set(),
    "from surrogate import Board, build_board, rank_systems": set(),
    "from surrogate_arena.importers import read_battles": set(),
    "from surrogate_arena.papers import read_mirage": set(),
    "import surrogate_arena.pages.figures.board_figures": set(),
}
PROGRAM = """
import contextlib, io, json, sys

def help(*arguments):
    from surrogate_arena.cli.app import main
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.suppress(SystemExit):
        main(list(arguments))
    assert "Usage" in printed.getvalue()

def refused(*arguments):
    from surrogate_arena.cli.app import main
    with contextlib.redirect_stderr(io.StringIO()) as printed, contextlib.suppress(SystemExit):
        main(list(arguments))
    assert "nowhere" in printed.getvalue() and "does not exist" in printed.getvalue()

loaded = {}
for statement, names in json.loads(sys.argv[1]).items():
    exec(statement)
    loaded[statement] = sorted(set(names) & set(sys.modules))
print(json.dumps(loaded))
"""


@pytest.fixture(scope="module")
def loaded():
    asked = {statement: sorted(HEAVY | further) for statement, further in FINDINGS.items()}
    command = [sys.executable, "-c", PROGRAM, json.dumps(asked)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("statement", FINDINGS)
def test_nothing_heavy_is_loaded(loaded, statement):
    assert loaded[statement] == []


@pytest.mark.slow
def test_new_systems_are_ranked_without_loading_what_rates_verdicts(tmp_path):
    """Parts of scipy take longer to load than the board and the answers take to read."""
    from arena import sample_arena
    from surrogate import build_board

    arena = sample_arena()
    build_board(arena, judge="gpt-4o", tournaments=2).save(tmp_path / "board")
    program = (
        "import sys; from arena import sample_arena; from surrogate import rank_systems\n"
        "arena = sample_arena()\n"
        "new = arena.answers[arena.answers['system'] == 'llm-news'].assign(system='new')\n"
        "rank_systems(sys.argv[1], new, arena)\n"
        "parts = {'scipy.special', 'scipy.linalg', 'scipy.sparse', 'arena.rating.judgments'}\n"
        "print(parts & set(sys.modules))"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "board")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_packages_have_the_names_that_their_stubs_say():
    for package in map(
        importlib.import_module, ("arena", "features", "surrogate", "surrogate_arena")
    ):
        stub = Path(package.__file__).with_suffix(".pyi").read_text()
        named = set(re.findall(r" as (\w+)$", stub, re.MULTILINE))
        assert named == set(dir(package))
        assert all(getattr(package, name) is not None for name in named)


def test_one_import_has_what_most_programs_need():
    import surrogate_arena

    assert 25 <= len(surrogate_arena.__all__) <= 32
    for name in surrogate_arena.__all__:
        assert getattr(surrogate_arena, name) is not None
        assert name in dir(surrogate_arena)
    assert (
        rlcompleter.Completer({"s": surrogate_arena}).complete("s.build_b", 0) == "s.build_board("
    )
    with pytest.raises(AttributeError, match="No surrogate_arena attribute oracle"):
        _ = surrogate_arena.oracle


@pytest.mark.parametrize("place", ["features/__init__.py", "arena.py", "surrogate/__init__.py"])
def test_packages_of_others_with_our_names_are_named(tmp_path, place):
    theirs = tmp_path / place
    theirs.parent.mkdir(exist_ok=True)
    theirs.write_text("mine = 1")
    done = subprocess.run(
        [sys.executable, "-c", "import surrogate_arena"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    name = place.partition("/")[0].removesuffix(".py")
    assert f"its own package {name!r}" in done.stderr
    assert f"is {theirs}: rename that file or folder" in done.stderr


@pytest.mark.parametrize("package", ["surrogate_arena"])
def test_packages_run_as_the_command(package):
    done = subprocess.run(
        [sys.executable, "-m", package, "--help"], capture_output=True, text=True, check=True
    )
    assert f"Usage: python -m {package} [OPTIONS]" in done.stdout
