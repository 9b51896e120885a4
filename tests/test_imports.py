"""Importing the packages, and asking for help, loads nothing heavy."""

import json
import subprocess
import sys

import pytest

HEAVY = {
    *("torch", "transformers", "openai", "datasets", "xgboost", "matplotlib", "plotly"),
    *("aiohttp", "jinja2", "playwright", "onnxruntime", "distributed", "dask", "ray"),
    *("sentence_transformers", "tokenizers"),
}
OF_FEATURES = {"langid", "py3langid", "sacrebleu", "sentencex", "pythainlp", "pycrfsuite"}
# One process runs these in this order; each is told with what else it must not load.
STATEMENTS = {
    "import arena.llm": {"httpx2"},
    "import features": OF_FEATURES,
    "help('--help')": {"sklearn"},
    "help('generate', '--help')": {"sklearn", "bm25s", "arena.generation"},
    "import surrogate.metaevaluation.memerag.evaluation": {"sklearn"},
    "import surrogate.metaevaluation.wikieval.evaluation": {"sklearn"},
    "import surrogate.metaevaluation.grouse.evaluation": {"sklearn"},
    "help('metaeval', '--help')": {"sklearn"},
    "import arena.judging": set(),
    "help('judge', '--help')": set(),
    "import arena, features, surrogate": set(),
    "from surrogate import Board, build_board, rank_systems": set(),
    "from arena.adapters import read_mirage, read_battles": set(),
    "import surrogate.publish.figures.ratings": set(),
}
PROGRAM = """
import contextlib, io, json, sys

def help(*arguments):
    from surrogate.cli.app import main
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.suppress(SystemExit):
        main(list(arguments))
    assert "Usage" in printed.getvalue()

loaded = {}
for statement, names in json.loads(sys.argv[1]).items():
    exec(statement)
    loaded[statement] = sorted(set(names) & set(sys.modules))
print(json.dumps(loaded))
"""


@pytest.fixture(scope="module")
def loaded():
    asked = {statement: sorted(HEAVY | further) for statement, further in STATEMENTS.items()}
    command = [sys.executable, "-c", PROGRAM, json.dumps(asked)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_nothing_heavy_is_loaded(loaded, statement):
    assert loaded[statement] == []


def test_unknown_names_are_missing_attributes():
    import surrogate

    with pytest.raises(AttributeError, match="No surrogate attribute oracle"):
        _ = surrogate.oracle
